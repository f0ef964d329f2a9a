#include "serve/pending_reason.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "model/limit_text.h"
#include "model/never_fits.h"
#include "model/shortage.h"
#include "serve/federation_desk.h"
#include "serve/node_list.h"
#include "serve/reserved.h"

namespace rota::serve {
namespace {

using Dep = Dependency::When;

const char* words_of(Dep when) {
  switch (when) {
    case Dep::started:
      return "to start";
    case Dep::ended:
    case Dep::in_turn:
      return "to end";
    case Dep::succeeded:
      return "to end well";
    case Dep::failed:
      return "to fail";
  }
  return "to end";
}

template <class Sentence>
PendingReason reason_with(std::string_view word, Telling telling, const Sentence& sentence) {
  return {word, telling == Telling::word ? std::string() : std::string(sentence())};
}

}  // namespace

std::string PendingReasons::awaited_text(const std::vector<Dependency>& after, bool any) const {
  struct Row {
    Dependency first;
    std::int64_t array;  // 0: none
    std::int64_t jobs;
  };
  const auto words = [](const Dependency& on) { return words_of(on.group.valid() ? Dep::ended : on.when); };
  const auto is_met = [&](const Dependency& on) {
    const Job* const job = desk_.view().find_job(on.on);
    return job == nullptr || job->gone() || (on.when == Dep::started && job->state == JobState::running);
  };
  const bool all_met = std::ranges::all_of(after, is_met);  // it is just being looked at
  std::vector<Row> rows;
  for (const Dependency& on : after) {
    if (!all_met && is_met(on)) continue;
    const JobEntry* const entry = jobs_.book().find(on.on);
    const std::int64_t array = entry != nullptr ? entry->about->array : 0;
    const bool goes_on = array != 0 && !rows.empty() && rows.back().array == array;
    if (goes_on && std::string_view(words(rows.back().first)) == words(on)) {
      ++rows.back().jobs;
    } else {
      rows.push_back({on, array, 1});
    }
  }
  std::string text;
  for (const Row& row : rows) {
    text += text.empty() ? " " : any ? " or " : ", ";
    if (row.jobs == 1) {
      text += "job " + jobs_.shown(row.first.on);
    } else {
      const std::int64_t all = std::max(row.jobs, jobs_.book().find(row.first.on)->about->indexes.count);
      text += fmt::format("{} of the {} tasks of job {}", grouped(row.jobs), grouped(all), row.array);
    }
    text += std::string(" ") + words(row.first);
  }
  const bool one_fails = std::ranges::any_of(after, [](const Dependency& on) { return on.group.valid(); });
  return text + (one_fails ? ", and for a task of the array to fail." : ".");
}

PendingReason PendingReasons::reason_of_barred(JobId id, const Job& job, Telling telling) const {
  if (!job.ours() && federation_ != nullptr) {
    const std::string site = federation_->site_of(id);
    const bool cancelled = (job.bars & kHeldByOperator) != 0;
    if (federation_->comes_home(id))
      return {"AtSite", fmt::format("It has ended at {}, and what it has left there is being brought.", site)};
    if (site.empty()) return {"OnOffer", cancelled ? "It is being cancelled." : federation_->sale_of(id)};
    if (cancelled) return {"AtSite", fmt::format("Site {} has it and cancels it once it can be reached.", site)};
    const Instant start = federation_->started_at(id);
    if (start == kNever) return {"AtSite", fmt::format("Site {} has it; `rota sites` lists the sites.", site)};
    return {"RunsAtSite", fmt::format("It runs at {} since {}.", site, desk_.loop().date_of(start))};
  }
  if (const JobEntry* entry = job.ours() ? nullptr : jobs_.book().find(id);
      entry != nullptr && !entry->heard().waits.empty()) {
    const JobEntry::Heard& heard = entry->heard();
    return reason_with(heard.waits, telling, [&] {
      return fmt::format("Its resource manager starts it, and gives {} as the reason{}.", heard.waits,
                         heard.starts == kNever
                             ? std::string()
                             : fmt::format("; it expects the start at {}", desk_.loop().date_of(heard.starts)));
    });
  }
  if ((job.bars & kHeldByOperator) != 0)
    return {"JobHeldAdmin", "An operator holds it; an operator has to release it."};
  if ((job.bars & kHeldByUser) != 0) {
    return reason_with("JobHeldUser", telling, [&] {
      return fmt::format("Its user holds it; `rota release {}` lets it go.", jobs_.book().shown(id));
    });
  }
  if ((job.bars & kNeverAgain) != 0)
    return {"DependencyNeverSatisfied",
            "A job that it waits for has ended otherwise than it needs; it will never run."};
  const JobTerms* terms = desk_.view().eligibility().terms(id);
  if ((job.bars & kDependency) != 0) {
    return reason_with("Dependency", telling, [&] {
      return terms == nullptr ? "It waits for another job." : "It waits for" + awaited_text(terms->after, terms->any);
    });
  }
  if (!job.ours()) return {"NotOurs", "Another scheduler starts it; this one only shows it."};
  if ((job.bars & kBeginTime) != 0) {
    return reason_with("BeginTime", telling, [&] {
      const JobEntry* entry = job.failed_launches > 0 ? jobs_.book().find(id) : nullptr;
      if (entry != nullptr && terms != nullptr && !entry->heard().message.empty())
        return fmt::format("It could not be started: {} It is tried again at {}.", entry->heard().message,
                           desk_.loop().date_of(terms->begin));
      return fmt::format("Its begin time{} has not come yet.",
                         terms != nullptr ? fmt::format(", {},", desk_.loop().date_of(terms->begin)) : "");
    });
  }
  if ((job.bars & kArrayThrottle) != 0) {
    return reason_with("JobArrayTaskLimit", telling, [&] {
      const std::uint32_t most = terms ? desk_.view().eligibility().throttle(terms->array) : 0;
      return fmt::format("As many tasks of its array are queued or run already as it allows at one time ({}).", most);
    });
  }
  if ((job.bars & kOverLimit) != 0) return reason_of_limit(job, telling);
  return {"Priority", "The service is looking at it at this moment."};
}

PendingReason PendingReasons::reason_of_limit(const Job& job, Telling telling) const {
  return reason_with("OverLimit", telling, [&] {
    const LimitUse& use = desk_.view().limits().use();
    const auto broken = use.kept() ? use.broken_by(job.spec) : std::nullopt;
    if (!broken) return std::string("A limit kept it from being queued, and leaves room for it again.");
    return why_over_limit(use, *broken, job.spec);
  });
}

// Under a policy that keeps to limits when it starts jobs.
bool PendingReasons::is_over_limit(const JobSpec& spec) const {
  const LimitUse& use = desk_.view().limits().use();
  return desk_.view().options().limits_at_start && use.kept() && use.broken_by(spec);
}

std::string PendingReasons::nodes_lacking(const JobSpec& spec) const {
  constexpr std::size_t kMostNamed = 3;
  constexpr const char* kAsleep = "asleep until `rota nodes power-up` wakes ";
  std::map<std::string, std::vector<std::string>> names;  // by what is so of them
  for (std::uint32_t n = 0; n < desk_.machine()->nodes.size(); ++n) {
    const NodeId id{n};
    const Health health = desk_.view().power().health(id);
    const bool asleep = nodes_.left_asleep(id);
    if ((health == Health::up && !asleep) || !may_serve(*desk_.machine(), spec, id)) continue;
    if (asleep) {
      names[kAsleep].push_back(desk_.machine()->nodes[n].name);
      continue;
    }
    const std::string by = nodes_.by(id), reason = nodes_.reason(id);
    names[std::string(health == Health::down ? "down" : "drained") + (by.empty() ? "" : " by " + by) +
          (reason.empty() ? "" : fmt::format(" ({})", reason))]
        .push_back(desk_.machine()->nodes[n].name);
  }
  std::string out;
  std::size_t named = 0;
  for (const auto& [what, of] : names) {
    if (named++ == kMostNamed) return out + "; and others";
    out += (out.empty() ? "" : "; ") + format_host_list(of) + (of.size() == 1 ? " is " : " are ") + what +
           (what != kAsleep  ? ""
            : of.size() == 1 ? "it"
                             : "them");
  }
  return out;
}

bool PendingReasons::lacks_nodes(const JobSpec& spec) const {
  if (desk_.view().power().all_up() && desk_.view().power().all_on()) return false;
  return !fits_when_empty(*desk_.machine(), spec, [&](NodeId id) {
    return desk_.view().power().health(id) == Health::up && !nodes_.left_asleep(id);
  });
}

// Which nodes that it could use sleep, and will until an operator wakes them, as a sentence; empty: none.
std::string PendingReasons::asleep_beside(const JobSpec& spec) const {
  std::vector<NodeId> nodes = nodes_.left_asleep();
  std::erase_if(nodes, [&](NodeId id) { return !may_serve(*desk_.machine(), spec, id); });
  if (nodes.empty()) return {};
  const std::string names = node_list(*desk_.machine(), nodes);
  return fmt::format("{}, and policy {} wakes no node; `rota nodes power-up` does.",
                     nodes.size() == 1 ? fmt::format(" Node {} sleeps", names) : fmt::format(" Nodes {} sleep", names),
                     desk_.chain().text());
}

std::string PendingReasons::licence_lacking(const JobSpec& spec) const {
  return licence_shortage(desk_.view(), spec, [&book = jobs_.book()](JobId job) {
    const JobEntry* const entry = book.find(job);
    return book.shown(job) + (entry != nullptr ? " of " + entry->about->user : std::string());
  });
}

PendingReason PendingReasons::reason_of_waiting(JobId id, const Job& job, Telling telling) const {
  const JobSpec& spec = job.spec;
  const auto needs = [&] { return "It needs " + needs_of(desk_.view(), spec); };
  if (lacks_nodes(spec)) {
    return reason_with("ReqNodeNotAvail", telling, [&] {
      return fmt::format("{} on nodes that are in service, and there are too few of these: {}.", needs(),
                         nodes_lacking(spec));
    });
  }
  if (lacks_licence(spec)) return reason_with("Licenses", telling, [&] { return licence_lacking(spec); });
  if (is_over_limit(spec)) return reason_of_limit(job, telling);
  if (const Reservation* own = reservations_.of(spec)) return reason_within(id, job, *own, telling);
  if (desk_.view().plain()) {
    return {"Priority", "A plan was refused, and until an operator has looked jobs start in order of the queue alone."};
  }
  if (desk_.view().power().count(PowerState::booting) > 0 && desk_.view().free() < spec.processors) {
    return reason_with("PowerUp", telling, [&] {
      return fmt::format("{}; {} are being woken.", needs(),
                         amount(desk_.view().power().count(PowerState::booting), "node"));
    });
  }
  if (const Reservation* reserved = reservations_.before(id, job))
    return reason_with("Reservation", telling, [&] { return reservations_.text_of(*reserved); });
  return reason_among_others(id, job, telling);
}

// It waits for its reservation, or for room within it.
PendingReason PendingReasons::reason_within(JobId id, const Job& job, const Reservation& own, Telling telling) const {
  const Instant end = desk_.view().now() + job.expected;
  const bool begun = own.from <= desk_.view().now();
  const bool too_long =
      desk_.view().reservations().ends_too_late(own, end, desk_.view().options().outlasts_reservations);
  return reason_with(begun && !too_long ? "Resources" : "Reservation", telling, [&] {
    const std::string name = reservations_.id_and_name(own);
    if (!begun) return fmt::format("Its reservation {} begins at {}.", name, desk_.loop().date_of(own.from));
    if (too_long) {
      return fmt::format(
          "It may last until {}, and its reservation {} is over at {}: then it waits like all others. `rota update {} "
          "--time` gives it less.",
          desk_.loop().date_of(end), name, desk_.loop().date_of(own.until), jobs_.book().shown(id));
    }
    if (!reservations_.could_hold(own, job.spec))
      return fmt::format(
          "It needs {}, which the nodes of its reservation {} cannot give it: it waits until that is over at {}.",
          needs_of(desk_.view(), job.spec), name, desk_.loop().date_of(own.until));
    return fmt::format("It needs {}, and other jobs of its reservation {} run there or come first.",
                       needs_of(desk_.view(), job.spec), name);
  });
}

// It waits for room, or for its turn.
PendingReason PendingReasons::reason_among_others(JobId id, const Job& job, Telling telling) const {
  const JobSpec& spec = job.spec;
  const WaitingEntry* head = desk_.view().waiting().head();
  const bool is_first = head != nullptr && head->job == id;
  JobId before;
  if (!is_first) {
    before =
        contenders_.before(desk_.view(), *desk_.machine(), job, [&](const JobSpec& other) { return competes(other); });
  }
  if (telling == Telling::word && (is_first || before.valid()))  // whether there is room or not
    return {is_first ? "Resources" : "Priority", {}};
  const bool room = has_room_now(desk_.view(), spec);
  const auto needs = [&] { return "It needs " + needs_of(desk_.view(), spec); };
  if (is_first || (!room && !before.valid())) {
    return reason_with("Resources", telling, [&] {
      return fmt::format("{}, {}, and {}.{}", needs(),
                         is_first ? "it is first in the queue" : "no job before it wants the same nodes",
                         shortage(desk_.view(), spec, room), asleep_beside(spec));
    });
  }
  return reason_with("Priority", telling, [&] {
    const JobId first = before.valid() || head == nullptr ? before : head->job;
    const std::string which = first.valid() ? "job " + jobs_.book().shown(first) : std::string("others");
    if (room) {
      const Reservation* reserved = first_reserved_for(desk_.view(), job);
      return fmt::format(
          "{}, and {}, but if it started now {} or another with an earlier claim would start later{}", needs(),
          shortage(desk_.view(), spec, room), which,
          reserved ? ", or it would run into what is reserved: " + reservations_.text_of(*reserved) : std::string("."));
    }
    const std::string on_wished = spec.node_wish ? fmt::format(", {}", shortage(desk_.view(), spec, room)) : "";
    return fmt::format("{}{}, and others go first: {}{}{}", needs(), on_wished, which,
                       head != nullptr && first == head->job ? " is first in the queue."
                                                             : " is the first of those that want the same nodes.",
                       asleep_beside(spec));
  });
}

PendingReason PendingReasons::reason_of(JobId id, Telling telling) const {
  const Job& job = desk_.view().job(id);
  return job.state == JobState::barred ? reason_of_barred(id, job, telling) : reason_of_waiting(id, job, telling);
}

}  // namespace rota::serve
