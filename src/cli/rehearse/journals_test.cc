// What the head of a journal says of its cluster must be possible.
#include "cli/rehearse/journals.h"

#include <gtest/gtest.h>

namespace rota::cli {
namespace {

std::string complaint(const store::JournalHead& head) {
  const auto setting = setting_of(head, "may.journal");
  return setting ? "none" : setting.error().message;
}

store::JournalHead of(std::int64_t processors, const std::string& cluster = {}, const std::string& settings = {}) {
  store::JournalHead head;
  head.policy = "easy";
  head.processors = processors;
  head.cluster = cluster;
  head.settings = settings;
  return head;
}

TEST(JournalHead, HasACountOfProcessorsThatCanBe) {
  EXPECT_EQ(complaint(of(2'147'483'647)), "none");
  EXPECT_EQ(complaint(of(0)), "may.journal: its head does not say how many processors the cluster has.");
  EXPECT_EQ(complaint(of(99'999'999'999)),
            "may.journal: its head says that the cluster has 99,999,999,999 processors, and more than 2,147,483,647 "
            "cannot be; it is not as Rota wrote it.");
}

TEST(JournalHead, AgreesWithTheClusterFileInIt) {
  const std::string nodes = "[[nodes]]\nnames = 'n[1-4]'\nprocessors = 2\n";
  EXPECT_EQ(complaint(of(8, nodes)), "none");
  EXPECT_EQ(
      complaint(of(1, nodes)),
      "may.journal: its head says that the cluster has 1 processor, and the cluster file in it describes 8; it is "
      "not as Rota wrote it.");
  const std::string sites = "[[sites]]\nname = 'texel'\nprocessors = 4\n[[sites]]\nname = 'ameland'\nprocessors = 5\n";
  EXPECT_EQ(complaint(of(5, sites, "site ameland")), "none");
  EXPECT_EQ(
      complaint(of(4, sites, "site ameland")),
      "may.journal: its head says that the cluster has 4 processors, and the cluster file in it describes 5; it is "
      "not as Rota wrote it.");
}

TEST(JournalHead, HoldsTheSharesThatJobsUseAsRotaWroteThem) {
  store::JournalHead head = of(4, "processors = 4\n[[accounts]]\nname = 'physics'\nusers = 'anna'\n");
  head.shares = "1 1 0,2 1 1 0";
  EXPECT_EQ(complaint(head), "none");
  head.shares = "1 1 0,2 1 2 0";
  EXPECT_EQ(
      complaint(head),
      "may.journal: its head says that jobs use shares of its cluster which cannot be; it is not as Rota wrote it.");
}

}  // namespace
}  // namespace rota::cli
