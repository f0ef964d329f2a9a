// The referee and jobs that move to nodes of another speed.
#include <gtest/gtest.h>

#include "model/world_test.h"
#include "plan/referee.h"
#include "plan/watched_fold.h"

namespace rota {
namespace {

class RefereeMigrationTest : public testing::Test {
 protected:
  static const Machine& machine() {
    static const Machine kMachine = [] {
      Machine two;
      for (const std::int32_t factor : {99'000, 100'000}) {
        Node& node = two.nodes.emplace_back();
        node.name = "n" + std::to_string(two.nodes.size());
        node.processors = 2;
        node.memory = 8;
        node.cpu_factor = factor;
        two.processors += node.processors;
      }
      return two;
    }();
    return kMachine;
  }
  static ClusterOptions options() {
    ClusterOptions options = World::counted(4);
    options.machine = &machine();
    return options;
  }
  template <class Kind>
  void tell(const Kind& what) {
    watched_fold(world_.cluster(), referee_, world_.cluster().sequence() + 1, what);
  }
  JobId waiting(Duration limit) {
    JobSpec spec;
    spec.number = ++numbers_;
    spec.processors = 2;
    spec.memory = 1;  // so that counting does not suffice
    spec.limit = limit;
    spec.restart = Restart::checkpoint;
    const JobId id = world_.cluster().next_job();
    tell(Submitted{id, spec, limit});
    return id;
  }
  static Placement on(std::uint32_t node) { return {{{NodeId{node}, 2}}, {1, 0}}; }
  // What is said if that job moves to the second node after a second.
  std::string breach_of_moving(JobId job) {
    world_.at(1);
    Plan plan;
    plan.open(world_.cluster());
    plan.migrate(job, on(1), {});
    return referee_.check(world_.cluster(), plan).value_or("none");
  }

  World world_{options()};
  Referee referee_;
  std::int64_t numbers_ = 0;
};

TEST_F(RefereeMigrationTest, AJobWithoutALimitIsInTheWayForAsLong) {
  const JobId job = waiting(kLongest);
  tell(Started{job, false, on(0)});
  tell(Promised{waiting(seconds(10)), at_seconds(100), on(1)});
  EXPECT_EQ(breach_of_moving(job),
            "job 1 is moved and a promise suffers: running jobs and what is set aside together need more than node n2 "
            "has at 100 s");
}

TEST_F(RefereeMigrationTest, AJobThatIsGoneByThenIsNotInTheWay) {
  const JobId job = waiting(seconds(90));
  tell(Started{job, false, on(0)});
  tell(Promised{waiting(seconds(10)), at_seconds(100), on(1)});
  EXPECT_EQ(breach_of_moving(job), "none");
}

}  // namespace
}  // namespace rota
