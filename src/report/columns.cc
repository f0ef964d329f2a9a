#include "report/columns.h"

#include <algorithm>
#include <ostream>
#include <set>
#include <string>
#include <string_view>

namespace rota::report {
namespace {

std::uint64_t zigzag(std::int64_t number) {
  return (static_cast<std::uint64_t>(number) << 1U) ^ static_cast<std::uint64_t>(number >> 63);
}

std::uint64_t outcome_word(const Job& job) {
  const auto word = [](JobState state) { return std::uint64_t{static_cast<std::uint8_t>(state)} << 1U; };
  return ((job.backfilled ? 1U : 0U) | word(job.state) | std::uint64_t{job.kills} << 5U) ^ word(JobState::completed);
}

Duration run_time(const Job& job) { return job.ended() ? job.end - job.start : Duration{0}; }

bool whole(Instant at) { return at == kNever || at.time_since_epoch().count() % 1000 == 0; }

template <class Add>
void column(ColumnWriter& writer, const std::vector<Job>& jobs, Add add) {
  for (const Job& job : jobs) add(job);
  writer.end_column();
}

}  // namespace

void ColumnWriter::add(std::uint64_t number) {
  if (number == 0) {
    ++zeros_;
    return;
  }
  end_column();
  put(number);
}

void ColumnWriter::add_signed(std::int64_t number) { add(zigzag(number)); }

void ColumnWriter::end_column() {
  if (zeros_ == 0) return;
  bytes_.push_back(0);
  put(zeros_ - 1);
  zeros_ = 0;
}

void ColumnWriter::put(std::uint64_t number) {
  for (; number >= 0x80; number >>= 7U) bytes_.push_back(static_cast<std::uint8_t>(number | 0x80U));
  bytes_.push_back(static_cast<std::uint8_t>(number));
}

void write_base64(std::ostream& out, const std::vector<std::uint8_t>& bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  constexpr std::size_t kBlock = 12'288;  // a multiple of 3: no padding inside
  std::string text;
  for (std::size_t block = 0; block < bytes.size(); block += kBlock) {
    text.clear();
    const std::size_t end = std::min(bytes.size(), block + kBlock);
    for (std::size_t i = block; i < end; i += 3) {
      const auto byte = [&](std::size_t at) { return at < end ? std::uint32_t{bytes[at]} : 0U; };
      const std::uint32_t three = byte(i) << 16U | byte(i + 1) << 8U | byte(i + 2);
      text += kDigits[three >> 18U];
      text += kDigits[three >> 12U & 63U];
      text += i + 1 < end ? kDigits[three >> 6U & 63U] : '=';
      text += i + 2 < end ? kDigits[three & 63U] : '=';
    }
    out.write(text.data(), static_cast<std::streamsize>(text.size()));
  }
}

std::int64_t time_unit(const std::vector<Job>& jobs) {
  const bool all = std::ranges::all_of(jobs, [](const Job& job) {
    return whole(job.spec.submit) && whole(job.start) && whole(job.end) && whole(job.first_promise) &&
           job.spec.limit.count() % 1000 == 0 && job.done.count() % 1000 == 0 && job.stood.count() % 1000 == 0;
  });
  return all ? 1000 : 1;
}

ColumnWriter shared_columns(const std::vector<Job>& jobs, const TimeScale& scale) {
  ColumnWriter writer;
  std::int64_t number = 0;
  Instant submit = scale.base;
  column(writer, jobs, [&](const Job& job) {
    writer.add_signed(job.spec.number - number);
    number = job.spec.number;
  });
  column(writer, jobs, [&](const Job& job) {
    writer.add_signed((job.spec.submit - submit).count() / scale.unit);
    submit = job.spec.submit;
  });
  column(writer, jobs, [&](const Job& job) { writer.add(job.spec.processors); });
  column(writer, jobs, [&](const Job& job) { writer.add(job.spec.user == UINT32_MAX ? 0 : job.spec.user + 1ULL); });
  column(writer, jobs,
         [&](const Job& job) { writer.add(static_cast<std::uint64_t>(job.spec.limit.count() / scale.unit)); });
  column(writer, jobs,
         [&](const Job& job) { writer.add(static_cast<std::uint64_t>(run_time(job).count() / scale.unit)); });
  return writer;
}

ColumnWriter outcome_columns(const std::vector<Job>& jobs, const std::vector<Job>& shared, const TimeScale& scale) {
  const auto units = [&](Duration d) { return d.count() / scale.unit; };
  ColumnWriter writer;
  column(writer, jobs, [&](const Job& job) {
    writer.add(job.ended() ? 1 + static_cast<std::uint64_t>(units(job.start - job.spec.submit)) : 0);
  });
  const auto of_ended = [&](Duration Job::* part) {
    column(writer, jobs,
           [&](const Job& job) { writer.add(job.ended() ? static_cast<std::uint64_t>(units(job.*part)) : 0); });
  };
  of_ended(&Job::done);
  column(writer, jobs, [&, i = std::size_t{0}](const Job& job) mutable {
    writer.add_signed(units(run_time(job) - run_time(shared[i++])));
  });
  of_ended(&Job::stood);
  column(writer, jobs, [&](const Job& job) {
    const bool promised = job.ended() && was_promised(job);
    writer.add(promised ? 1 + zigzag(units(job.start - job.first_promise)) : 0);
  });
  column(writer, jobs, [&](const Job& job) { writer.add(outcome_word(job)); });
  return writer;
}

std::vector<std::string> lacked_by(const std::vector<StartNote>& notes) {
  std::set<std::string_view> texts;
  for (const StartNote& note : notes)
    if (!note.lacks.empty()) texts.insert(note.lacks);
  return {texts.begin(), texts.end()};
}

ColumnWriter start_columns(const std::vector<StartNote>& notes, const std::vector<std::string>& lacked,
                           std::size_t jobs) {
  ColumnWriter writer;
  const auto each = [&](const auto& value) {
    for (std::size_t i = 0; i < jobs; ++i) writer.add(i < notes.size() ? value(notes[i]) : 0);
    writer.end_column();
  };
  each([](const StartNote& note) { return note.started ? 1 + static_cast<std::uint64_t>(note.rule) : 0; });
  each([](const StartNote& note) { return static_cast<std::uint64_t>(note.promised + 1); });
  each([&](const StartNote& note) {
    if (note.lacks.empty()) return std::uint64_t{0};
    return 1 + static_cast<std::uint64_t>(std::ranges::lower_bound(lacked, note.lacks) - lacked.begin());
  });
  each([](const StartNote& note) { return static_cast<std::uint64_t>(note.where.size()); });
  const auto shares = [&](const auto& value) {
    for (const StartNote& note : notes) {
      for (const Share& share : note.where) writer.add(value(share));
    }
    writer.end_column();
  };
  shares([](const Share& share) { return std::uint64_t{share.node.value}; });
  shares([](const Share& share) { return std::uint64_t{share.processors}; });
  return writer;
}

}  // namespace rota::report
