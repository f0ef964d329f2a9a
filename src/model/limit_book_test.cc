#include "model/limit_book.h"

#include <gtest/gtest.h>

#include "model/fact_text_test.h"
#include "model/snapshot.h"
#include "model/world_test.h"

namespace rota {
namespace {

const NamesByNumber kUsers{{1, "anna"}, {2, "bob"}}, kGroups{{1, "physics"}, {2, "plasma"}, {3, "chemistry"}};

// Physics, of which plasma is a part, and chemistry; QOS low and high; partitions batch and short.
Machine site() {
  Machine machine;
  machine.processors = 100;
  machine.partitions = {{.name = "batch", .nodes = {}}, {.name = "short", .nodes = {}}};
  machine.default_partition = PartitionId{0};
  machine.qos = {{"low"}, {"high"}};
  machine.accounts = {{.name = "physics", .users = {}},
                      {.name = "plasma", .parent = 0, .users = {}},
                      {.name = "chemistry", .users = {}}};
  return machine;
}

JobSpec of(std::uint32_t user, std::uint32_t group, std::uint32_t processors = 1) {
  JobSpec spec;
  spec.user = user;
  spec.group = group;
  spec.processors = processors;
  return spec;
}

Limit jobs(std::int64_t most) {
  Limit limit;
  limit.most.jobs = most;
  return limit;
}

class Limits : public testing::Test {
 protected:
  Machine machine_ = site();
  void limit(Limit limit) { machine_.limits.push_back(std::move(limit)); }
  LimitBook book() const { return {machine_, limit_names(machine_, kUsers, kGroups)}; }
};

TEST_F(Limits, OfAUserCountHisJobsAlone) {
  limit(jobs(2));
  machine_.limits[0].user = "anna";
  const LimitBook book = this->book();
  LimitUse use(&book);
  use.count(of(1, 1));
  EXPECT_FALSE(use.broken_by(of(1, 3)));
  use.count(of(1, 3));
  EXPECT_TRUE(use.broken_by(of(1, 1)));
  EXPECT_FALSE(use.broken_by(of(2, 1)));
  use.give(of(1, 1));
  EXPECT_FALSE(use.broken_by(of(1, 1)));
}

TEST_F(Limits, OfEachUserCountThemOneByOne) {
  limit(jobs(1));
  machine_.limits[0].user = Limit::kEach;
  const LimitBook book = this->book();
  LimitUse use(&book);
  use.count(of(1, 1));
  EXPECT_TRUE(use.broken_by(of(1, 1)));
  EXPECT_FALSE(use.broken_by(of(2, 1)));
  use.count(of(UINT32_MAX, 1));
  EXPECT_FALSE(use.broken_by(of(UINT32_MAX, 1))) << "whose it is, is not known";
}

TEST_F(Limits, OfAnAccountHoldForThoseBelowIt) {
  limit({.user = "", .account = "physics", .qos = "", .partition = ""});
  machine_.limits[0].most.processors = 10;
  const LimitBook book = this->book();
  LimitUse use(&book);
  use.count(of(1, 2, 6));
  EXPECT_FALSE(use.broken_by(of(2, 1, 4)));
  EXPECT_TRUE(use.broken_by(of(2, 1, 5)));
  EXPECT_FALSE(use.broken_by(of(2, 3, 50)));
  EXPECT_EQ(book.never_fits(of(2, 1, 11)), "asks for 11 processors; the limit of account \"physics\" is 10 processors");
  EXPECT_EQ(book.never_fits(of(2, 1, 10)), std::nullopt);
}

TEST_F(Limits, OfAUserInAnAccountHoldForThatAccountAlone) {
  limit({.user = "anna", .account = "physics", .qos = "", .partition = ""});
  machine_.limits[0].most.jobs = 1;
  const LimitBook book = this->book();
  LimitUse use(&book);
  use.count(of(1, 2));
  EXPECT_FALSE(use.broken_by(of(1, 1))) << "what anna holds below physics does not count";
  use.count(of(1, 1));
  EXPECT_TRUE(use.broken_by(of(1, 1)));
  EXPECT_FALSE(use.broken_by(of(1, 2)));
}

TEST_F(Limits, OfAQosHoldInPlaceOfOthers) {
  limit({.user = "anna", .account = "", .qos = "", .partition = "", .except_qos = {"high"}});
  limit({.user = Limit::kEach, .account = "", .qos = "high", .partition = "short"});
  machine_.limits[0].most.jobs = 1;
  machine_.limits[1].most.jobs = 2;
  const LimitBook book = this->book();
  LimitUse use(&book);
  JobSpec high = of(1, 1);
  high.qos = QosId{1};
  use.count(of(1, 1));
  EXPECT_TRUE(use.broken_by(of(1, 1)));
  EXPECT_FALSE(use.broken_by(high)) << "another limit holds for it";
  use.give(of(1, 1));
  use.count(high);
  EXPECT_TRUE(use.broken_by(of(1, 1))) << "an urgent job counts";
  EXPECT_FALSE(use.broken_by(high)) << "in the default partition";
  high.partition = PartitionId{1};
  use.count(high);
  use.count(high);
  EXPECT_TRUE(use.broken_by(high));
}

TEST_F(Limits, OfTheQosOfAPartitionHoldInPlaceOfOthers) {
  limit({.user = "", .account = "", .qos = "", .partition = "", .except_partitions = {"short"}});
  machine_.limits[0].most.jobs = 1;
  const LimitBook book = this->book();
  LimitUse use(&book);
  JobSpec in_short = of(1, 1);
  in_short.partition = PartitionId{1};
  use.count(in_short);
  EXPECT_TRUE(use.broken_by(of(1, 1))) << "what runs there counts";
  EXPECT_FALSE(use.broken_by(in_short));
}

TEST_F(Limits, OfAcceleratorsOfOneTypeCountJobsThatAskForIt) {
  limit({.user = "", .account = "", .qos = "", .partition = "", .accelerator_type = "a100"});
  machine_.limits[0].most.accelerators = 2;
  machine_.accelerator_types = {"v100", "a100"};
  const LimitBook book = this->book();
  LimitUse use(&book);
  JobSpec old = of(1, 1), fast = of(1, 1);
  old.accelerators = fast.accelerators = 2;
  old.accelerator_type = AcceleratorTypeId{0};
  fast.accelerator_type = AcceleratorTypeId{1};
  use.count(old);
  EXPECT_FALSE(use.broken_by(fast));
  use.count(fast);
  EXPECT_TRUE(use.broken_by(fast));
  EXPECT_FALSE(use.broken_by(old));
  fast.accelerators = 4;
  EXPECT_EQ(book.never_fits(fast),
            "asks for 4 accelerators; the limit of all for accelerators of type \"a100\" is 2 "
            "accelerators");
}

TEST_F(Limits, OfMinutesCountWhatIsLeftOfTimeLimits) {
  limit({});
  machine_.limits[0].most.processor_seconds = 10 * 60;
  const LimitBook book = this->book();
  EXPECT_TRUE(book.of_time());
  LimitUse use(&book);
  JobSpec job = of(1, 1, 2);
  job.limit = seconds(180);
  use.count(job);
  EXPECT_TRUE(use.broken_by(job)) << "6 minutes of 10, and 6 more";
  use.has_run(job, seconds(59));
  EXPECT_TRUE(use.broken_by(job));
  use.has_run(job, seconds(1));
  EXPECT_FALSE(use.broken_by(job));
  job.limit = seconds(301);
  EXPECT_EQ(book.never_fits(job), "asks for 11 processor minutes; the limit of all is 10 processor minutes");
}

TEST_F(Limits, NodesMemoryAndAcceleratorsCountOnEachNode) {
  limit({});
  machine_.limits[0].most.memory = 100;
  machine_.limits[0].most.nodes = 4;
  machine_.limits[0].most.accelerators = 8;
  const LimitBook book = this->book();
  LimitUse use(&book);
  JobSpec two = of(1, 1, 2);
  two.nodes = 2;
  two.memory = 25;
  two.accelerators = 4;
  use.count(two);
  EXPECT_EQ(use.held({}), (LimitedUse{1, 2, 2, 50, 8, 2}));
  EXPECT_TRUE(use.broken_by(two)) << "for its accelerators";
  two.accelerators = 0;
  EXPECT_FALSE(use.broken_by(two));
  two.memory = 26;
  EXPECT_TRUE(use.broken_by(two));
}

TEST_F(Limits, NamesAreKeptAsText) {
  limit(jobs(1));
  limit({.user = "anna", .account = "physics", .qos = "", .partition = ""});
  const LimitNames names = limit_names(machine_, kUsers, kGroups);
  EXPECT_EQ(text_of(names), "u 1 anna\ng 1 physics\ng 2 plasma\n");
  const auto back = parse_limit_names(text_of(names));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->users, names.users);
  EXPECT_EQ(back->groups, names.groups);
  for (const char* text : {"x 1 anna", "u x anna", "u 1", "u -1 anna", "u"})
    EXPECT_FALSE(parse_limit_names(text)) << text;
}

// What came free goes to the first job that it is enough for, and a state that is put back goes on likewise.
TEST_F(Limits, KeepJobsOutOfTheQueueUntilTheyMayStart) {
  limit(jobs(1));
  machine_.limits[0].user = Limit::kEach;
  const LimitBook book = this->book();
  ClusterOptions options = World::counted(8);
  options.limits = &book;
  World world(options);
  const JobId first = world.running({.processors = 1, .user = 1});
  const auto barred = [&](std::uint32_t user) {
    JobSpec spec = of(user, 1);
    spec.number = world.cluster().last_number() + 1;
    spec.limit = seconds(10);
    const JobId id = world.cluster().next_job();
    world.fold(Submitted{id, spec, spec.limit, world.cluster().limits().bars(spec)});
    return id;
  };
  const JobId second = barred(1), third = barred(1), other = barred(2);
  EXPECT_EQ(world.job(second).bars, kOverLimit);
  EXPECT_EQ(world.job(other).state, JobState::waiting);
  EXPECT_FALSE(world.cluster().limits().any_due());
  world.ends(first);
  EXPECT_EQ(world.cluster().limits().due(), (std::vector<JobId>{second, third}));
  Cluster again(options);
  for (const Fact& fact : Snapshot::facts_of(world.cluster())) again.fold(fact);
  EXPECT_EQ(again.limits().due(), (std::vector<JobId>{second, third}));
  world.fold(Eligible{second, kNoBars});
  EXPECT_EQ(world.job(second).state, JobState::waiting);
  EXPECT_EQ(world.cluster().limits().bars(world.job(third).spec), kOverLimit);
  world.close_cycle();
  EXPECT_FALSE(world.cluster().limits().any_due()) << "the third waits for the second";
  world.fold(Cancelled{second});
  EXPECT_EQ(world.cluster().limits().due(), std::vector<JobId>{third});
}

TEST_F(Limits, CountWhatRunsWhereThePolicyKeepsThem) {
  limit(jobs(1));
  const LimitBook book = this->book();
  ClusterOptions options = World::counted(8);
  options.limits = &book;
  options.limits_at_start = true;
  World world(options);
  const JobId waits = world.waiting({.processors = 1, .user = 1});
  EXPECT_EQ(world.cluster().limits().use().held({}), LimitedUse{});
  world.fold(Started{waits, false});
  EXPECT_EQ(world.cluster().limits().use().held({}).jobs, 1);
  EXPECT_EQ(world.cluster().limits().bars(of(1, 1)), kNoBars);
  world.ends(waits);
  EXPECT_EQ(world.cluster().limits().use().held({}), LimitedUse{});
}

}  // namespace
}  // namespace rota
