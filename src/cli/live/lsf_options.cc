// #BSUB lines, as bsub of LSF 10.1 documents them.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "base/text.h"
#include "cli/live/foreign_options.h"

namespace rota::cli {
namespace {

// "[hours:]minutes[/host]" as seconds.
Result<std::string> run_limit(std::string_view text) {
  const auto pieces = split(text.substr(0, text.find('/')), ':');
  std::int64_t minutes = 0;
  for (const std::string_view piece : pieces) {
    const auto number = parse_integer(piece);
    if (!number || *number < 0 || *number > 10'000'000 || pieces.size() > 2)
      return wrong_value(text, "is no limit such as 90 (minutes) or 1:30 (hours and minutes)");
    minutes = minutes * 60 + *number;
  }
  return std::to_string(minutes * 60);
}

std::string lsf_path(std::string_view path) { return path_with(path, {{"%J", "%A"}, {"%I", "%a"}}); }

// "done(12) && ended(13)", "done(12) || done(13)", and "12", which is done(12); nothing: it has no equal.
std::optional<std::string> lsf_after(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kKinds{
      {{"done", "afterok"}, {"ended", "afterany"}, {"exit", "afternotok"}, {"started", "after"}}};
  if (only_digits(trimmed(text))) return "afterok:" + std::string(trimmed(text));
  const bool any = text.contains("||");
  if (any && text.contains("&&")) return std::nullopt;
  std::string out;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = std::min(rest.find(any ? "||" : "&&"), rest.size());
    const std::string_view one = trimmed(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 2, rest.size()));
    const std::size_t open = one.find('(');
    const auto* const kind =
        std::ranges::find(kKinds, one.substr(0, open), &std::pair<std::string_view, std::string_view>::first);
    if (kind == kKinds.end() || open == std::string_view::npos || !one.ends_with(')')) return std::nullopt;
    const std::string_view id = one.substr(open + 1, one.size() - open - 2);
    if (!only_digits(id)) return std::nullopt;
    out += fmt::format("{}{}:{}", out.empty() ? "" : any ? "?" : ",", kind->second, id);
  }
  return out;
}

class Lsf final : public WordOptions {
 public:
  using WordOptions::WordOptions;

 private:
  bool is_switch(const std::string& word) override {
    static const std::map<std::string_view, std::pair<const char*, const char*>> kSwitches{
        {"-x", {"exclusive", "yes"}}, {"-H", {"hold", "yes"}},   {"-r", {"requeue", "yes"}},
        {"-rn", {"requeue", "no"}},   {"-B", {"mail", "BEGIN"}}, {"-N", {"mail", "END"}}};
    const auto found = kSwitches.find(word);
    if (found != kSwitches.end()) out_.put(found->second.first, found->second.second);
    constexpr std::array<std::string_view, 3> kNoLoss{"-ar", "-notify", "-Ne"};
    if (std::ranges::find(kNoLoss, word) != kNoLoss.end()) {
      out_.left_out.push_back(word);
      return true;
    }
    return found != kSwitches.end();
  }

  Result<void> read_option(const std::string& name, const std::string& value) override {
    static const std::map<std::string_view, const char*> kSame{
        {"-q", "partition"}, {"-i", "input"},    {"-is", "input"}, {"-u", "mail_user"},
        {"-cwd", "folder"},  {"-Jd", "comment"}, {"-P", "account"}};
    if (const auto same = kSame.find(name); same != kSame.end()) return put(same->second, value);
    constexpr std::array<std::string_view, 8> kNoLoss{"-G", "-app", "-sp", "-We", "-c", "-g", "-L", "-sla"};
    const std::string whole = fmt::format("{} {}", name, value);
    if (std::ranges::find(kNoLoss, name) != kNoLoss.end()) {
      out_.left_out.push_back(whole);
      return Result<void>{};
    }
    if (name == "-o" || name == "-oo" || name == "-e" || name == "-eo") return file(name, value);
    if (name == "-J") return named(value);
    if (name == "-n" && only_digits(value)) return put("processors", value);
    if (name == "-R") return requirements(value);
    if (name == "-gpu") return accelerators(value);
    if (name == "-M" && !only_digits(value)) return put("memory_all", value);
    if (name == "-env" && !value.contains('~')) return put("export", value == "none" ? "NONE" : value);
    if (const auto begin = name == "-b" ? begins(value) : std::nullopt) return put("begin", *begin);
    if (const auto after = name == "-w" ? lsf_after(value) : std::nullopt) return put("after", *after);
    if (name != "-W") {
      out_.needed.push_back(whole);
      return Result<void>{};
    }
    const auto limit = run_limit(value);
    return limit ? put("limit", *limit) : std::unexpected(limit.error());
  }

