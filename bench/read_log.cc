// Reading a job log: the same 100,000 jobs as SWF and as JSON lines, from memory. `items` are jobs.
#include <benchmark/benchmark.h>

#include <sstream>

#include "generate/attributes_generate.h"
#include "generate/generate.h"
#include "generate/poisson.h"
#include "log/json_lines.h"
#include "log/swf.h"

namespace rota::log {
namespace {

constexpr std::int64_t kJobs = 100'000;

generate::Recipe recipe() {
  generate::Poisson poisson;
  poisson.jobs = kJobs;
  poisson.estimates.rule = "factor";
  return *poisson.recipe();
}

void read_swf_log(benchmark::State& state) {
  std::ostringstream text;
  generate::write_generated(text, recipe());
  const std::string log = text.str();
  for (auto _ : state) benchmark::DoNotOptimize(parse_swf(log, "log").has_value());
  state.SetItemsProcessed(state.iterations() * kJobs);
}
BENCHMARK(read_swf_log)->Unit(benchmark::kMillisecond);

void read_json_lines_log(benchmark::State& state) {
  const generate::AttributesGenerator attributes;
  generate::AttributeDraws draws(attributes);
  std::ostringstream text;
  generate::write_generated_json(text, recipe(), state.range(0) == 1 ? &draws : nullptr, "");
  const std::string log = text.str();
  for (auto _ : state) benchmark::DoNotOptimize(parse_json_lines(log, "log").has_value());
  state.SetItemsProcessed(state.iterations() * kJobs);
}
BENCHMARK(read_json_lines_log)->ArgName("attributes")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace rota::log
