// /v1/plan: what runs and what is to run, in the order of the queue: what a screen shows.
#include <fmt/core.h>
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "api/job_json.h"
#include "api/routes.h"
#include "base/letters.h"
#include "base/text.h"

namespace rota::api {
namespace {

using Json = nlohmann::json;
using serve::JobEntry;
using serve::Service;

constexpr std::int64_t kUsual = 200;         // rows of each list
constexpr std::size_t kMostLooked = 20'000;  // jobs of each list that are looked at for a text

bool holds(std::string_view text, std::string_view small_part) {
  const auto same = [](char a, char b) { return lower(a) == b; };
  return std::ranges::search(text, small_part, same).begin() != text.end();
}

// Tasks of an array that wait alike, as one row.
struct Folded {
  std::size_t row = 0;
  serve::Ranges indexes;
  std::size_t tasks = 0;

  void add(std::int64_t index) {
    indexes.emplace_back(index, index);
    ++tasks;
  }
};

// Tasks that have all this in common stand in one row.
struct Alike {
  std::int64_t array = 0;
  std::string_view sort;  // what it waits for
  std::string_view name;  // this and what follows may have been changed for some of them
  std::uint32_t processors = 0;
  std::uint32_t nodes = 0;
  std::int64_t memory = 0;
  Duration limit{0};
  std::int32_t priority = 0;
  PartitionId partition;
  Instant begin = kEpoch;  // still to come; else this
  std::vector<std::pair<LicenceId, std::uint32_t>> licences = {};

  Alike(const JobEntry& entry, const JobSpec& spec, std::string_view waits_for, Instant not_before)
      : array(entry.about->array),
        sort(waits_for),
        name(entry.about->name),
        processors(spec.processors),
        nodes(spec.nodes),
        memory(spec.memory),
        limit(spec.limit),
        priority(spec.priority),
        partition(spec.partition),
        begin(not_before) {
    each_licence(spec, [&](LicenceId kind, std::uint32_t count) { licences.emplace_back(kind, count); });
  }
  auto operator<=>(const Alike&) const = default;
};

// One list: its first rows, and how many there are beyond.
struct Listing {
  Service& service;
  std::size_t most;
  std::string find = {};  // in small letters; empty: all
  bool fold = false;
  Json rows = Json::array();
  std::size_t looked = 0;
  std::size_t found = 0;
  std::map<Alike, Folded> folded = {};
  std::size_t in_rows = 0;    // of `found`
  Listing* before = nullptr;  // where tasks of an array stand whose others only wait for their turn

  bool suits(JobId id, const JobEntry& entry) const {
    if (find.empty()) return true;
    const Job& job = service.view().job(id);
    const PartitionId partition = job.spec.partition;
    return holds(service.book().shown(id), find) || holds(entry.about->name, find) || holds(entry.about->user, find) ||
           holds(service.state_of(job), find) ||
           (partition.valid() && holds(service.machine().partitions[partition.value].name, find));
  }

  // Whether it goes into the row of a task before it.
  bool joins(JobId id, const JobEntry& entry) {
    const Job& job = service.view().job(id);
    if (!fold || entry.about->array == 0 || (job.state != JobState::waiting && job.state != JobState::barred))
      return false;
    const std::string_view sort = job.state == JobState::barred ? service.reason_of(id, serve::Telling::word).word : "";
    const JobTerms* terms = service.view().eligibility().terms(id);
    const Instant begin = terms != nullptr && terms->begin > service.view().now() ? terms->begin : kEpoch;
    if (before != nullptr && sort == "JobArrayTaskLimit") {
      if (const auto others = before->folded.find(Alike(entry, job.spec, "", begin)); others != before->folded.end()) {
        others->second.add(entry.index);
        return true;
      }
    }
    const auto [at, is_new] = folded.try_emplace(Alike(entry, job.spec, sort, begin), Folded{rows.size(), {}, 0});
    if (is_new && rows.size() == most) {
      folded.erase(at);
      return false;
    }
    at->second.add(entry.index);
    return !is_new;
  }

  void close() {
    for (const auto& [of, array] : folded) {
      if (array.tasks < 2) continue;
      Json& row = rows[array.row];
      std::string indexes;
      for (const auto& [from, to] : serve::merged(array.indexes))
        indexes += (indexes.empty() ? "" : ",") + std::to_string(from) + (from < to ? "-" + std::to_string(to) : "");
      if (const auto at_once = row.value("throttle", 0U); at_once > 0) indexes += "%" + std::to_string(at_once);
      row["first"] = row["id"];
      row["tasks"] = array.tasks;
      row["id"] = fmt::format("{}_[{}]", of.array, indexes);
    }
  }

  void add_row(JobId id) {
    ++in_rows;
    Json row = job_json(service, id, Detail::explained, false);
    add_planned_start(service, id, row);
    rows.push_back(std::move(row));
  }

  // False: enough is seen.
  bool see(JobId id) {
    const JobEntry* entry = service.book().find(id);
    if (entry == nullptr) return true;
    if (find.empty() && !fold && found == most) return false;
    if ((fold || !find.empty()) && ++looked > kMostLooked) return false;
    if (!suits(id, *entry)) return true;
    ++found;
    if (joins(id, *entry)) {
      ++in_rows;
    } else if (rows.size() < most) {
      add_row(id);
    }
    return true;
  }

  // The rest of so many in all, or, of those that were looked for, of as many as were looked at.
  std::int64_t more(std::size_t in_all) const {
    return static_cast<std::int64_t>((find.empty() ? std::max(in_all, in_rows) : found) - in_rows);
  }
};

void see_running(const View& view, Listing& list) {
  view.running().for_each([&](const RunningEntry& entry) { return list.see(entry.job); });
}

void see_waiting(const View& view, Listing& list) {
  for (const WaitingEntry* entry = view.waiting().head(); entry != nullptr && list.see(entry->job);)
    entry = view.waiting().next(entry->place);
}

// Those that may not start yet have no order but that of their ids.
void see_held(const View& view, Listing& list) {
  std::size_t left = view.barred();
  list.service.book().for_each([&](JobId id, const JobEntry&) {
    if (left == 0) return false;
    if (view.job(id).state != JobState::barred) return true;
    --left;
    return list.see(id);
  });
}

}  // namespace

void answer_plan(const Ask& ask) {
  std::int64_t limit = kUsual;
  if (!take_number(ask, "limit", limit)) return;
  Service& service = ask.service;
  const View& view = service.view();
  service.planned_starts().look(service);
  const std::string find = lower(text_of(ask, "find").value_or(""));
  const auto most = static_cast<std::size_t>(std::clamp<std::int64_t>(limit, 1, kMostListed));
  bool fold = false;
  if (!take_flag(ask, "fold", fold)) return;
  Listing running{service, most, find, fold}, waiting{service, most, find, fold}, held{service, most, find, fold};
  see_running(view, running);
  see_waiting(view, waiting);
  held.before = &waiting;
  see_held(view, held);
  waiting.close();
  held.close();
  Json json{{"now", unix_seconds(service, service.loop().now())},
            {"sequence", view.sequence()},
            {"current", service.planned_starts().current()},
            {"more_running", running.more(view.running().size())},
            {"more_waiting", waiting.more(view.waiting().size())},
            {"more_held", held.more(view.barred())},
            {"running", std::move(running.rows)},
            {"waiting", std::move(waiting.rows)},
            {"held", std::move(held.rows)}};
  ask.reply->send({200, "application/json", dumped(json), {}});
}

}  // namespace rota::api
