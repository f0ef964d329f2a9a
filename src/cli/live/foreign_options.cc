#include "cli/live/foreign_options.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <optional>

#include "base/letters.h"
#include "base/text.h"

namespace rota::cli {
namespace {

// "4gb", "500mb", "100kw": bytes, of words of eight.
Result<std::int64_t> pbs_size(std::string_view text) {
  std::string number = lower(text);
  const bool words = number.ends_with('w');
  if (words || number.ends_with('b')) number.pop_back();
  if (!number.empty()) number.back() = upper(number.back());
  auto bytes = parse_size(number);
  if (!bytes || *bytes < 1 || *bytes > INT64_MAX / 8) return wrong_value(text, "is no size such as 4gb");
  return words ? *bytes * 8 : *bytes;
}

Result<std::int64_t> pbs_count(std::string_view key, std::string_view text, std::int64_t least = 1) {
  constexpr std::int64_t kMost = 1'000'000'000;
  const auto number = parse_integer(text);
  if (!number || *number < least || *number > kMost)
    return wrong_value(text, fmt::format("of {} is no number from {} on", key, least));
  return *number;
}

// The text of one -l.
class Resources {
 public:
  explicit Resources(ForeignOptions& out) : out_(out) {}

  Result<void> read_option(std::string_view list) {
    for (const std::string_view piece : split(list, ',')) {
      const std::size_t equals = piece.find('=');
      const std::string_view name = piece.substr(0, equals);
      const std::string_view value = equals == std::string_view::npos ? std::string_view() : piece.substr(equals + 1);
      if (auto taken = take_one(name, value, piece); !taken) return taken;
    }
    return {};
  }

 private:
  void put(const char* key, std::string value) { out_.put(key, std::move(value)); }

  // Torque's "DD:HH:MM:SS" as Rota writes it.
  static std::string with_days(std::string_view time) {
    std::string text(time);
    if (std::ranges::count(text, ':') == 3) text[text.find(':')] = '-';
    return text;
  }

  Result<void> take_one(std::string_view name, std::string_view value, std::string_view whole) {
    if (name == "walltime") {
      put("limit", with_days(value));
      return Result<void>{};
    }
    if (name == "nodes") return chunks(value, "ppn", "gpus");
    if (name == "select") return chunks(value, "ncpus", "ngpus");
    if (name == "ncpus" || name == "procs") return counted("processors", name, value, 1);
    if (name == "ngpus" || name == "gpus" || name == "naccelerators") return counted("accelerators", name, value, 0);
    if (name == "mem" || name == "pmem" || name == "pvmem" || name == "vmem") return memory(name, value);
    if (name == "place") return placed(value, whole);
    constexpr std::array<std::string_view, 6> kIgnored{"cput", "pcput", "nice", "file", "software", "epilogue"};
    if (std::ranges::find(kIgnored, name) != kIgnored.end()) {
      out_.left_out.push_back("-l " + std::string(whole));
    } else {
      out_.needed.push_back("-l " + std::string(whole));
    }
    return {};
  }

  Result<void> counted(const char* key, std::string_view name, std::string_view value, std::int64_t least) {
    const auto number = TRY(pbs_count(name, value, least));
    put(key, std::to_string(number));
    return {};
  }

  // In Torque and PBS Pro `mem` is the whole job's, of which each node has its part; pmem is that of each process.
  Result<void> memory(std::string_view name, std::string_view value) {
    const auto bytes = TRY(pbs_size(value));
    if (name == "vmem" || name == "pvmem") {
      out_.left_out.push_back("-l " + std::string(name));
      return Result<void>{};
    }
    put(name == "pmem" ? "memory_each" : "memory_all", std::to_string(bytes));
    return {};
  }

  Result<void> placed(std::string_view value, std::string_view whole) {
    for (const std::string_view word : split(value, ':')) {
      if (word == "excl" || word == "exclhost") {
        put("exclusive", "yes");
      } else if (word == "pack") {
        put("packed", "yes");
      } else if (word != "free" && word != "scatter" && word != "shared") {
        out_.needed.push_back("-l " + std::string(whole));
      }
    }
    return {};
  }

