#include "generate/attributes_generate.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <sstream>

#include "base/page_test.h"
#include "base/text.h"
#include "generate/poisson.h"
#include "log/attributes.h"

namespace rota::generate {
namespace {

Recipe two_thousand_jobs() {
  Poisson poisson;
  poisson.jobs = 2000;
  return *poisson.recipe();
}

std::string text_of(const AttributesGenerator& generator) {
  std::ostringstream out;
  generator.write(out, two_thousand_jobs());
  return out.str();
}

Machine racks() {
  Machine machine;
  machine.nodes.resize(8);
  machine.licences = {{"matlab", 10}, {"fluent", 10}};
  machine.accelerator_types = {"a100", "mi300"};
  machine.nodes[0].accelerators = 4;
  return machine;
}

AttributesGenerator everything() {
  AttributesGenerator generator;
  generator.licensed = 0.25;
  generator.licences = {"matlab", "fluent"};
  generator.priorities = 3;
  generator.accelerated = 0.4;
  generator.accelerator_types = {"a100", "mi300"};
  generator.most_accelerators = 3;
  return generator;
}

TEST(AttributesGenerator, gives_each_attribute_to_its_share_of_the_jobs) {
  std::ostringstream out;
  const auto written = everything().write(out, two_thousand_jobs());
  EXPECT_EQ(written.jobs, 2000);
  EXPECT_NEAR(static_cast<double>(written.restartable), 0.5 * 2000, 70);
  EXPECT_NEAR(static_cast<double>(written.licensed), 0.25 * 2000, 60);
  EXPECT_NEAR(static_cast<double>(written.tasked), 0.2 * 2000, 60);
  EXPECT_NEAR(static_cast<double>(written.accelerated), 0.4 * 2000, 70);
}

TEST(AttributesGenerator, writes_what_the_reader_reads) {
  const Machine machine = racks();
  const auto read = log::Attributes::parse(text_of(everything()), "made", &machine);
  ASSERT_TRUE(read) << read.error().message;
  std::int64_t levels[3] = {};
  std::int64_t tasked = 0;
  std::int64_t accelerators[4] = {};
  std::int64_t types[2] = {};
  for (std::int64_t number = 1; number <= 2000; ++number) {
    JobSpec spec;
    spec.number = number;
    read->give(spec);
    ASSERT_GE(spec.priority, 0);
    ASSERT_LT(spec.priority, 3);
    ++levels[spec.priority];
    ASSERT_LE(spec.accelerators, 3);
    ++accelerators[spec.accelerators];
    ASSERT_EQ(spec.accelerator_type.valid(), spec.accelerators > 0);
    if (spec.accelerators > 0) ++types[spec.accelerator_type.value];
    const TaskSpec* tasks = read->tasks().of(number);
    if (!tasks) continue;
    ++tasked;
    EXPECT_GE(tasks->count, 16U);
    EXPECT_LE(tasks->count, 512U);
    EXPECT_GT(tasks->accelerator, Duration{0});
  }
  EXPECT_NEAR(static_cast<double>(tasked), 0.2 * 2000, 60);
  EXPECT_NEAR(static_cast<double>(accelerators[2]), 2000 * 0.4 / 3, 60);
  EXPECT_NEAR(static_cast<double>(types[1]), 2000 * 0.4 / 2, 70);
  EXPECT_NEAR(static_cast<double>(levels[0]), 2000.0 * 4 / 7, 80);
  EXPECT_NEAR(static_cast<double>(levels[2]), 2000.0 * 1 / 7, 60);
}

TEST(AttributesGenerator, makes_the_same_file_from_the_same_seed_and_another_from_another) {
  AttributesGenerator generator = everything();
  const std::string one = text_of(generator);
  EXPECT_EQ(text_of(generator), one);
  generator.seed = 2;
  EXPECT_NE(text_of(generator), one);
}

TEST(AttributesGenerator, leaves_the_other_attributes_as_they_are_when_one_changes) {
  const auto licences = [](const AttributesGenerator& generator) {
    std::vector<std::string> cells;
    const std::string text = text_of(generator);
    for (const std::string_view line : split(text, '\n')) {
      const auto row = split(line, ',');
      if (row.size() > 3 && !row[3].empty()) cells.emplace_back(fmt::format("{} {}", row[0], row[3]));
    }
    return cells;
  };
  AttributesGenerator more = everything();
  more.tasked = 0.9;
  more.checkpoint = 0;
  EXPECT_EQ(licences(everything()), licences(more));
}

TEST(AttributesGenerator, refuses_what_contradicts_itself) {
  AttributesGenerator generator;
  generator.checkpoint = 0.9;
  EXPECT_EQ(generator.check().error().message,
            "--checkpoint-share and --from-start-share are shares of all jobs: together at most 1.");
  generator = {};
  generator.licensed = 0.1;
  EXPECT_EQ(generator.check().error().message,
            "jobs are to hold licences: say which there are with --licence-names, as in --licence-names matlab.");
  generator = {};
  generator.most_tasks = 3;
  EXPECT_EQ(generator.check().error().message, "--tasks-min is at most --tasks-max.");
}

TEST(GeneratorsPage, has_every_option_of_the_attributes) {
  std::string table = "| option | default | takes | meaning |\n|---|---|---|---|\n";
  AttributesGenerator generator;
  for (const Knob& knob : generator.knobs()) {
    table += fmt::format("| `--{}` | {} | {} | {} |\n", knob.name, value_text(knob), domain_text(knob), knob.meaning);
  }
  expect_in_page("generators.md", "attributes", table);
}

}  // namespace
}  // namespace rota::generate
