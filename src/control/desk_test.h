// For tests: a controller whose ports do nothing by themselves. Time is what the test says, commands are written down,
// and whatever an engine or a user has to tell the test tells. Times in seconds; jobs are numbered from 1. What is
// costly to compile is compiled once, in desk_test.cc.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "control/controller.h"
#include "model/fact_text_test.h"

namespace rota {

class DeskLoop final : public Loop {
 public:
  Instant now() const override { return now_; }
  void set(Alarm& alarm, Instant at) override {
    alarm_ = &alarm;
    at_ = at;
    was_set_ = true;
  }
  // Another one is woken from now on, when it says.
  void hand_over(Alarm& to) {
    alarm_ = &to;
    was_set_ = false;
  }
  void forget_unless_set() {
    if (!was_set_) at_ = kNever;
    was_set_ = true;
  }

  void go_to(Instant at) { now_ = at; }  // back, too
  Instant next() const { return at_; }   // when it will ring; kNever: not at all
  // Rings what is due; false if nothing is.
  bool ring() {
    if (at_ > now_) return false;
    at_ = kNever;
    alarm_->ring();
    return true;
  }

 private:
  Instant now_ = kEpoch;
  Alarm* alarm_ = nullptr;
  Instant at_ = kNever;
  bool was_set_ = true;
};

class CommandLog final : public Engine {
 public:
  Capabilities capabilities() const override { return can; }
  void dispatch(const Command& command) override { commands.push_back(command); }
  Observation observe() const override { return seen; }

  std::vector<Command> commands;
  Observation seen;
  Capabilities can;
};

class LeftJobs final : public JobSink {
 public:
  void job_gone(JobId id, const Job& job) override { jobs.emplace_back(id, job); }

  std::vector<std::pair<JobId, Job>> jobs;
};

class FactLog final : public FactObserver {
 public:
  ~FactLog() override;
  void fact_recorded(const View& view, const FactRef& fact) override;
  void refused(const View&, const Error& why) override { refusals.push_back(why.message); }

  std::vector<Fact> facts;
  std::vector<std::string> refusals;
};

struct DeskOptions {
  std::int64_t processors = 4;
  std::shared_ptr<const Machine> machine = nullptr;
  bool confirms_starts = false;
  bool shared = false;
  Controller::Breach breach = Controller::Breach::ends_the_run;
  std::unique_ptr<Policy> link = nullptr;  // behind the others
  Durable* durable = nullptr;
};

// So many nodes of two processors each.
inline DeskOptions on_nodes(std::uint32_t count) {
  Machine machine;
  for (std::uint32_t i = 0; i < count; ++i) {
    Node& node = machine.nodes.emplace_back();
    node.name = "n" + std::to_string(i);
    node.processors = 2;
    machine.processors += 2;
  }
  DeskOptions options;
  options.machine = std::make_shared<const Machine>(std::move(machine));
  return options;
}

class Desk {
 public:
  explicit Desk(const std::string& policy, DeskOptions options = {});
  ~Desk();

  void at(std::int64_t second) { loop_.go_to(at_seconds(second)); }
  JobSpec asking(std::uint32_t processors, std::int64_t limit, std::int32_t priority = 0) {
    JobSpec spec;
    spec.number = ++numbers_;
    spec.submit = loop_.now();
    spec.processors = processors;
    spec.limit = seconds(limit);
    spec.priority = priority;
    return spec;
  }
  JobId submit(std::uint32_t processors, std::int64_t limit, std::int32_t priority = 0) {
    return controller_->submit(asking(processors, limit, priority));
  }
  // Decided at once: it runs if there is room.
  JobId run(std::uint32_t processors, std::int64_t limit, std::int32_t priority = 0) {
    const JobId id = submit(processors, limit, priority);
    decide();
    return id;
  }
  static JobTerms terms(std::int64_t limit, std::int32_t priority = 0) {
    JobTerms terms;
    terms.limit = seconds(limit);
    terms.priority = priority;
    return terms;
  }
  JobTerms terms_of(JobId id) const {
    const JobSpec& spec = job(id).spec;
    JobTerms terms;
    terms.limit = spec.limit;
    terms.priority = spec.priority;
    terms.partition = spec.partition;
    return terms;
  }
  Result<JobId> submit_on(const JobTerms& terms, std::uint32_t processors = 1, Bars holds = kNoBars) {
    JobSpec spec = asking(processors, terms.limit.count() / 1000, terms.priority);
    spec.partition = terms.partition;
    return controller_->submit(spec, terms, holds);
  }
  // The sentence with which a fact is refused; empty: it was taken in.
  std::string tell(const Observed& fact) {
    const auto taken = controller_->record(fact);
    return taken ? std::string() : taken.error().message;
  }
  // Tells it, then decides: the sentence of the refusal, else that of the decision.
  std::string tell_and_decide(const Observed& fact) {
    std::string why = tell(fact);
    const std::string failure = decide();
    return why.empty() ? failure : why;
  }
  std::string decide() {
    const auto done = controller_->decide();
    settle();
    return done ? std::string() : done.error().message;
  }
  // Everything that is known, as text.
  std::string state() const;

  // Another controller goes on from here. Empty, or why it cannot.
  std::string take_over();
  // Rings what is due; false if nothing is.
  bool ring() {
    const bool rang = loop_.ring();
    if (rang) settle();
    return rang;
  }

  const View& view() const { return controller_->view(); }
  const Job& job(JobId id) const { return view().job(id); }
  bool runs(JobId id) const { return view().knows(id) && job(id).state == JobState::running; }
  bool waits(JobId id) const { return view().knows(id) && job(id).state == JobState::waiting; }
  bool barred(JobId id) const { return view().knows(id) && job(id).state == JobState::barred; }
  Controller& controller() { return *controller_; }
  DeskLoop& loop() { return loop_; }
  CommandLog& engine() { return engine_; }
  const std::vector<std::pair<JobId, Job>>& left() const { return left_.jobs; }
  const FactLog& log() const { return log_; }
  const Machine* machine() const { return machine_.get(); }

 private:
  ClusterOptions cluster_options(const DeskOptions& options) const;

  // A new controller says when it wants to be woken once it has decided.
  void settle() {
    if (!taken_over_ || controller_->cycles() == 0) return;
    taken_over_ = false;
    loop_.forget_unless_set();
  }

  std::shared_ptr<const Machine> machine_;
  DeskLoop loop_;
  CommandLog engine_;
  LeftJobs left_;
  FactLog log_;
  Chain chain_;
  ClusterOptions options_;
  std::optional<Controller> controller_;
  bool taken_over_ = false;
  std::int64_t numbers_ = 0;
};

}  // namespace rota