  // "2:ppn=8:gpus=1" and "2:ncpus=8:mem=4gb". Several kinds of nodes at a time Rota has not.
  Result<void> chunks(std::string_view text, std::string_view processors, std::string_view accelerators) {
    const std::string whole = fmt::format("-l {}{}", processors == "ppn" ? "nodes=" : "select=", text);
    auto words = split(text, ':');
    if (processors == "ncpus" && words[0].contains('=')) words.insert(words.begin(), "1");  // as PBS has it
    const bool torque = processors == "ppn";
    if (text.contains('+') || (!torque && !only_digits(words[0]))) {
      out_.needed.push_back(whole);
      return Result<void>{};
    }  // of several kinds
    if (!only_digits(words[0])) {
      put("required_nodes", std::string(words[0]));
      words[0] = "1";
    }
    std::string features;
    const auto nodes = TRY(pbs_count(processors == "ppn" ? "nodes" : "select", words[0]));
    std::int64_t each = 1;
    for (const std::string_view word : std::vector(words.begin() + 1, words.end())) {
      const std::size_t equals = word.find('=');
      const std::string_view name = word.substr(0, equals);
      const std::string_view value = equals == std::string_view::npos ? std::string_view() : word.substr(equals + 1);
      if (name == processors) {
        each = TRY(pbs_count(name, value));
      } else if (name == accelerators) {
        if (auto done = counted("accelerators", name, value, 0); !done) return done;
      } else if (name == "mem") {
        const auto bytes = TRY(pbs_size(value));
        put("memory", std::to_string(bytes));
      } else if (name == "mpiprocs") {
        const auto number = TRY(pbs_count(name, value));
        put("tasks", std::to_string(nodes * number));
      } else if (torque && equals == std::string_view::npos && !is_mode(word)) {
        features += (features.empty() ? "" : "&") + std::string(word);  // a property
      } else if (name != "ompthreads" && !(torque && is_mode(word))) {
        out_.needed.push_back(whole);
      }
    }
    if (!features.empty()) put("features", features);
    put("nodes", std::to_string(nodes));
    put("processors", std::to_string(nodes * each));
    return {};
  }

  // How the programs of a job share its accelerators, which no other job has.
  static bool is_mode(std::string_view word) {
    constexpr std::array<std::string_view, 5> kModes{"shared", "default", "exclusive", "exclusive_process",
                                                     "exclusive_thread"};
    return std::ranges::find(kModes, word) != kModes.end();
  }

  ForeignOptions& out_;
};

std::string pbs_path(std::string_view path) {
  return path_with(path, {{"^array_index^", "%a"},
                          {"PBS_JOBID", "%j"},
                          {"PBS_JOBNAME", "%x"},
                          {"PBS_ARRAY_INDEX", "%a"},
                          {"PBS_ARRAYID", "%a"}});
}

// "abe": when it is aborted, begins and ends.
std::string pbs_mail(std::string_view letters) {
  std::string out;
  for (const char letter : letters) {
    const std::string_view word = letter == 'a' ? "FAIL" : letter == 'b' ? "BEGIN" : letter == 'e' ? "END" : "NONE";
    out += (out.empty() ? "" : ",") + std::string(word);
  }
  return out;
}

// "afterok:12.server:13[].server" as Rota writes it; nothing: it has no equal.
std::optional<std::string> pbs_after(std::string_view list) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kKinds{{{"after", "after"},
                                                                                 {"afterok", "afterok"},
                                                                                 {"afternotok", "afternotok"},
                                                                                 {"afterany", "afterany"},
                                                                                 {"afterstart", "after"},
                                                                                 {"afterstartarray", "after"},
                                                                                 {"afterokarray", "afterok"},
                                                                                 {"afternotokarray", "afternotok"},
                                                                                 {"afteranyarray", "afterany"}}};
  const auto pieces = split(list, ':');
  const auto* const kind = std::ranges::find(kKinds, pieces[0], &std::pair<std::string_view, std::string_view>::first);
  if (kind == kKinds.end() || pieces.size() < 2) return std::nullopt;
  std::string out(kind->second);
  for (const std::string_view piece : std::vector(pieces.begin() + 1, pieces.end())) {
    const std::string_view id = piece.substr(0, piece.find('.'));
    const std::size_t open = id.find('[');
    out += ":" + std::string(id.substr(0, open));
    if (open != std::string_view::npos && id.ends_with(']') && id.size() > open + 2)
      out += "_" + std::string(id.substr(open + 1, id.size() - open - 2));
  }
  return out;
}

Result<void> attributes(std::string_view text, ForeignOptions& out) {
  constexpr std::array<std::string_view, 4> kNoLoss{"umask=", "block=", "group_list=", "run_count="};
  std::string after;
  const auto add = [&](std::string_view list) {
    const auto one = pbs_after(list);
    if (one) after += (after.empty() ? "" : ",") + *one;
    if (!one) out.needed.push_back("-W " + std::string(text));
  };
  for (const std::string_view piece : split(text, ',')) {
    if (piece.starts_with("depend=")) {
      add(piece.substr(7));
    } else if (!after.empty() && piece.starts_with("after")) {
      add(piece);
    } else if (std::ranges::any_of(kNoLoss, [&](std::string_view name) { return piece.starts_with(name); })) {
      out.left_out.push_back("-W " + std::string(piece));
    } else {
      out.needed.push_back("-W " + std::string(piece));
    }
  }
  if (!after.empty()) out.put("after", after);
  return {};
}

// One letter with its value.
Result<void> read_option(char letter, const std::string& value, ForeignOptions& out) {
  static const std::map<char, const char*> kSame{{'N', "name"},    {'J', "array"},  {'t', "array"},    {'d', "folder"},
                                                 {'A', "account"}, {'w', "folder"}, {'M', "mail_user"}};
  const auto put = [&](const char* key, std::string text) {
    out.put(key, std::move(text));
    return Result<void>{};
  };
  if (const auto same = kSame.find(letter); same != kSame.end()) return put(same->second, value);
  if (letter == 'q') return put("partition", value.substr(0, value.find('@')));
  if (letter == 'm') return put("mail", pbs_mail(value));
  if (letter == 'p' && (value.starts_with('-') || value == "0")) return put("priority", value);
  if (letter == 'o') return put("output", pbs_path(value));
  if (letter == 'e') return put("error", pbs_path(value));
  if (letter == 'j') return value == "n" ? Result<void>{} : put("joined", value);
  if (letter == 'r') return put("requeue", value == "y" ? "yes" : "no");
  if (letter == 'v') return put("export", "ALL," + value);
  if (letter == 'W') return attributes(value, out);
  if (letter == 'l') return Resources(out).read_option(value);
  if (letter != 'a') {
    constexpr std::string_view kNoLoss = "ScCkpPRuZ";
    auto& list = kNoLoss.contains(letter) ? out.left_out : out.needed;
    list.push_back(fmt::format("-{} {}", letter, value));
    return Result<void>{};
  }
  const auto begin = digits_when(value);
  return begin ? put("begin", *begin) : std::unexpected(begin.error());
}

}  // namespace

