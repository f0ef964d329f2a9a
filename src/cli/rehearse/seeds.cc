#include "cli/rehearse/seeds.h"

#include <memory>
#include <optional>
#include <sstream>
#include <utility>

#include "base/text.h"
#include "generate/attributes_generate.h"
#include "generate/generate.h"
#include "log/attribute_table.h"
#include "log/json_lines.h"

namespace rota::cli {
namespace {

constexpr std::int64_t kMostStreams = 100'000;
constexpr std::int64_t kGreatestSeed = std::int64_t{1} << 40;

using Attributes = std::optional<generate::AttributesGenerator>;

// How a stream is made.
struct Making {
  std::string command;  // of the log
  bool json = false;    // it was written as JSON lines
  Attributes inside;    // the attributes in these,
  Attributes beside;    // and those of a sidecar
  log::SwfOptions options;
};

Result<log::Workload> log_of(const generate::Recipe& recipe, const Making& making, const std::string& name) {
  std::ostringstream text;
  if (!making.json) {
    generate::write_generated(text, recipe);
    return log::parse_swf(text.view(), name, making.options);
  }
  std::optional<generate::AttributeDraws> draws;
  if (making.inside) draws.emplace(*making.inside);
  generate::write_generated_json(text, recipe, draws ? &*draws : nullptr, "");
  return log::parse_json_lines(text.view(), name, making.options);
}

Result<log::Workload> stream_of(const Making& making, std::int64_t seed) {
  auto generator = TRY(generate::generator_of(making.command));
  TRY(generate::set_knob(*generator, "seed", std::to_string(seed)));
  const auto recipe = TRY(generator->recipe());
  const std::string name = "seed " + std::to_string(seed);
  auto stream = log_of(recipe, making, name);
  if (!stream || !making.beside) return stream;
  std::ostringstream sidecar;
  making.beside->write(sidecar, recipe);
  auto table = TRY(log::AttributeTable::parse(sidecar.view(), name));
  stream->attributes = std::make_shared<const log::AttributeTable>(std::move(table));
  return stream;
}

// The attributes of a sidecar that can be drawn for other jobs; none: what it says holds for all of them.
Result<Attributes> attributes_beside(const std::string& sidecar) {
  const auto table = TRY(log::AttributeTable::read(sidecar));
  if (table.names_no_job()) return Attributes{};
  if (table.made_by().empty()) {
    return fail(table.shown() +
                ": --seeds draws jobs anew, and what this file says of single jobs would go to others. It is for files "
                "that `rota generate --write-attributes` made, whose first line names the command, and for those that "
                "speak of all jobs (*). --copies keeps the jobs, and takes any file.");
  }
  auto made = generate::attributes_of(table.made_by());
  if (!made)
    return fail("{}: --seeds draws the attributes again as its first line says, and here {} --copies takes any file.",
                table.shown(), made.error().message);
  return *made;
}

}  // namespace

Result<Seeds> parse_seeds(std::string_view text) {
  const std::size_t dash = text.find('-');
  const auto first = parse_integer(trimmed(text.substr(0, dash)));
  const auto last = dash == std::string_view::npos ? first : parse_integer(trimmed(text.substr(dash + 1)));
  if (!first || !last || *first < 0 || *last > kGreatestSeed || *last <= *first || *last - *first >= kMostStreams) {
    return fail("--seeds takes the first and the last of 2 to {} seeds, such as 1-10, and not {}.",
                grouped(kMostStreams), quoted(text));
  }
  return Seeds{*first, static_cast<std::size_t>(*last - *first) + 1};
}

Result<Copies> streams_of(const log::Workload& workload, const std::string& sidecar, const Seeds& seeds,
                          const log::SwfOptions& options, const WindowFlags& window) {
  if (workload.made_by.empty()) {
    return fail(workload.name +
                ": --seeds is for workloads that `rota generate` made, whose header names the command, and this one "
                "names none. --copies takes any log.");
  }
  if (const auto generator = generate::generator_of(workload.made_by); !generator) {
    return fail(
        "{}: --seeds makes what `rota generate` made again with other seeds, and here {} --copies takes any log.",
        workload.name, generator.error().message);
  }
  Making making{.command = workload.made_by,
                .json = workload.made_by.find(" --to jsonl") != std::string::npos,
                .inside = {},
                .beside = {},
                .options = options};
  making.options.keep_recorded = false;
  making.options.progress = {};
  if (workload.made_by.find(" --with-attributes") != std::string::npos) {
    auto inside = generate::attributes_of(workload.made_by);
    if (!inside)
      return fail("{}: --seeds draws the attributes again as the header says, and here {} --copies takes any log.",
                  workload.name, inside.error().message);
    making.inside = std::move(*inside);
  }
  if (!sidecar.empty()) {
    auto beside = TRY(attributes_beside(sidecar));
    making.beside = std::move(beside);
  }
  const auto make = [making, first = seeds.first, window](std::size_t copy) -> Result<log::Workload> {
    auto stream = stream_of(making, first + static_cast<std::int64_t>(copy));
    if (!stream || !window.asked()) return stream;
    TRY(window.apply(*stream));
    return stream;
  };
  return Copies{seeds.count, make, true};
}

}  // namespace rota::cli
