#include "control/task_desk.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <vector>

#include "base/random.h"

namespace rota {
namespace {

Machine machine_of(std::initializer_list<std::uint32_t> accelerators) {
  Machine machine;
  for (const std::uint32_t count : accelerators) {
    Node& node = machine.nodes.emplace_back();
    node.accelerators = count;
    node.processors = 4;
  }
  return machine;
}

TaskSpec tasks_of(std::uint32_t count, Duration limit = Duration{0}) {
  return {count, seconds(1), seconds(10), Duration{0}, 0, limit};
}

// Computes nothing by itself: a test says what becomes of which task, and when.
class HandExecutor final : public Executor {
 public:
  explicit HandExecutor(const Machine& machine, std::size_t slots = 1) : slots_(slots) {
    for (std::uint32_t i = 0; i < machine.nodes.size(); ++i) {
      for (std::uint32_t a = 0; a < machine.nodes[i].accelerators; ++a) cards_.push_back({NodeId{i}});
    }
  }

  void submit(const ComputeTask& task) override {
    EXPECT_TRUE(!task.container.valid() || cards_[task.container.value].room) << "a card without room was given a task";
    begun.push_back(task);
    ++submitted;
    look(task.container);
  }
  void cancel(const TaskKey& key) override { cancelled.push_back(key); }
  std::span<const Card> cards() const override { return cards_; }

  // Off the list of what is begun, for it is answered.
  ComputeTask take(std::size_t which) {
    const ComputeTask task = begun[which];
    begun.erase(begun.begin() + static_cast<std::ptrdiff_t>(which));
    look(task.container);
    return task;
  }
  // The card does not answer for now, or does again.
  void shut(ContainerId card, bool is) {
    is ? void(shut_.insert(card)) : void(shut_.erase(card));
    look(card);
  }

  std::deque<ComputeTask> begun;  // and not answered
  std::vector<TaskKey> cancelled;
  std::int64_t submitted = 0;

 private:
  void look(ContainerId card) {
    if (!card.valid()) return;
    const auto inside = static_cast<std::size_t>(std::ranges::count(begun, card, &ComputeTask::container));
    cards_[card.value].room = inside < slots_ && !shut_.contains(card);
  }

  std::size_t slots_;
  std::vector<Card> cards_;
  std::set<ContainerId> shut_;
};

// A desk over an executor by hand, and the jobs that are through.
class Site : private TaskDeskListener {
 public:
  Site(Bind bind, Machine of, std::size_t slots = 1)
      : machine(std::move(of)), executor(machine, slots), desk(bind, machine, executor, *this) {}

  void start(std::uint32_t job, const std::vector<std::uint32_t>& nodes) {
    Placement where;
    for (const std::uint32_t node : nodes) where.shares.push_back({NodeId{node}, 1});
    run = desk.start(JobId{job}, where);
    desk.ready(JobId{job}, run);
    desk.hand_out();
  }
  void stop(std::uint32_t job, bool kept) {
    desk.stop(JobId{job}, kept);
    cancelled_by_stops_ = executor.cancelled.size();
  }
  // The first that is begun is done.
  TaskKey finish() {
    const TaskKey key = executor.take(0).key;
    desk.done(key);
    desk.hand_out();
    return key;
  }
  void finish_all() {
    while (!executor.begun.empty()) finish();
  }

  Machine machine;
  HandExecutor executor;
  TaskDesk desk;
  std::map<JobId, int> through;
  std::uint32_t run = 0;

 private:
  void tasks_done(JobId job) override {
    ++through[job];
    EXPECT_EQ(executor.cancelled.size(), cancelled_by_stops_) << "a job was through with tasks in the air";
  }

  std::size_t cancelled_by_stops_ = 0;
};

TEST(TaskDeskAttack, gives_a_container_that_has_died_nothing_until_it_has_room_again) {
  Site site(Bind::container, machine_of({1, 1}), 2);
  site.desk.ask(JobId{0}, tasks_of(8), Duration{0});
  site.start(0, {0, 1});
  site.executor.shut(ContainerId{0}, true);
  for (std::size_t i = site.executor.begun.size(); i-- > 0;) {
    if (site.executor.begun[i].container == ContainerId{0}) site.desk.lost(site.executor.take(i).key);
  }
  site.desk.hand_out();
  EXPECT_EQ(std::ranges::count(site.executor.begun, ContainerId{0}, &ComputeTask::container), 0);
  site.executor.shut(ContainerId{0}, false);
  site.desk.room(ContainerId{0});
  site.desk.hand_out();
  EXPECT_EQ(std::ranges::count(site.executor.begun, ContainerId{0}, &ComputeTask::container), 2);
  site.finish_all();
  EXPECT_EQ(site.through[JobId{0}], 1);
  EXPECT_EQ(site.desk.counts().local + site.desk.counts().remote, 8);
  EXPECT_EQ(site.desk.counts().redone, 2);
}

TEST(TaskDeskAttack, deals_to_an_accelerator_as_before_once_it_is_through_with_what_was_cancelled) {
  Site site(Bind::container, machine_of({1, 1}));
  for (std::uint32_t job = 0; job < 2; ++job) site.desk.ask(JobId{job}, tasks_of(1), Duration{0});
  site.start(0, {0, 1});
  ASSERT_EQ(site.executor.begun[0].container, ContainerId{0});
  site.stop(0, true);
  site.finish();
  site.start(1, {0, 1});
  EXPECT_EQ(site.executor.begun[0].container, ContainerId{0});
}

// The answers come in any order, some of them twice and some of an earlier try; containers die, nodes come and go, jobs
// are stopped and started anew.
class Weather {
 public:
  Weather(Bind bind, std::uint64_t seed) : random_(seed), site_(bind, machine_of({2, 1, 0, 0, 1}), 2) {
    for (std::uint32_t job = 0; job < kJobs; ++job) {
      site_.desk.ask(JobId{job}, tasks_of(kTasks, seconds(4)), Duration{0});
      start(job);
    }
  }

