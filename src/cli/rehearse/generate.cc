// rota generate MODEL: seeded workloads in the Standard Workload Format or as JSON lines. The options of a model are
// its knobs.
#include <fmt/core.h>

#include <array>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/printed.h"
#include "generate/attributes_generate.h"
#include "generate/generate.h"
#include "log/packed_output.h"

namespace rota::cli {
namespace {

struct Request {
  std::unique_ptr<generate::Generator> generator;
  std::string output = "-";
  std::string to = "auto";

  bool json_lines() const { return to == "auto" ? log::without_packing(output).ends_with(".jsonl") : to == "jsonl"; }
};

// The attributes that `rota generate` adds, whichever the model.
struct Sidecar {
  generate::AttributesGenerator attributes;
  std::string file;     // empty: none
  bool inside = false;  // in the JSON lines themselves
  std::vector<Option> knobs;
};

// "offered load 0.903" or, in a closed loop, what stands in for it.
std::string pressure(const generate::Recipe& recipe, const generate::Written& written) {
  if (recipe.queue_floor >= 0) return fmt::format("a new one as soon as only {} wait", grouped(recipe.queue_floor));
  const double span = to_seconds(written.last_submit - kEpoch);
  const double load = span > 0 ? written.work / (static_cast<double>(recipe.processors) * span) : 0;
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "over %.1f days, offered load %.3f", span / 86400, load);
  return text.data();
}

void tell(const generate::Recipe& recipe, const generate::Written& written, const std::string& output) {
  remark(fmt::format("{}: {} for {}, {}.", output, amount(written.jobs, "job"), amount(recipe.processors, "processor"),
                     pressure(recipe, written)));
}

void tell(const generate::AttributesGenerator::Written& written, const std::string& file) {
  const auto one = [](std::int64_t number, const char* verb, const char* verbs) {
    return fmt::format("{} {}", grouped(number), number == 1 ? verb : verbs);
  };
  remark(fmt::format("{}: {} can restart elsewhere, {} licences, {} accelerators, {} {}.", file,
                     amount(written.restartable, "job"), one(written.licensed, "holds", "hold"),
                     one(written.accelerated, "needs", "need"), one(written.tasked, "has", "have"),
                     amount(written.tasks, "task")));
}

Result<void> write_attributes(const Sidecar& sidecar, const generate::Recipe& recipe) {
  if (auto ok = sidecar.attributes.check(); !ok) return ok;
  auto file = TRY(log::PackedOutput::create(sidecar.file));
  const auto written = sidecar.attributes.write(file.stream(), recipe);
  if (auto done = file.commit(); !done) return done;
  tell(written, sidecar.file);
  return {};
}

// What contradicts itself, before anything is written.
Result<void> check(const Request& request, const Sidecar& sidecar) {
  const bool json = request.json_lines();
  if (!sidecar.file.empty() && (sidecar.file == request.output || same_file(sidecar.file, request.output))) {
    return fail(
        "the log and its attributes would go to the same place; give --output and --write-attributes two names" +
        std::string(json ? ", or have them in the log with --with-attributes." : "."));
  }
  if (sidecar.inside && !json) {
    return fail(
        "SWF has no fields for attributes: write JSON lines, as with --output FILE.jsonl, or the attributes "
        "beside it with --write-attributes FILE.csv.");
  }
  if (sidecar.inside && !sidecar.file.empty()) {
    return fail(
        "--with-attributes puts the attributes into the log, --write-attributes into a file beside it: give one.");
  }
  return {};
}

Result<int> run(const Request& request, const Sidecar& sidecar) {
  TRY(check(request, sidecar));
  const auto recipe = TRY(request.generator->recipe());
  if (sidecar.inside) {
    TRY(sidecar.attributes.check());
  }
  auto file = TRY(log::PackedOutput::create(request.output));
  if (!sidecar.file.empty()) {
    TRY(write_attributes(sidecar, recipe));
  }
  generate::AttributeDraws draws(sidecar.attributes);
  const std::string options =
      sidecar.inside ? " --to jsonl --with-attributes" + sidecar.attributes.options() : " --to jsonl";
  const generate::Written written =
      request.json_lines() ? write_generated_json(file.stream(), recipe, sidecar.inside ? &draws : nullptr, options)
                           : write_generated(file.stream(), recipe);
  TRY(file.commit());
  if (request.output == "-") return kDone;
  tell(recipe, written, request.output);
  if (sidecar.inside) tell(draws.written(), request.output);
  return kDone;
}

Option add_knob(Command app, const generate::Knob& knob) {
  const bool words = !knob.choices.empty();
  const std::string domain = generate::domain_text(knob);
  const auto take = [knob](const std::string& text) {
    if (auto ok = generate::set(knob, text); !ok) throw UsageError{ok.error().message};
  };
  return app
      .add_option_function("--" + std::string(knob.name), take,
                           std::string(knob.meaning) + (words ? "" : fmt::format(" ({})", domain)))
      .type_name(words                                           ? domain
                 : std::holds_alternative<Duration*>(knob.value) ? "TIME"
                                                                 : "NUMBER")
      .default_str(generate::value_text(knob));
}

// The options of attributes stand once for all models, behind whose options they are found too, and mean nothing where
// attributes are not written.
void add_attributes(Command app, Sidecar& sidecar) {
  app.add_option("--write-attributes", sidecar.file,
                 "also write what SWF has no fields for (CSV): who can restart elsewhere, licences, accelerators, "
                 "priorities, tasks for accelerators")
      .type_name("FILE.csv");
  app.add_flag("--with-attributes", sidecar.inside, "have them in the log itself, which is JSON lines");
  sidecar.knobs.push_back(
      app.add_option("--licence-names", sidecar.attributes.licences, "licences to choose from, separated by commas")
          .delimiter(',')
          .type_name("NAME,..."));
  sidecar.knobs.push_back(
      app.add_option("--accelerator-types", sidecar.attributes.accelerator_types,
                     "types of accelerators to choose from, separated by commas; default: any will do")
          .delimiter(',')
          .type_name("TYPE,..."));
  for (const generate::Knob& knob : sidecar.attributes.knobs()) sidecar.knobs.push_back(add_knob(app, knob));
  app.callback([&sidecar] {
    if (sidecar.inside || !sidecar.file.empty()) return;
    for (const Option knob : sidecar.knobs) {
      if (knob.given()) throw UsageError{knob.name() + " requires --write-attributes or --with-attributes"};
    }
  });
}

void add_model(Command generate, Action& action, std::unique_ptr<generate::Generator> generator,
               const std::shared_ptr<const Sidecar>& sidecar) {
  Command app = generate.add_subcommand(std::string(generator->model()), std::string(generator->summary()));
  app.footer(
      fmt::format("Source: {}.\n\nWith --write-attributes FILE.csv it also writes a sidecar, and with "
                  "--with-attributes it has the same in JSON lines; `rota generate --help` shows the options.\n\nEvery "
                  "model, formula and default: docs/generators.md.",
                  generator->source()));
  auto request = std::make_shared<Request>(Request{.generator = std::move(generator)});
  app.add_option("-o,--output", request->output,
                 "write there instead of to standard output; packed if the name ends in .gz, .zst or .xz")
      .type_name("FILE");
  app.add_option("--to", request->to, "format; auto: JSON lines if the name of --output ends in .jsonl, else SWF")
      .one_of({"auto", "swf", "jsonl"})
      .capture_default_str();
  for (const generate::Knob& knob : request->generator->knobs()) add_knob(app, knob);
  app.fallthrough();
  app.callback([request, sidecar, &action] { action = [request, sidecar] { return run(*request, *sidecar); }; });
}

}  // namespace

void add_generate(Command app, Action& action) {
  Command generate = app.add_subcommand("generate", "make a workload from a model and a seed, as SWF or JSON lines");
  generate.require_subcommand(1);
  generate.footer(
      "Examples:\n  rota generate lublin --jobs 5000 --seed 7 --processors 128 --load 0.9 -o lublin.swf\n"
      "  rota generate poisson --with-attributes --priority-levels 3 -o jobs.jsonl");
  const auto sidecar = std::make_shared<Sidecar>();
  add_attributes(generate, *sidecar);
  for (auto& generator : generate::all_generators()) add_model(generate, action, std::move(generator), sidecar);
}

}  // namespace rota::cli
