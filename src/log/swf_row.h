// One row of SWF: 18 numbers. Two parsers that agree: a fast one for the rows that nearly all logs are made of, and the
// strict one that defines what a row is and says what is wrong with one.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace rota::log {

// The fields, counted from 0 (the standard counts from 1).
enum class SwfField : std::uint8_t {
  number,
  submit,
  wait,
  run,
  processors,
  cpu_time,
  used_memory,
  requested_processors,
  requested_time,
  requested_memory,
  status,
  user,
  group,
  executable,
  queue,
  partition,
  preceding,
  think_time
};
inline constexpr std::size_t kSwfFields = 18;

// How a job ended, in SwfField::status; -1: not told.
inline constexpr std::int64_t kSwfFailed = 0;
inline constexpr std::int64_t kSwfCompleted = 1;
inline constexpr std::int64_t kSwfCancelled = 5;  // its user took it back

struct SwfRow {
  std::array<std::int64_t, kSwfFields> value{};        // whole part; -1: unknown; |value| < 10^15
  std::array<std::int16_t, kSwfFields> thousandths{};  // of the same sign; holds only where `fractions` has the bit
  std::uint32_t fractions = 0;                         // bit i: field i has a fraction
  std::uint32_t columns = 0;                           // in the file; columns missing from the first 18 read as -1
  std::uint32_t nodes = 0;                             // from MetaCentrum's 21st column; 0: unknown
  std::int64_t line = 0;                               // of the file, from 1
  std::int64_t node_memory = 0;                        // bytes on each node; known from sacct only; 0: unknown
  Duration suspended{0};  // so long it stood still between its start and its end, at unknown times; no field of SWF,
  Duration earlier{0};    // nor is for how long it ran before and was queued again: neither wait nor run time

  std::int64_t array = 0;      // number of the array of which only so many tasks run at once; 0: none,
  std::uint32_t throttle = 0;  // and how many
  std::uint32_t ran_on = 0;    // the nodes that it had, by number in the NodeLists of its log; 0: not told

  // With all columns, and nothing known.
  static SwfRow blank() {
    SwfRow row;
    row.value.fill(-1);
    row.columns = kSwfFields;
    return row;
  }
  std::int64_t operator[](SwfField field) const { return value[static_cast<std::size_t>(field)]; }
  void set(SwfField field, std::int64_t whole) { value[static_cast<std::size_t>(field)] = whole; }
  void set_milli(SwfField field, std::int64_t thousandth) {  // as milli() gives it
    const auto i = static_cast<std::size_t>(field);
    value[i] = thousandth / 1000;
    thousandths[i] = static_cast<std::int16_t>(thousandth % 1000);
    if (thousandths[i] != 0) fractions |= 1U << i;
  }
  // The field times 1000: milliseconds where it is in seconds.
  std::int64_t milli(SwfField field) const {
    const auto i = static_cast<std::size_t>(field);
    return value[i] * 1000 + ((fractions >> i & 1U) != 0 ? thousandths[i] : 0);
  }
};

// Reads a line without its newline into row (all but row.line). Numbers may have a sign, a fraction (kept to a
// thousandth) and an exponent. Values: number >= 0; times at most kLongest; processors below 2^31; user, group and
// partition below 2^32 - 1; none of these less than -1; whole where only whole numbers make sense; at least 5 columns.
// The error says what is wrong with which field, without file, line and full stop.
Result<void> read_swf_row(std::string_view line, SwfRow& row);

// One value of such a row by the same rules. The error is the end of a sentence that begins with the field's name.
Result<void> read_swf_value(SwfField field, std::string_view token, SwfRow& row);

// Where the row ends (its newline), if it has the plain form: 18 columns of whole numbers in range. Else nullptr, and
// row is undefined. There must be a newline at or after `begin`, and LineBlocks::kPadding readable bytes after it.
const char* scan_swf_row(const char* begin, SwfRow& row);

}  // namespace rota::log
