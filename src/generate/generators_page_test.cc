#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/page_test.h"
#include "generate/generate.h"

namespace rota::generate {
namespace {

// A '|' would end the cell.
std::string cell(std::string text) {
  std::ranges::replace(text, '|', ',');
  return text;
}

std::string table_of(Generator& generator) {
  std::string table = "| option | default | takes | meaning |\n|---|---|---|---|\n";
  for (const Knob& knob : generator.knobs()) {
    table +=
        fmt::format("| `--{}` | {} | {} | {} |\n", knob.name, value_text(knob), cell(domain_text(knob)), knob.meaning);
  }
  return table;
}

TEST(GeneratorsPage, has_every_option_of_every_model) {
  for (const auto& generator : all_generators()) {
    expect_in_page("generators.md", std::string(generator->model()), table_of(*generator));
  }
}

}  // namespace
}  // namespace rota::generate
