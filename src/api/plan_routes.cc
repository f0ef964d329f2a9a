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
using serve::Answers;
using serve::JobEntry;
using serve::KnownJob;

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
  Answers& answers;
  std::size_t most;
  Instant latest;         // fact
  std::string find = {};  // in small letters; empty: all
  bool fold = false;
  Json rows = Json::array();
  std::size_t looked = 0;
  std::size_t found = 0;
  std::map<Alike, Folded> folded = {};
  std::size_t in_rows = 0;    // of `found`
  Listing* before = nullptr;  // where tasks of an array stand whose others only wait for their turn

  bool suits(JobId id, const KnownJob& known) const {
    if (find.empty()) return true;
    const Job& job = known.job;
    const JobEntry& entry = known.entry;
    const PartitionId partition = job.spec.partition;
    return holds(answers.jobs().shown(id), find) || holds(entry.about->name, find) || holds(entry.about->user, find) ||
           holds(answers.jobs().state_of(job), find) ||
           (partition.valid() && holds(answers.machine().partitions[partition.value].name, find));
  }

  // Whether it goes into the row of a task before it.
  bool joins(JobId id, const KnownJob& known) {
    const Job& job = known.job;
    const JobEntry& entry = known.entry;
    if (!fold || entry.about->array == 0 || (job.state != JobState::waiting && job.state != JobState::barred))
      return false;
    const std::string_view sort =
        job.state == JobState::barred ? answers.reasons().reason_of(id, serve::Telling::word).word : "";
    const Instant begin = known.begin > latest ? known.begin : kEpoch;
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
    Json row = job_json(answers, id, Detail::explained, false);
    add_planned_start(answers, id, row);
    rows.push_back(std::move(row));
  }

  // False: enough is seen.
  bool see(JobId id) {
    const auto known = answers.known(id);
    if (!known) return true;
    if (find.empty() && !fold && found == most) return false;
    if ((fold || !find.empty()) && ++looked > kMostLooked) return false;
    if (!suits(id, *known)) return true;
    ++found;
    if (joins(id, *known)) {
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

}  // namespace

void answer_plan(const Ask& ask) {
  std::int64_t limit = kUsual;
  if (!take_number(ask, "limit", limit)) return;
  Answers& answers = ask.answers();
  const serve::ServiceStatus status = answers.status();
  answers.planned_starts().look();
  const std::string find = lower(text_of(ask, "find").value_or(""));
  const auto most = static_cast<std::size_t>(std::clamp<std::int64_t>(limit, 1, kMostListed));
  bool fold = false;
  if (!take_flag(ask, "fold", fold)) return;
  Listing running{answers, most, status.latest, find, fold}, waiting = running, held = running;
  answers.each_running([&](JobId id) { return running.see(id); });
  answers.each_waiting([&](JobId id) { return waiting.see(id); });
  held.before = &waiting;
  answers.each_barred([&](JobId id) { return held.see(id); });
  waiting.close();
  held.close();
  Json json{{"now", unix_seconds(answers, answers.clock().now())},
            {"sequence", status.facts},
            {"current", answers.planned_starts().current()},
            {"more_running", running.more(status.running)},
            {"more_waiting", waiting.more(status.waiting)},
            {"more_held", held.more(status.barred)},
            {"running", std::move(running.rows)},
            {"waiting", std::move(waiting.rows)},
            {"held", std::move(held.rows)}};
  ask.reply->send({200, "application/json", dumped(json), {}});
}

}  // namespace rota::api
