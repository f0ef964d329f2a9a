#include "cli/rehearse/story.h"

#include <fmt/core.h>

#include <set>
#include <utility>

#include "base/text.h"
#include "cli/live/service.h"
#include "cli/rehearse/journals.h"
#include "cli/rehearse/kept_state.h"
#include "control/replay.h"
#include "control/start_log.h"
#include "model/never_fits.h"
#include "model/shortage.h"
#include "report/readable.h"
#include "report/start_reason.h"
#include "serve/contenders.h"
#include "serve/told_start.h"

namespace rota::cli {
namespace {

constexpr std::size_t kMostListed = 20;  // of those that passed it, and of moves of its promise

// Hears of all facts of a journal in order and keeps what concerns one job.
class Story {
 public:
  Story(std::int64_t number, const JournalSetting& setting) : setting_(setting), cluster_(setting.cluster_options()) {
    story_.job = number;
    story_.unix_start = setting.unix_start;
  }

  Result<void> hear(const Fact& fact) {
    if (auto follows = check_next(cluster_, fact); !follows) return follows;
    if (fact.at > at_) tell_wait();
    at_ = fact.at;
    std::visit([this](const auto& what) { tell_of(what); }, fact.what);
    cluster_.fold(fact);
    return {};
  }

  bool found() const { return job_.valid(); }

  JobStory told() {
    tell_wait();
    if (waits_) sum_up();
    story_.conclusion = conclusion();
    return std::move(story_);
  }

 private:
  std::string when(Instant at) const { return report::readable(at, setting_.unix_start); }
  void say(const char* event, const std::string& what) { story_.lines.push_back({at_, event, what}); }
  std::string asks(const JobSpec& spec) const {
    return asked_text(setting_.machine.get(), spec) + (spec.limit >= kLongest
                                                           ? std::string(" without a time limit")
                                                           : " for at most " + report::readable(spec.limit));
  }

  // What it waits for as that instant ends, in the words of a service: each once.
  void tell_wait() {
    const Job* const job = waits_ ? cluster_.find_job(job_) : nullptr;
    if (job == nullptr || job->state != JobState::waiting) return;
    const auto [word, why] = waits_for(*job);
    if (told_.insert(word).second) say("waits", fmt::format("waits ({}): {}", word, why));
  }
  std::pair<std::string, std::string> waits_for(const Job& job) {
    const JobSpec& spec = job.spec;
    const std::string needs = "It needs " + needs_of(cluster_, spec);
    if (!cluster_.nodes().has_licences(spec)) {
      return {"Licenses",
              licence_shortage(cluster_, spec, [&](JobId id) { return std::to_string(cluster_.job(id).spec.number); })};
    }
    const auto up = [&](NodeId id) { return cluster_.power().health(id) == Health::up; };
    if (setting_.machine && !cluster_.power().all_up() && !fits_when_empty(*setting_.machine, spec, up))
      return {"ReqNodeNotAvail", needs + " on nodes that are in service, and there are too few of these."};
    if (!has_room_now(cluster_, spec))
      return {"Resources", fmt::format("{}, and {}.", needs, shortage(cluster_, spec, false))};
    const JobId before = first_before(job);
    return {"Priority",
            fmt::format("{}, which {} free, and it is not its turn{}", needs, spec.processors == 1 ? "is" : "are",
                        before.valid() ? fmt::format(": job {} goes first.", cluster_.job(before).spec.number)
                                       : std::string("."))};
  }
  JobId first_before(const Job& job) {
    static const Machine kCounted;
    return contenders_.before(cluster_, setting_.machine ? *setting_.machine : kCounted, job,
                              [&](const JobSpec& other) { return cluster_.nodes().has_licences(other); });
  }

  // Whether the job that starts there takes of what this one waits for: of the licence that it lacks, else of any node
  // or licence that it could have.
  bool takes_of_it(const Started& fact) const {
    if (cluster_.nodes().counted()) return true;
    const JobSpec& own = cluster_.job(job_).spec;
    bool licences = false;
    each_licence(own, [&](LicenceId licence, std::uint32_t) { licences |= licences_of(fact.where, licence) > 0; });
    if (licences || !cluster_.nodes().has_licences(own)) return licences;
    return std::ranges::any_of(fact.where.shares,
                               [&](const Share& share) { return may_serve(*setting_.machine, own, share.node); });
  }

