// /v1/plan: what runs and what is to run, in the order of the queue: what a screen shows.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "api/job_json.h"
#include "api/routes.h"
#include "base/text.h"

namespace rota::api {
namespace {

using Json = nlohmann::json;
using serve::JobEntry;
using serve::Service;

constexpr std::int64_t kUsual = 200;         // rows of each list
constexpr std::size_t kMostLooked = 20'000;  // jobs of each list that are looked at for a text

char small(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool holds(std::string_view text, std::string_view small_part) {
  const auto same = [](char a, char b) { return small(a) == b; };
  return std::ranges::search(text, small_part, same).begin() != text.end();
}

// One list: its first rows, and how many there are beyond.
struct Listing {
  Service& service;
  std::size_t most;
  std::string find = {};  // in small letters; empty: all
  Json rows = Json::array();
  std::size_t looked = 0;
  std::size_t found = 0;

  bool suits(JobId id, const JobEntry& entry) const {
    if (find.empty()) return true;
    const Job& job = service.view().job(id);
    const PartitionId partition = job.spec.partition;
    return holds(service.book().shown(id), find) || holds(entry.about->name, find) || holds(entry.about->user, find) ||
           holds(serve::state_word(job), find) ||
           (partition.valid() && holds(service.machine().partitions[partition.value].name, find));
  }

  void add_row(JobId id) {
    Json row = job_json(service, id, Detail::listed, false);
    const Job& job = service.view().job(id);
    if (job.state == JobState::waiting || job.state == JobState::barred) row["why"] = service.reason_of(id).sentence;
    if (const Instant start = service.planned_starts().of(id); job.state == JobState::waiting && start != kNever)
      row["starts_by"] = unix_seconds(service, start);
    rows.push_back(std::move(row));
  }

  // False: enough is seen.
  bool see(JobId id) {
    const JobEntry* entry = service.book().find(id);
    if (entry == nullptr) return true;
    if (find.empty() && found == most) return false;
    if (!find.empty() && ++looked > kMostLooked) return false;
    if (!suits(id, *entry)) return true;
    if (found++ < most) add_row(id);
    return true;
  }

  // The rest of so many in all, or, of those that were looked for, of as many as were looked at.
  std::int64_t more(std::size_t in_all) const {
    return static_cast<std::int64_t>((find.empty() ? std::max(in_all, rows.size()) : found) - rows.size());
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
  list.service.book().for_each_after({}, [&](JobId id, const JobEntry&) {
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
  std::string find = text_of(ask, "find").value_or("");
  std::ranges::transform(find, find.begin(), small);
  const auto most = static_cast<std::size_t>(std::clamp<std::int64_t>(limit, 1, kMostListed));
  Listing running{service, most, find}, waiting{service, most, find}, held{service, most, find};
  see_running(view, running);
  see_waiting(view, waiting);
  see_held(view, held);
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
