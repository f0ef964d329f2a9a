#include "serve/job_book.h"

#include <fmt/core.h>

#include <sys/wait.h>

#include <algorithm>
#include <utility>

namespace rota::serve {

ProcessEnd end_of(std::int32_t status) {
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 0, WIFSIGNALED(status) ? WTERMSIG(status) : 0};
}

const JobEntry::Heard& JobEntry::heard() const {
  static const Heard kNothing;
  return told ? *told : kNothing;
}

JobEntry::Heard& JobEntry::hear() {
  if (!told) told = std::make_unique<Heard>();
  return *told;
}

void JobBook::put(JobId job, JobEntry entry) {
  if (shared_ && *shared_ == *entry.about) entry.about = shared_;
  shared_ = entry.about;
  JobId& latest = latest_[entry.about->uid];
  latest = latest.valid() ? std::max(latest, job) : job;
  numbers_[entry.number] = job;
  if (entry.about->array > 0) tasks_[{entry.about->array, entry.index}] = job;
  const std::uint32_t uid = entry.about->uid;
  const std::uint32_t awaits = entry.awaits;
  if (!entries_.insert_or_assign(job, std::move(entry)).second) return;  // one that is there stays whose it is
  ++count_[uid];
  if (awaits > 0) awaited_[uid] += awaits;
}

void JobBook::forget(JobId job) {
  const auto found = entries_.find(job);
  if (found == entries_.end()) return;
  numbers_.erase(found->second.number);
  if (found->second.about->array > 0) tasks_.erase({found->second.about->array, found->second.index});
  const std::uint32_t uid = found->second.about->uid;
  if (const auto of = count_.find(uid); --of->second == 0) count_.erase(of);
  if (found->second.awaits > 0) awaited_[uid] -= found->second.awaits;
  entries_.erase(found);
}

// Its user's latest is looked for anew: the one before may have left meanwhile, and then the history knows it.
void JobBook::take_back(JobId job) {
  const JobEntry* entry = find(job);
  if (entry == nullptr) return;
  const std::uint32_t uid = entry->about->uid;
  forget(job);
  const auto before = std::find_if(entries_.rbegin(), entries_.rend(),
                                   [&](const auto& known) { return known.second.about->uid == uid; });
  if (before == entries_.rend()) {
    latest_.erase(uid);
  } else {
    latest_[uid] = before->first;
  }
}

std::size_t JobBook::count_of(std::uint32_t uid) const {
  const auto found = count_.find(uid);
  return found == count_.end() ? 0 : found->second;
}

std::uint64_t JobBook::awaited_by(std::uint32_t uid) const {
  const auto found = awaited_.find(uid);
  return found == awaited_.end() ? 0 : found->second;
}

JobId JobBook::numbered(std::int64_t number) const {
  const auto found = numbers_.find(number);
  return found == numbers_.end() ? JobId{} : found->second;
}

JobId JobBook::task(std::int64_t array, std::int64_t index) const {
  const auto found = tasks_.find({array, index});
  return found == tasks_.end() ? JobId{} : found->second;
}

JobEntry* JobBook::find(JobId job) {
  const auto found = entries_.find(job);
  return found == entries_.end() ? nullptr : &found->second;
}

const JobEntry* JobBook::find(JobId job) const {
  const auto found = entries_.find(job);
  return found == entries_.end() ? nullptr : &found->second;
}

std::string shown_task(std::int64_t array, std::int64_t index) { return fmt::format("{}_{}", array, index); }

std::string JobBook::shown(const JobEntry& entry) {
  if (entry.about->array == 0) return std::to_string(entry.number);
  return shown_task(entry.about->array, entry.index);
}

std::string JobBook::shown(JobId job) const {
  const JobEntry* entry = find(job);
  return entry ? shown(*entry) : "that is not known any more";
}

std::vector<std::string> shown_all(const JobBook& book, const std::vector<JobId>& jobs, const AskHistory& history) {
  const auto has_left = [&](JobId job) { return book.find(job) == nullptr; };
  std::map<JobId, std::string> left;
  const auto first = std::ranges::find_if(jobs, has_left);
  if (first != jobs.end()) {
    const JobId last = *std::find_if(jobs.rbegin(), jobs.rend(), has_left);
    store::HistoryQuery query;
    query.jobs = {*first, last};
    const auto rows = history(query);
    for (const store::HistoryRow& row : rows ? *rows : std::vector<store::HistoryRow>{})
      left.emplace(row.job, row.shown());
  }
  std::vector<std::string> all;
  for (const JobId job : jobs) {
    const auto found = left.find(job);
    all.push_back(found == left.end() ? book.shown(job) : found->second);
  }
  return all;
}

JobId JobBook::latest_of(std::uint32_t uid) const {
  const auto found = latest_.find(uid);
  return found == latest_.end() ? JobId{} : found->second;
}

std::string_view state_word(const Job& job) {
  switch (job.state) {
    case JobState::waiting:
    case JobState::barred:
      return "PENDING";
    case JobState::running:
      if (job.stopping || job.leaving) return "COMPLETING";
      if (job.starting) return "CONFIGURING";
      return job.suspended() ? "SUSPENDED" : "RUNNING";
    case JobState::completed:
      return "COMPLETED";
    case JobState::timed_out:
      return "TIMEOUT";
    case JobState::cancelled:
    case JobState::rejected:
      return "CANCELLED";
    case JobState::failed:
      return "FAILED";
    case JobState::node_failed:
      return "NODE_FAIL";
    case JobState::out_of_memory:
      return "OUT_OF_MEMORY";
    case JobState::unknown:
      return "UNKNOWN";
  }
  return "PENDING";
}

}  // namespace rota::serve
