// Every golden case keeps a journal; decided again from its facts alone, each gives the same plans.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>

#include "control/replay.h"
#include "model/limit_book.h"
#include "sched_file.h"
#include "store/memory_store.h"

namespace rota::golden {
namespace {

class Journals : public testing::TestWithParam<std::string> {};

TEST_P(Journals, DecideTheSameAgain) {
  const SchedFile file = SchedReader::read(fmt::format("{}/{}.sched", folder(), GetParam()));
  const Chain chain = scenario::chain_of(file.policy);
  if (chain.knobs().power.rule == Power::load_factor && chain.knobs().power.from_log) {
    GTEST_SKIP() << "its power rule knows the log beforehand, which no journal holds";
  }
  RehearseOptions options = file.options;
  const bool sites = options.machine && !options.machine->sites.empty();
  std::vector<std::unique_ptr<store::MemoryStore>> stores;
  for (std::size_t s = 0; s < (sites ? options.machine->sites.size() : 1); ++s) {
    stores.push_back(std::make_unique<store::MemoryStore>());
    options.journals.push_back(stores.back().get());
  }
  scenario::outcome_of(file.jobs, file.policy, options);
  for (std::size_t s = 0; s < stores.size(); ++s) {
    sim::RehearsalOptions how;
    how.machine = sites ? &options.machine->sites[s] : options.machine.get();
    how.processors = sites ? how.machine->processors : options.processors;
    how.engine.ties = options.ties;
    std::optional<LimitBook> limits;
    if (how.machine && !how.machine->limits.empty()) how.limits = &limits.emplace(*how.machine, LimitNames{});
    Replay replay(sim::cluster_options(how, chain), chain, Replay::Check::decides_again);
    const auto done = stores[s]->replay([&](const Fact& fact) { return replay.fold(fact); });
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_GT(replay.cycles(), 0);
  }
}

std::string name_of_case(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, Journals, testing::ValuesIn(every_file()), name_of_case);

}  // namespace
}  // namespace rota::golden
