#include "cli/live/sbatch_options.h"

#include <gtest/gtest.h>

#include "cli/live/submit_options.h"

namespace rota::cli {
namespace {

TEST(SbatchOptions, EachHonouredOneIsOneOfRotas) {
  for (const SbatchOption& option : sbatch_options()) {
    if (option.fate != Fate::honoured) continue;
    const SubmitOption* own = submit_option(own_name(option));
    ASSERT_NE(own, nullptr) << option.name;
    EXPECT_TRUE(option.takes != Takes::nothing || own->value.empty()) << option.name;
    EXPECT_TRUE(option.takes != Takes::perhaps || own->value.empty() || !own->slurm.empty()) << option.name;
    if (option.letter == '\0') continue;
    EXPECT_EQ(submit_option(std::string("-") + option.letter), own) << option.name;
  }
}

TEST(SbatchOptions, EachRefusedOneSaysWhatToDo) {
  for (const SbatchOption& option : sbatch_options()) {
    EXPECT_TRUE(option.fate != Fate::refused || !option.text.empty()) << option.name;
  }
}

TEST(SbatchOptions, AreFoundByTheirBeginnings) {
  const auto name = [](std::string_view typed) {
    const auto found = sbatch_option(typed);
    return !found ? "(several)" : *found == nullptr ? "(none)" : std::string((*found)->name);
  };
  EXPECT_EQ(name("--depend"), "dependency");
  EXPECT_EQ(name("--mem"), "mem");
  EXPECT_EQ(name("--mem-per-c"), "mem-per-cpu");
  EXPECT_EQ(name("-J"), "job-name");
  EXPECT_EQ(name("--n"), "(several)");
  EXPECT_EQ(name("--gpu"), "(several)");
  EXPECT_EQ(name("--ntasks_per_node"), "(none)");
  EXPECT_EQ(name("--"), "(none)");
  EXPECT_EQ(name("-Y"), "(none)");
}

}  // namespace
}  // namespace rota::cli
