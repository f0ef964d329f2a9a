#include "serve/cluster_change.h"

#include <gtest/gtest.h>

namespace rota::serve {
namespace {

TEST(ClusterChangeTest, FewerLicencesAreRefusedWithWhatToDo) {
  Machine before, now;
  before.licences = {{.name = "solver", .count = 4}};
  now.licences = {{.name = "solver", .count = 2}};
  EXPECT_EQ(
      cluster_change(before, now).refused,
      "licence solver has 2 instead of 4: what runs, or ran, may hold more than that; leave 4 in the file, and have "
      "a `licence_command` say how many there are, as with \"echo solver 2 0\"");
  EXPECT_EQ(cluster_change(now, before).taken, "licence solver has 4 instead of 2");
}

}  // namespace
}  // namespace rota::serve
