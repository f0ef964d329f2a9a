#include "engine/slurm/mirror.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "model/licence_names.h"
#include "model/licence_use.h"
#include "model/node_wish.h"

namespace rota::slurm {
namespace {

// How many processors it has on each is guessed once, when it is first seen there.
bool same_nodes(const Placement& a, const Placement& b) {
  const auto sorted = [](const Placement& where) {
    std::vector<NodeId> all;
    for (const Share& s : where.shares) all.push_back(s.node);
    std::ranges::sort(all);
    return all;
  };
  return sorted(a) == sorted(b);
}

// So many more processors go onto these nodes as evenly as room(node) allows. How many find none.
template <class Room>
std::uint32_t spread(Placement& where, std::uint32_t left, const Room& room) {
  for (bool some = true; left > 0 && some;) {
    some = false;
    const auto each = std::max<std::uint32_t>(left / static_cast<std::uint32_t>(where.shares.size()), 1);
    for (Share& share : where.shares) {
      const std::int64_t most = room(share.node) - share.processors;
      if (most <= 0) continue;
      const auto more = static_cast<std::uint32_t>(std::min<std::int64_t>({each, most, left}));
      share.processors += more;
      left -= more;
      some = some || more > 0;
    }
  }
  return left;
}

}  // namespace

Mirror::Mirror(Uses uses) : use_(std::move(uses)) {
  view().for_each_job([&](JobId id, const Job& job) {
    if (!job.gone()) entries_[job.spec.number] = {.job = id, .shown = shown_job(job.spec.number)};
  });
  find_nodes();
}

bool Mirror::say(const Observed& fact, std::int64_t happened) {
  const bool taken = use_.intake.record(fact, happened < 0 ? kNever : use_.instant_of(happened)).has_value();
  if (!taken) ++refused_;
  return taken;
}

// ---- nodes

void Mirror::find_nodes() {
  nodes_.clear();
  for (std::uint32_t n = 0; n < machine().nodes.size(); ++n) nodes_[machine().nodes[n].name] = NodeId{n};
}

void Mirror::take(const std::vector<NodeRow>& nodes) {
  std::set<std::string_view> listed;
  for (const NodeRow& row : nodes) {
    listed.insert(row.name);
    const auto found = nodes_.find(row.name);
    const bool is_new = found == nodes_.end();
    const Node was =
        is_new ? Node{.name = row.name, .processors = 0, .partitions = {}} : machine().nodes[found->second.value];
    const NodeId id = is_new ? NodeId{static_cast<std::uint32_t>(machine().nodes.size())} : found->second;
    Node is = described_by(row, was, machine());
    if (is_new && is.partitions.empty()) continue;  // no job can have it
    if (is != was && !say(Described{id, std::move(is)})) continue;
    if (is_new) nodes_[row.name] = id;
    if (view().power().health(id) != row.health) say(HealthChanged{id, row.health});
    if (view().power().state(id) != row.power) say(PowerChanged{id, row.power});
    if (std::string& told = node_reasons_[id]; told != row.reason) {
      told = row.reason;
      use_.jobs.node_reason(id, told);
    }
  }
  for (const auto& [name, id] : nodes_) {
    Node gone = machine().nodes[id.value];
    if (gone.has_gone() || listed.contains(name)) continue;
    gone.processors = 0;
    gone.memory = 0;
    say(Described{id, std::move(gone)});
  }
}

// A node that is reserved in part is left out: jobs may have the rest.
void Mirror::take(const std::vector<ReservationRow>& rows) {
  std::vector<ManagerReservation> all;
  for (const ReservationRow& row : rows) {
    ManagerReservation kept{row.name, row.users, use_.instant_of(row.from), use_.instant_of(row.until)};
    std::int64_t processors = 0;
    for (const std::string& name : row.nodes) {
      const auto found = nodes_.find(name);
      if (found == nodes_.end() || machine().nodes[found->second.value].has_gone()) continue;
      kept.nodes.push_back(found->second);
      processors += machine().nodes[found->second.value].processors;
    }
    if (kept.nodes.empty() || (row.processors > 0 && row.processors < processors)) continue;
    std::ranges::sort(kept.nodes);
    all.push_back(std::move(kept));
  }
  use_.jobs.reserved(all);
}

// ---- jobs

PartitionId Mirror::partition_of(std::string_view names) const {
  for (const std::string_view name : split(names, ',')) {
    const auto& all = machine().partitions;
    const auto found = std::ranges::find(all, name, &Partition::name);
    if (found != all.end()) return PartitionId{static_cast<std::uint32_t>(found - all.begin())};
  }
  return {};
}

JobSpec Mirror::spec_of(const JobRow& row) const {
  JobSpec spec;
  spec.number = row.number();
  spec.submit = std::max(use_.instant_of(row.submit), kEpoch);
  spec.partition = partition_of(row.partition);
  const Partition* partition = spec.partition.valid() ? &machine().partitions[spec.partition.value] : nullptr;
  spec.limit = row.limit > Duration{0} ? row.limit : partition ? partition->default_time : kLongest;
  spec.processors = row.processors;
  const bool spread = row.most_nodes > 0 || row.node_count > 1;
  spec.nodes = spread ? row.node_count : 0;
  const std::int64_t parts = std::max<std::int64_t>(row.node_count, 1);
  spec.memory = row.memory / parts;
  spec.accelerators = static_cast<std::uint8_t>(std::min<std::int64_t>(row.accelerators / parts, kMostAccelerators));
  spec.user = row.uid;
  spec.group = row.gid;
  spec.restart = row.requeue ? Restart::from_start : Restart::never;
  if (partition) spec.priority = partition->priority;
  const auto qos = std::ranges::find(machine().qos, row.qos, &Qos::name);
  if (qos != machine().qos.end()) spec.qos = QosId{static_cast<decltype(QosId::value)>(qos - machine().qos.begin())};
  add_wishes(row, spec);
  return spec;
}

// What a cluster file cannot say, such as nodes beside those that are named, is left out.
void Mirror::add_wishes(const JobRow& row, JobSpec& spec) const {
  std::vector<LicenceUse> kinds;
  const auto asked = parse_named_licences(row.licences);
  for (const NamedLicences& each : asked ? *asked : std::vector<NamedLicences>{}) {
    const auto found = std::ranges::find(machine().licences, each.name, &Licence::name);
    if (found == machine().licences.end()) continue;
    kinds.push_back(
        {LicenceId{static_cast<decltype(LicenceId::value)>(found - machine().licences.begin())}, each.count});
  }
  static_cast<void>(set_licences(spec, std::move(kinds)));
  if (auto wish =
          node_wish_of({.features = std::string(row.features), .among = std::string(row.required_nodes)}, machine()))
    static_cast<void>(set_node_wish(spec, std::move(*wish), machine()));
  if (!row.exclusive || row.stage != Stage::waiting || !spec.partition.valid()) return;
  std::uint32_t least = UINT32_MAX;  // processors of a node that it will have alone
  for (const NodeId node : machine().partitions[spec.partition.value].nodes)
    if (!machine().nodes[node.value].has_gone()) least = std::min(least, machine().nodes[node.value].processors);
  if (least != UINT32_MAX) spec.processors = std::max(spec.processors, std::max(row.node_count, 1U) * least);
}

// How many processors a job has on each of its nodes stands in no list: they are taken as shared evenly, as far as each
// node has so many left, or has so many at all.
Placement Mirror::place_of(const JobRow& row) const {
  Placement where;
  const auto names = parse_host_list(row.nodes);
  if (!names) return where;
  for (const std::string& name : *names) {
    if (const auto found = nodes_.find(name); found != nodes_.end()) where.shares.push_back({found->second, 0});
  }
  if (where.shares.empty()) return where;
  const std::uint32_t left =
      spread(where, row.processors, [&](NodeId id) { return std::max<std::int64_t>(view().nodes().free_on(id), 1); });
  spread(where, left, [&](NodeId id) { return std::int64_t{machine().nodes[id.value].processors}; });
  std::erase_if(where.shares, [](const Share& share) { return share.processors == 0; });
  return where;
}

Bars Mirror::bars_of(const JobRow& row) const {
  Bars bars = kNotOurs;
  if (row.stage != Stage::waiting) return bars;
  if (row.reason == "JobHeldUser") bars |= kHeldByUser;
  if (row.reason == "JobHeldAdmin") bars |= kHeldByOperator;
  return bars;
}

std::vector<std::string> Mirror::take(const std::vector<JobRow>& rows, Instant listed) {
  ++lists_;
  listed_ = listed;
  unknown_partitions_ = 0;
  std::set<std::int64_t> ended;
  std::vector<const JobRow*> in_order;  // of arrival, in which new ones are queued, behind what makes room
  for (const JobRow& row : rows) {
    if (row.stage == Stage::ended) ended.insert(row.number());
    in_order.push_back(&row);
  }
  std::ranges::sort(in_order, {}, [](const JobRow* row) {
    return std::tuple(row->stage != Stage::ended, row->submit, row->id, row->index);
  });
  for (const JobRow* row : in_order) compare(*row);
  std::erase_if(over_, [&](std::int64_t number) { return !ended.contains(number); });
  std::set<std::int64_t> arrays;
  for (const JobRow& row : rows)
    if (row.array > 0) arrays.insert(row.array);
  std::erase_if(arrays_, [&](std::int64_t array) { return !arrays.contains(array); });
  std::vector<std::string> missing;
  for (const auto& [number, entry] : entries_)
    if (entry.listed != lists_) missing.push_back(entry.shown);
  if (listed > view().surveyed()) say(Surveyed{listed});
  return missing;
}

void Mirror::compare(const JobRow& row) {
  const std::int64_t number = row.number();
  const auto found = entries_.find(number);
  if (found == entries_.end()) return meet(row, number);
  Entry& entry = found->second;
  entry.listed = lists_;
  const Job* job = view().find_job(entry.job);
  if (!job || job->gone()) {
    entries_.erase(found);
    if (row.stage == Stage::ended) over_.insert(number);
    return;
  }
  switch (row.stage) {
    case Stage::waiting:
      return compare_waiting(row, entry);
    case Stage::running:
    case Stage::suspended:
      return compare_running(row, entry);
    case Stage::ended:
      return compare_ended(row, number, entry.job);
  }
}

void Mirror::meet(const JobRow& row, std::int64_t number) {
  const bool ended = row.stage == Stage::ended;
  if (ended && (over_.contains(number) || use_.jobs.has_left(number))) {
    over_.insert(number);
    return;
  }
  const JobSpec spec = spec_of(row);
  if (!spec.partition.valid()) ++unknown_partitions_;
  const std::string user = row.user.empty() ? std::to_string(row.uid) : std::string(row.user);
  const JobId id = use_.jobs.meet(spec, bars_of(row),
                                  {.name = one_line(row.name),
                                   .user = user,
                                   .array = row.array,
                                   .index = row.index,
                                   .account = std::string(row.account),
                                   .qos = std::string(row.qos),
                                   .features = std::string(row.features),
                                   .required_nodes = std::string(row.required_nodes)});
  if (!id.valid()) {
    ++refused_;
    return;
  }
  Entry& entry = entries_[number] = {.job = id, .shown = shown_job(number), .listed = lists_};
  if (row.stage == Stage::waiting) compare_waiting(row, entry);
  if (row.stage == Stage::running || row.stage == Stage::suspended) compare_running(row, entry);
  if (ended) compare_ended(row, number, id);
}

void Mirror::begin(const JobRow& row, Entry& entry) {
  entry.start = row.start;
  compare_terms(row, entry.job);
  say(Found{entry.job, place_of(row)}, row.start);
}

// Once it runs again the row has another start, and between two lists that may be all that is seen.
void Mirror::compare_waiting(const JobRow& row, Entry& entry) {
  const Job& job = view().job(entry.job);
  if (job.state == JobState::running) say(Requeued{entry.job, job.spec.limit, job.dispatch});
  entry.start = -1;
  compare_terms(row, entry.job);
  tell(row, entry);
}

void Mirror::tell(const JobRow& row, Entry& entry) {
  if (row.array > 0 && arrays_.insert(row.array).second) new_arrays_.push_back(row.array);
  const bool begins_later = row.reason == "BeginTime";
  const std::int64_t expected = begins_later ? -1 : row.start;
  const std::string after = after_of(row.dependency);
  if (entry.reason == row.reason && entry.expected == expected && !entry.reason.empty() && entry.after == after &&
      entry.reservation == row.reservation)
    return;
  entry.reason = row.reason.empty() ? "None" : row.reason;
  entry.expected = expected;
  entry.after = after;
  entry.reservation = row.reservation;
  use_.jobs.say(entry.job, {.reason = entry.reason,
                            .expected = expected < 0 ? kNever : use_.instant_of(expected),
                            .after = entry.after,
                            .reservation = entry.reservation});
}

void Mirror::compare_terms(const JobRow& row, JobId id) {
  const Job& job = view().job(id);
  if (job.state == JobState::running || job.gone()) return;
  const auto held = static_cast<Bars>(job.bars & kHolds);
  const auto holds = static_cast<Bars>(bars_of(row) & kHolds);
  if ((holds & ~held) != 0) say(Held{id, static_cast<Bars>(holds & ~held)});
  const JobSpec asks = spec_of(row);
  const JobTerms* own = view().eligibility().terms(id);
  const Instant begin = row.reason == "BeginTime" && row.start > 0 ? use_.instant_of(row.start) : kEpoch;
  const auto terms_of = [](const JobSpec& spec) {
    return std::tie(spec.limit, spec.priority, spec.processors, spec.nodes, spec.memory, spec.partition);
  };
  if (terms_of(asks) != terms_of(job.spec) || begin != (own ? own->begin : kEpoch)) {
    JobTerms terms = own ? *own : JobTerms{};
    terms.limit = asks.limit;
    terms.priority = asks.priority;
    terms.partition = asks.partition;
    terms.begin = begin;
    say(Amended{id, terms, asks.processors, asks.nodes, asks.memory});
  }
  for (const Bars each : {kHeldByUser, kHeldByOperator}) {
    if ((held & ~holds & each) != 0) say(Released{id, each});
  }
}

void Mirror::compare_running(const JobRow& row, Entry& entry) {
  if (row.completing) return;
  const JobId id = entry.job;
  if (view().job(id).state != JobState::running) {
    begin(row, entry);
  } else {
    const Instant started = use_.instant_of(row.start);
    const bool again = entry.start >= 0 ? entry.start != row.start : started > view().job(id).start;
    if (again) {  // it went back to the queue, and began again
      say(Requeued{id, view().job(id).spec.limit, view().job(id).dispatch}, row.start);
      begin(row, entry);
    }
  }
  entry.start = row.start;
  entry.reason.clear();
  const Job& job = view().job(id);
  if (!job.settled()) return;
  const Placement where = place_of(row);
  if (!where.shares.empty() && !same_nodes(where, view().placement(id))) say(Found{id, where});
  if (row.limit > Duration{0} && row.limit != job.spec.limit) say(LimitChanged{id, row.limit});
  const bool stands = view().job(id).suspended();
  if (row.stage == Stage::suspended && !stands) say(Suspended{id, kHeldByOperator});
  if (row.stage == Stage::running && stands) say(Resumed{id, view().job(id).suspended_by});
}

// One that has nodes ran there, however short.
void Mirror::compare_ended(const JobRow& row, std::int64_t number, JobId id) {
  const bool ran = !row.nodes.empty() && row.start >= 0;
  const auto entry = entries_.find(number);
  if (ran && view().job(id).state == JobState::running && entry != entries_.end() && entry->second.start >= 0 &&
      entry->second.start != row.start)
    say(Requeued{id, view().job(id).spec.limit, view().job(id).dispatch}, row.start);
  if (ran && view().job(id).state != JobState::running) say(Found{id, place_of(row)}, row.start);
  if (view().job(id).state == JobState::running) {
    const Outcome outcome = row.outcome;
    say(Finished{id, outcome, kAnyDispatch, row.status}, row.end);
  } else {
    say(Cancelled{id}, row.end);
  }
  if (row.stage == Stage::ended) over_.insert(number);
  entries_.erase(number);
}

void Mirror::take_ended(const std::vector<JobRow>& rows) {
  for (const JobRow& row : rows) {
    if (row.stage != Stage::ended) continue;
    const std::int64_t number = row.number();
    const auto found = entries_.find(number);
    if (found == entries_.end()) {
      meet(row, number);
      continue;
    }
    const Job* job = view().find_job(found->second.job);
    if (job && !job->gone()) {
      compare_ended(row, number, found->second.job);
    } else {
      entries_.erase(found);
    }
  }
}

void Mirror::give_up(const std::vector<std::string>& jobs) {
  const std::set<std::string_view> lost(jobs.begin(), jobs.end());
  std::erase_if(entries_, [&](const auto& each) {
    const Entry& entry = each.second;
    if (!lost.contains(entry.shown) || entry.listed == lists_) return false;
    const Job* job = view().find_job(entry.job);
    if (job && !job->gone()) say(Finished{entry.job, Outcome::unknown});
    return true;
  });
}

}  // namespace rota::slurm
