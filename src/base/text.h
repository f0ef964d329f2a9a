// Text at the edges of Rota: numbers, durations, sizes and host lists, read strictly and written one way.
// Every parse_* takes the whole text or fails with a sentence that quotes it; none allocates on success but the lists.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace rota {

std::string_view trimmed(std::string_view text);
std::vector<std::string_view> split(std::string_view text, char separator);  // "" gives one empty piece

// Text with every byte that cannot be printed as \xNN: it can neither break a line nor drive a terminal.
std::string escaped(std::string_view text);

// Quotes text for a message: at most 40 characters of it, escaped.
std::string quoted(std::string_view text);

// Text with every control character replaced by '?': it can neither break a line nor drive a terminal.
std::string one_line(std::string_view text);

// Text of at most so many bytes, 16 or more: of a longer one the beginning and the end, with "..." between them.
std::string without_middle(std::string text, std::size_t most);

Result<std::int64_t> parse_integer(std::string_view text);
Result<double> parse_number(std::string_view text);  // finite only

// "90", "90s", "1.5h", "2d12h", "250ms", and Slurm's forms "MM:SS", "HH:MM:SS", "D-HH", "D-HH:MM", "D-HH:MM:SS".
// A bare number counts seconds. "UNLIMITED" and "INFINITE" give kLongest. Negative or longer than kLongest fails.
Result<Duration> parse_duration(std::string_view text);
std::string format_duration(Duration d);  // "2d 03:04:05", "03:04:05", "04:05.250"

// Bytes: "4096", "64K", "2.5G", "1T", with an optional "B" or "iB"; K is 1024.
Result<std::int64_t> parse_size(std::string_view text);
std::string format_size(std::int64_t bytes);

// "n[01-03,07],login" to n01 n02 n03 n07 login. More than `most` names fails (guards against n[1-999999999]).
Result<std::vector<std::string>> parse_host_list(std::string_view text, std::size_t most = 1'000'000);
// The other way: names that follow each other and differ only in the number at their end are put together.
std::string format_host_list(const std::vector<std::string>& names);

// Thousands separated by a thin gap for people: 295540 -> "295,540".
std::string grouped(std::int64_t number);

// "1 job", "295,540 jobs".
std::string amount(std::int64_t number, std::string_view noun);

// "batch", "batch or submit-first", "no, node or late".
std::string alternatives(const std::vector<std::string>& choices);

// The name of a site of a federation: letters, digits, . and -, 60 at most. It stands in paths, keys and certificates.
bool is_site_name(std::string_view name);

// The candidate that differs least from `word` (edit distance), or "" when none is near. For "did you mean".
std::string_view nearest(std::string_view word, const std::vector<std::string_view>& candidates);

bool is_utf8(std::string_view text);

// Sixteen digits, as hashes are written.
std::string hexadecimal(std::uint64_t word);

}  // namespace rota
