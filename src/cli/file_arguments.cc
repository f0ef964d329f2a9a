#include "cli/file_arguments.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "cli/describe.h"

namespace rota::cli {
namespace {

constexpr std::array<std::string_view, 2> kOfJobs{"submit", "run"};
// `simulate` gives its outputs other names where there are several, and looks for itself.
constexpr std::array<std::string_view, 3> kOutputs{"--output", "--write-attributes", "--report"};

struct Named {
  std::string option;
  std::string path;
  bool output = false;
};

void add_files(const Description& command, std::vector<Named>& files) {
  const auto add = [&](const Argument& argument) {
    const std::string& name = argument.names.back();
    if (argument.kind != ValueKind::file) return;
    const bool output = std::ranges::find(kOutputs, name) != kOutputs.end();
    for (const std::string& path : argument.given) files.push_back({argument.positional ? "" : name, path, output});
  };
  for (const Argument& argument : command.options) add(argument);
  for (const Argument& argument : command.positionals) add(argument);
}

}  // namespace

Result<void> check_files(Command root) {
  std::vector<Named> files;
  std::string last;
  for (std::optional<Command> at = root; at; at = at->chosen()) {
    last = at->name();
    if (std::ranges::find(kOfJobs, last) != kOfJobs.end()) return {};
    add_files(describe(*at), files);
  }
  for (const Named& file : files) {
    if (file.path.empty() && !file.option.empty())
      return fail(file.option + " takes the name of a file, and here it is empty.");
  }
  if (last == "simulate") return {};
  for (const Named& out : files) {
    for (const Named& in : files) {
      if (!out.output || in.output || !same_file(in.path, out.path)) continue;
      return fail(shown_path(out.path) +
                  " is read by this command and would be written over; give the output another name.");
    }
  }
  return {};
}

}  // namespace rota::cli
