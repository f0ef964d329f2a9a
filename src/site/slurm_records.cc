#include "site/slurm_records.h"

#include <algorithm>

#include "base/text.h"

namespace rota::site {
namespace {

bool stands_for_nothing(std::string_view value) {
  return value == "(null)" || value == "N/A" || value == "n/a" || value == "NONE" || value == "n/s";
}

bool is_key(std::string_view word) {
  const auto of_key = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == ':';
  };
  return !word.empty() && word.front() >= 'A' && word.front() <= 'Z' && std::ranges::all_of(word, of_key);
}

// "Gres=gpu:1 OS=Linux 6.1" into keys and values; what has no '=' belongs to the value before it.
void take_words(std::string_view line, SlurmRecord& into) {
  while (!(line = trimmed(line)).empty()) {
    const std::size_t end = std::min(line.find_first_of(" \t"), line.size());
    const std::string_view word = line.substr(0, end);
    const std::size_t equals = word.find('=');
    if (equals != std::string_view::npos && is_key(word.substr(0, equals))) {
      into.values.emplace_back(word.substr(0, equals), word.substr(equals + 1));
    } else if (!into.values.empty()) {
      std::string& value = into.values.back().second;
      if (!value.empty()) value += ' ';
      value += word;
    }
    line.remove_prefix(end);
  }
}

template <class Visit>
void for_each_line(std::string_view text, const Visit& visit) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    visit(trimmed(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

std::string command_for(std::string_view first) {
  if (first == "NodeName") return "scontrol -a -o show node";
  return first == "PartitionName" ? "scontrol -a -o show partition" : "scontrol -o show lic";
}

}  // namespace

std::string_view SlurmRecord::value(std::string_view key) const {
  const auto at = std::ranges::find_if(values, [&](const auto& pair) { return pair.first == key; });
  if (at == values.end() || stands_for_nothing(at->second)) return {};
  return at->second;
}

Result<std::vector<SlurmRecord>> slurm_records(std::string_view text, std::string_view first,
                                               const std::string& shown) {
  if (!is_utf8(text)) return fail("{}: it is not UTF-8 text, as {} prints it.", shown, command_for(first));
  std::vector<SlurmRecord> records;
  const std::string begin = std::string(first) + "=";
  for_each_line(text, [&](std::string_view line) {
    if (line.starts_with(begin)) records.emplace_back();
    if (!records.empty()) take_words(line, records.back());
  });
  const bool says_none = text.find("No ") != std::string_view::npos || trimmed(text).empty();
  if (records.empty() && !(first == "LicenseName" && says_none)) {
    return fail("{}: no line begins with {}. Write it with `{}`.", shown, begin, command_for(first));
  }
  return records;
}

Result<SlurmConfig> slurm_config(std::string_view text, const std::string& shown) {
  if (!is_utf8(text)) return fail(shown + ": it is not UTF-8 text, as scontrol show config prints it.");
  SlurmConfig config;
  for_each_line(text, [&](std::string_view line) {
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) return;
    const std::string_view key = trimmed(line.substr(0, equals));
    if (!key.empty() && key.find(' ') == std::string_view::npos) config.emplace(key, trimmed(line.substr(equals + 1)));
  });
  if (!config.contains("ClusterName"))
    return fail(shown + ": it does not tell ClusterName. Write it with `scontrol show config`.");
  for (const char* key : {"SchedulerType", "SelectType", "SelectTypeParameters", "SLURM_VERSION"})
    if (!config.contains(key))
      return fail("{}: it is cut off, for it does not tell {}. Write it with `scontrol show config`.", shown, key);
  return config;
}

Result<std::optional<Duration>> parse_slurm_time(std::string_view text) {
  text = trimmed(text);
  if (text.empty() || stands_for_nothing(text)) return std::nullopt;
  if (text == "UNLIMITED" || text == "INFINITE") return kLongest;
  const std::size_t blank = text.find(' ');
  const auto number = parse_integer(text.substr(0, blank));
  if (!number) {
    const auto duration = parse_duration(text);
    if (!duration) return fail(quoted(text) + " is not a time as Slurm prints it");
    return *duration;
  }
  const std::string_view unit = blank == std::string_view::npos ? "min" : trimmed(text.substr(blank));
  const std::int64_t longest = kLongest.count() / 60'000;
  if (*number < 0 || *number > longest) return fail(quoted(text) + " is too long a time");
  if (unit == "min") return Duration{*number * 60'000};
  if (unit == "sec") return Duration{*number * 1000};
  if (unit == "msec") return Duration{*number};
  if (unit == "usec") return Duration{*number / 1000};
  return fail(quoted(text) + " is not a time as Slurm prints it");
}

std::vector<std::string_view> split_slurm_list(std::string_view text) {
  std::vector<std::string_view> pieces;
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t at = 0; at <= text.size(); ++at) {
    if (at < text.size() && (text[at] == '(' || text[at] == '[')) ++depth;
    if (at < text.size() && (text[at] == ')' || text[at] == ']')) --depth;
    if (at < text.size() && (text[at] != ',' || depth > 0)) continue;
    if (at > begin) pieces.push_back(trimmed(text.substr(begin, at - begin)));
    begin = at + 1;
  }
  return pieces;
}

}  // namespace rota::site