std::unexpected<Error> wrong_value(std::string_view text, const std::string& why) {
  return fail("{} {}", rota::quoted(text), why);
}

Result<ForeignOptions> WordOptions::read() {
  for (at_ = 0; at_ < words_.size(); ++at_) {
    const std::string& word = words_[at_];
    if (word.starts_with('-') && is_switch(word)) continue;
    const std::string* const value = word.starts_with('-') ? next_word() : nullptr;
    if (value == nullptr) {
      out_.needed.push_back(word);
    } else
      TRY(read_option(word, *value));
  }
  return std::move(out_);
}

Result<std::string> digits_when(std::string_view text) {
  const std::size_t dot = std::min(text.find('.'), text.size());
  const std::string digits(text.substr(0, dot)), behind(text.substr(dot));
  if (!behind.empty() && (behind.size() != 3 || !only_digits(behind.substr(1))))
    return wrong_value(text, "is no time such as 202612312359.30");
  const auto part = [&](std::size_t from) { return digits.substr(digits.size() - from, 2); };
  const std::string clock =
      digits.size() >= 4 ? fmt::format("{}:{}{}", part(4), part(2), behind.empty() ? "" : ":" + behind.substr(1)) : "";
  if (!only_digits(digits) || clock.empty()) return wrong_value(text, "is no time such as 202612312359");
  if (digits.size() == 4) return clock;
  const std::string year = digits.size() == 10 ? "20" + digits.substr(0, 2) : digits.substr(0, 4);
  if (digits.size() == 10 || digits.size() == 12) return fmt::format("{}-{}-{}T{}", year, part(8), part(6), clock);
  return wrong_value(text, "names no year; write it as 202612312359");
}

std::string path_with(std::string_view path, const std::vector<std::pair<std::string_view, std::string_view>>& words) {
  const std::size_t colon = path.find(':');
  if (colon != std::string_view::npos && colon < path.find('/')) path.remove_prefix(colon + 1);
  std::string text;
  while (!path.empty()) {
    const auto begins = [&](const auto& word) {
      const std::string name(word.first);
      const bool is_sign = name.front() == '^' || name.front() == '%';
      for (const std::string& form : {fmt::format("${{{}}}", name), "$" + name, name}) {
        if ((form == name && !is_sign) || !path.starts_with(form)) continue;
        const char next = path.size() > form.size() ? path[form.size()] : '/';
        if (form == "$" + name && (std::isalnum(static_cast<unsigned char>(next)) != 0 || next == '_'))
          continue;  // a longer one
        path.remove_prefix(form.size());
        return true;
      }
      return false;
    };
    if (const auto word = std::ranges::find_if(words, begins); word != words.end()) {
      text += word->second;
      continue;
    }
    if (path.front() == '%') text += '%';  // Rota's own sign
    text += path.front();
    path.remove_prefix(1);
  }
  return text;
}

Result<ForeignOptions> pbs_options(const std::vector<std::string>& words) {
  constexpr std::string_view kSwitches = "hIVXzfGK";
  ForeignOptions out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word.size() < 2 || word[0] != '-') {
      out.needed.push_back(word);
      continue;
    }
    const char letter = word[1];
    if (letter == 'h') out.put("hold", "yes");
    if (letter == 'I' || letter == 'X') out.needed.push_back(word);
    if (letter == 'z' || letter == 'G' || letter == 'K') out.left_out.push_back(word);
    if (kSwitches.find(letter) != std::string_view::npos) continue;
    if (word.size() == 2 && i + 1 == words.size()) return wrong_value(word, "is followed by a value");
    const std::string value = word.size() > 2 ? word.substr(2) : words[++i];
    TRY(read_option(letter, value, out));
  }
  return out;
}

}  // namespace rota::cli
