#include "cli/import/import_made.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "base/text.h"
#include "cli/import/import_live.h"
#include "log/line_blocks.h"

namespace rota::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBeginning = 4096;  // bytes in which a mark stands

}  // namespace

Result<void> check_made(const std::string& path, std::string_view mark) {
  auto blocks = TRY(log::LineBlocks::open(path));
  const auto first = blocks.next();
  if (first && first->substr(0, kBeginning).find(mark) != std::string_view::npos) return {};
  return fail(shown_path(path) + " was not made by an import, and is not replaced; name another folder.");
}

Result<void> check_saved(const std::string& path, bool live, bool anonymous) {
  const std::string shown = shown_path(path);
  if (anonymous) return fail(shown + " may have real names in it; with --anonymous name another folder.");
  if (!live) return {};
  if (!fs::exists(fs::path(path).parent_path() / "report.json"))
    return fail(shown + " was not made by an import, and --live would replace it; name another folder.");
  const std::vector<SlurmCommand> saved = slurm_commands("", "");
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(path, error)) {
    const std::string name = entry.path().filename();
    if (std::ranges::find(saved, name, &SlurmCommand::file) != saved.end()) continue;
    return fail("{} has {} in it, which --live would not save; name another folder.", shown, rota::quoted(name));
  }
  if (error) return fail("Cannot read {}: {}.", shown, error.message());
  return {};
}

}  // namespace rota::cli
