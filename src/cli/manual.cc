// rota manual: the manual pages, printed or written into a folder.
#include <fmt/core.h>

#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/describe.h"
#include "cli/man_page.h"
#include "cli/printed.h"

namespace rota::cli {
namespace {

struct ManualFlags {
  std::vector<std::string> command;
  std::string folder;
};

Result<Command> command_named(Command root, const std::vector<std::string>& words) {
  Command at = root;
  for (const std::string& word : words) {
    const auto below = subcommand(at, word);
    if (!below) {
      std::vector<std::string> names;
      for (const Command sub : describe(at).subcommands) names.push_back(sub.name());
      const std::string_view near = nearest(word, {names.begin(), names.end()});
      return fail("`{}` has no command {}{}", full_name(at), rota::quoted(word),
                  near.empty() ? "; `rota --help` lists them." : fmt::format("; did you mean {}?", near));
    }
    at = *below;
  }
  return at;
}

// All pages or none: no file takes its name before every one has been written.
Result<int> write_pages(Command root, const std::string& folder) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) return fail("Cannot make the folder {}: {}. Choose another one.", rota::quoted(folder), failed.message());
  std::vector<OutputFile> files;
  for (const Command each : every_command(root)) {
    auto file = TRY(OutputFile::create(fmt::format("{}/{}.1", folder, man_page_name(each))));
    file.stream() << man_page(each) << std::flush;
    files.push_back(std::move(file));
    if (files.back().failed()) break;  // commit() says why
  }
  if (!files.empty() && files.back().failed()) std::swap(files.front(), files.back());
  for (OutputFile& file : files) {
    TRY(file.commit());
  }
  return kDone;
}

Result<int> manual(Command root, const ManualFlags& flags) {
  if (!flags.folder.empty()) return write_pages(root, flags.folder);
  const auto command = TRY(command_named(root, flags.command));
  return printed(man_page(command));
}

}  // namespace

void add_manual(Command app, Action& action) {
  auto flags = std::make_shared<ManualFlags>();
  Command command = app.add_subcommand("manual", "print the manual page of a command, or write all of them");
  command.description("Pages are in roff, as man reads them; without a COMMAND it is the page of rota itself.");
  command.add_option("COMMAND", flags->command, "whose page to print, as in: generate lublin");
  command.add_option("--all", flags->folder, "write every page into this folder, as rota.1, rota-simulate.1 and so on")
      .type_name("DIR")
      .excludes("COMMAND");
  command.footer(
      "Examples:\n"
      "  rota manual simulate | man -l -\n"
      "  rota manual --all ~/.local/share/man/man1");
  command.callback([app, &action, flags] { action = [app, flags] { return manual(app, *flags); }; });
}

}  // namespace rota::cli
