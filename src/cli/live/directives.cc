#include "cli/live/directives.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>

#include "base/text.h"
#include "cli/live/foreign_options.h"
#include "cli/live/sbatch_options.h"
#include "cli/live/slurm_habits.h"

namespace rota::cli {
namespace {

// Where a script has lines for several systems the first in this order counts: a script for several says the same in
// each.
struct Mark {
  std::string_view text;
  Dialect dialect;
};
constexpr Mark kOwn{"#ROTA", Dialect::rota};
constexpr std::string_view kGridEngine = "#$";
constexpr std::array kForeign{Mark{"#SBATCH", Dialect::slurm}, Mark{"#PBS", Dialect::pbs}, Mark{"#BSUB", Dialect::lsf},
                              Mark{kGridEngine, Dialect::sge}};

bool blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

// What follows the mark, where this line has it.
std::optional<std::string_view> marked(std::string_view line, std::string_view mark) {
  if (!line.starts_with(mark)) return std::nullopt;
  line.remove_prefix(mark.size());
  if (!line.empty() && !blank(line[0])) return std::nullopt;
  const std::string_view text = trimmed(line);
  if (mark == kGridEngine && !text.starts_with('-')) return std::nullopt;  // a comment like any other
  return text;
}

// Whether a backslash takes away what the next letter means.
bool escapes(char quote, char next) {
  return quote == '\0' || (quote == '"' && std::string_view("$`\"\\").contains(next));
}

// Words as a shell takes them apart: quotes, backslashes, and a comment behind a blank.
Result<std::vector<std::string>> words(std::string_view text) {
  std::vector<std::string> out;
  bool inside = false;  // a word
  char quote = '\0';
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote == '\0' && blank(c)) {
      inside = false;
      continue;
    }
    if (quote == '\0' && !inside && c == '#') return out;
    if (!std::exchange(inside, true)) out.emplace_back();
    if (c == quote) {
      quote = '\0';
    } else if (quote == '\0' && (c == '\'' || c == '"')) {
      quote = c;
    } else if (c == '\\' && i + 1 < text.size() && escapes(quote, text[i + 1])) {
      out.back() += text[++i];
    } else {
      out.back() += c;
    }
  }
  if (quote != '\0') return fail("a quote is not closed");
  return out;
}

class Reader {
 public:
  explicit Reader(const std::string& name) : name_(name) {}

  Result<Directives> read(std::string_view script) {
    const std::vector<Line> lines = lines_of(script);
    const Mark* const foreign = first_of(lines);
    for (const Line& line : lines) {
      at_ = fmt::format("line {} of {}", line.number, name_);
      mark_ = line.mark;
      if (line.late) {
        out_.remarks.push_back(
            fmt::format("{}: {} stands behind the first command and is not read.", at_, rota::quoted(line.whole)));
      } else if (mark_ != &kOwn && mark_ != foreign) {
        if (others_.insert(mark_->text).second)
          out_.remarks.push_back(
              fmt::format("{}: {} lines are not read beside those of {}.", at_, mark_->text, foreign->text));
      } else
        TRY(take(line.text));
    }
    join();
    if (foreign != nullptr)
      out_.values.try_emplace("variables", SubmitValue{variables_of(foreign), foreign->dialect, {}});
    overrule(out_.values, std::move(own_));
    return std::move(out_);
  }

 private:
  struct Line {
    std::size_t number = 0;
    std::string_view whole, text;  // behind the mark
    const Mark* mark = nullptr;
    bool late = false;  // behind the first command
  };

  // Output and errors into one file: "eo" is that of the errors.
  void join() {
    const auto joined = out_.values.extract("joined");
    auto error = joined.empty() ? SubmitValues::node_type() : out_.values.extract("error");
    if (error.empty() || joined.mapped().text != "eo") return;
    out_.values.insert_or_assign("output", std::move(error.mapped()));
  }