  // Facts that say nothing of single jobs, and those of which nothing is told here.
  template <class Other>
  void tell_of(const Other&) {}

  void tell_of(const Submitted& fact) {
    if (fact.spec.number != story_.job || found()) return;
    job_ = fact.job;
    waits_ = true;
    say("submitted", fmt::format("submitted: it asks for {}{}", asks(fact.spec),
                                 fact.bars == kNoBars ? "" : "; it may not start yet"));
  }
  void tell_of(const Rejected& fact) {
    if (fact.spec.number != story_.job || found()) return;
    job_ = fact.job;
    say("rejected", "rejected: it can never run here");
  }
  void tell_of(const Held& fact) { tell(fact.job, "held", "held"); }
  void tell_of(const Released& fact) { tell(fact.job, "released", "released"); }
  void tell_of(const Eligible& fact) { tell(fact.job, "eligible", "nothing keeps it from being queued any more"); }
  void tell_of(const Amended& fact) { tell(fact.job, "changed", "its terms were changed"); }
  void tell_of(const LicencesChanged& fact) { tell(fact.job, "changed", "its licences were changed"); }
  void tell_of(const CancelAsked& fact) { tell(fact.job, "cancelling", "a request came to cancel it"); }
  void tell_of(const Cancelled& fact) { ends(fact.job, "cancelled", "cancelled"); }
  void tell_of(const LaunchFailed& fact) { back(fact.job, "could not be launched"); }
  void tell_of(const Requeued& fact) { back(fact.job, "killed, and queued again"); }
  void tell_of(const Vacated& fact) { back(fact.job, "has given way, and is queued again"); }
  void tell_of(const Preempted& fact) {
    const Job* const other = cluster_.find_job(fact.beneficiary);
    tell(fact.job, "preempted",
         "told to give way" + (other == nullptr
                                   ? std::string()
                                   : fmt::format(" to job {}, which has a higher priority", other->spec.number)));
  }
  void tell_of(const Extended& fact) {
    tell(fact.job, "extended", "its time was up, and it was let go on: that harms no other job");
  }
  void tell_of(const Migrated& fact) { tell(fact.job, "moved", "moved to other nodes"); }
  void tell_of(const Finished& fact) {
    ends(fact.job, "ended", fact.outcome == Outcome::timed_out ? "stopped at its limit" : "ended");
  }

  void tell_of(const Promised& fact) {
    if (fact.job != job_ || !waits_) return;
    const Instant start = serve::told_start(fact.start, at_);
    const bool endless = start != fact.start;
    if (endless && !endless_) {
      say("promise", "when it starts is not known: a job before it has no time limit, or is suspended");
    } else if (fact.start == kNever) {
      say("promise", "its promise was withdrawn");
    } else if (start != kNever && promise_ == kNever) {
      first_promise_ = first_promise_ == kNever ? start : first_promise_;
      say("promise", "promised a start at " + when(start));
    } else if (start != kNever && start != promise_) {
      const bool later = start > promise_;
      const Duration by = later ? start - promise_ : promise_ - start;
      if (++moves_ <= kMostListed)
        say("promise",
            fmt::format("promise moved to {}, {}{}", when(start), report::readable(by), later ? " later" : " earlier"));
    }
    promise_ = start;
    endless_ = endless;
  }

  void tell_of(const Started& fact) {
    const std::string why = report::start_reason(note_of_start(cluster_, fact), setting_.unix_start);
    if (fact.job == job_) {
      sum_up();
      started_ = at_;
      say("started", fmt::format("started{}: {}", nodes_of(fact), why));
      return;
    }
    if (!waits_ || (fact.job < job_ && !fact.backfilled) || !takes_of_it(fact)) return;  // it was before it anyway
    const JobSpec& other = cluster_.job(fact.job).spec;
    ++(first_promise_ == kNever ? passed_unpromised_ : passed_);
    if (++listed_ <= kMostListed)
      say("passed", fmt::format("job {} passed it ({}): {}", other.number, asks(other), why));
  }

  void tell(JobId job, const char* event, const std::string& what) {
    if (job == job_) say(event, what);
  }
  void back(JobId job, const std::string& what) {
    tell(job, "requeued", what);
    if (job == job_) waits_ = true;
  }
  void ends(JobId job, const char* event, const std::string& what) {
    if (job != job_) return;
    if (waits_) sum_up();
    say(event, what);
  }

