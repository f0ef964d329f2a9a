#include "model/snapshot.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace rota {

StateKept Snapshot::state_of(const Cluster& c) {
  StateKept state{c.next_job_,
                  c.next_sequence_,
                  c.next_dispatch_,
                  c.waiting_.ranked_at(),
                  c.last_migration_,
                  c.releases_,
                  c.counts_decided_,
                  c.arrived_,
                  c.overdue_,
                  c.gone_,
                  {},
                  c.set_aside_for_,
                  listed(c.set_aside_),
                  c.power_.counters(),
                  c.plain_,
                  c.reservations_.next_id(),
                  c.longest_expected_,
                  c.first_submit_,
                  c.power_.loads(),
                  c.surveyed_,
                  c.last_number_,
                  c.trades_.last_serial(),
                  c.last_news_};
  for (const Leaving& l : c.leaving_) state.leaving.push_back(l.job);
  return state;
}

std::vector<Fact> Snapshot::facts_of(const Cluster& c) {
  std::vector<Fact> facts;
  const auto add = [&](auto what) { facts.push_back({c.now_, c.sequence_, std::move(what)}); };
  add(Opened{c.epoch_});
  if (c.own_machine_)
    add(MachineKept{c.own_machine_->nodes, c.own_machine_->accelerator_types, c.own_machine_->features});
  for (const auto& [serial, offer] : c.trades_.offered()) add(Offered{offer});
  for (const auto& [number, guest] : c.trades_.guests())
    add(Traded{guest.offer, guest.stage == Trades::Guest::Stage::over ? Trade::over : Trade::won, guest.number});
  add(state_of(c));
  if (!(c.replanned_ == Replanned{})) add(c.replanned_);
  for (const Reservation& row : c.reservations_.all()) add(ReservationKept{row});
  const ClusterOptions& options = c.options_;
  const NodeSpace fresh(options.machine, options.idle_order, options.node_order);
  for (std::uint32_t i = 0; i < c.nodes_.size(); ++i) {
    const NodeId id{i};
    const NodePowerRow& power = c.power_.row(id);
    const NodeKept node{
        id, power, c.power_.serves(id), c.power_.health(id), c.nodes_.fell_idle(id), c.nodes_.idle_since(id)};
    const bool as_at_first = !c.own_machine_ && power == NodePowerRow{} && !node.serves && node.health == Health::up &&
                             node.fell_idle == fresh.fell_idle(id);
    if (!as_at_first) add(node);
  }
  for (std::uint32_t i = 0; i < c.elsewhere_.size(); ++i)
    if (c.elsewhere_[i] != 0) add(LicenceKept{LicenceId{i}, c.elsewhere_[i]});
  c.for_each_job([&](JobId id, const Job& job) {
    JobKept kept{.job = id, .row = job};
    if (!c.nodes_.counted() && job.state == JobState::running) kept.where = c.placement(id);
    if (!c.nodes_.counted() && job.promise != kNever) kept.promised = c.promised_place(id);
    if (c.options_.list_processors && job.state == JobState::running) kept.processors = listed(c.map_.held_by(id));
    for (const Leaving& l : c.leaving_) {
      if (l.job == id) kept.beneficiary = l.beneficiary, kept.expected = l.expected;
    }
    if (const JobTerms* terms = c.eligibility_.terms(id)) {
      kept.has_terms = true;
      kept.terms = *terms;
      kept.terms.throttle = c.eligibility_.throttle(terms->array);
      const Eligibility::Standing standing = c.eligibility_.standing(id);
      kept.never = standing.never;
      kept.due = standing.due;
    }
    if (const auto asked = c.requests_.find(id); asked != c.requests_.end())
      kept.request = asked->second, kept.amended = true;
    if (const RunOrders* orders = c.orders_of(id))
      kept.suspended_at = orders->suspended_at, kept.adjusted = orders->command;
    add(std::move(kept));
  });
  for (const auto& [job, tasks] : c.bindings_.asked()) add(tasks);
  for (const Bound& bound : c.bindings_.all()) add(bound);
  std::map<std::uint32_t, UserKept> users;
  for (const auto& [user, runs] : c.history_) users[user] = {user, runs};
  for (const auto& [user, spent] : c.use_.recent().all()) users[user].user = user, users[user].spent = spent;
  for (const auto& [user, owed] : c.use_.owed().all()) users[user].user = user, users[user].owed = owed;
  for (const auto& [user, kept] : users) add(kept);
  for (const WorkKept& work : c.work_.kept()) add(work);
  add(c.demand_.kept());
  for (const DemandHourKept& hour : c.demand_.kept_hours()) add(hour);
  return facts;
}

