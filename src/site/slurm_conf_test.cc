#include "site/slurm_conf.h"

#include <gtest/gtest.h>

#include "site/slurm_policy.h"

namespace rota {
namespace {

using Lines = std::vector<std::string>;

TEST(SlurmConf, HasALineForWhatChanges) {
  EXPECT_EQ(slurm_conf_lines({}, {}), Lines{});
  EXPECT_EQ(slurm_conf_lines({{"bf-window", "2d"}}, {{"bf-window", "2d"}, {"bf-interval", "90s"}}),
            Lines{"SchedulerParameters=bf_interval=90,bf_window=2880"});
  EXPECT_EQ(slurm_conf_lines({}, {{"bf-interval", "no"}}), Lines{"SchedulerParameters=bf_interval=-1"});
  EXPECT_EQ(slurm_conf_lines({}, {{"bf-interval", "30s"}}), Lines{}) << "that is Slurm's default";
  EXPECT_EQ(slurm_conf_lines({{"priority", "multifactor"}, {"weight-age", "100"}},
                             {{"priority", "multifactor"}, {"weight-age", "1000"}, {"favor-small", "yes"}}),
            (Lines{"PriorityWeightAge=1000", "PriorityFavorSmall=YES"}));
}

TEST(SlurmConf, IsReadAsWhatItWasWrittenFor) {
  const SlurmKnobTexts knobs{{"bf-interval", "90s"},      {"bf-window", "2d"},         {"sched-interval", "30s"},
                             {"priority", "multifactor"}, {"weight-job-size", "2000"}, {"weight-age", "1000"},
                             {"max-age", "14d"},          {"favor-small", "yes"}};
  SlurmSettings settings{{"AccountingStorageType", "accounting_storage/slurmdbd"}};
  for (const std::string& line : slurm_conf_lines({}, knobs)) {
    const auto equals = line.find('=');
    settings.emplace_back(line.substr(0, equals), line.substr(equals + 1));
  }
  std::string chain = "slurm";
  for (const auto& [knob, value] : knobs) chain += "+" + knob + "=" + value;
  EXPECT_EQ(slurm_policy_of(settings).chain, chain);
}

}  // namespace
}  // namespace rota
