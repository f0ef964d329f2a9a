#include "cli/live/directives.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/text.h"
#include "cli/live/foreign_options.h"
#include "cli/live/slurm_habits.h"

namespace rota::cli {
namespace {

constexpr std::size_t kRead = 32U << 10U;  // bytes of a script in which directives are looked for
constexpr std::string_view kOwn = "#ROTA";
constexpr std::string_view kSlurm = "#SBATCH";
constexpr std::string_view kPbs = "#PBS";

bool blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

// What follows the mark, where this line has it.
std::optional<std::string_view> marked(std::string_view line, std::string_view mark) {
  if (!line.starts_with(mark)) return std::nullopt;
  line.remove_prefix(mark.size());
  if (!line.empty() && !blank(line[0])) return std::nullopt;
  return trimmed(line);
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
    } else if (c == '\\' && quote != '\'' && i + 1 < text.size()) {
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
    std::size_t number = 0;
    bool over = false;  // a command has come
    for (const std::string_view line : split(script.substr(0, kRead), '\n')) {
      ++number;
      const auto own = marked(line, kOwn), slurm = marked(line, kSlurm), pbs = marked(line, kPbs);
      if (own || slurm || pbs) {
        dialect_ = own ? Dialect::rota : slurm ? Dialect::slurm : Dialect::pbs;
        at_ = "line " + std::to_string(number) + " of " + name_;
        if (over) {
          out_.remarks.push_back(at_ + ": " + rota::quoted(line) + " stands behind the first command and is not read.");
        } else if (auto taken = pbs ? take_pbs(*pbs) : take(own ? *own : *slurm); !taken) {
          return std::unexpected(taken.error());
        }
        if (slurm && !over) out_.values.try_emplace("sbatch", SubmitValue{"yes", dialect_, at_});
        continue;
      }
      const std::string_view text = trimmed(line);
      over |= !text.empty() && text[0] != '#';
    }
    if (out_.values.erase("joined") > 0) out_.values.erase("error");  // one file for both, whichever is named
    for (auto& [key, value] : own_) out_.values.insert_or_assign(key, std::move(value));
    return std::move(out_);
  }

 private:
  std::unexpected<Error> wrong(const std::string& why) const { return fail(at_ + ": " + why + "."); }

  Result<void> take(std::string_view text) {
    auto found = words(text);
    if (!found) return wrong(found.error().message);
    for (std::size_t i = 0; i < found->size(); ++i) {
      const std::string& word = (*found)[i];
      const bool option = word.size() > 1 && word[0] == '-';
      auto taken = !option ? unknown(*found, i) : word[1] == '-' ? long_option(*found, i) : short_options(*found, i);
      if (!taken) return taken;
    }
    return {};
  }

  Result<void> take_pbs(std::string_view text) {
    auto found = words(text);
    if (!found) return wrong(found.error().message);
    auto options = pbs_options(*found);
    if (!options) return wrong(options.error().message);
    for (auto& [key, value] : options->values)
      out_.values[key] = SubmitValue{std::move(value), dialect_, at_ + ": " + rota::quoted(text)};
    out_.values.try_emplace("pbs", SubmitValue{"yes", dialect_, at_});
    for (const std::string& each : options->left_out) leave_out(each, Without::goes_on);
    for (const std::string& each : options->needed) leave_out(each, Without::stops);
    return {};
  }

  void leave_out(const std::string& what, Without without) {
    const std::string head = at_ + ": Rota has nothing like " + rota::quoted(what) + " of " +
                             std::string(dialect_ == Dialect::pbs ? kPbs : kSlurm);
    if (without == Without::goes_on) {
      out_.remarks.push_back(head + " and goes on without it.");
    } else {
      out_.needed.push_back(head + ".");
    }
  }

  // "--name", "--name=value" or "--name value"
  Result<void> long_option(const std::vector<std::string>& words, std::size_t& i) {
    const std::string& word = words[i];
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const SubmitOption* option = submit_option(name);
    if (option == nullptr) return unknown(words, i);
    if (equals == std::string::npos) return value(*option, name, words, i);
    if (option->value.empty()) return wrong(name + " takes no value");
    keep(*option, name, word.substr(equals + 1));
    return {};
  }

  // "-n4", "-n 4", "-H"
  Result<void> short_options(const std::vector<std::string>& words, std::size_t& i) {
    const std::string word = words[i];
    for (std::size_t at = 1; at < word.size(); ++at) {
      const std::string name = std::string("-") + word[at];
      const SubmitOption* option = submit_option(name);
      if (option == nullptr) return unknown(words, i);
      if (!option->value.empty() && at + 1 < word.size()) {
        keep(*option, name, word.substr(at + 1));
        return {};
      }
      if (auto taken = value(*option, name, words, i); !taken) return taken;
    }
    return {};
  }

  // A switch, or an option whose value is the next word.
  Result<void> value(const SubmitOption& option, const std::string& name, const std::vector<std::string>& words,
                     std::size_t& i) {
    if (option.value.empty()) {
      keep(option, name, std::string(option.set));
    } else if (dialect_ == Dialect::slurm && !option.slurm.empty()) {
      keep(option, name, std::string(option.slurm));
    } else if (i + 1 < words.size()) {
      keep(option, name, words[++i]);
    } else {
      return wrong(name + " is followed by a value: " + name + " " + std::string(option.value));
    }
    return {};
  }

  void keep(const SubmitOption& option, const std::string& name, std::string text) {
    SubmitValues& values = dialect_ == Dialect::rota ? own_ : out_.values;
    values[std::string(option.key)] = SubmitValue{std::move(text), dialect_, at_ + ": " + name};
  }

  // Of Slurm's, it is told together with the words that may be its value.
  Result<void> unknown(const std::vector<std::string>& words, std::size_t& i) {
    const std::string name = words[i].substr(0, words[i].find('='));
    if (dialect_ == Dialect::rota) {
      const std::string none = at_ + ": " + rota::quoted(words[i]) + " is no option of `rota submit`";
      if (const std::string_view hint = slurm_hint("rota submit", name); !hint.empty())
        return fail(none + ": " + std::string(hint) + ".");
      std::vector<std::string_view> known;
      for (const SubmitOption& option : submit_options()) {
        for (const std::string_view each : split(option.names, ',')) known.push_back(each);
      }
      const std::string_view near = nearest(name, known);
      return fail(none + "; " +
                  (near.empty() ? "`rota submit --help` lists them." : "did you mean " + std::string(near) + "?"));
    }
    std::string text = words[i];
    while (i + 1 < words.size() && !words[i + 1].starts_with('-')) text += " " + words[++i];
    const bool letter = name.size() > 2 && name[0] == '-' && name[1] != '-';  // "-wn1" is "-w n1"
    leave_out(text, without_slurm_option(letter ? name.substr(0, 2) : name));
    return {};
  }

  const std::string& name_;
  Dialect dialect_ = Dialect::rota;
  std::string at_;
  SubmitValues own_;
  Directives out_;
};

}  // namespace

Result<Directives> read_directives(std::string_view script, const std::string& name) {
  return Reader(name).read(script);
}

}  // namespace rota::cli