  static std::vector<Line> lines_of(std::string_view script) {
    std::vector<Line> out;
    std::size_t number = 0;
    bool late = false;
    for (const std::string_view line : split(script, '\n')) {
      ++number;
      const auto add = [&](const Mark& mark) {
        const auto text = marked(line, mark.text);
        if (text) out.push_back({number, line, *text, &mark, late});
        return text.has_value();
      };
      if (add(kOwn) || std::ranges::any_of(kForeign, add)) continue;
      const std::string_view text = trimmed(line);
      late |= !text.empty() && text[0] != '#';
    }
    return out;
  }

  static const Mark* first_of(const std::vector<Line>& lines) {
    for (const Mark& mark : kForeign) {
      if (std::ranges::any_of(lines, [&](const Line& line) { return line.mark == &mark && !line.late; })) return &mark;
    }
    return nullptr;
  }

  // The system whose variables its script looks for.
  static std::string variables_of(const Mark* mark) {
    return mark->dialect == Dialect::slurm ? "slurm" : mark->dialect == Dialect::pbs ? "pbs" : "";
  }

  std::unexpected<Error> wrong(const std::string& why) const { return fail("{}: {}.", at_, why); }

  Result<void> take(std::string_view text) {
    auto found = words(text);
    if (!found) return wrong(found.error().message);
    if (mark_ != &kOwn && mark_->dialect != Dialect::slurm) return take_translated(text, *found);
    for (std::size_t i = 0; i < found->size(); ++i) {
      const std::string& word = (*found)[i];
      const bool option = word.size() > 1 && word[0] == '-';
      auto taken = !option ? no_option(word) : word[1] == '-' ? long_option(*found, i) : short_options(*found, i);
      if (!taken) return taken;
    }
    return {};
  }

  // Another language, which is put into Rota's.
  Result<void> take_translated(std::string_view text, const std::vector<std::string>& found) {
    auto options = foreign_options(mark_->dialect, found);
    if (!options) return wrong(options.error().message);
    for (auto& [key, value] : options->values) {
      const auto before = out_.values.find(key);
      if (mark_->dialect == Dialect::lsf && key == "mail" && before != out_.values.end())
        value.insert(0, before->second.text + ",");  // -B and -N, each for one occasion
      out_.values[key] = SubmitValue{std::move(value), mark_->dialect, fmt::format("{}: {}", at_, rota::quoted(text))};
    }
    for (const std::string& each : options->left_out) pass_over(each, "");
    for (const std::string& each : options->needed) need(each, "");
    return {};
  }

  std::string has_nothing_like(const std::string& what, std::string_view why) const {
    return fmt::format("{}: Rota has nothing like {} of {}{}", at_, rota::quoted(what), mark_->text,
                       why.empty() ? "" : ": " + std::string(why));
  }
  void pass_over(const std::string& what, std::string_view why) {
    out_.remarks.push_back(fmt::format("{}{} and goes on without it.", has_nothing_like(what, ""),
                                       why.empty() ? "" : fmt::format(" ({})", why)));
  }
  void need(const std::string& what, std::string_view why) { out_.needed.push_back(has_nothing_like(what, why) + "."); }

  // "--name", "--name=value" or "--name value"
  Result<void> long_option(const std::vector<std::string>& words, std::size_t& i) {
    const std::size_t equals = words[i].find('=');
    return named(words[i].substr(0, equals),
                 equals == std::string::npos ? std::nullopt : std::optional(words[i].substr(equals + 1)), words, i);
  }

  // "-n4", "-n 4", "-H"
  Result<void> short_options(const std::vector<std::string>& words, std::size_t& i) {
    const std::string word = words[i];
    for (std::size_t at = 1; at < word.size(); ++at) {
      const std::string name = std::string("-") + word[at];
      const bool more = at + 1 < word.size() && takes_value(name);
      auto taken = named(name, more ? std::optional(word.substr(at + 1)) : std::nullopt, words, i);
      if (!taken || more) return taken;
    }
    return {};
  }

