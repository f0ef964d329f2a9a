#include "cli/made_by.h"

#include <filesystem>

#include "base/file.h"
#include "cli/kept_state.h"
#include "store/sha256.h"

namespace rota::cli {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 32U;

std::string hexadecimal(const store::Sha256& digest) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const std::byte byte : digest) {
    text += kDigits[std::to_integer<std::size_t>(byte) >> 4U];
    text += kDigits[std::to_integer<std::size_t>(byte) & 15U];
  }
  return text;
}

}  // namespace

std::vector<report::MadeBy::Option> options_of(const CLI::App& command) {
  std::vector<report::MadeBy::Option> all;
  for (const CLI::Option* option : command.get_options()) {
    const std::string name = option->get_name();
    if (name == "--help" || name == "-h" || name == "--report") continue;
    report::MadeBy::Option told{name, "", option->count() > 0};
    if (option->get_items_expected_max() == 0) {
      told.value = option->count() > 0 ? "yes" : "no";
    } else if (option->count() > 0) {
      for (const std::string& word : option->results()) told.value += (told.value.empty() ? "" : " ") + word;
    } else {
      told.value = option->get_default_str();
    }
    all.push_back(std::move(told));
  }
  return all;
}

std::vector<report::MadeBy::Input> inputs_of(const std::vector<std::string>& workloads, const RehearseFlags& flags) {
  std::vector<std::string> paths;
  for (const std::string& path : workloads) paths.push_back(database_of(path));
  for (const std::string* other : {&flags.cluster, &flags.attributes}) {
    if (!other->empty()) paths.push_back(*other);
  }
  std::vector<report::MadeBy::Input> all;
  for (const std::string& path : paths) {
    report::MadeBy::Input& input = all.emplace_back(path);
    std::error_code ignored;
    if (path == "-" || !std::filesystem::is_regular_file(path, ignored)) continue;
    const auto text = read_file(path, kMostBytes);
    if (!text) continue;
    input.bytes = static_cast<std::int64_t>(text->size());
    input.sha256 = hexadecimal(store::sha256(std::as_bytes(std::span(text->data(), text->size()))));
  }
  return all;
}

}  // namespace rota::cli
