// A site as a member of a federation, beside its controller: it buys and sells jobs through its dispatcher, keeps
// back the starts of those that are not yet known to be its own (ClaimGate), and its requests until what they rest on
// is durable (Outbox). It knows which jobs of the federation the site has, and how far each has come: its input is
// brought, it is submitted, it is in the queue. One thread; no clock but the Loop's.
//
//   Member member(self, rules, ports);
//   Controller controller(..., {loop, member.gate(), sink, member.durable()});
//   controller.add_observer(journal), controller.add_observer(member.observer());
//   ...                                               // replay
//   member.take_over(), controller.resume();
//   member.open(now, view.epoch());                   // that epoch is durable
//   ...
//   controller.record(Offered{member.next_offer(spec, data)}), controller.decide();
//
// All that it must know after a crash is in the journal, as facts that it hands to its LocalQueue (model/trades.h).
// What it had handed over and was not recorded follows again from that and from what the exchange shows.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "control/claim_gate.h"
#include "control/member_ports.h"
#include "control/outbox.h"
#include "policy/chain_knobs.h"

namespace rota {

// When the input of a job that comes from elsewhere is brought.
enum class Fetch : std::uint8_t {
  before,   // then it is queued
  queued,   // it is queued at once, and starts once its input is there
  started,  // it fetches its input itself, on the processors that it holds: its limit is longer by that
};

struct MemberRules {
  DispatchRules dispatch;
  Fetch fetch = Fetch::before;
  bool ahead = false;  // a job that was won goes before those of its own priority in the queue
  Duration margin{0};  // bids by expected start: by so much sooner a job must start here if its data lies elsewhere
};

// As a policy says. `partitions`: of the whole federation, for the priorities that there are.
DispatchRules dispatch_rules(const AuctionKnobs& knobs, const std::vector<Partition>& partitions);

class Member final : private Site, private GateKeeper, private FactObserver {
 public:
  struct Ports {
    LocalQueue& queue;
    Engine& engine;
    Carrier& carrier;
    const Directory& directory;
    Exchange& exchange;
    Loop& loop;
    Durable* journal = nullptr;  // of the site's controller; nullptr: nothing is kept
  };
  Member(SiteId self, const MemberRules& rules, const Ports& ports);

  // What its controller is wired to in place of the engine and the journal, and what observes it after that.
  ClaimGate& gate() { return gate_; }
  Durable& durable() { return outbox_; }
  FactObserver& observer() { return *this; }

  // What an earlier life of the site has left in the journal. Before the controller resumes, and before open().
  void take_over();
  // Begins, at this instant to look. life: of the site's process, 1 and on; never the same again.
  void open(Instant first_look, std::uint32_t life = 1) { dispatcher_.open(first_look, life); }

  // What is to be recorded as Offered, if nothing else is before: a job that was submitted here for all sites, its data
  // at one of them. It goes to the global queue once that is durable.
  Offer next_offer(const JobSpec& spec, SiteId data) const;
  // In a race: a copy of it is to stand here too, if it can run here.
  void take_copy(const Offer& offer);

  // The carrier has brought a job's input.
  void arrived(std::int64_t job);
  // A job that was submitted to the site's queue has got its id; invalid: it was rejected, as its
  // report has it.
  void queued(std::int64_t job, JobId id, const std::string& report = {});
  // It has left the site for good, as its report has it.
  void job_gone(JobId id, std::int64_t job, const std::string& report = {});
  // What was reported of a job that was offered here is written down.
  void noted(std::int64_t job) { dispatcher_.home().noted(job); }
  // A job that was offered here is not for sale any more: it comes to the site's own queue, or, where another site has
  // it, is cancelled there.
  void recall(std::int64_t job) { dispatcher_.home().recall(job); }
  // The other site that has such a job; invalid: none has.
  SiteId away(std::int64_t job) const { return dispatcher_.home().away(job); }
  // What this site knows of the global queue.
  const GlobalQueue& global_queue() const { return dispatcher_.home().queue(); }
  // Something has started, ended or been queued at the site: it looks again at all that is on offer.
  // able: jobs that could not run there before.
  void load_changed(const std::set<std::int64_t>& able = {}) { dispatcher_.load_changed(able); }
  // Whether it may have, by what was recorded since this was asked last.
  bool has_news_of_load() { return std::exchange(news_of_load_, false); }

  bool has(std::int64_t job) const override { return guests_.contains(job); }
  bool idle() const { return dispatcher_.idle() && outbox_.empty(); }

 private:
  // A job of the federation that this site has, or will have.
  struct Guest {
    enum class Stage : std::uint8_t { coming, submitted, queued };
    Offer offer;
    Stage stage = Stage::coming;
    JobId id = {};           // once it is queued
    bool cancelled = false;  // by its home, while it was submitted
  };

  // The dispatcher's site.
  const View& view() const override { return queue_.view(); }
  std::optional<JobSpec> asked_here(const Offer& offer) const override;
  Haul haul(const Offer& offer) const override;
  std::vector<Coming> coming() const override { return carrier_.coming(); }
  std::vector<Duration> soonest(const Offer& offer) const override;
  void take_won(const Offer& offer) override;
  void give_up(std::int64_t job) override;
  void cancelled(std::int64_t job) override;
  void answered(std::int64_t job, bool ours) override { gate_.answered(job, ours); }
  void listed(const Offer& offer) override { tell(offer.spec.number, Trade::listed); }
  void closed(std::int64_t job) override { tell(job, Trade::closed); }
  void auctioned(const Offer& offer, SiteId winner, const std::string& auction) override {
    queue_.auctioned(offer, winner, auction);
  }
  std::size_t bytes_of(const Offer& offer) const override { return queue_.bytes_of(offer); }
  void reported(std::int64_t job, SiteId site, const std::string& report) override {
    queue_.reported(job, site, report);
  }
  void all_known() override { queue_.all_known(); }

  // The gate's keeper.
  StartAnswer claim_to_start(std::int64_t job) override { return dispatcher_.claim(job); }
  StartAnswer claim_to_make_room(std::int64_t job) override;
  void starts(JobId id, std::int64_t job) override { queue_.starts(id, job); }
  void makes_room(JobId beneficiary) override { queue_.makes_room(beneficiary); }
  void not_started(const Command& give_way) override { queue_.not_started(give_way); }
  void lost(JobId id) override;

  std::uint64_t wants() const override { return keeps_ ? UINT64_MAX : FactKinds::bit<Offered>(); }
  void fact_recorded(const View& before, const FactRef& fact) override;

  void tell(std::int64_t job, Trade trade);
  void fetch(const Offer& offer);
  void submit(Guest& guest, Instant input);

  SiteId self_;
  MemberRules rules_;
  LocalQueue& queue_;
  Carrier& carrier_;
  const Directory& directory_;
  Loop& loop_;
  bool keeps_;  // facts in a journal
  Outbox outbox_;
  ClaimGate gate_;
  Dispatcher dispatcher_;
  std::map<std::int64_t, Guest> guests_;
  bool news_of_load_ = false;
};

}  // namespace rota
