#include "log/swf_row.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <optional>
#include <string>

#include "base/text.h"
#include "base/time.h"

namespace rota::log {
namespace {

constexpr std::uint32_t kFewestColumns = 5;  // without the processors there is no job
constexpr std::uint32_t kMostDigits = 15;    // so that a thousand times the value fits 64 bits
constexpr std::int64_t kLongestSeconds = kLongest.count() / 1000;
constexpr std::int64_t kAnything = 1'000'000'000'000'000;

struct FieldRule {
  const char* name;
  std::int64_t least;
  std::int64_t most;
  bool whole;
};

constexpr std::array<FieldRule, kSwfFields> kRules{{
    {"job number", 0, kAnything, true},
    {"submit time", -1, kLongestSeconds, false},
    {"wait time", -kAnything, kAnything, false},
    {"run time", -1, kLongestSeconds, false},
    {"processors used", -1, INT32_MAX, true},
    {"processor time used", -kAnything, kAnything, false},
    {"memory used", -kAnything, kAnything, false},
    {"processors requested", -1, INT32_MAX, true},
    {"time requested", -1, kLongestSeconds, false},
    {"memory requested", -1, kAnything, false},
    {"status", -1, INT32_MAX, true},
    {"user", -1, std::int64_t{UINT32_MAX} - 1, true},
    {"group", -1, std::int64_t{UINT32_MAX} - 1, true},
    {"executable", -kAnything, kAnything, false},
    {"queue", -kAnything, kAnything, false},
    {"partition", -1, std::int64_t{UINT32_MAX} - 1, true},
    {"preceding job", -kAnything, kAnything, false},
    {"think time", -kAnything, kAnything, false},
}};

bool blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

std::string_view take_token(std::string_view& line) {
  std::size_t begin = 0;
  while (begin < line.size() && blank(line[begin])) ++begin;
  std::size_t end = begin;
  while (end < line.size() && !blank(line[end])) ++end;
  const std::string_view token = line.substr(begin, end - begin);
  line.remove_prefix(end);
  return token;
}

bool binary(std::string_view token) {
  for (const char c : token)
    if (static_cast<std::uint8_t>(c) < 0x20 || c == 0x7f) return true;
  return !is_utf8(token);
}

std::unexpected<Error> not_a_number(std::string_view token) {
  return fail("is {}{}", quoted(token),
              binary(token) ? ", which is binary data and no text" : ", which is not a number");
}

// A number times 1000, rounded to the nearest; false unless it is a sign, at most 15 digits and a fraction at most.
bool read_decimal(std::string_view token, std::int64_t& thousandths) {
  std::size_t at = token.starts_with('-') || token.starts_with('+') ? 1 : 0;
  const bool negative = token.starts_with('-');
  const auto digit = [&token](std::size_t i) {
    return i < token.size() ? static_cast<std::uint8_t>(token[i]) - std::uint32_t{'0'} : 10U;
  };
  const std::size_t first = at;
  std::int64_t number = 0;
  for (; digit(at) <= 9; ++at) {
    if (at - first == kMostDigits) return false;
    number = number * 10 + digit(at);
  }
  if (at == first) return false;
  number *= 1000;
  if (at < token.size() && token[at] == '.') {
    for (std::int64_t place = 100; digit(++at) <= 9; place /= 10) {
      number += place * digit(at);
      if (place == 1) number += digit(at + 1) <= 9 && digit(at + 1) >= 5 ? 1 : 0;
    }
  }
  thousandths = negative ? -number : number;
  return at == token.size();
}

// Reads a number in any form, exponents among them, as thousandths; fails with what is wrong.
Result<std::int64_t> read_number(std::string_view token) {
  std::int64_t thousandths = 0;
  if (read_decimal(token, thousandths) && std::abs(thousandths) < kAnything * 1000) return thousandths;
  const auto number = parse_number(token);
  if (number && std::abs(*number) < static_cast<double>(kAnything)) return std::llround(*number * 1000);
  const bool digits = token.find_first_not_of("+-.eE0123456789") == std::string_view::npos;
  if (number || (digits && number.error().message.find("too large") != std::string::npos))
    return fail("is {}, which is too large", quoted(token));
  return not_a_number(token);
}

Result<void> store(std::size_t i, std::string_view token, SwfRow& row) {
  const auto thousandths = TRY(read_number(token));
  row.value[i] = thousandths / 1000;
  row.thousandths[i] = static_cast<std::int16_t>(thousandths % 1000);
  if (row.thousandths[i] != 0) row.fractions |= 1U << i;
  return {};
}

Result<void> check(std::size_t i, std::string_view token, const SwfRow& row) {
  const FieldRule& rule = kRules[i];
  const bool fraction = (row.fractions >> i & 1U) != 0;
  if (fraction && rule.whole) return fail("is {}, which is not a whole number", quoted(token));
  const bool below = row.value[i] < rule.least ||
                     (fraction && row.thousandths[i] < 0 && row.value[i] == rule.least && rule.least > -kAnything);
  if (below)
    return fail("is {}{}", quoted(token),
                rule.least == 0 ? ", but must not be negative" : ", but only -1 (unknown) may be negative");
  if (row.value[i] > rule.most || (fraction && row.thousandths[i] > 0 && row.value[i] == rule.most))
    return fail("is {}, which is more than {}", quoted(token), rule.most);
  return {};
}

// "2:ppn=8:x86_64:..." of MetaCentrum's 21st column: 2 nodes if 2 * 8 are the processors of the row.
std::uint32_t requested_nodes(std::string_view request, std::int64_t processors) {
  std::uint32_t nodes = 0, each = 1;
  const char* const end = request.data() + request.size();
  const auto [stop, error] = std::from_chars(request.data(), end, nodes);
  if (error != std::errc{} || (stop != end && *stop != ':') || request.find('+') != std::string_view::npos) return 0;
  const std::size_t ppn = request.find(":ppn=");
  if (ppn != std::string_view::npos) {
    const auto [last, wrong] = std::from_chars(request.data() + ppn + 5, end, each);
    if (wrong != std::errc{} || (last != end && *last != ':')) return 0;
  }
  return std::uint64_t{nodes} * each == static_cast<std::uint64_t>(processors) ? nodes : 0;
}

void read_extra_columns(std::string_view line, SwfRow& row) {
  const std::int64_t used = row[SwfField::processors];
  for (std::string_view token = take_token(line); !token.empty(); token = take_token(line))
    if (++row.columns == 21) row.nodes = requested_nodes(token, used > 0 ? used : row[SwfField::requested_processors]);
}

// Whether v is in [-1, most], as one comparison.
bool known_or_not(std::int64_t v, std::int64_t most) {
  return static_cast<std::uint64_t>(v + 1) <= static_cast<std::uint64_t>(most + 1);
}

bool in_range(const SwfRow& row) {
  const auto good = [&row](SwfField field) {
    return known_or_not(row[field], kRules[static_cast<std::size_t>(field)].most);
  };
  return row[SwfField::number] >= 0 && good(SwfField::submit) && good(SwfField::run) && good(SwfField::processors) &&
         good(SwfField::requested_processors) && good(SwfField::requested_time) && good(SwfField::requested_memory) &&
         good(SwfField::status) && good(SwfField::user) && good(SwfField::group) && good(SwfField::partition);
}

template <class Word>
Word load(const char* from) {
  Word word;
  std::memcpy(&word, from, sizeof word);
  return word;
}

// Reads 1 to 15 digits, eight characters at a time (Lemire's "quickly parsing eight digits"); nullptr otherwise.
inline const char* take_digits(const char* p, std::int64_t& out) {
  constexpr std::uint64_t zeros = 0x3030303030303030U;
  const std::uint64_t digits = load<std::uint64_t>(p) ^ zeros;  // bytes 0..9 where there are digits
  const std::uint64_t others = ((digits + 0x7676767676767676U) | digits) & 0x8080808080808080U;
  const int count = std::countr_zero(others) / 8;
  if (count == 0) return nullptr;
  std::uint64_t number = digits << ((64 - 8 * count) & 63);
  number = number * 10 + (number >> 8U);
  number = ((number & 0x000000ff000000ffU) * 0x000f424000000064U +
            (number >> 16U & 0x000000ff000000ffU) * 0x0000271000000001U) >>
           32U;
  p += count;
  if (count == 8) [[unlikely]] {
    const char* const last = p + (kMostDigits - 8);
    for (std::uint32_t digit; (digit = static_cast<std::uint8_t>(*p) - std::uint32_t{'0'}) <= 9; ++p) {
      if (p == last) return nullptr;
      number = number * 10 + digit;
    }
  }
  out = static_cast<std::int64_t>(number);
  return p;
}

}  // namespace

Result<void> read_swf_value(SwfField field, std::string_view token, SwfRow& row) {
  const auto i = static_cast<std::size_t>(field);
  row.fractions &= ~(1U << i);
  const auto stored = store(i, token, row);
  return stored ? check(i, token, row) : stored;
}

Result<void> read_swf_row(std::string_view line, SwfRow& row) {
  row.value.fill(-1);
  row.fractions = row.columns = row.nodes = 0;
  while (row.columns < kSwfFields) {
    const std::string_view token = take_token(line);
    if (token.empty()) break;
    const std::size_t i = row.columns;
    if (auto stored = read_swf_value(SwfField{static_cast<std::uint8_t>(i)}, token, row); !stored) {
      return fail("field {} ({}) {}", i + 1, kRules[i].name, stored.error().message);
    }
    ++row.columns;
  }
  if (row.columns < kFewestColumns) return fail("the row has {} of the 18 fields, too few for a job", row.columns);
  read_extra_columns(line, row);
  return {};
}

const char* scan_swf_row(const char* begin, SwfRow& row) {
  if constexpr (std::endian::native != std::endian::little) return nullptr;  // load() counts on it
  const char* p = begin;
#pragma GCC unroll 18
  for (std::size_t i = 0; i < kSwfFields; ++i) {
    while (load<std::uint16_t>(p) == load<std::uint16_t>("  ")) ++p;
    if (i > 0 && (load<std::uint32_t>(p) & 0xffffffU) == load<std::uint32_t>(" -1") &&
        static_cast<std::uint8_t>(p[3]) <= ' ') {
      row.value[i] = -1;
      p += 3;
      continue;
    }
    if (blank(*p)) {
      ++p;
    } else if (i > 0) {
      return nullptr;
    }
    if (*p == '-') [[unlikely]] {
      p = take_digits(p + 1, row.value[i]);
      row.value[i] = -row.value[i];
    } else {
      p = take_digits(p, row.value[i]);
    }
    if (p == nullptr) return nullptr;
  }
  while (blank(*p)) ++p;
  if (*p != '\n' || !in_range(row)) return nullptr;
  row.fractions = row.nodes = 0;
  row.columns = kSwfFields;
  return p;
}

}  // namespace rota::log