  bool takes_value(const std::string& name) const {
    if (mark_ == &kOwn) return submit_option(name) != nullptr && !submit_option(name)->value.empty();
    const auto option = sbatch_option(name);
    return option && *option != nullptr && (*option)->takes != Takes::nothing;
  }

  // One option of Rota's or of sbatch's, with the value that stands in the same word.
  Result<void> named(const std::string& name, std::optional<std::string> value, const std::vector<std::string>& words,
                     std::size_t& i) {
    if (mark_ != &kOwn) return slurms(name, std::move(value), words, i);
    const SubmitOption* option = submit_option(name);
    if (option == nullptr) return no_option(words[i]);
    if (option->value.empty() && value) return wrong(name + " takes no value");
    if (!option->value.empty() && !value) {
      if (i + 1 == words.size())
        return wrong(fmt::format("{} is followed by a value: {} {}", name, name, option->value));
      value = words[++i];
    }
    keep(*option, name, value ? *value : std::string(option->set));
    return {};
  }

  Result<void> slurms(const std::string& name, std::optional<std::string> value, const std::vector<std::string>& words,
                      std::size_t& i) {
    bool guessed = false;
    const auto found = sbatch_option(name, &guessed);
    if (!found) return wrong(found.error().message);
    const SbatchOption* const foreign = *found;
    if (foreign == nullptr) return no_option(words[i]);
    const std::string whole = "--" + std::string(foreign->name);
    std::string text = words[i];
    if (foreign->takes == Takes::nothing && value) return wrong(whole + " takes no value");
    if (foreign->takes == Takes::value && !value) {
      if (i + 1 == words.size()) return wrong(name + " is followed by a value");
      value = words[++i];
      text += " " + *value;
    }
    if (guessed) out_.remarks.push_back(fmt::format("{}: {} is taken for {}.", at_, name, whole));
    if (const Fate becomes = fate(*foreign, value); becomes == Fate::passed_over) {
      pass_over(text, foreign->text);
    } else if (becomes == Fate::refused) {
      need(text, foreign->text);
    } else {
      const SubmitOption& option = *submit_option(own_name(*foreign));
      const std::string otherwise(option.value.empty() ? option.set : option.slurm);
      keep(option, name, value && !option.value.empty() ? *value : otherwise);
    }
    return {};
  }

  void keep(const SubmitOption& option, const std::string& name, std::string text) {
    SubmitValues& values = mark_ == &kOwn ? own_ : out_.values;
    values[std::string(option.key)] = SubmitValue{std::move(text), mark_->dialect, fmt::format("{}: {}", at_, name)};
  }

  Result<void> no_option(const std::string& word) {
    const std::string name = word.substr(0, word.find('='));
    if (mark_ != &kOwn) {
      const std::string near = nearest_sbatch_option(name);
      const std::string own = submit_option(name) == nullptr ? "" : "; write #ROTA in place of #SBATCH for it";
      out_.needed.push_back(fmt::format("{}: {} is no option of sbatch{}{}", at_, rota::quoted(word),
                                        own.empty() ? near : own, near.empty() || !own.empty() ? "." : ""));
      return {};
    }
    const std::string none = fmt::format("{}: {} is no option of `rota submit`", at_, rota::quoted(word));
    if (const std::string_view hint = slurm_hint("rota submit", name); !hint.empty())
      return fail("{}: {}.", none, hint);
    std::vector<std::string_view> known;
    for (const SubmitOption& option : submit_options()) {
      for (const std::string_view each : split(option.names, ',')) known.push_back(each);
    }
    const std::string_view near = nearest(name, known);
    return fail("{}; {}", none,
                near.empty() ? "`rota submit --help` lists them." : fmt::format("did you mean {}?", near));
  }

  const std::string& name_;
  const Mark* mark_ = &kOwn;  // of the line that is read
  std::string at_;
  std::set<std::string_view> others_;  // marks whose lines are not read
  SubmitValues own_;
  Directives out_;
};

}  // namespace

Result<Directives> read_directives(std::string_view script, const std::string& name) {
  return Reader(name).read(script);
}

}  // namespace rota::cli