  void blow(int times) {
    for (int i = 0; i < times; ++i) step();
  }
  // All is there again, and answers; bindings that are made meanwhile can be used.
  Site& calm() {
    for (std::uint32_t node = 0; node < 5; ++node) site_.desk.came(NodeId{node});
    for (std::uint32_t job = 0; job < kJobs; ++job) {
      if (site_.through[JobId{job}] == 0 && !running_[job]) start(job);
    }
    std::uint64_t settled = 0;
    do {
      settled = site_.desk.slot_bindings();
      site_.desk.settled(settled);
      site_.desk.hand_out();
      site_.finish_all();
    } while (settled != site_.desk.slot_bindings());
    fold();
    return site_;
  }

  // About jobs, as told.
  std::int64_t bound_for_jobs() const {
    return std::ranges::count_if(kept_.all(), [](const Bound& bound) { return bound.job.valid(); });
  }

  static constexpr std::uint32_t kJobs = 3;
  static constexpr std::uint32_t kTasks = 60;

 private:
  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(random_.between(0, std::int64_t{n} - 1)); }

  void start(std::uint32_t job) {
    running_[job] = true;
    site_.start(job, {2, 3, job == 2 ? 4 : job});
  }
  // What the desk tells makes sense after all that it told before.
  void fold() {
    for (const TaskFact& fact : site_.desk.take_facts()) {
      const auto take = [&](const auto& what, const auto& objection) {
        EXPECT_EQ(objection.value_or(""), "");
        if (!objection) kept_.apply(what);
      };
      if (const auto* f = std::get_if<TasksAsked>(&fact)) take(*f, kept_.objection(*f));
      if (const auto* f = std::get_if<Bound>(&fact)) take(*f, kept_.objection(site_.machine, *f));
      if (const auto* f = std::get_if<Unbound>(&fact)) take(*f, kept_.objection(site_.machine, *f));
    }
  }
  void step() {
    const std::uint32_t node = below(5);
    const std::uint32_t job = below(kJobs);
    switch (below(9)) {
      case 0:
        went(node);
        break;
      case 1:
        site_.desk.came(NodeId{node});
        break;
      case 2:
        if (site_.through[JobId{job}] > 0) break;
        if (running_[job]) {
          site_.stop(job, true);
          running_[job] = false;
        } else {
          start(job);
        }
        break;
      case 3:
        if (!earlier_.empty()) site_.desk.done(earlier_[below(static_cast<std::uint32_t>(earlier_.size()))]);
        break;
      case 4:
        site_.desk.settled(site_.desk.slot_bindings());
        break;
      default:
        answer();
    }
    site_.desk.hand_out();
    for (std::uint32_t j = 0; j < kJobs; ++j) {
      if (site_.through[JobId{j}] > 0) running_[j] = false;
    }
    fold();
  }
  void answer() {
    if (site_.executor.begun.empty()) return;
    const auto which = below(static_cast<std::uint32_t>(site_.executor.begun.size()));
    const ComputeTask task = site_.executor.take(which);
    earlier_.push_back(task.key);
    if (below(5) == 0) return site_.desk.lost(task.key);
    if (task.limit > Duration{0} && below(3) == 0) return site_.desk.over_limit(task.key);
    site_.desk.done(task.key);
  }
  void went(std::uint32_t node) {
    site_.desk.went(NodeId{node});
    auto& begun = site_.executor.begun;
    for (std::size_t i = begun.size(); i-- > 0;) {
      if (!begun[i].container.valid() || begun[i].on != NodeId{node}) continue;
      earlier_.push_back(begun[i].key);
      site_.desk.lost(site_.executor.take(i).key);
    }
  }

  Random random_;
  Site site_;
  AcceleratorBindings kept_;
  std::vector<TaskKey> earlier_;
  std::map<std::uint32_t, bool> running_;
};

TEST(TaskDeskAttack, has_each_task_finished_once_whatever_the_executor_does) {
  for (const Bind bind : {Bind::none, Bind::node, Bind::node_literal, Bind::node_weighted, Bind::container,
                          Bind::weighted, Bind::late, Bind::slot}) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      Weather weather(bind, seed);
      weather.blow(600);
      Site& site = weather.calm();
      const TaskCounts counts = site.desk.counts();
      EXPECT_EQ(counts.on_cpu + counts.local + counts.remote, std::int64_t{Weather::kJobs} * Weather::kTasks)
          << name_of(bind) << " " << seed;
      EXPECT_EQ(weather.bound_for_jobs(), 0) << name_of(bind) << " " << seed;
      EXPECT_LE(counts.redone, site.executor.submitted - (counts.on_cpu + counts.local + counts.remote));
      for (std::uint32_t job = 0; job < Weather::kJobs; ++job) EXPECT_EQ(site.through[JobId{job}], 1);
    }
  }
}

}  // namespace
}  // namespace rota
