#include "report/columns.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <sstream>
#include <string>

#include "report/sample_test.h"

namespace rota::report {
namespace {

// Reads columns as the page does, written from columns.h's words alone.
class Reader {
 public:
  explicit Reader(std::vector<std::uint8_t> bytes) : bytes_(std::move(bytes)) {}
  std::vector<std::uint64_t> column(std::size_t rows) {
    std::vector<std::uint64_t> numbers;
    while (numbers.size() < rows) {
      const std::uint64_t number = next_number();
      numbers.push_back(number);
      if (number == 0) numbers.resize(numbers.size() + next_number(), 0);
    }
    return numbers;
  }
  bool at_end() const { return at_ == bytes_.size(); }

 private:
  std::uint64_t next_number() {
    std::uint64_t number = 0;
    for (unsigned shift = 0;; shift += 7) {
      const std::uint8_t byte = bytes_.at(at_++);
      number |= std::uint64_t{byte & 0x7fU} << shift;
      if (byte < 0x80) return number;
    }
  }
  std::vector<std::uint8_t> bytes_;
  std::size_t at_ = 0;
};

std::int64_t signed_of(std::uint64_t z) {
  return static_cast<std::int64_t>(z >> 1U) ^ -static_cast<std::int64_t>(z & 1U);
}

std::string base64(const std::string& text) {
  std::ostringstream out;
  write_base64(out, std::vector<std::uint8_t>(text.begin(), text.end()));
  return out.str();
}

TEST(Base64, IsThatOfRfc4648) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64(std::string(30'000, 'a')).size(), 40'000U);
  EXPECT_EQ(base64(std::string(30'000, 'a')).find('='), std::string::npos) << "no padding inside";
}

RC_GTEST_PROP(Columns, ReadBackAsTheyWereAdded, (const std::vector<std::vector<std::int64_t>>& columns)) {
  ColumnWriter writer;
  for (const auto& column : columns) {
    for (const std::int64_t number : column) writer.add_signed(number % 3 == 0 ? 0 : number);
    writer.end_column();
  }
  Reader reader(writer.bytes());
  for (const auto& column : columns) {
    const auto read = reader.column(column.size());
    RC_ASSERT(read.size() == column.size());
    for (std::size_t i = 0; i < column.size(); ++i)
      RC_ASSERT(signed_of(read[i]) == (column[i] % 3 == 0 ? 0 : column[i]));
  }
  RC_ASSERT(reader.at_end());
}

TEST(Columns, ARunOfZerosTakesTwoBytes) {
  ColumnWriter writer;
  for (int i = 0; i < 100; ++i) writer.add(0);
  writer.end_column();
  EXPECT_EQ(writer.bytes(), (std::vector<std::uint8_t>{0, 99}));
}

TEST(Columns, TimesAreWholeSecondsUnlessOneIsNot) {
  std::vector<Job> jobs{ended_job(1, 10, 5, 100, 2)};
  EXPECT_EQ(time_unit(jobs), 1000);
  jobs[0].first_promise = at_seconds(3) + Duration{1};
  EXPECT_EQ(time_unit(jobs), 1);
  jobs[0].first_promise = at_seconds(3);
  jobs[0].done = Duration{1500};
  EXPECT_EQ(time_unit(jobs), 1);
}

TEST(Columns, TellEveryJobOfARehearsal) {
  const auto source = sample_jobs(500, 64, 3);
  const Outcome fcfs = rehearsed(source, 64, false);
  Outcome easy = rehearsed(source, 64, true);
  easy.jobs[10].kills = 3;
  easy.jobs[11].state = JobState::rejected;
  easy.jobs[12].done = seconds(7);
  easy.jobs[12].stood = seconds(2);
  const TimeScale scale{fcfs.jobs[0].spec.submit, 1000};
  Reader shared(shared_columns(fcfs.jobs, scale).bytes());
  Reader made(outcome_columns(easy.jobs, fcfs.jobs, scale).bytes());
  const auto number = shared.column(500), submit = shared.column(500), processors = shared.column(500),
             user = shared.column(500), limit = shared.column(500), run = shared.column(500);
  const auto until_start = made.column(500), done = made.column(500), run_difference = made.column(500),
             stood = made.column(500), late = made.column(500), word = made.column(500);
  EXPECT_TRUE(shared.at_end() && made.at_end());
  std::int64_t at = 0;
  for (std::size_t i = 0; i < 500; ++i) {
    const Job& job = easy.jobs[i];
    at += signed_of(submit[i]);
    EXPECT_EQ(signed_of(number[i]), 1);
    EXPECT_EQ(scale.base + seconds(at), job.spec.submit);
    EXPECT_EQ(processors[i], job.spec.processors);
    EXPECT_EQ(user[i], job.spec.user + 1U);
    EXPECT_EQ(seconds(static_cast<std::int64_t>(limit[i])), job.spec.limit);
    EXPECT_EQ((word[i] ^ 4U) >> 1U & 15U, static_cast<std::uint64_t>(job.state));
    EXPECT_EQ(word[i] & 1U, job.backfilled ? 1U : 0U);
    EXPECT_EQ(word[i] >> 5U, job.kills);
    ASSERT_EQ(until_start[i] == 0, !job.ended());
    if (!job.ended()) continue;
    EXPECT_EQ(job.spec.submit + seconds(static_cast<std::int64_t>(until_start[i]) - 1), job.start);
    EXPECT_EQ(seconds(static_cast<std::int64_t>(until_start[i] - done[i]) - 1), job.wait());
    EXPECT_EQ(seconds(static_cast<std::int64_t>(stood[i])), i == 12 ? seconds(2) : seconds(0));
    EXPECT_EQ(seconds(static_cast<std::int64_t>(run[i]) + signed_of(run_difference[i])), job.end - job.start);
    ASSERT_EQ(late[i] == 0, job.first_promise == kNever);
    if (late[i] == 0) continue;
    EXPECT_EQ(job.start - seconds(signed_of(late[i] - 1)), job.first_promise);
  }
}

TEST(Columns, TellWhyJobsStartedAndWhatTheJobBeforeThemLacked) {
  std::vector<StartNote> notes(4);
  notes[0] = {.started = true, .where = {{NodeId{3}, 8}}};
  notes[1] = {.started = true, .rule = Rule::beside_promise, .promised = 0, .lacks = "2 whole nodes (1 was free)"};
  notes[3] = {
      .started = true, .rule = Rule::beside_promise, .promised = 9, .lacks = "1 licence of matlab (0 were free)"};
  const std::vector<std::string> lacked = lacked_by(notes);
  EXPECT_EQ(lacked, (std::vector<std::string>{"1 licence of matlab (0 were free)", "2 whole nodes (1 was free)"}));
  Reader reader(start_columns(notes, lacked, 5).bytes());
  using Column = std::vector<std::uint64_t>;
  const std::uint64_t beside = 1 + static_cast<std::uint64_t>(Rule::beside_promise);
  EXPECT_EQ(reader.column(5), (Column{1, beside, 0, beside, 0}));
  EXPECT_EQ(reader.column(5), (Column{0, 1, 0, 10, 0}));
  EXPECT_EQ(reader.column(5), (Column{0, 2, 0, 1, 0})) << "what was lacked";
  EXPECT_EQ(reader.column(5), (Column{1, 0, 0, 0, 0}));
  EXPECT_EQ(reader.column(1), Column{3});
  EXPECT_EQ(reader.column(1), Column{8});
  EXPECT_TRUE(reader.at_end());
}

}  // namespace
}  // namespace rota::report