  // "[[year:]month:day:]hour:minute"; nothing: it is a day of this month, or none.
  static std::optional<std::string> begins(std::string_view text) {
    auto pieces = split(text, ':');
    if (!std::ranges::all_of(pieces, [](std::string_view one) { return only_digits(one) && one.size() <= 4; }))
      return std::nullopt;
    const auto two = [&](std::size_t at) { return (pieces[at].size() < 2 ? "0" : "") + std::string(pieces[at]); };
    if (pieces.size() == 2) return fmt::format("{}:{}", two(0), two(1));
    if (pieces.size() != 5) return std::nullopt;
    return fmt::format("{}-{}-{}T{}:{}", pieces[0], two(1), two(2), two(3), two(4));
  }

  Result<void> file(const std::string& name, const std::string& value) {
    out_.put(name[1] == 'o' ? "output" : "error", lsf_path(value));
    out_.put("open_mode", name.size() > 2 ? "truncate" : "append");  // as bsub has it
    return {};
  }

  // "name[1-10]%5"
  Result<void> named(const std::string& value) {
    const std::size_t open = value.find('['), close = value.find(']');
    if (open != 0) out_.put("name", value.substr(0, open));
    if (open == std::string::npos) return {};
    if (close == std::string::npos || close < open)
      return wrong_value(value, "is no name of an array such as fit[1-10]%5");
    out_.put("array", value.substr(open + 1, close - open - 1) + value.substr(close + 1));
    return {};
  }

  static std::string size(const std::string& value) { return only_digits(value) ? value + "M" : value; }

  // "span[hosts=1] rusage[mem=4GB]"
  Result<void> requirements(std::string_view text) {
    const std::string whole = "-R " + std::string(text);
    for (std::string_view rest = trimmed(text); !rest.empty(); rest = trimmed(rest)) {
      const std::size_t open = rest.find('['), close = rest.find(']');
      if (open == std::string_view::npos || close == std::string_view::npos || close < open) {
        out_.needed.push_back(whole);
        return Result<void>{};
      }
      const std::string_view section = trimmed(rest.substr(0, open)), inside = rest.substr(open + 1, close - open - 1);
      rest.remove_prefix(close + 1);
      if (section == "span" && inside == "hosts=1") {
        out_.put("nodes", "1");
      } else if (section == "span" && inside.starts_with("ptile=") && only_digits(inside.substr(6))) {
        out_.put("per_node", std::string(inside.substr(6)));
      } else if (section == "select" && inside.starts_with("mem>") && text.contains("rusage[mem=")) {
        continue;  // what it is to have it asks for anyway
      } else if (section != "order" && !(section == "select" && inside == "type==any") &&
                 !(section == "rusage" && resources(inside))) {
        out_.needed.push_back(whole);
        return Result<void>{};
      }
    }
    return {};
  }

  // "mem=4GB:ngpus_physical=1"; false: there is something else.
  bool resources(std::string_view list) {
    std::string text(list);
    std::ranges::replace(text, ',', ':');
    for (const std::string_view piece : split(text, ':')) {
      const std::size_t equals = std::min(piece.find('='), piece.size());
      const std::string_view name = piece.substr(0, equals);
      const std::string value(piece.substr(std::min(equals + 1, piece.size())));
      if (name == "mem") {
        out_.put("memory", size(value));
      } else if (name.starts_with("ngpus")) {
        out_.put("accelerators", value);
      } else if (name == "duration" || name == "decay") {
        out_.left_out.push_back(fmt::format("-R rusage[{}]", piece));
      } else {
        return false;
      }
    }
    return true;
  }

  // "num=2:mode=exclusive_process"; "-" and what names no number: one
  Result<void> accelerators(std::string_view text) {
    out_.put("accelerators", "1");
    for (const std::string_view piece : split(text, ':')) {
      if (piece.starts_with("num=")) {
        const std::string_view number = piece.substr(4, piece.find('/') - 4);
        out_.put("accelerators", std::string(number));
        if (piece.contains('/') && !piece.ends_with("/host")) out_.needed.push_back("-gpu " + std::string(text));
      } else if (piece.starts_with("gmem") || piece.starts_with("gmodel")) {
        out_.needed.push_back("-gpu " + std::string(text));
      }
    }
    return {};
  }
};

}  // namespace

Result<ForeignOptions> lsf_options(const std::vector<std::string>& words) { return Lsf(words).read(); }

}  // namespace rota::cli
