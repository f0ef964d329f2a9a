#include "serve/job_lookup.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "base/text.h"
#include "serve/node_list.h"

namespace rota::serve {
namespace {

const std::size_t kUser = SelectorPart{SelectorPart::Kind::user, 0, 0, {}, {}}.sort();

// What a job has of the sort of a word that selects.
std::string_view word_of(std::size_t sort, const Job& job, const JobEntry& entry, const JobLookup& jobs,
                         const Machine& machine) {
  using Kind = SelectorPart::Kind;
  const auto is = [&](Kind kind) { return sort == SelectorPart{kind, 0, 0, {}, {}}.sort(); };
  if (sort == kUser) return entry.about->user;
  if (is(Kind::name)) return entry.about->name;
  if (is(Kind::state)) return jobs.state_of(job);
  return job.spec.partition.valid() ? std::string_view(machine.partitions[job.spec.partition.value].name) : "";
}

// "14_3", "14_[1-5]".
std::string shown_tasks(std::int64_t array, std::int64_t from, std::int64_t to) {
  if (from == to) return shown_task(array, from);
  return fmt::format("{}_[{}-{}]", array, from, to);
}

}  // namespace

Result<std::vector<JobId>> JobLookup::select(const Caller& caller, const std::string& selector) const {
  const auto parts = TRY(parts_of(caller, selector));
  std::array<std::set<std::string, std::less<>>, SelectorPart::kSorts> words;  // none of a sort: any suits
  std::array<std::size_t, SelectorPart::kSorts> asked{};
  std::set<std::uint32_t> uids;
  bool all = false;
  for (const SelectorPart& part : parts) {
    ++asked[part.sort()];
    all = all || part.kind == SelectorPart::Kind::all;
    const auto uid = part.kind == SelectorPart::Kind::user ? user_number(part.word) : std::nullopt;
    if (uid) {
      uids.insert(*uid);
    } else if (part.sort() > 0) {
      words[part.sort()].insert(part.word);
    }
  }
  const std::vector<JobId> by_id = named_one_by_one(parts);
  const bool by_id_alone = asked[0] > 0 && !all;
  const auto suits = [&](JobId id, const JobEntry& entry) {
    if (all && !caller.operates && entry.about->uid != caller.uid && !std::ranges::binary_search(by_id, id))
      return false;
    const Job& job = desk_.view().job(id);
    for (std::size_t sort = 1; sort < words.size(); ++sort) {
      if (sort == kUser && uids.contains(entry.about->uid)) continue;
      if (asked[sort] > 0 && !words[sort].contains(word_of(sort, job, entry, *this, *desk_.machine()))) return false;
    }
    return true;
  };
  std::vector<JobId> chosen;
  if (by_id_alone) {
    for (const JobId id : by_id) {
      if (suits(id, *book_.find(id))) chosen.push_back(id);
    }
    return chosen;
  }
  book_.for_each([&](JobId id, const JobEntry& entry) {
    if (suits(id, entry)) chosen.push_back(id);
    return true;
  });
  return chosen;
}

Result<std::vector<SelectorPart>> JobLookup::parts_of(const Caller& caller, const std::string& selector) const {
  using Kind = SelectorPart::Kind;
  auto parts = parse_selector(selector);
  if (!parts) return parts;
  for (SelectorPart& part : *parts) {
    if (part.kind == Kind::user && part.word == "me") part.word = caller.user;
    if (part.kind != Kind::last) continue;
    part.kind = Kind::numbers;
    part.from = part.to = number_of_last(caller);
  }
  return parts;
}

// Known jobs that are named by their ids or that of their array: these are found without a look through all jobs.
std::vector<JobId> JobLookup::named_one_by_one(const std::vector<SelectorPart>& parts) const {
  std::vector<JobId> named;
  for (const auto& [from, to] : numbers_of(parts)) {
    book_.for_each_number_after(from - 1, [&](std::int64_t number, JobId id) {
      if (number <= to) named.push_back(id);
      return number <= to;
    });
    book_.for_each_task_of(from, to, [&](JobId task) { named.push_back(task); });
  }
  for (const SelectorPart& part : parts) {
    if (part.kind != SelectorPart::Kind::tasks) continue;
    book_.for_each_task(part.from, [&](std::int64_t index, JobId task) {
      if (within(part.indexes, index)) named.push_back(task);
    });
  }
  std::ranges::sort(named);
  named.erase(std::ranges::unique(named).begin(), named.end());
  return named;
}

Result<std::optional<store::HistoryRow>> JobLookup::history_of(JobId job) const {
  store::HistoryQuery query;
  query.jobs = {job, job};
  return first_row(query);
}

Result<std::optional<store::HistoryRow>> JobLookup::history_of_number(std::int64_t number) const {
  if (number < 1 || number > desk_.view().last_number()) return std::nullopt;
  store::HistoryQuery query;
  query.numbers = {number};
  query.limit = 1;
  return first_row(query);
}

Result<std::optional<store::HistoryRow>> JobLookup::first_row(const store::HistoryQuery& query) const {
  auto rows = TRY(desk_.store().history(query));
  if (rows.empty()) return std::nullopt;
  return std::optional(std::move(rows.front()));
}

std::string JobLookup::shown(JobId job) const {
  if (desk_.view().knows(job)) return book_.shown(job);
  const auto row = history_of(job);
  return row && *row ? (*row)->shown() : book_.shown(job);
}

std::int64_t JobLookup::number_of(JobId job) const {
  if (const JobEntry* const known = book_.find(job)) return known->number;
  const auto row = history_of(job);
  return row && *row ? (*row)->number : 0;
}

Result<std::optional<JobId>> JobLookup::job_of(std::int64_t number) const {
  if (const JobId known = book_.numbered(number); known.valid()) return known;
  const auto row = TRY(history_of_number(number));
  return row ? std::optional(row->job) : std::nullopt;
}

std::int64_t JobLookup::number_of_last(const Caller& caller) const {
  const JobId known = book_.latest_of(caller.uid);
  store::HistoryQuery query;
  query.users = {caller.user};
  query.limit = 1;
  const auto rows = desk_.store().history(query);
  const bool has_left = rows && !rows->empty() && (!known.valid() || known < rows->front().job);
  if (has_left) return rows->front().array > 0 ? rows->front().array : rows->front().number;
  if (!known.valid()) return 0;
  const JobEntry* const entry = book_.find(known);
  if (entry != nullptr) return entry->about->array > 0 ? entry->about->array : entry->number;
  const auto row = history_of(known);
  if (!row || !*row) return 0;
  return (*row)->array > 0 ? (*row)->array : (*row)->number;
}

std::optional<JobId> JobLookup::task_of(std::int64_t array, std::int64_t index) const {
  if (const JobId known = book_.task(array, index); known.valid()) return known;
  for (const store::HistoryRow& row : ended_tasks(array, index)) {
    if (row.array_index == index) return row.job;
  }
  return std::nullopt;
}

std::vector<store::HistoryRow> JobLookup::ended_tasks(std::int64_t array, std::int64_t last) const {
  if (array < 1 || array > desk_.view().last_number()) return {};
  store::HistoryQuery query;
  query.array = array;
  // Numbers are in a row and rise with the indexes, which begin at 0 or behind it.
  query.before_number = array + std::clamp<std::int64_t>(last, 0, UINT32_MAX) + 1;
  auto tasks = desk_.store().history(query);
  if (!tasks) return {};
  std::ranges::sort(*tasks, {}, &store::HistoryRow::array_index);
  return std::move(*tasks);
}

std::string Absent::sentence() const {
  if (!ended) return fmt::format("there is no job {}.", id);
  return fmt::format("job {} has ended already{}", id,
                     never.empty() ? "." : fmt::format("; there is no job {}.", never));
}

Result<std::vector<Absent>> JobLookup::not_there(const Caller& caller, const std::string& selector) const {
  using Kind = SelectorPart::Kind;
  std::vector<Absent> absent;
  std::size_t seen = 0;  // tasks that have ended
  const auto parts = TRY(parts_of(caller, selector));
  for (const SelectorPart& part : parts) {
    if (part.kind == Kind::tasks) {
      if (seen > kMostNumbers)
        return fail("so many tasks that have ended are not looked up one by one; name those of one array at a time.");
      seen += add_absent_tasks(part, absent);
    }
    if (part.kind != Kind::numbers || part.from != part.to || part.from < 1) continue;
    bool known = book_.numbered(part.from).valid();
    // The first task of an array may have ended before the others.
    book_.for_each_task(part.from, [&](std::int64_t, JobId) { known = true; });
    const std::string id = std::to_string(part.from);
    const bool told = std::ranges::find(absent, id, &Absent::id) != absent.end();  // "12,last"
    if (!known && !told) absent.push_back({.id = id, .ended = has_ended(part.from)});
  }
  return absent;
}

// A range of tasks is absent where none of it is known. Returns how many that have ended were looked at.
std::size_t JobLookup::add_absent_tasks(const SelectorPart& part, std::vector<Absent>& absent) const {
  std::set<std::int64_t> known;
  book_.for_each_task(part.from, [&](std::int64_t index, JobId) { known.insert(index); });
  const auto some_of = [](const std::set<std::int64_t>& indexes, std::int64_t from, std::int64_t to) {
    const auto at = indexes.lower_bound(from);
    return at != indexes.end() && *at <= to;
  };
  Ranges left = part.indexes;
  std::erase_if(left, [&](const auto& range) { return some_of(known, range.first, range.second); });
  if (left.empty()) return 0;
  std::set<std::int64_t> ended;
  for (const store::HistoryRow& task : ended_tasks(part.from, left.back().second)) ended.insert(task.array_index);
  for (const auto& [from, to] : left) {
    if (!some_of(ended, from, to)) {
      absent.push_back({.id = shown_tasks(part.from, from, to)});
      continue;
    }
    const std::int64_t first = *ended.lower_bound(from), last = *std::prev(ended.upper_bound(to));
    std::string never = first > from ? shown_tasks(part.from, from, first - 1) : "";
    if (last < to) never += (never.empty() ? "" : ", ") + shown_tasks(part.from, last + 1, to);
    absent.push_back({.id = shown_tasks(part.from, first, last), .never = std::move(never), .ended = true});
  }
  return ended.size();
}

bool JobLookup::has_ended(std::int64_t number) const {
  const auto row = history_of_number(number);
  return row && *row;
}

Result<std::optional<KeptAbout>> JobLookup::about(JobId job) const {
  if (const JobEntry* entry = book_.find(job)) return KeptAbout{*entry->about, entry->index};
  const auto payload = TRY(desk_.store().payload(job));
  if (!payload) return std::nullopt;
  auto kept = TRY(read_about(payload->about));
  return std::optional(std::move(kept));
}

std::string JobLookup::nodes_of(JobId job) const {
  if (desk_.machine()->nodes.empty()) return {};
  return node_list(*desk_.machine(), desk_.view().placement(job).shares, [](const Share& share) { return share.node; });
}

Result<void> JobLookup::check_key(const Caller& caller, const RequestKey& key, Keyed what) const {
  constexpr std::size_t kLongestKey = 255;
  if (key.text.empty()) return {};
  if (key.text.size() > kLongestKey) return fail("an `Idempotency-Key` has 255 bytes at most.");
  const bool of_jobs = what == Keyed::jobs;
  const auto use = TRY(desk_.store().key_use((of_jobs ? "" : kKeyOfReservation) + key.text, caller.uid));
  if (!use || use->request.empty() || use->request == key.digest) return {};
  const JobId id = use->job;
  const std::string job = shown(id);
  return fail(
      "this `Idempotency-Key` came with another request before, which made {}; give each request a key of its own, and "
      "send only the very same one again with it.",
      of_jobs ? "job " + job.substr(0, job.find('_')) : "reservation " + std::to_string(id.value));
}

bool JobLookup::ends_at_limit(const Job& job) const {
  const RunProbe* probe = desk_.engine().run_probe();
  return job.steady() && probe && probe->ends_at_limit(book_.numbered(job.spec.number));
}

bool JobLookup::holds_stopped(JobId job) const {
  const RunProbe* probe = desk_.engine().run_probe();
  return probe && probe->holds_stopped(job);
}

std::string_view JobLookup::state_of(const Job& job) const {
  return ends_at_limit(job) ? "COMPLETING" : state_word(job);
}

PatternWords JobLookup::pattern_words(JobId job, const KeptAbout& kept, const std::string& nodes,
                                      std::int32_t restarts) const {
  const std::int64_t number = number_of(job);
  const std::string& list = nodes.empty() ? desk_.machine()->name : nodes;
  const auto hosts = parse_host_list(list);
  return {.job = number,
          .array = kept.about.array > 0 ? kept.about.array : number,
          .index = std::max<std::int64_t>(0, kept.index),
          .name = kept.about.name,
          .user = kept.about.user,
          .node = hosts && !hosts->empty() ? hosts->front() : list,
          .restarts = restarts};
}

std::string JobLookup::output_path(JobId job, const KeptAbout& kept, bool error, std::int32_t restarts,
                                   const std::string& nodes) const {
  const About& about = kept.about;
  std::string pattern = error ? about.error : about.output;
  if (pattern.empty()) pattern = error ? about.output : "";
  if (pattern.empty()) pattern = about.array > 0 ? "rota-%A_%a.out" : "rota-%j.out";
  std::string path = fill_in(pattern, pattern_words(job, kept, nodes, restarts));
  return path.starts_with('/') ? path : fmt::format("{}/{}", about.folder, path);
}

}  // namespace rota::serve
