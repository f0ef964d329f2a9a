#include "report/cells.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "report/mean.h"

namespace rota::report {
namespace {

TEST(Cells, one_that_lies_on_a_bound_is_right_and_one_that_is_not_a_number_is_not) {
  EXPECT_TRUE((Cell{"gain", 9, 9, 15, ""}).ok());
  EXPECT_TRUE((Cell{"gain", 15, 9, 15, ""}).ok());
  EXPECT_FALSE((Cell{"gain", 8.99, 9, 15, ""}).ok());
  EXPECT_FALSE((Cell{"gain", std::nan(""), -kAny, kAny, ""}).ok());
}

TEST(Cells, near_takes_its_margin_in_per_cent_of_what_is_expected) {
  EXPECT_TRUE(near("speed-up", 4.48, 4.44, 1).ok());
  EXPECT_FALSE(near("speed-up", 4.49, 4.44, 1).ok());
  EXPECT_TRUE(within("off, %", 5.9, 5.6, 0.31).ok());
  EXPECT_FALSE(within("off, %", 5.9, 5.6, 0.29).ok());
  EXPECT_TRUE(near("change", -6.73, -6.7, 1).ok());
  EXPECT_NEAR(*deviation(near("speed-up", 4.48, 4.44, 1)), 0.90, 0.005);
}

TEST(Cells, without_one_number_to_expect_there_is_no_deviation) {
  EXPECT_FALSE(deviation({"kills", 3, -kAny, 4, ""}));
  EXPECT_FALSE(deviation({"difference", 0.1, -1, 1, "", 0}));
  EXPECT_FALSE(deviation({"none", std::nan(""), 1, 3, "", 2}));
}

TEST(Cells, the_table_says_what_missed_and_shows_only_columns_that_a_cell_fills) {
  const std::vector<Cell> cells{{"completion, %", 93.5, 88.5, 94.5, "93", 93}, {"makespan, %", 1, -kAny, 0, ""}};
  EXPECT_EQ(cells_table(cells, "mean"),
            "        mean               found  wanted              deviation  in the paper\n"
            "ok      completion, %      93.50  88.5 to 94.5          +0.54 %  93\n"
            "MISSED  makespan, %        1.000  at most 0\n");
  const std::vector<Cell> better{{"speed-up", 4.44, 4, kAny, "", {}, 6.52}};
  EXPECT_EQ(cells_table(better, "LU"),
            "        LU            found  wanted                 better\n"
            "ok      speed-up       4.44  at least 4               6.52\n");
}

TEST(Cells, json_has_every_cell_and_null_for_what_is_not_there) {
  const std::vector<Cell> cells{{R"(the "gain")", std::nan(""), 9, kAny, "13.29"}, {"b", 2, 1, 3, "", 2, 2.5}};
  const auto json = nlohmann::json::parse(cells_json(cells));
  ASSERT_EQ(json.size(), 2U);
  EXPECT_EQ(json[0]["claim"], R"(the "gain")");
  EXPECT_TRUE(json[0]["found"].is_null());
  EXPECT_TRUE(json[0]["high"].is_null());
  EXPECT_EQ(json[0]["ok"], false);
  EXPECT_EQ(json[1]["better"], 2.5);
  EXPECT_EQ(json[1]["deviation_percent"], 0);
  EXPECT_EQ(json[1]["ok"], true);
}

TEST(Mean, carries_students_confidence_interval) {
  const Mean m = mean_of({1, 2, 3, 4, 5});
  EXPECT_DOUBLE_EQ(m.mean, 3);
  EXPECT_NEAR(m.margin, 2.776 * 1.5811 / 2.2361, 0.02);  // t with 4 degrees of freedom
  EXPECT_EQ(mean_of({}).count, 0);
  EXPECT_EQ(mean_of({7}).margin, 0);
  EXPECT_EQ(mean_json(mean_of({})), "null");
  EXPECT_EQ(with_margin(mean_of({}), 1), "              -");
}

}  // namespace
}  // namespace rota::report