  // It waits no longer: what was not listed one by one.
  void sum_up() {
    if (listed_ > kMostListed)
      say("passed", fmt::format("and {} more passed it", grouped(static_cast<std::int64_t>(listed_ - kMostListed))));
    if (moves_ > kMostListed)
      say("promise", fmt::format("its promise was moved {} times in all", grouped(static_cast<std::int64_t>(moves_))));
    listed_ = moves_ = 0;
    told_.clear();
    waits_ = false;
  }

  std::string nodes_of(const Started& fact) const {
    const Machine* machine = cluster_.options().machine;
    std::string names;
    for (const Share& share : fact.where.shares) names += " " + machine->nodes[share.node.value].name;
    if (names.empty()) return "";
    return " on" + names;
  }

  // Whether the jobs that passed it did it any harm, by what it was promised first; of those that passed it before
  // that, it is not known.
  std::string conclusion() const {
    if (started_ == kNever || first_promise_ == kNever) return "";
    if (started_ > first_promise_) {
      return fmt::format(
          "It started {} later than it was promised at first: a promise holds as long as jobs ahead of it keep to what "
          "is expected of them and no job with a higher priority comes.",
          report::readable(started_ - first_promise_));
    }
    const std::string when_it_started = started_ == first_promise_ ? "when it was promised at first"
                                                                   : report::readable(first_promise_ - started_) +
                                                                         " earlier than it was promised at first";
    std::string text = "It started " + when_it_started;
    if (passed_ == 0 && passed_unpromised_ == 0) return text + ".";
    if (passed_unpromised_ == 0) return text + ": those that passed it did it no harm.";
    text += passed_ == 0 ? "." : ": those that passed it since then did it no harm.";
    return fmt::format("{} {} passed it before it was promised anything, and may have put its start off.", text,
                       amount(static_cast<std::int64_t>(passed_unpromised_), "job"));
  }

  const JournalSetting& setting_;
  Cluster cluster_;  // before the fact that is heard
  serve::Contenders contenders_;
  JobStory story_;
  std::set<std::string> told_;  // of why it waits
  JobId job_;
  Instant at_ = kEpoch;
  Instant promise_ = kNever;
  bool endless_ = false;  // what it is promised cannot be told
  Instant first_promise_ = kNever;
  Instant started_ = kNever;
  std::size_t passed_unpromised_ = 0;  // before it was promised anything
  std::size_t passed_ = 0;             // since then
  std::size_t listed_ = 0;             // of all these, since it was queued last
  std::size_t moves_ = 0;
  bool waits_ = false;
};

std::string time_of(const JobStory& story, const JobStory::Line& line) {
  return report::readable(line.at, story.unix_start);
}

}  // namespace

Result<JobStory> story_of(std::int64_t job, const std::string& path) {
  const std::string file = is_state(path) ? database_of(path) : path;
  auto journal = TRY(KeptJournal::open(file));
  const auto setting = TRY(setting_of(journal.head(), path));
  Story story(job, setting);
  std::string since;
  const auto heard = journal.visit([&](const Fact& fact) -> Result<void> {
    if (std::string anew = begun_anew(fact, setting.unix_start); !anew.empty())
      since = fmt::format(" from {} on", anew);
    if (auto done = story.hear(fact); !done) return fail("{}: {}", path, done.error().message);
    return {};
  });
  if (!heard) return std::unexpected(heard.error());
  if (!story.found())
    return fail(
        "{}: there is no job {} in what it tells{}; a service keeps what happened to a job only for some time and "
        "until a policy is set, and `rota history` what became of it.",
        path, job, since);
  return story.told();
}

std::string story_text(const JobStory& story) {
  std::string text;
  for (const JobStory::Line& line : story.lines) text += fmt::format("{}  {}\n", time_of(story, line), line.text);
  return text + (story.conclusion.empty() ? "" : story.conclusion + "\n");
}

std::string story_json(const JobStory& story) {
  Json lines = Json::array();
  for (const JobStory::Line& line : story.lines) {
    lines.push_back({{"at_s", to_seconds(line.at.time_since_epoch())},
                     {"time", time_of(story, line)},
                     {"event", line.event},
                     {"text", line.text}});
  }
  return shown_json({{"job", story.job},
                     {"unix_start", story.unix_start > 0 ? Json(story.unix_start) : Json(nullptr)},
                     {"story", std::move(lines)},
                     {"conclusion", story.conclusion}});
}

}  // namespace rota::cli
