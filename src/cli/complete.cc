#include "cli/complete.h"

#include <algorithm>
#include <cstdio>

#include "base/text.h"
#include "cli/command.h"
#include "cli/describe.h"
#include "policy/chain.h"

namespace rota::cli {
namespace {

// What is being typed, taken apart.
struct Typed {
  std::string before;  // stays as it is
  std::string part;    // is being completed
};

void offer(Completions& out, const Typed& typed, std::string_view word, std::string_view meaning) {
  if (word.starts_with(typed.part)) out.candidates.push_back({typed.before + std::string(word), std::string(meaning)});
}

void offer_policy_names(Completions& out, const Typed& typed) {
  for (const PolicyName& policy : policy_names()) offer(out, typed, policy.name, policy.meaning);
}

// "depth=" and so on, or their values once there is an equals sign. `typed.part` is what follows the last '+'.
void offer_knobs(Completions& out, const Typed& typed) {
  const std::size_t equals = typed.part.find('=');
  for (const Knob* knob : every_knob()) {
    if (equals == std::string::npos) {
      offer(out, typed, std::string(knob->name) + "=", knob->meaning);
    } else if (typed.part.substr(0, equals) == knob->name) {
      const Typed value{typed.before + typed.part.substr(0, equals + 1), typed.part.substr(equals + 1)};
      for (const NamedValue& each : knob->names) offer(out, value, each.name, "");
    }
  }
}

// One policy with its knobs; a name is offered until a '+' has ended it ("easy++" bears one in its name).
void offer_policy(Completions& out, Typed typed) {
  out.kind = Completes::unfinished;
  offer_policy_names(out, typed);
  constexpr std::string_view kPlusPlus = "easy++";
  const std::size_t name = typed.part.starts_with(kPlusPlus) ? kPlusPlus.size() : 0;
  const std::size_t plus = typed.part.rfind('+');
  if (plus == std::string::npos || plus < name) return;
  typed.before += typed.part.substr(0, plus + 1);
  typed.part.erase(0, plus + 1);
  offer_knobs(out, typed);
}

Completions values(const Argument& argument, Typed typed) {
  Completions out;
  switch (argument.kind) {
    case ValueKind::word:
      for (const std::string& choice : argument.choices) offer(out, typed, choice, "");
      break;
    case ValueKind::file:
    case ValueKind::folder:
      out.kind = argument.kind == ValueKind::file ? Completes::files : Completes::folders;
      out.before = typed.before;
      break;
    case ValueKind::policies: {
      const std::size_t comma = typed.part.rfind(',') + 1;  // 0 where there is none
      typed.before += typed.part.substr(0, comma);
      typed.part.erase(0, comma);
      offer_policy(out, typed);
      break;
    }
    case ValueKind::policy:
      offer_policy(out, typed);
      break;
    case ValueKind::none:
    case ValueKind::other:
      break;
  }
  return out;
}

Completions names(const Description& command, const std::string& word) {
  Completions out;
  for (const Argument& option : command.options) offer(out, {"", word}, option.names.back(), option.meaning);
  return out;
}

Completions positional(Command at, const Description& command, std::size_t given, const std::string& word) {
  Completions out;
  const auto offer_commands = [&](const Description& above) {
    for (const Command sub : above.subcommands) offer(out, {"", word}, sub.name(), describe(sub).summary);
  };
  offer_commands(command);
  if (command.positionals.empty() || command.needs_subcommand) return out;
  const bool more = given < command.positionals.size() || command.positionals.back().many;
  if (!more) return out;
  const Argument& argument = command.positionals[std::min(given, command.positionals.size() - 1)];
  if (!command.subcommands.empty() && !out.candidates.empty()) return out;
  if (argument.names.front() != "COMMAND") return values(argument, {"", word});
  offer_commands(describe(root_of(at)));
  return out;
}

}  // namespace

Completions complete(Command root, const std::vector<std::string>& words) {
  if (words.empty()) return {};
  const std::string& last = words.back();
  Command at = root;
  Description command = describe(at);
  std::size_t given = 0;           // positionals before the last word
  const Argument* open = nullptr;  // an option that still waits for its value
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (std::exchange(open, nullptr) != nullptr) continue;
    if (const auto below = subcommand(at, words[i])) {
      at = *below;
      command = describe(at);
    } else if (words[i].size() > 1 && words[i].starts_with('-')) {
      const Argument* option = option_named(command, words[i]);
      if (option != nullptr && option->kind != ValueKind::none) open = option;
    } else {
      ++given;
    }
  }
  if (open != nullptr) return values(*open, {"", last});
  const std::size_t equals = last.find('=');
  if (last.starts_with("--") && equals != std::string::npos) {
    const Argument* option = option_named(command, last.substr(0, equals));
    return option != nullptr ? values(*option, {last.substr(0, equals + 1), last.substr(equals + 1)}) : Completions{};
  }
  return last.starts_with('-') ? names(command, last) : positional(at, command, given, last);
}

int print_completions(Command root, const std::vector<std::string>& words) {
  const Completions out = complete(root, words);
  const char* kind = out.kind == Completes::words        ? "words"
                     : out.kind == Completes::unfinished ? "unfinished"
                     : out.kind == Completes::files      ? "files"
                                                         : "folders";
  std::printf("%s%s%s\n", kind, out.before.empty() ? "" : " ", out.before.c_str());
  for (const Candidate& c : out.candidates) std::printf("%s\t%s\n", c.word.c_str(), c.meaning.c_str());
  return kDone;
}

}  // namespace rota::cli
