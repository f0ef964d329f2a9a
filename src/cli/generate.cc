// rota generate MODEL: seeded workloads as Standard Workload Format files. The options of a model are its knobs.
#include <array>
#include <cstdio>
#include <memory>
#include <string>

#include "base/file.h"
#include "base/text.h"
#include "cli/command.h"
#include "trace/attributes_generate.h"
#include "trace/generate.h"

namespace rota::cli {
namespace {

struct Request {
  std::unique_ptr<trace::Generator> generator;
  std::string output = "-";
};

// Of `rota generate`, whichever the model.
struct Sidecar {
  trace::AttributesGenerator attributes;
  std::string file;  // empty: none
};

// "offered load 0.903" or, in a closed loop, what stands in for it.
std::string pressure(const trace::Recipe& recipe, const trace::Written& written) {
  if (recipe.queue_floor >= 0) return "a new one as soon as only " + grouped(recipe.queue_floor) + " wait";
  const double span = to_seconds(written.last_submit - kEpoch);
  const double load = span > 0 ? written.work / (static_cast<double>(recipe.processors) * span) : 0;
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "over %.1f days, offered load %.3f", span / 86400, load);
  return text.data();
}

void tell(const trace::Recipe& recipe, const trace::Written& written, const std::string& output) {
  std::fprintf(stderr, "%s: %s jobs for %s processors, %s.\n", output.c_str(), grouped(written.jobs).c_str(),
               grouped(recipe.processors).c_str(), pressure(recipe, written).c_str());
}

Result<void> write_attributes(const Sidecar& sidecar, const trace::Recipe& recipe) {
  if (auto ok = sidecar.attributes.check(); !ok) return ok;
  auto file = OutputFile::create(sidecar.file);
  if (!file) return std::unexpected(file.error());
  const auto written = sidecar.attributes.write(file->stream(), recipe);
  if (auto done = file->commit(); !done) return done;
  std::fprintf(stderr, "%s: %s jobs can restart elsewhere, %s hold licences, %s need accelerators, %s have %s tasks.\n",
               sidecar.file.c_str(), grouped(written.restartable).c_str(), grouped(written.licensed).c_str(),
               grouped(written.accelerated).c_str(), grouped(written.tasked).c_str(), grouped(written.tasks).c_str());
  return {};
}

Result<int> run(const Request& request, const Sidecar& sidecar) {
  if (request.output.ends_with(".gz")) {
    return fail("rota generate writes plain text: leave --output out and pipe it, as in `rota generate " +
                std::string(request.generator->model()) + " | gzip > " + request.output + "`.");
  }
  const auto recipe = request.generator->recipe();
  if (!recipe) return std::unexpected(recipe.error());
  const bool with_attributes = !sidecar.file.empty();
  if (with_attributes && sidecar.file == request.output) {
    return fail("the log and its attributes would go to the same place; give --output and --attributes two names.");
  }
  auto file = OutputFile::create(request.output);
  if (!file) return std::unexpected(file.error());
  if (with_attributes) {
    if (auto done = write_attributes(sidecar, *recipe); !done) return std::unexpected(done.error());
  }
  const trace::Written written = trace::write_generated(file->stream(), *recipe);
  if (auto done = file->commit(); !done) return std::unexpected(done.error());
  if (request.output != "-") tell(*recipe, written, request.output);
  return kDone;
}

CLI::Option* add_knob(CLI::App& app, const trace::Knob& knob) {
  const bool words = !knob.choices.empty();
  const std::string domain = trace::domain_text(knob);
  const auto take = [knob](const std::string& text) {
    if (auto ok = trace::set(knob, text); !ok) throw CLI::ValidationError(ok.error().message);
  };
  return app
      .add_option_function<std::string>("--" + std::string(knob.name), take,
                                        std::string(knob.meaning) + (words ? "" : " (" + domain + ")"))
      ->type_name(words                                           ? domain
                  : std::holds_alternative<Duration*>(knob.value) ? "TIME"
                                                                  : "NUMBER")
      ->default_str(trace::value_text(knob));
}

// The sidecar's options stand once for all models, behind whose options they are found too, and mean nothing without
// it.
void add_attributes(CLI::App& app, Sidecar& sidecar) {
  constexpr const char* kGroup = "Attributes";
  CLI::Option* file = app.add_option("--attributes", sidecar.file,
                                     "also write what a log has no fields for (CSV): who can restart elsewhere, "
                                     "licences, accelerators, priorities, tasks for accelerators")
                          ->type_name("FILE.csv")
                          ->group(kGroup);
  app.add_option("--licence-names", sidecar.attributes.licences, "licences to choose from, separated by commas")
      ->delimiter(',')
      ->type_name("NAME,...")
      ->group(kGroup)
      ->needs(file);
  app.add_option("--accelerator-types", sidecar.attributes.accelerator_types,
                 "types of accelerators to choose from, separated by commas; default: any will do")
      ->delimiter(',')
      ->type_name("TYPE,...")
      ->group(kGroup)
      ->needs(file);
  for (const trace::Knob& knob : sidecar.attributes.knobs()) add_knob(app, knob)->group(kGroup)->needs(file);
}

void add_model(CLI::App& generate, Action& action, std::unique_ptr<trace::Generator> generator,
               const std::shared_ptr<const Sidecar>& sidecar) {
  CLI::App* app = generate.add_subcommand(std::string(generator->model()), std::string(generator->summary()));
  app->footer("Source: " + std::string(generator->source()) +
              ".\n\nWith --attributes FILE.csv it also writes a sidecar, whose options `rota generate --help` shows."
              "\n\nEvery model, formula and default: docs/generators.md.");
  auto request = std::make_shared<Request>(Request{.generator = std::move(generator)});
  app->add_option("-o,--output", request->output, "write there instead of to standard output")->type_name("FILE");
  for (const trace::Knob& knob : request->generator->knobs()) add_knob(*app, knob);
  app->fallthrough();
  app->callback([request, sidecar, &action] { action = [request, sidecar] { return run(*request, *sidecar); }; });
}

}  // namespace

void add_generate(CLI::App& app, Action& action) {
  CLI::App* generate = app.add_subcommand("generate", "make a workload from a model and a seed, as an SWF file");
  generate->require_subcommand(1);
  generate->footer("Examples:\n  rota generate lublin --jobs 5000 --seed 7 --processors 128 --load 0.9 -o lublin.swf");
  const auto sidecar = std::make_shared<Sidecar>();
  add_attributes(*generate, *sidecar);
  for (auto& generator : trace::all_generators()) add_model(*generate, action, std::move(generator), sidecar);
}

}  // namespace rota::cli
