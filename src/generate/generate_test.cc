#include "generate/generate.h"

#include <gtest/gtest.h>

#include <sstream>

#include "base/hash.h"
#include "base/text.h"
#include "generate/hpl_mix.h"
#include "generate/lublin.h"
#include "generate/poisson.h"
#include "generate/x64_blades.h"
#include "log/swf.h"

namespace rota::generate {
namespace {

std::string text_of(Generator& generator) {
  const auto recipe = generator.recipe();
  EXPECT_TRUE(recipe) << recipe.error().message;
  std::ostringstream out;
  write_generated(out, *recipe);
  return out.str();
}

log::Workload workload_of(Generator& generator) {
  const auto recipe = generator.recipe();
  EXPECT_TRUE(recipe) << recipe.error().message;
  return generate(*recipe);
}

// The fingerprint of the rows, not of the header.
std::uint64_t fingerprint(std::string_view text) {
  Hash hash;
  for (const char c : text.substr(text.find("\n1 "))) hash.mix(static_cast<unsigned char>(c));
  return hash.value();
}

TEST(Generators, make_the_rows_that_they_have_always_made) {
  const std::vector<std::pair<std::string, std::uint64_t>> expected{{"lublin", 11331775168643897321U},
                                                                    {"poisson", 7228642570002115531U},
                                                                    {"hpl-mix", 5098545041995343468U},
                                                                    {"x64-blades", 9823936894178212382U}};
  const auto all = all_generators();
  ASSERT_EQ(all.size(), expected.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i]->model(), expected[i].first);
    EXPECT_EQ(fingerprint(text_of(*all[i])), expected[i].second) << expected[i].first;
  }
}

TEST(Generators, make_another_workload_from_another_seed) {
  for (const auto& generator : all_generators()) {
    const std::string one = text_of(*generator);
    EXPECT_EQ(text_of(*generator), one) << generator->model();
    ASSERT_TRUE(set_knob(*generator, "seed", "2"));
    const std::string two = text_of(*generator);
    EXPECT_NE(one.substr(one.find("\n1 ")), two.substr(two.find("\n1 "))) << generator->model();
  }
}

TEST(Generators, write_what_they_make_in_memory) {
  for (const auto& generator : all_generators()) {
    const log::Workload made = workload_of(*generator);
    const auto read = log::parse_swf(text_of(*generator), "made");
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->processors, made.processors);
    EXPECT_EQ(read->nodes, made.nodes);
    EXPECT_EQ(read->unix_start, made.unix_start);
    EXPECT_EQ(read->queue_floor, made.queue_floor);
    EXPECT_EQ(read->run_times, made.run_times);
    ASSERT_EQ(read->jobs.size(), made.jobs.size());
    for (std::size_t i = 0; i < made.jobs.size(); ++i) {
      ASSERT_EQ(read->jobs[i].number, made.jobs[i].number);
      ASSERT_EQ(read->jobs[i].submit, made.jobs[i].submit);
      ASSERT_EQ(read->jobs[i].limit, made.jobs[i].limit) << generator->model() << " job " << i + 1;
      ASSERT_EQ(read->jobs[i].processors, made.jobs[i].processors);
    }
  }
}

TEST(Generators, give_numbered_jobs_in_order_that_fit_the_machine) {
  for (const auto& generator : all_generators()) {
    const log::Workload made = workload_of(*generator);
    Instant last = kEpoch;
    for (std::size_t i = 0; i < made.jobs.size(); ++i) {
      const JobSpec& job = made.jobs[i];
      ASSERT_EQ(job.number, static_cast<std::int64_t>(i) + 1);
      ASSERT_GE(job.submit, last);
      ASSERT_GE(job.processors, 1U);
      ASSERT_LE(job.processors, made.processors);
      ASSERT_GT(job.limit.count(), 0);
      ASSERT_GT(made.run_times[i].count(), 0);
      last = job.submit;
    }
  }
}

TEST(Generators, write_in_the_header_how_to_make_the_file_again) {
  for (const auto& generator : all_generators()) {
    ASSERT_TRUE(set_knob(*generator, "seed", "77"));
    ASSERT_TRUE(set_knob(*generator, "resolution", "250ms"));
    const std::string text = text_of(*generator);
    const std::size_t begin = text.find("rota generate ");
    ASSERT_NE(begin, std::string::npos);
    const auto fresh = generator_of(text.substr(begin, text.find('\n', begin) - begin));
    ASSERT_TRUE(fresh) << fresh.error().message;
    EXPECT_EQ(text_of(**fresh), text) << generator->model();
  }
}

TEST(Generators, are_not_found_by_commands_of_something_else) {
  for (const auto& [command, said] :
       {std::pair{"rota convert log.swf", "no model"}, std::pair{"rota generate nothing --jobs 3", "no model"},
        std::pair{"rota generate poisson --jobs", "no value"}, std::pair{"rota generate poisson jobs 3", "no value"},
        std::pair{"rota generate poisson --colour red", "poisson has no --colour"}, std::pair{"", "no model"}}) {
    const auto found = generator_of(command);
    ASSERT_FALSE(found) << command;
    EXPECT_NE(found.error().message.find(said), std::string::npos) << found.error().message;
  }
  EXPECT_TRUE(generator_of("rota generate poisson --to jsonl")) << "however it was written";
}

TEST(Generators, refuse_a_value_out_of_range_by_its_name) {
  Poisson poisson;
  poisson.load = -1;
  const auto recipe = poisson.recipe();
  ASSERT_FALSE(recipe);
  EXPECT_EQ(recipe.error().message, "--load takes 0.001 to 1000, not \"-1\".");
}

TEST(Generators, stop_when_nothing_more_can_be_written) {
  Poisson poisson;
  poisson.jobs = 1'000'000;
  std::ostringstream out;
  out.setstate(std::ios::badbit);
  EXPECT_LT(write_generated(out, *poisson.recipe()).jobs, 20'000);
}

}  // namespace
}  // namespace rota::generate
