#include "cli/rehearse/made_by.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <span>

#include "base/file.h"
#include "cli/describe.h"
#include "cli/rehearse/kept_state.h"
#include "store/sha256.h"

namespace rota::cli {
namespace {

constexpr std::int64_t kMostBytes = std::int64_t{1} << 32U;
constexpr std::size_t kPiece = std::size_t{1} << 20U;

// Leaves out what cannot be read, or is larger than kMostBytes.
void tell_contents(report::MadeBy::Input& input) {
  auto file = InputFile::open(input.path);
  if (!file || file->size() > kMostBytes) return;
  std::vector<char> buffer(kPiece);
  std::int64_t bytes = 0;
  bool read = true;
  const store::Sha256 digest = store::sha256_of_pieces([&]() -> store::ByteSpan {
    const auto got = file->read(buffer.data(), buffer.size());
    read = got.has_value();
    if (!read || bytes > kMostBytes) return {};
    bytes += static_cast<std::int64_t>(*got);
    return std::as_bytes(std::span(buffer.data(), *got));
  });
  if (!read || bytes > kMostBytes) return;
  input.bytes = bytes;
  input.sha256 = store::hexadecimal(digest);
}

}  // namespace

std::vector<report::MadeBy::Option> options_of(Command command) {
  std::vector<report::MadeBy::Option> all;
  const auto add = [&](const Argument& argument) {
    if (argument.name() == "--help" || argument.name() == "--report") return;
    const bool given = !argument.given.empty();
    std::string value = argument.otherwise;
    if (argument.kind == ValueKind::none) {
      value = given ? "yes" : "no";
    } else if (given) {
      value.clear();
      for (const std::string& word : argument.given) value += (value.empty() ? "" : " ") + word;
    }
    all.push_back({argument.name(), std::move(value), given});
  };
  const Description described = describe(command);
  std::ranges::for_each(described.positionals, add);
  std::ranges::for_each(described.options, add);
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
    tell_contents(input);
  }
  return all;
}

}  // namespace rota::cli
