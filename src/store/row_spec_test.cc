#include "store/row_spec.h"

#include <gtest/gtest.h>

namespace rota::store {
namespace {

TEST(RowSpec, is_what_the_job_asked_for) {
  Machine machine;
  machine.partitions.resize(2);
  machine.partitions[1].name = "night";
  machine.licences.resize(2);
  machine.licences[1].name = "solver";
  machine.accelerator_types = {"a100", "h100"};
  HistoryRow row;
  row.number = 3;
  row.partition = "night";
  row.processors = 4;
  row.node_count = 2;
  row.memory = 5;
  row.uid = 7;
  row.submit = at_seconds(9);
  row.limit = seconds(60);
  row.asked = {.priority = -3, .accelerators = 2, .accelerator_type = "h100", .licence = "solver", .licences = 4};
  const JobSpec spec = spec_of(row, machine);
  EXPECT_EQ(spec.number, 3);
  EXPECT_EQ(spec.partition, PartitionId{1});
  EXPECT_EQ(spec.processors, 4U);
  EXPECT_EQ(spec.nodes, 2U);
  EXPECT_EQ(spec.memory, 5);
  EXPECT_EQ(spec.user, 7U);
  EXPECT_EQ(spec.submit, at_seconds(9));
  EXPECT_EQ(spec.limit, seconds(60));
  EXPECT_EQ(spec.priority, -3);
  EXPECT_EQ(spec.accelerators, 2);
  EXPECT_EQ(spec.accelerator_type, AcceleratorTypeId{1});
  EXPECT_EQ(spec.licence, LicenceId{1});
  EXPECT_EQ(spec.licences, 4U);
  EXPECT_TRUE(spec.more_licences.empty());
}

TEST(RowSpec, has_licences_of_every_kind) {
  Machine machine;
  machine.licences = {{"solver", 4}, {"mesher", 4}, {"viewer", 4}};
  HistoryRow row;
  row.asked = {.licence = "mesher", .licences = 2, .more_licences = {"viewer:3", "gone:1", "solver:1"}};
  const JobSpec spec = spec_of(row, machine);
  EXPECT_EQ(licences_of(spec, LicenceId{0}), 1U);
  EXPECT_EQ(licences_of(spec, LicenceId{1}), 2U);
  EXPECT_EQ(licences_of(spec, LicenceId{2}), 3U);
  EXPECT_TRUE(licences_in_order(spec, 3));
}

TEST(RowSpec, tells_how_it_may_be_stopped) {
  const Machine machine;
  HistoryRow row;
  EXPECT_EQ(spec_of(row, machine).restart, Restart::never);
  row.asked.requeue = true;
  EXPECT_EQ(spec_of(row, machine).restart, Restart::from_start);
  row.asked.checkpoint = true;
  EXPECT_EQ(spec_of(row, machine).restart, Restart::checkpoint);
}

TEST(RowSpec, leaves_out_what_the_machine_has_no_longer) {
  HistoryRow row;
  row.partition = "gone";
  row.asked = {.licence = "gone", .licences = 4};
  const JobSpec spec = spec_of(row, Machine{});
  EXPECT_FALSE(spec.partition.valid());
  EXPECT_FALSE(spec.licence.valid());
  EXPECT_EQ(spec.licences, 0U);
}

}  // namespace
}  // namespace rota::store
