#include "cli/words_apart.h"

#include <fmt/core.h>

#include <optional>
#include <utility>
#include <variant>

#include "base/text.h"
#include "cli/describe.h"
#include "cli/live/sbatch_options.h"
#include "cli/live/submit_options.h"

namespace rota::cli {
namespace {

bool takes_rest(const Description& command) { return !command.positionals.empty() && command.positionals.front().rest; }

class Apart {
 public:
  Apart(Command root, const std::vector<std::string>& words) : at_(root), command_(describe(root)), words_(words) {}

  Result<Words> made() {
    for (; next_ < words_.size(); ++next_) {
      const std::string& word = words_[next_];
      const bool option = word.size() > 1 && word.starts_with('-') && word != "--";
      if (const auto below = option ? std::nullopt : subcommand(at_, word)) {
        out_.options.push_back(word);
        at_ = *below;
        command_ = describe(at_);
      } else if (option) {
        if (auto taken = word.starts_with("--") ? long_option(word) : letters(word); !taken)
          return fail("{}. See `{} --help`.", one_line(taken.error().message), command_.name);
      } else if (takes_rest(command_)) {
        out_.rest.assign(words_.begin() + static_cast<std::ptrdiff_t>(next_), words_.end());
        break;
      } else {
        out_.options.push_back(word);
      }
    }
    out_.at = at_;
    return std::move(out_);
  }

 private:
  bool submits() const { return command_.name == "rota submit" || command_.name == "rota run"; }

  // Whether sbatch has a value behind this switch of Rota's, and this one is harmless.
  static bool may_have(std::string_view name, const std::string& value) {
    const auto option = sbatch_option(name);
    return option && *option != nullptr && (*option)->takes == Takes::perhaps && fate(**option, value) != Fate::refused;
  }

  bool number_behind() const { return next_ + 1 < words_.size() && parse_integer(words_[next_ + 1]).has_value(); }

  void value_behind() {
    if (next_ + 1 < words_.size()) out_.options.push_back(words_[++next_]);
  }

  Result<void> long_option(const std::string& word) {
    const std::size_t equals = word.find('=');
    std::string name = word.substr(0, equals);
    if (submits() && option_named(command_, name) == nullptr) {
      const auto value = equals == std::string::npos ? std::nullopt : std::optional(word.substr(equals + 1));
      auto became = TRY(of_sbatch(name, value));
      if (std::holds_alternative<PassedOver>(became)) return {};
      name = std::get<std::string>(became);
    }
    const Argument* option = option_named(command_, name);
    const bool is_switch = option != nullptr && option->kind == ValueKind::none;
    const bool harmless = submits() && (equals == std::string::npos || may_have(name, word.substr(equals + 1)));
    if (option == nullptr || (is_switch && !harmless)) {
      out_.options.push_back(word);
      return {};
    }
    out_.options.push_back(name);
    if (is_switch) return {};  // as in --exclusive=user, which whole nodes are, too
    const SubmitOption* const own = submits() ? submit_option(name) : nullptr;
    if (equals != std::string::npos) {
      out_.options.push_back(word.substr(equals + 1));
    } else if (own != nullptr && !own->slurm.empty() && !number_behind()) {
      out_.options.emplace_back(own->slurm);  // --nice alone
    } else {
      value_behind();
    }
    return {};
  }

  // "-n4", "-Hn 4"
  Result<void> letters(const std::string& word) {
    for (std::size_t i = 1; i < word.size(); ++i) {
      const std::string name = std::string("-") + word[i];
      const Argument* option = option_named(command_, name);
      const auto behind = i + 1 < word.size() ? std::optional(word.substr(i + 1)) : std::nullopt;
      const auto became = TRY(option == nullptr && submits() ? of_sbatch(name, behind) : Result<Became>(name));
      if (const auto* const passed = std::get_if<PassedOver>(&became)) {
        if (passed->with_value) return {};
        continue;
      }
      const auto& own = std::get<std::string>(became);
      if (option == nullptr) option = option_named(command_, own);
      if (option == nullptr) {
        out_.options.push_back("-" + word.substr(i));
        return {};
      }
      out_.options.push_back(own);
      if (option->kind == ValueKind::none) continue;
      if (i + 1 < word.size()) {
        out_.options.push_back(word.substr(i + 1));
      } else {
        value_behind();
      }
      return {};
    }
    return {};
  }

  struct PassedOver {
    bool with_value;  // so that what stands behind its letter is no other letter
  };
  using Became = std::variant<std::string, PassedOver>;  // an option's name in Rota

  // The name as it is where sbatch has no such option either. `value` is what stands in the same word.
  Result<Became> of_sbatch(const std::string& name, std::optional<std::string> value) {
    bool guessed = false;
    const auto found = sbatch_option(name, &guessed);
    if (!found) return fail(found.error().message);
    const SbatchOption* const option = *found;
    if (option == nullptr) return Became(name);
    if (guessed) out_.remarks.push_back(fmt::format("{} is taken for --{}.", name, option->name));
    if (option->fate == Fate::honoured) return Became(own_name(*option));
    if (const Argument* own = option_named(command_, "--" + std::string(option->name))) return Became(own->name());
    if (option->takes == Takes::value && !value && next_ + 1 < words_.size()) value = words_[++next_];
    const std::string why = option->text.empty() ? "" : ": " + std::string(option->text);
    if (fate(*option, value) == Fate::refused)
      return fail("`{}` has no option {}{}", command_.name, rota::quoted(name), why);
    out_.remarks.push_back(fmt::format("{} is passed over{}.", name, why));
    return Became(PassedOver{.with_value = value.has_value() && option->takes != Takes::nothing});
  }

  Command at_;
  Description command_;
  const std::vector<std::string>& words_;
  std::size_t next_ = 0;
  Words out_{at_, {}, {}, {}};
};

}  // namespace

Result<Words> words_apart(Command root, const std::vector<std::string>& words) { return Apart(root, words).made(); }

}  // namespace rota::cli
