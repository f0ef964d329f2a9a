// What Slurm 22.05.8 printed.
#include "engine/slurm/site_rows.h"

#include <gtest/gtest.h>

namespace rota::slurm {
namespace {

constexpr const char* kReserved =
    "ReservationName=up StartTime=2026-11-30T05:19:58 EndTime=2026-11-30T05:29:58 Duration=00:10:00 Nodes=n[1-2] "
    "NodeCnt=2 CoreCnt=8 Features=(null) PartitionName=(null) Flags=MAINT,SPEC_NODES TRES=cpu=8 Users=root "
    "Groups=(null) Accounts=(null) Licenses=(null) State=INACTIVE BurstBuffer=(null) Watts=n/a MaxStartDelay=(null)\n";

TEST(SlurmReservations, NodesTimesAndUsersAreRead) {
  const auto rows = read_reservations(kReserved);
  ASSERT_TRUE(rows) << rows.error().message;
  ASSERT_EQ(rows->size(), 1U);
  EXPECT_EQ(rows->front().name, "up");
  EXPECT_EQ(rows->front().users, "root");
  EXPECT_EQ(rows->front().nodes, (std::vector<std::string>{"n1", "n2"}));
  EXPECT_EQ(rows->front().until - rows->front().from, 600'000);
  EXPECT_EQ(rows->front().processors, 8);
}

TEST(SlurmReservations, NoneAndWhatIsCutOffAreToldApart) {
  const auto none = read_reservations("No reservations in the system\n");
  ASSERT_TRUE(none);
  EXPECT_TRUE(none->empty());
  EXPECT_FALSE(read_reservations(std::string(kReserved).substr(0, 100)));
  EXPECT_FALSE(read_reservations("something else\n"));
  std::string of_licences = kReserved;
  of_licences.replace(of_licences.find("n[1-2]"), 6, "(null)");
  const auto rows = read_reservations(of_licences);
  ASSERT_TRUE(rows);
  EXPECT_TRUE(rows->empty());
}

TEST(SlurmUse, UsersOfAccountsAreReadAndNoAccounts) {
  const auto use = read_use("root||90\n root|root|0\n physics||90\n  physics|nobody|80\n  physics|ann|odd\n");
  ASSERT_EQ(use.size(), 2U);
  EXPECT_EQ(use[1].account, "physics");
  EXPECT_EQ(use[1].user, "nobody");
  EXPECT_EQ(use[1].processor_time, seconds(80));
}

}  // namespace
}  // namespace rota::slurm
