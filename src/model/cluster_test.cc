// What each fact makes of the state.
#include "model/cluster.h"

#include <gtest/gtest.h>

#include "model/fact_text_test.h"
#include "model/snapshot.h"
#include "model/world_test.h"

namespace rota {
namespace {

ClusterOptions by_priority(std::int64_t processors) {
  ClusterOptions options = World::counted(processors);
  options.by_priority = true;
  return options;
}

std::string state_of(const Cluster& cluster) { return text_of_all(Snapshot::facts_of(cluster)); }

void take_over(World& world, Cluster& fresh) {
  for (const Fact& fact : Snapshot::facts_of(world.cluster())) {
    ASSERT_EQ(fresh.objection(fact).value_or(""), "");
    fresh.fold(fact);
  }
}

// A state that is folded from the facts of another is that state.
void expect_kept(World& world) {
  Cluster fresh(world.cluster().options());
  take_over(world, fresh);
  EXPECT_EQ(difference(state_of(world.cluster()), state_of(fresh)), "");
  EXPECT_EQ(fresh.sequence(), world.cluster().sequence());
  EXPECT_EQ(fresh.now(), world.cluster().now());
}

TEST(Cluster, AStartHoldsAndAnEndGivesBack) {
  World world(4);
  world.at(5);
  const JobId job = world.running({3, 10});
  EXPECT_EQ(world.cluster().free(), 1);
  EXPECT_EQ(world.job(job).start, at_seconds(5));
  EXPECT_EQ(world.job(job).expected_end(), at_seconds(15));
  EXPECT_EQ(world.job(job).command, world.cluster().sequence());
  world.at(8);
  world.fold(Finished{job, Outcome::failed});
  EXPECT_EQ(world.cluster().free(), 4);
  EXPECT_EQ(world.job(job).state, JobState::failed);
  EXPECT_EQ(world.job(job).run_time(), seconds(3));
  EXPECT_EQ(world.cluster().releases(), 1);
  expect_kept(world);
  world.close_cycle();
  EXPECT_FALSE(world.cluster().knows(job));
  EXPECT_EQ(world.cluster().releases(), 0);
  EXPECT_EQ(world.cluster().history_of(UINT32_MAX), nullptr) << "nobody knows whose it was";
  expect_kept(world);
}

TEST(Cluster, EveryOutcomeHasItsState) {
  const std::vector<std::pair<Outcome, JobState>> cases{{Outcome::completed, JobState::completed},
                                                        {Outcome::timed_out, JobState::timed_out},
                                                        {Outcome::failed, JobState::failed},
                                                        {Outcome::node_failed, JobState::node_failed},
                                                        {Outcome::out_of_memory, JobState::out_of_memory},
                                                        {Outcome::cancelled, JobState::cancelled}};
  for (const auto& [outcome, state] : cases) {
    World world(4);
    const JobId job = world.running({});
    world.fold(Finished{job, outcome});
    EXPECT_EQ(world.job(job).state, state);
    EXPECT_TRUE(world.job(job).gone());
    EXPECT_EQ(world.job(job).ended(), state != JobState::cancelled);
  }
}

TEST(Cluster, AJobThatGivesWayComesBackToItsPlaceWithItsWork) {
  World world(by_priority(4));
  const JobId low = world.running({4, 100});
  const JobId second = world.waiting({4, 10});
  const JobId high = world.waiting({4, 10, 1});
  world.at(30);
  world.fold(Preempted{low, high, at_seconds(35)});
  EXPECT_TRUE(world.cluster().by_priority().empty());
  EXPECT_EQ(world.job(low).expected_end(), at_seconds(35));
  ASSERT_EQ(world.cluster().leaving().size(), 1U);
  expect_kept(world);
  world.at(36);
  world.fold(Vacated{low, seconds(30)});
  EXPECT_EQ(world.job(low).done, seconds(30));
  EXPECT_EQ(world.job(low).expected, seconds(70));
  EXPECT_EQ(world.job(low).preemptions, 1);
  EXPECT_TRUE(world.cluster().leaving().empty());
  EXPECT_EQ(world.cluster().waiting().head()->job, high);
  world.fold(Cancelled{high});
  EXPECT_EQ(world.cluster().waiting().head()->job, low);  // before the second, as it was
  EXPECT_EQ(world.job(second).state, JobState::waiting);
  expect_kept(world);
}

TEST(Cluster, AJobThatIsQueuedAgainGoesToTheTail) {
  World world(4);
  const JobId job = world.running({4, 10});
  const JobId next = world.waiting({4, 10});
  world.at(10);
  world.fold(Stopped{job});
  EXPECT_TRUE(world.job(job).stopping);
  expect_kept(world);
  world.fold(Requeued{job, seconds(15)});
  EXPECT_EQ(world.job(job).kills, 1);
  EXPECT_FALSE(world.job(job).stopping);
  EXPECT_EQ(world.job(job).expected, seconds(15));
  EXPECT_EQ(world.cluster().request(job).limit, seconds(10));
  EXPECT_EQ(world.cluster().waiting().head()->job, next);
  expect_kept(world);
}

TEST(Cluster, AJobThatIsAheadGoesBeforeItsEqualsInAnyOrder) {
  for (const Order order : {Order::fcfs, Order::sjf, Order::fair}) {
    ClusterOptions options = World::counted(4);
    options.waiting.queue = order;
    World world(options);
    const JobId first = world.waiting({1, 10});
    const JobId ahead = world.cluster().next_job();
    JobSpec spec;
    spec.number = 9;
    spec.limit = seconds(1000);
    world.fold(Submitted{ahead, spec, spec.limit, kNoBars, true});
    EXPECT_EQ(world.cluster().waiting().head()->job, ahead);
    expect_kept(world);
    world.fold(Started{ahead, false});
    world.fold(Requeued{ahead, seconds(1500)});
    EXPECT_EQ(world.cluster().waiting().head()->job, ahead) << "also when it is queued again";
    const JobId higher = world.waiting({1, 10, 1});
    EXPECT_EQ(world.cluster().waiting().head()->job, higher);
    EXPECT_EQ(world.job(first).state, JobState::waiting);
  }
}

TEST(Cluster, AStoppedJobIsNoVictim) {
  World world(by_priority(4));
  const JobId job = world.running({2, 10});
  const JobId other = world.running({1, 10, 1});
  EXPECT_EQ(world.cluster().by_priority().held_below(2), 3);
  world.fold(Stopped{job});
  EXPECT_EQ(world.cluster().by_priority().held_below(2), 1);
  world.fold(Stopped{job, {}, true});
  EXPECT_EQ(world.cluster().by_priority().held_below(2), 1);
  expect_kept(world);
  world.fold(Cancelled{job});
  world.fold(Preempted{other, {}});
  world.fold(Stopped{other, {}, true});
  EXPECT_TRUE(world.cluster().by_priority().empty());
  expect_kept(world);
  world.fold(Cancelled{other});
  EXPECT_EQ(world.cluster().free(), 4);
  EXPECT_TRUE(world.cluster().leaving().empty());
}

TEST(Cluster, PromisesAreListedByIdAndForgottenAtTheStart) {
  World world(4);
  const JobId first = world.waiting({1, 10});
  const JobId second = world.waiting({1, 10});
  world.promise(second, 30);
  world.promise(first, 20);
  EXPECT_EQ(world.cluster().promised(), (std::vector{first, second}));
  world.promise(second, 40);
  EXPECT_EQ(world.job(second).first_promise, at_seconds(30));
  expect_kept(world);
  world.fold(Started{first});
  world.fold(Promised{second, kNever});
  EXPECT_TRUE(world.cluster().promised().empty());
  EXPECT_EQ(world.job(first).promise, kNever);
  EXPECT_EQ(world.job(first).first_promise, at_seconds(20));
}

TEST(Cluster, CorrectionsAndExtensionsMoveTheExpectedEnd) {
  World world(4);
  const JobId job = world.running({1, 10});
  world.at(10);
  world.fold(Overdue{job});
  EXPECT_EQ(world.cluster().overdue(), std::vector{job});
  expect_kept(world);
  world.fold(Expected{job, seconds(20)});
  EXPECT_TRUE(world.cluster().overdue().empty());
  EXPECT_EQ(world.job(job).corrections, 1);
  EXPECT_EQ(world.cluster().running().released_by(at_seconds(19)), 0);
  EXPECT_EQ(world.cluster().running().released_by(at_seconds(20)), 1);
  world.fold(Extended{job, at_seconds(25)});
  EXPECT_TRUE(world.job(job).extended);
  EXPECT_EQ(world.cluster().running().released_by(at_seconds(24)), 0);
  expect_kept(world);
  world.fold(Requeued{job, seconds(10)});
  EXPECT_FALSE(world.job(job).extended);
  EXPECT_EQ(world.job(job).corrections, 0);
}

TEST(Cluster, OnlyJobsThatAreQueuedArrive) {
  World world(4);
  const JobId job = world.waiting({});
  const JobId other = world.waiting({});
  EXPECT_EQ(world.cluster().arrived(), (std::vector{job, other}));
  world.fold(Held{job});
  EXPECT_EQ(world.cluster().arrived(), std::vector{other});
  EXPECT_EQ(world.cluster().barred(), 1U);
  expect_kept(world);
  world.fold(Released{job});
  EXPECT_EQ(world.cluster().arrived(), (std::vector{other, job}));
  EXPECT_EQ(world.cluster().barred(), 0U);
  world.fold(Cancelled{other});
  EXPECT_EQ(world.cluster().arrived(), std::vector{job});
  expect_kept(world);
}

TEST(Cluster, ProcessorsThatAreListedStayWithTheirJobs) {
  ClusterOptions options = World::counted(4);
  options.list_processors = true;
  World world(options);
  const JobId early = world.running({1, 10});
  const JobId late = world.running({2, 50});
  const JobId head = world.waiting({2, 10});
  world.promise(head, 10);
  EXPECT_EQ(world.cluster().blockers(), std::vector{early});
  expect_kept(world);
  world.ends(early);
  const JobId between = world.running({1, 5});
  EXPECT_EQ(world.cluster().blockers(), std::vector{between});
  expect_kept(world);
  world.ends(late);
  EXPECT_EQ(world.cluster().blockers(), std::vector{between});
}

TEST(Cluster, ProcessorsNeedNotBeListedByAClusterThatTakesASnapshotIn) {
  ClusterOptions listing = World::counted(4);
  listing.list_processors = true;
  World world(listing);
  const JobId runs = world.running({3, 10});
  world.promise(world.waiting({2, 10}), 10);
  Cluster fresh(World::counted(4));
  take_over(world, fresh);
  EXPECT_FALSE(fresh.sets_aside());
  EXPECT_EQ(fresh.free(), 1);
  fold(fresh, Finished{runs});
  EXPECT_EQ(fresh.free(), 4);
}

TEST(Cluster, AClusterThatListsProcessorsListsThoseOfJobsThatCameWithoutAList) {
  World world(4);
  const JobId runs = world.running({3, 10});
  world.promise(world.waiting({2, 10}), 10);
  ClusterOptions listing = World::counted(4);
  listing.list_processors = true;
  Cluster fresh(listing);
  take_over(world, fresh);
  EXPECT_FALSE(fresh.sets_aside()) << "the promise is to be made anew";
  const JobId head = fresh.promised().front();
  fold(fresh, Promised{head, kNever});
  fold(fresh, Promised{head, at_seconds(10)});
  EXPECT_TRUE(fresh.sets_aside());
  EXPECT_EQ(fresh.blockers(), std::vector{runs});
}

TEST(Cluster, AMoveSaysHowLongTheJobIsCountedOnFromThenOn) {
  Machine machine;
  machine.nodes.resize(2);
  for (Node& node : machine.nodes) node.processors = 2;
  machine.processors = 4;
  const auto on = [](std::uint32_t node) { return Placement{{{NodeId{node}, 2}}, {}}; };
  for (const auto& [said, counted_on] : {std::pair{0, 70}, {40, 40}}) {  // 0: in journals of older versions
    ClusterOptions options = World::counted(4);
    options.machine = &machine;
    World world(options);
    const JobId job = world.waiting({2, 100});
    world.fold(Started{job, false, on(0)});
    world.at(30);
    Migrated fact{job, on(1)};
    for (const Duration wrong : {Duration{-1}, kLongest + Duration{1}, Duration::max()}) {
      fact.expected = wrong;
      EXPECT_EQ(world.cluster().objection(fact).value_or(""), "it expects what cannot be.");
    }
    fact.expected = seconds(said);
    EXPECT_EQ(world.cluster().objection(fact).value_or(""), "");
    world.fold(fact);
    EXPECT_EQ(world.cluster().job(job).expected, seconds(counted_on));
    EXPECT_EQ(world.cluster().job(job).done, seconds(30));
    expect_kept(world);
  }
}

// Numbers are names: they are not in step with ids, and the highest outlives its job.
TEST(Cluster, KnowsTheHighestNumberOfAllJobs) {
  Cluster cluster(World::counted(4));
  EXPECT_EQ(cluster.last_number(), 0);
  for (const std::int64_t number : {5'482'113, 17}) {
    JobSpec spec;
    spec.number = number;
    cluster.fold(kEpoch, cluster.sequence() + 1, Submitted{cluster.next_job(), spec, spec.limit, kNoBars});
  }
  EXPECT_EQ(cluster.last_number(), 5'482'113);
  Cluster restored(World::counted(4));
  for (const Fact& fact : Snapshot::facts_of(cluster)) restored.fold(fact);
  EXPECT_EQ(restored.last_number(), 5'482'113);
  Cluster older(World::counted(4));
  older.fold(kEpoch, 1, StateKept{.next_job = JobId{2}});  // written before numbers were names
  EXPECT_EQ(older.last_number(), 2);
}

TEST(Cluster, OnlyAFreshStateTakesASnapshotIn) {
  World world(4);
  world.waiting({});
  EXPECT_EQ(world.cluster().objection(StateKept{}).value_or(""), "a snapshot begins where there is a state already.");
  Cluster fresh(World::counted(4));
  fresh.fold(kEpoch, 1, StateKept{.next_job = JobId{2}});
  JobKept kept;
  kept.job = JobId{2};
  EXPECT_EQ(fresh.objection(kept).value_or(""), "a job is kept whose id was not given yet.");
  kept.job = JobId{1};
  fresh.fold(kEpoch, 1, kept);
  EXPECT_EQ(fresh.objection(kept).value_or(""), "a job is kept twice.");
  EXPECT_EQ(fresh.waiting().size(), 1U);
}

}  // namespace
}  // namespace rota