void Cluster::apply(const StateKept& fact) {
  CHECK(next_job_ == JobId{0}, "a snapshot is folded into a fresh cluster");
  next_job_ = fact.next_job;
  next_sequence_ = fact.next_sequence;
  next_dispatch_ = fact.next_dispatch;
  waiting_.put_back_ranked_at(fact.ranked_at);
  last_migration_ = fact.last_migration;
  last_news_ = fact.last_news;
  releases_ = fact.releases;
  counts_decided_ = fact.counts_decided;
  arrived_ = fact.arrived;
  overdue_ = fact.overdue;
  gone_ = fact.gone;
  for (const JobId job : fact.leaving) leaving_.push_back({job, {}, {}});
  if (options_.list_processors) {
    set_aside_for_ = fact.set_aside_for;
    set_aside_ = in_ranges(fact.set_aside);
  }
  power_.put_back(fact.power);
  power_.read(fact.loads);
  plain_ = fact.plain;
  surveyed_ = fact.surveyed;
  last_number_ = fact.last_number < 0 ? std::int64_t{fact.next_job.value} : fact.last_number;
  trades_.put_back_last_serial(fact.last_offered);
  reservations_.put_back_next_id(fact.next_reservation);
  longest_expected_ = fact.longest_expected;
  if (fact.first_submit != kNever) count_from(fact.first_submit);
}

void Cluster::apply(const JobKept& fact) {
  Job& job = jobs_.add(fact.job.value) = fact.row;
  if (!nodes_.counted()) add_to_nodes(fact.job);
  if (job.state == JobState::running) keep_running(fact);
  if (!trades_.empty() && !job.gone() && job.ours()) trades_.queued(job.spec.number, fact.job);
  if (job.state == JobState::barred) ++barred_;
  if (job.state == JobState::barred && job.bars == kOverLimit) limits_.put_back_barred(fact.job);
  if (job.state == JobState::waiting) {
    const Duration longest = longest_expected_;  // as it was kept
    join_waiting(job, fact.job);
    longest_expected_ = longest;
    limits_.queued(job.spec);
    if (job.promise != kNever)
      promised_.insert(std::lower_bound(promised_.begin(), promised_.end(), fact.job), fact.job);
    if (!fact.promised.shares.empty()) promised_places_.set(fact.job, fact.promised);
  }
  if (fact.amended) requests_[fact.job] = fact.request;
  const bool active = job.state == JobState::waiting || job.state == JobState::running;
  if (fact.has_terms) eligibility_.put_back(fact.job, fact.terms, {active, fact.never, fact.due}, job.bars);
}

void Cluster::keep_running(const JobKept& fact) {
  const Job& job = jobs_[fact.job.value];
  running_.insert({{job.expected_end(), job.dispatch}, job.spec.processors, fact.job});
  limits_.put_back_running(job.spec);
  if (fact.adjusted != 0) orders_[fact.job] = {fact.suspended_at, fact.adjusted};
  if (job.leaving) {
    const auto found =
        std::find_if(leaving_.begin(), leaving_.end(), [&](const Leaving& l) { return l.job == fact.job; });
    CHECK(found != leaving_.end(), "a job that leaves is in the list of those");
    *found = {fact.job, fact.beneficiary, fact.expected};
  } else if (job.steady()) {
    rank_running(job, fact.job);
  }
  if (!nodes_.counted()) {
    nodes_.take_unasked(fact.where);
    places_.set(fact.job, fact.where);
  }
  if (!options_.list_processors) return;
  const bool listed = options_.presume_ended || !fact.processors.empty();
  if (!listed) return map_.occupy(fact.job, job.spec.processors, {});  // it came to run under a policy that lists none
  map_.put_back(fact.job, fact.processors);
}

void Cluster::apply(const NodeKept& fact) {
  power_.put_back(fact.node, fact.power);
  if (fact.serves) power_.served(fact.node, true);
  power_.set_health(fact.node, fact.health);
  nodes_.put_back(fact.node, fact.fell_idle, fact.idle_since);
  const bool usable = fact.health == Health::up && fact.power.state == PowerState::on;
  if (!usable) nodes_.set_available(fact.node, false);
}

}  // namespace rota
