// The same workload and policy give the same plans: twice, on many threads, and however the jobs come in.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <sstream>
#include <thread>

#include "log/swf.h"
#include "log/swf_reader.h"
#include "scenario/scenario.h"

namespace rota {
namespace {

using scenario::Mix;
using scenario::Row;

const std::vector<std::string> kPolicies{"fcfs",
                                         "fcfs-skip",
                                         "easy",
                                         "easy-sjbf",
                                         "easy++",
                                         "easy+depth=3",
                                         "conservative",
                                         "easy+order=wfp3",
                                         "slurm+bf-interval=5s",
                                         "slurm+priority=multifactor+weight-age=10+weight-fairshare=5"};

std::uint64_t hash_of(const std::vector<Row>& rows, const std::string& policy) {
  return scenario::outcome_of(rows, policy, scenario::on(8)).plan_hash;
}

RC_GTEST_PROP(PlanHash, IsTheSameTwiceAndOnEveryThread, ()) {
  const auto rows = *scenario::random_rows(Mix{.overruns = true, .priorities = true});
  std::vector<std::uint64_t> alone;
  for (const std::string& policy : kPolicies) alone.push_back(hash_of(rows, policy));
  std::vector<std::uint64_t> together(kPolicies.size());
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < kPolicies.size(); ++i) {
      threads.emplace_back([&, i] { together[i] = hash_of(rows, kPolicies[i]); });
    }
  }
  RC_ASSERT(together == alone);
}

TEST(PlanHash, TellsPoliciesAndWorkloadsApart) {
  const std::vector<Row> rows{{1, 0, 6, 10, 10}, {2, 1, 8, 10, 10}, {3, 2, 2, 5, 5}, {4, 3, 2, 5, 5}};
  EXPECT_NE(hash_of(rows, "fcfs"), hash_of(rows, "easy"));
  EXPECT_NE(hash_of(rows, "fcfs"), hash_of(rows, "fcfs-skip"));
  std::vector<Row> other = rows;
  other[2].limit = 6;
  other[1].limit = 11;
  EXPECT_EQ(hash_of(rows, "fcfs"), hash_of(other, "fcfs")) << "limits mean nothing to fcfs";
  other[2].processors = 3;
  EXPECT_NE(hash_of(rows, "easy"), hash_of(other, "easy"));
}

// Reads a log row by row while the rehearsal goes on; nothing is kept.
class StreamedLog final : public sim::Source {
 public:
  explicit StreamedLog(const std::string& text) : reader_(log::LineBlocks::over(text, "streamed"), false, report_) {}
  bool next(sim::Arrival& arrival) override {
    log::SwfRow row;
    const auto more = reader_.next(row);
    if (!more) throw std::runtime_error(more.error().message);
    if (!*more) return false;
    using Field = log::SwfField;
    arrival = {};
    arrival.spec.number = row[Field::number];
    arrival.spec.submit = Instant{Duration{row.milli(Field::submit)}};
    arrival.spec.limit = Duration{row.milli(Field::requested_time)};
    arrival.spec.processors = static_cast<std::uint32_t>(row[Field::processors]);
    arrival.spec.user = row[Field::user] < 0 ? UINT32_MAX : static_cast<std::uint32_t>(row[Field::user]);
    arrival.run_time = Duration{row.milli(Field::run)};
    return true;
  }

 private:
  log::ImportReport report_;
  log::SwfReader reader_;
};

class Starts final : public JobSink {
 public:
  void job_gone(JobId, const Job& job) override { start_of[job.spec.number] = job.start; }
  std::map<std::int64_t, Instant> start_of;
};

RC_GTEST_PROP(Streaming, GivesThePlansOfAWorkloadInMemory, ()) {
  const auto rows =
      *rc::gen::suchThat(scenario::random_rows(Mix{.overruns = true}), [](const auto& r) { return !r.empty(); });
  const std::string policy = *rc::gen::elementOf(kPolicies);
  std::ostringstream log;
  log::write_swf(log, scenario::workload_of(rows));
  const std::string text = log.str();

  const auto workload = log::parse_swf(text, "in memory");
  RC_ASSERT(workload.has_value());
  const Chain chain = scenario::chain_of(policy);
  const auto batch = rehearse(*workload, chain, scenario::on(8));
  RC_ASSERT(batch.has_value());

  StreamedLog source(text);
  Starts starts;
  sim::RehearsalOptions options;
  options.processors = 8;
  sim::Rehearsal streamed(options, chain, source, starts);
  RC_ASSERT(streamed.run().has_value());
  RC_ASSERT(streamed.controller().plan_hash() == batch->outcome.plan_hash);
  for (const Job& job : batch->outcome.jobs) RC_ASSERT(starts.start_of[job.spec.number] == job.start);
}

}  // namespace
}  // namespace rota
