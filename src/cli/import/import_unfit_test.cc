#include "cli/import/import_unfit.h"

#include <gtest/gtest.h>

#include <array>
#include <sstream>
#include <tuple>

#include "log/attributes.h"
#include "log/json_lines.h"
#include "model/never_fits.h"
#include "rehearse/rehearse.h"
#include "site/cluster_file.h"

namespace rota::cli {
namespace {

using log::SwfField;

const char* const kCluster =
    "licences = 'matlab:3'\n"
    "[[nodes]]\nnames = 'n1'\nprocessors = 4\nmemory = '4000M'\naccelerators = 2\naccelerator_type = 'a100'\n"
    "[[nodes]]\nnames = 'n2'\nprocessors = 2\nmemory = '2000M'\n"
    "[[partitions]]\nname = 'batch'\nnodes = 'n[1-2]'\nmax_time = '1h'\ndefault_time = '10m'\ndefault = true\n"
    "[[partitions]]\nname = 'long'\nnodes = 'n2'\nmax_time = '10h'\nmax_nodes = 1\n";

struct Jobs {
  std::vector<log::SwfRow> rows;
  std::vector<log::JobAttributes> asks;
};

// What is near the limits of the cluster and beyond, in all combinations.
Jobs near_the_limits() {
  std::array<log::JobAttributes, 5> asked;
  asked[1].accelerators = 2;
  asked[1].accelerator_type = "a100";
  asked[2].accelerators = 3;
  asked[3].licences = {{"matlab", 3}};
  asked[4].licences = {{"matlab", 4}};
  Jobs jobs;
  for (const std::int64_t partition : {-1, 1, 2, 3})
    for (const std::int64_t run : {600, 10'800})
      for (const std::int64_t limit : {-1, 3600, 7200})
        for (const std::int64_t memory : {0, 1500, 5000})
          for (const auto& [used, wanted, nodes] :
               {std::tuple{1, 1, 1U}, {6, 6, 2U}, {4, 4, 2U}, {-1, 3, 0U}, {-1, 0, 0U}})
            for (const log::JobAttributes& asks : asked) {
              log::SwfRow& row = jobs.rows.emplace_back(log::SwfRow::blank());
              row.set(SwfField::number, std::ssize(jobs.rows));
              row.set(SwfField::submit, 0);
              row.set(SwfField::run, run);
              row.set(SwfField::requested_time, limit);
              row.set(SwfField::processors, used);
              row.set(SwfField::requested_processors, wanted);
              row.set(SwfField::partition, partition);
              row.nodes = nodes;
              row.node_memory = memory << 20U;
              jobs.asks.push_back(asks);
            }
  return jobs;
}

TEST(UnfitCount, counts_what_a_rehearsal_of_the_written_jobs_rejects) {
  const auto machine = site::parse_cluster(kCluster, "cluster.toml");
  ASSERT_TRUE(machine) << machine.error().message;
  const Jobs jobs = near_the_limits();
  log::LogTop top;
  top.partitions = {{1, "batch"}, {2, "long"}, {3, "gone"}};
  UnfitCount unfit(*machine, top.partitions);
  std::ostringstream text;
  {
    log::JsonLinesWriter out(text);
    out.top(top);
    for (std::size_t i = 0; i < jobs.rows.size(); ++i) {
      unfit.add(jobs.rows[i], jobs.asks[i]);
      log::JobAttributes all = jobs.asks[i];
      all.nodes = jobs.rows[i].nodes;
      all.memory = jobs.rows[i].node_memory;
      out.job(jobs.rows[i], all);
    }
  }
  std::int64_t counted = 0;
  for (const UnfitJobs& of : unfit.by_reason()) counted += of.jobs;

  const auto read = log::parse_json_lines(text.str(), "jobs.jsonl", {.keep_cancelled = true});
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->jobs.size(), jobs.rows.size());
  RehearseOptions options{.processors = machine->processors, .machine = std::make_shared<const Machine>(*machine)};
  auto attributes = log::Attributes::match(read->attributes, options.machine.get());
  ASSERT_TRUE(attributes) << attributes.error().message;
  set_attributes(options, std::move(*attributes));
  WorkloadSource source(*read, options);
  std::int64_t rejected = 0;
  for (sim::Arrival job; source.next(job);) rejected += never_fits(*machine, job.spec) ? 1 : 0;
  EXPECT_EQ(counted, rejected);
  EXPECT_GT(rejected, std::ssize(jobs.rows) / 4);
  EXPECT_LT(rejected, std::ssize(jobs.rows));
}

}  // namespace
}  // namespace rota::cli
