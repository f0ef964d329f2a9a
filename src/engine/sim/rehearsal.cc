#include "engine/sim/rehearsal.h"

namespace rota::sim {

ClusterOptions cluster_options(const RehearsalOptions& options, const Chain& chain) {
  ClusterOptions cluster;
  cluster.processors = options.processors;
  cluster.presume_ended = options.engine.ties == Ties::submit_first;
  cluster.machine = options.machine;
  cluster.past_work = options.past_work;
  cluster.use.shares = options.shares;
  cluster.limits = options.limits;
  chain.ask(cluster);
  return cluster;
}

EngineOptions engine_options(const RehearsalOptions& options, const Chain& chain) {
  EngineOptions engine = options.engine;
  engine.checkpoint = chain.knobs().checkpoint;
  engine.bind = chain.knobs().bind;
  engine.containers.binding = chain.knobs().bind_time;
  return engine;
}

Result<void> reserve(const Machine* machine, Intake& intake) {
  if (!machine || machine->reservations.empty()) return {};
  for (const Reservation& r : machine->reservations) {
    if (auto done = intake.record(Reserved{r.id, r.from, r.until, r.nodes, r.processors}); !done) return done;
  }
  return intake.decide();
}

namespace {

constexpr std::int64_t kMostLooksInVain = 10'000;

// Stands before the controller and gives jobs the terms that they were submitted with.
class TermsGiver final : public Intake {
 public:
  TermsGiver(Controller& controller, const std::map<std::uint32_t, JobTerms>& terms)
      : controller_(controller), terms_(terms) {}

  JobId submit(const JobSpec& spec, Bars /*bars*/) override {
    const auto own = terms_.find(controller_.view().next_job().value);
    if (own == terms_.end()) return controller_.submit(spec);
    JobTerms terms = own->second;
    terms.limit = spec.limit;
    terms.priority = spec.priority;
    terms.partition = spec.partition;
    std::erase_if(terms.after, [&](const Dependency& d) { return met(d); });
    const auto taken = controller_.submit(spec, terms, kNoBars);
    return taken ? *taken : controller_.submit(spec);  // it can never run here, which is told there
  }
  Result<void> record(const Observed& fact, Instant happened) override { return controller_.record(fact, happened); }
  Result<void> decide() override { return controller_.decide(); }

 private:
  // Whether it is met already; no job waits for one that the rehearsal turned away.
  bool met(const Dependency& d) const {
    const View& view = controller_.view();
    if (!view.knows(d.on) || view.job(d.on).gone()) return true;
    return d.when == Dependency::When::started && view.job(d.on).state == JobState::running;
  }

  Controller& controller_;
  const std::map<std::uint32_t, JobTerms>& terms_;
};

}  // namespace

std::unexpected<Error> waits_for_ever(const View& view) {
  const Job& head = view.job(view.waiting().head()->job);
  return fail(
      "job {} is the first of {} that wait, nothing is left to happen, and the policy has looked again and again and "
      "starts no job. Take another policy; under power=load-factor, power-published=no wakes the nodes that each job "
      "needs.",
      head.spec.number, view.waiting().size());
}

Rehearsal::Rehearsal(const RehearsalOptions& options, const Chain& chain, Source& source, JobSink& jobs)
    : options_(options),
      engine_(engine_options(options, chain), source, loop_),
      controller_(cluster_options(options, chain), chain, {loop_, engine_, jobs, options.durable}) {
  for (FactObserver* observer : options.observers) controller_.add_observer(*observer);
  if (options.terms != nullptr && !options.terms->empty())
    terms_ = std::make_unique<TermsGiver>(controller_, *options.terms);
}

bool Rehearsal::all_gone() const {
  const View& view = controller_.view();
  return !engine_.expects_jobs() && all_waiting(view) == 0 && view.running().empty() && (!terms_ || view.barred() == 0);
}

Result<void> Rehearsal::run() {
  engine_.open(terms_ ? *terms_ : controller_);  // its alarm comes first
  if (auto reserved = reserve(options_.machine, controller_); !reserved) return reserved;
  StepsInVain in_vain(kMostLooksInVain);
  for (std::int64_t steps = 0; loop_.step(); ++steps) {
    if (!engine_.health()) return engine_.health();
    if (!controller_.health()) return controller_.health();
    const bool happens = !engine_.quiet() || !controller_.view().reservations().empty();
    const bool jobs_left = engine_.expects_jobs() || !controller_.view().running().empty();
    in_vain.count(happens, jobs_left);
    if (all_gone()) break;
    if (in_vain.too_many_looks() || in_vain.too_many_switches()) {
      if (controller_.view().waiting().empty()) break;
      return waits_for_ever(controller_.view());
    }
    if (options_.progress && steps % 8192 == 0) options_.progress(engine_.arrived());
  }
  controller_.close();
  return {};
}

}  // namespace rota::sim
