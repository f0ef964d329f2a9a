#include "swarm/outcome.h"

#include <cstdio>

namespace rota::swarm {
namespace {

template <class Each, class... Members>
void add(Each& to, const Each& from, Members... members) {
  ((to.*members += from.*members), ...);
}

class Lines {
 public:
  void line(const char* what, std::int64_t count) {
    char line[80];
    std::snprintf(line, sizeof line, "  %-46s %12lld\n", what, static_cast<long long>(count));
    text_ += line;
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

void tell_of_messages(Lines& to, const Counts& c) {
  to.line("commands lost", c.link.lost_commands);
  to.line("answers lost", c.link.lost_answers);
  to.line("answers that nobody heard", c.link.unheard);
  to.line("messages doubled", c.link.doubled);
  to.line("messages delayed", c.link.delayed);
  to.line("commands sent again", c.site.resent);
  to.line("commands that came again", c.ledger.doubled);
  to.line("commands that came too late", c.ledger.out_of_order);
  to.line("commands of a controller that was gone", c.ledger.of_old_epochs);
  to.line("observed facts refused", c.site.refused);
  to.line("plans refused, of a bad policy", c.site.refused_plans);
  to.line("moves of running jobs", c.site.moves);
  to.line("stopped before their start came", c.site.never_began);
}

void tell_of_travels(Lines& to, const Counts& c) {
  to.line("federations", c.travels.federations);
  if (c.travels.federations == 0) return;
  to.line("  jobs for all their sites", c.travels.submitted);
  to.line("  taken by a site that had won them", c.travels.taken);
  to.line("  that ran away from home", c.travels.away);
  to.line("  given up by a site that had queued them", c.travels.given_up);
  to.line("  cancelled while they ran", c.travels.cancelled);
  to.line("  starts that waited for the exchange", c.travels.held);
  to.line("  the same, after a crash", c.travels.held_again);
  to.line("  starts that gave way meanwhile", c.travels.not_started);
  to.line("  requests to the exchange", c.exchange.requests);
  to.line("  requests lost, or sent while cut off", c.exchange.requests_lost);
  to.line("  requests doubled", c.exchange.requests_doubled);
  to.line("  refusals lost", c.exchange.refusals_lost);
  to.line("  refusals doubled", c.exchange.refusals_doubled);
  to.line("  changes doubled", c.exchange.changes_doubled);
  to.line("  streams of changes broken", c.exchange.streams_broken);
  to.line("  sites cut off", c.exchange.cuts);
  to.line("  resyncs", c.exchange.resyncs);
  to.line("  epochs of sites", c.travels.epochs);
  to.line("  ends reported to their homes", c.travels.reported);
}

}  // namespace

void Counts::add(const Counts& o) {
  seeds += o.seeds;
  jobs += o.jobs;
  steps += o.steps;
  swarm::add(site, o.site, &Totals::crashes, &Totals::crashes_in_batch, &Totals::after_commit, &Totals::failed_commits,
             &Totals::torn, &Totals::lost_tails, &Totals::recoveries, &Totals::replayed, &Totals::decided_again,
             &Totals::compactions, &Totals::facts, &Totals::resent, &Totals::refused, &Totals::refused_plans,
             &Totals::moves, &Totals::never_began, &Totals::reservations, &Totals::refused_reservations,
             &Totals::taken_back, &Totals::starts_within, &Totals::starts_beside);
  using Link = sim::LinkFaultCounts;
  swarm::add(link, o.link, &Link::lost_commands, &Link::lost_answers, &Link::doubled, &Link::delayed, &Link::unheard);
  using Broken = sim::EngineFaultCounts;
  swarm::add(engine, o.engine, &Broken::failed_launches, &Broken::hung_boots, &Broken::node_deaths, &Broken::drains,
             &Broken::lost_jobs);
  using Late = CommandLedger::Counts;
  swarm::add(ledger, o.ledger, &Late::of_old_epochs, &Late::doubled, &Late::out_of_order);
  using Far = FaultCounts;
  swarm::add(exchange, o.exchange, &Far::requests, &Far::requests_lost, &Far::requests_doubled, &Far::refusals_lost,
             &Far::refusals_doubled, &Far::changes_doubled, &Far::streams_broken, &Far::cuts, &Far::resyncs);
  swarm::add(travels, o.travels, &Travels::federations, &Travels::submitted, &Travels::taken, &Travels::away,
             &Travels::given_up, &Travels::cancelled, &Travels::held, &Travels::held_again, &Travels::not_started,
             &Travels::epochs, &Travels::reported);
}

std::string table_of(const Counts& c) {
  Lines to;
  to.line("jobs", c.jobs);
  to.line("facts", c.site.facts);
  to.line("steps of the loop", c.steps);
  to.line("crashes of the controller", c.site.crashes);
  to.line("  after a commit, before its commands", c.site.after_commit);
  to.line("  between two commands of a batch", c.site.crashes_in_batch);
  to.line("recoveries from the journal", c.site.recoveries);
  to.line("facts replayed", c.site.replayed);
  to.line("decisions that came out again", c.site.decided_again);
  to.line("compactions of the journal", c.site.compactions);
  to.line("commits that failed", c.site.failed_commits);
  to.line("  tails torn by a crash", c.site.torn);
  to.line("  tails lost by a crash", c.site.lost_tails);
  tell_of_messages(to, c);
  to.line("launches that failed", c.engine.failed_launches);
  to.line("boots that hung", c.engine.hung_boots);
  to.line("nodes that died", c.engine.node_deaths);
  to.line("  jobs lost with them", c.engine.lost_jobs);
  to.line("nodes that drained", c.engine.drains);
  to.line("reservations made", c.site.reservations);
  to.line("  refused, for want of room or by the policy", c.site.refused_reservations);
  to.line("  taken back before their time", c.site.taken_back);
  to.line("  starts within them", c.site.starts_within);
  to.line("  starts beside them", c.site.starts_beside);
  tell_of_travels(to, c);
  return to.text();
}

}  // namespace rota::swarm
