#include "cli/import/import_saved.h"

#include <fmt/core.h>

#include <filesystem>
#include <utility>

#include "cli/import/import_live.h"
#include "log/line_blocks.h"

namespace rota::cli {
namespace {

namespace fs = std::filesystem;

// What a command printed, packed or not. Every line that scontrol prints has a newline at its end.
Result<std::string> whole_text(const std::string& path) {
  auto blocks = TRY(log::LineBlocks::open(path));
  std::string text;
  for (;;) {
    const auto block = TRY(blocks.next());
    if (block.empty()) break;
    text += block;
    if (text.size() > std::size_t{1} << 30U) return fail(blocks.shown() + " is larger than 1 GiB.");
  }
  if (blocks.cut()) return fail(blocks.shown() + " ends without a newline: it is cut off.");
  return text;
}

Result<site::SlurmText::File> saved_file(const std::string& folder, const SlurmCommand& command) {
  std::string name = command.file;
  for (const char* packed : {".gz", ".zst", ".xz"})
    if (!fs::exists(fmt::format("{}/{}", folder, name)) &&
        fs::exists(fmt::format("{}/{}{}", folder, command.file, packed)))
      name += packed;
  if (command.may_be_missing && !fs::exists(fmt::format("{}/{}", folder, name))) return site::SlurmText::File{name, ""};
  auto text = whole_text(fmt::format("{}/{}", folder, name));
  if (!text) {
    std::string typed;
    for (const std::string& word : command.words) typed += (typed.empty() ? "" : " ") + word;
    return fail("{} It is what `{}` prints.", text.error().message, typed);
  }
  return site::SlurmText::File{name, std::move(*text)};
}

}  // namespace

Result<site::SlurmText> saved_cluster(const std::string& folder) {
  site::SlurmText text;
  for (const SlurmCommand& command : slurm_commands("", "")) {
    if (command.of_cluster == nullptr) continue;
    auto file = TRY(saved_file(folder, command));
    text.*command.of_cluster = std::move(file);
  }
  return text;
}

}  // namespace rota::cli
