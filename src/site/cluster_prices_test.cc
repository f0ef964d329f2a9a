#include "site/cluster_prices.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "site/cluster_file.h"

namespace rota::site {
namespace {

constexpr Duration kHour = seconds(3600);

constexpr const char* kTwoSites = R"(electricity_prices = "00:00=0.18, 07:00=0.31, 21:00=0.18"
electricity_zone = "+01:00"
[[sites]]
name = "texel"
processors = 4
[[sites]]
name = "ameland"
processors = 4
electricity_price = 0.19
[[sites]]
name = "urk"
processors = 4
electricity_prices = "06:30=0.5,22:00=0"
)";

std::string complaint(const std::string& text) {
  const auto machine = parse_cluster(text, "c.toml");
  return machine ? "taken" : machine.error().message;
}

std::string with_prices(const std::string& prices) {
  return complaint(fmt::format("processors = 4\nelectricity_prices = \"{}\"\n", prices));
}

TEST(ClusterPrices, are_steps_of_the_day) {
  const auto machine = parse_cluster(kTwoSites, "c.toml");
  ASSERT_TRUE(machine) << machine.error().message;
  EXPECT_EQ(machine->tariff.steps(),
            (std::vector<Tariff::Step>{{seconds(0), 180}, {7 * kHour, 310}, {21 * kHour, 180}}));
  EXPECT_EQ(machine->tariff.zone(), kHour);
  EXPECT_EQ(machine->price, -1);
}

TEST(ClusterPrices, hold_at_each_site_that_does_not_say_its_own) {
  const auto machine = parse_cluster(kTwoSites, "c.toml");
  ASSERT_TRUE(machine) << machine.error().message;
  const Machine& texel = machine->sites[0];
  const Machine& ameland = machine->sites[1];
  const Machine& urk = machine->sites[2];
  EXPECT_EQ(texel.tariff.steps(), machine->tariff.steps());
  EXPECT_FALSE(ameland.tariff.has_steps());
  EXPECT_EQ(ameland.price, 190);
  EXPECT_EQ(urk.tariff.steps().front(), (Tariff::Step{seconds(0), 0})) << "the last price, from midnight on";
  EXPECT_EQ(urk.tariff.steps()[1], (Tariff::Step{6 * kHour + kHour / 2, 500}));
  EXPECT_EQ(urk.tariff.zone(), seconds(3600)) << "as at the top";
  EXPECT_EQ(urk.price, -1);
}

TEST(ClusterPrices, at_a_site_stand_in_for_one_price_at_the_top) {
  const auto machine = parse_cluster(
      "electricity_price = 0.2\n[[sites]]\nname = \"a\"\nprocessors = 1\nelectricity_prices = \"12:00=1\"\n"
      "electricity_zone = \"-03:30\"\n[[sites]]\nname = \"b\"\nprocessors = 1\n",
      "c.toml");
  ASSERT_TRUE(machine) << machine.error().message;
  EXPECT_EQ(machine->sites[0].price, -1);
  EXPECT_EQ(machine->sites[0].tariff.zone(), -(3 * kHour + kHour / 2));
  EXPECT_EQ(machine->sites[1].price, 200);
}

TEST(ClusterPrices, of_every_quarter_of_an_hour_are_taken) {
  std::string prices;
  for (int quarter = 0; quarter < 96; ++quarter) {
    const int minute = quarter % 4 * 15;
    prices += fmt::format("{}{}{}:{}{}=0.2{}", quarter == 0 ? "" : ", ", quarter < 40 ? "0" : "", quarter / 4,
                          minute == 0 ? "0" : "", minute, quarter);
  }
  EXPECT_EQ(with_prices(prices), "taken");
}

TEST(ClusterPrices, say_what_is_wrong_with_them) {
  const std::string takes =
      "c.toml:2: `electricity_prices` takes times of the day from 00:00 to 23:59, each with a price from 0 to 1000, "
      "such as \"00:00=0.18, 07:00=0.31, 21:00=0.18\", not ";
  EXPECT_EQ(with_prices("00:00=0.18,"), takes + "\"\".");
  for (const char* wrong : {"7:00=1", "24:00=1", "07:60=1", "07:00", "07:00=", "07:00=-1", "07:00=1001", "07:00=nan",
                            "0700=1", "07:00:00=1", "-7:00=1"}) {
    EXPECT_EQ(with_prices(wrong), fmt::format("{}\"{}\".", takes, wrong));
  }
  EXPECT_EQ(with_prices("07:00=1, 07:00=2"),
            "c.toml:2: `electricity_prices` takes times of the day one after the other, and \"07:00=2\" is not after "
            "the one before it.");
  EXPECT_EQ(complaint("electricity_price = 0.2\nelectricity_prices = \"07:00=1\"\nprocessors = 4\n"),
            "c.toml:2: `electricity_prices` go by the time of day, and line 1 has one `electricity_price` for all "
            "times. Remove one of the two.");
  EXPECT_EQ(complaint("electricity_prices = 0.2\nprocessors = 4\n"),
            "c.toml:1: `electricity_prices` takes times of the day with prices from 0 to 1000, in quotes, such as "
            "\"07:00=0.31, 21:00=0.18\", not 0.2.");
}

TEST(ClusterPrices, say_what_is_wrong_with_their_clock) {
  EXPECT_EQ(
      complaint("electricity_zone = \"+01:00\"\nprocessors = 4\n"),
      "c.toml:1: `electricity_zone` is the clock of `electricity_prices`, which are not here. Say them, or remove "
      "it.");
  for (const char* wrong : {"CET", "01:00", "+1:00", "+14:01", "+00:60"}) {
    EXPECT_EQ(
        complaint(fmt::format("processors = 4\nelectricity_prices = \"07:00=1\"\nelectricity_zone = \"{}\"\n", wrong)),
        fmt::format("c.toml:3: `electricity_zone` takes what its clock is ahead of UTC, from \"-14:00\" to \"+14:00\", "
                    "such as \"+01:00\", not \"{}\".",
                    wrong));
  }
  EXPECT_EQ(complaint("[[sites]]\nname = \"a\"\nprocessors = 4\nelectricity_price = 1\nelectricity_prices = "
                      "\"07:00=1\"\n"),
            "c.toml:5: `electricity_prices` in [[sites]] go by the time of day, and line 4 has one `electricity_price` "
            "for all times. Remove one of the two.");
}

}  // namespace
}  // namespace rota::site
