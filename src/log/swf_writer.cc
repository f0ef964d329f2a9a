#include "log/swf_writer.h"

#include <fmt/core.h>

#include <array>
#include <charconv>
#include <iterator>

#include "base/text.h"
#include "log/swf.h"

namespace rota::log {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 16U;

constexpr std::int64_t kMostKilobytes = 1'000'000'000'000'000;  // readers refuse more

void append_number(std::string& out, std::int64_t number) {
  std::array<char, 24> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  out.append(digits.data(), end);
}

// A field with a fraction: "-0.5", "12.25".
void append_fraction(std::string& out, std::int64_t thousandths) {
  const std::int64_t size = thousandths < 0 ? -thousandths : thousandths;
  if (thousandths < 0) out += '-';
  append_number(out, size / 1000);
  std::string places = std::to_string(1000 + size % 1000);
  while (places.back() == '0') places.pop_back();
  out += '.';
  out += std::string_view(places).substr(1);
}

std::int64_t known(std::uint32_t id) { return id == UINT32_MAX ? -1 : std::int64_t{id}; }

}  // namespace

void SwfWriter::flush() {
  out_.write(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
  buffer_.clear();
}

void SwfWriter::key(std::string_view name, std::string_view value) {
  if (!value.empty()) comment(fmt::format("; {}: {}", name, one_line(value)));
}

void SwfWriter::key(std::string_view name, std::int64_t value) {
  if (value > 0) key(name, std::to_string(value));
}

void SwfWriter::names(std::string_view name, const NumberedNames& names, std::size_t written) {
  auto at = std::prev(names.end(), static_cast<std::ptrdiff_t>(names.size() - written));
  for (; at != names.end(); ++at) key(name, fmt::format("{} {}", at->first, at->second));
}

void SwfWriter::top(const LogTop& top) {
  comment("; Version: 2.2");
  key("Computer", top.computer);
  key("MaxJobs", top.rows);
  key("MaxRecords", top.rows);
  key("UnixStartTime", top.unix_start);
  key("MaxNodes", top.nodes);
  key("MaxProcs", top.processors);
  if (top.queue_floor >= 0) key("QueueFloor", std::to_string(top.queue_floor));
  for (const std::string& note : top.notes) key("Note", note);
  names("Queue", top.queues);
  names("Partition", top.partitions);
  names("User", top.users);
  names("Group", top.groups);
}

void SwfWriter::comment(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  for (const char c : line) buffer_ += c == '\n' ? '?' : c;
  buffer_ += '\n';
  if (buffer_.size() > kPiece) flush();
}

void SwfWriter::row(const SwfRow& row) {
  for (std::size_t i = 0; i < kSwfFields; ++i) {
    if (i > 0) buffer_ += ' ';
    append_value(row, SwfField{static_cast<std::uint8_t>(i)}, buffer_);
  }
  buffer_ += '\n';
  if (buffer_.size() > kPiece) flush();
}

void append_value(const SwfRow& row, SwfField field, std::string& out) {
  const auto i = static_cast<std::size_t>(field);
  if ((row.fractions >> i & 1U) != 0) {
    append_fraction(out, row.milli(field));
  } else {
    append_number(out, row.value[i]);
  }
}

void append_seconds(Duration time, std::string& out) {
  if (time.count() % 1000 != 0) return append_fraction(out, time.count());
  append_number(out, time.count() / 1000);
}

SwfRow swf_row(const JobSpec& job, Duration run) {
  SwfRow row = SwfRow::blank();
  row.set(SwfField::number, job.number);
  row.set_milli(SwfField::submit, (job.submit - kEpoch).count());
  row.set_milli(SwfField::run, run.count());
  row.set(SwfField::processors, job.processors);
  row.set(SwfField::requested_processors, job.processors);
  row.set_milli(SwfField::requested_time, job.limit.count());
  if (job.memory > 0 && job.nodes > 0 && job.memory / 1024 < kMostKilobytes / job.nodes)
    row.set(SwfField::requested_memory, job.memory / 1024 * job.nodes / job.processors);  // kilobytes a processor
  row.set(SwfField::user, known(job.user));
  row.set(SwfField::group, known(job.group));
  row.set(SwfField::partition, known(job.partition.value));
  return row;
}

void write_swf(std::ostream& out, const Workload& workload) {
  SwfWriter writer(out);
  LogTop top;
  top.computer = workload.name;
  top.rows = static_cast<std::int64_t>(workload.jobs.size());
  top.unix_start = workload.unix_start;
  top.processors = workload.processors;
  top.nodes = workload.nodes;
  top.queue_floor = workload.queue_floor;
  top.partitions = workload.partitions;
  top.users = workload.users;
  writer.top(top);
  for (std::size_t i = 0; i < workload.jobs.size(); ++i) writer.row(swf_row(workload.jobs[i], workload.run_times[i]));
}

}  // namespace rota::log
