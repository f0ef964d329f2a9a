#include "cli/seeds.h"

#include <memory>
#include <sstream>

#include "base/text.h"
#include "generate/generate.h"

namespace rota::cli {
namespace {

constexpr std::int64_t kMostStreams = 100'000;
constexpr std::int64_t kGreatestSeed = std::int64_t{1} << 40;

Result<log::Workload> stream_of(const std::string& command, std::int64_t seed, const log::SwfOptions& options) {
  auto generator = generate::generator_of(command);
  if (!generator) return std::unexpected(generator.error());
  if (auto done = generate::set_knob(**generator, "seed", std::to_string(seed)); !done)
    return std::unexpected(done.error());
  const auto recipe = (*generator)->recipe();
  if (!recipe) return std::unexpected(recipe.error());
  std::ostringstream text;
  generate::write_generated(text, *recipe);
  return log::parse_swf(text.view(), "seed " + std::to_string(seed), options);
}

}  // namespace

Result<Seeds> parse_seeds(std::string_view text) {
  const std::size_t dash = text.find('-');
  const auto first = parse_integer(trimmed(text.substr(0, dash)));
  const auto last = dash == std::string_view::npos ? first : parse_integer(trimmed(text.substr(dash + 1)));
  if (!first || !last || *first < 0 || *last > kGreatestSeed || *last <= *first || *last - *first >= kMostStreams) {
    return fail("--seeds takes the first and the last of 2 to " + grouped(kMostStreams) +
                " seeds, such as 1-10, and not " + quoted(text) + ".");
  }
  return Seeds{*first, static_cast<std::size_t>(*last - *first) + 1};
}

Result<Copies> streams_of(const log::Workload& workload, const Seeds& seeds, const log::SwfOptions& options,
                          const WindowFlags& window) {
  if (workload.made_by.empty()) {
    return fail(workload.name +
                ": --seeds is for workloads that `rota generate` made, whose header names the command, and this one "
                "names none. --copies takes any log.");
  }
  if (workload.attributes) {
    return fail(workload.name +
                ": --seeds draws jobs anew, and what this workload says of its own beside SWF's fields (--attributes, "
                "--with-attributes) would go to others. --copies takes any log.");
  }
  if (const auto generator = generate::generator_of(workload.made_by); !generator) {
    return fail(workload.name + ": --seeds makes what `rota generate` made again with other seeds, and here " +
                generator.error().message + " --copies takes any log.");
  }
  log::SwfOptions quiet = options;
  quiet.keep_recorded = false;
  quiet.progress = {};
  const auto make = [command = workload.made_by, first = seeds.first, quiet,
                     window](std::size_t copy) -> Result<log::Workload> {
    auto stream = stream_of(command, first + static_cast<std::int64_t>(copy), quiet);
    if (!stream || !window.asked()) return stream;
    if (auto cut = window.apply(*stream); !cut) return std::unexpected(cut.error());
    return stream;
  };
  return Copies{seeds.count, make, true};
}

}  // namespace rota::cli
