#include "cli/rehearse/simulate_run.h"

#include <gtest/gtest.h>

namespace rota::cli {
namespace {

std::vector<std::string> called(const std::vector<std::string>& names, const std::vector<std::string>& paths) {
  std::vector<log::Workload> workloads(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) workloads[i].name = names[i];
  call_apart(workloads, paths);
  std::vector<std::string> now;
  for (const log::Workload& workload : workloads) now.push_back(workload.name);
  return now;
}

TEST(CallApart, NamesWorkloadsOfOneNameByTheirPaths) {
  EXPECT_EQ(called({"may", "june", "may"}, {"a/may.swf", "june.swf", "b/may.swf"}),
            (std::vector<std::string>{"a/may.swf", "june", "b/may.swf"}));
}

TEST(CallApart, LeavesNamesThatDiffer) {
  EXPECT_EQ(called({"may", "june"}, {"a/may.swf", "b/june.swf"}), (std::vector<std::string>{"may", "june"}));
}

}  // namespace
}  // namespace rota::cli
