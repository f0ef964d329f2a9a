#include "api/page_keys.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace rota::api {
namespace {

const serve::Caller kAnn{7, 70, "ann", false};
const serve::Caller kBen{8, 80, "ben", true};

TEST(PageKeys, a_key_is_its_users_and_counts_once_where_it_is_taken) {
  PageKeys keys(seconds(60), 8);
  const std::string ann = keys.make(kAnn, at_seconds(0)).value();
  const std::string ben = keys.make(kBen, at_seconds(0)).value();
  EXPECT_EQ(keys.find(ben, at_seconds(1))->user, "ben");
  EXPECT_TRUE(keys.find(ben, at_seconds(1))->operates);
  EXPECT_EQ(keys.redeem(ann, at_seconds(1))->uid, kAnn.uid);
  EXPECT_FALSE(keys.redeem(ann, at_seconds(1)));
  EXPECT_FALSE(keys.find(ann, at_seconds(1)));
  EXPECT_TRUE(keys.redeem(ben, at_seconds(1)));
}

TEST(PageKeys, a_key_counts_until_its_life_is_over) {
  PageKeys keys(seconds(60), 8);
  const std::string text = keys.make(kAnn, at_seconds(100)).value();
  EXPECT_TRUE(keys.find(text, at_seconds(160) - Duration{1}));
  EXPECT_FALSE(keys.find(text, at_seconds(160)));
  EXPECT_FALSE(keys.redeem(text, at_seconds(160)));
}

TEST(PageKeys, no_other_text_is_taken_for_one) {
  PageKeys keys(seconds(60), 8);
  const std::string text = keys.make(kAnn, at_seconds(0)).value();
  EXPECT_EQ(text.size(), 32U);  // 128 bits
  for (const std::string& other : {std::string(), text.substr(1), text + "0", std::string(32, '0')})
    EXPECT_FALSE(keys.redeem(other, at_seconds(1))) << other;
  EXPECT_TRUE(keys.redeem(text, at_seconds(1)));
}

TEST(PageKeys, the_oldest_of_a_user_who_has_enough_goes_and_no_other) {
  PageKeys keys(seconds(60), 2);
  const std::string ben = keys.make(kBen, at_seconds(0)).value();
  std::vector<std::string> ann;
  for (int i = 1; i <= 3; ++i) ann.push_back(keys.make(kAnn, at_seconds(i)).value());
  EXPECT_FALSE(keys.find(ann[0], at_seconds(4)));
  for (const std::string& text : {ben, ann[1], ann[2]}) EXPECT_TRUE(keys.find(text, at_seconds(4)));
}

TEST(PageKeys, the_oldest_of_all_goes_where_there_are_too_many) {
  PageKeys keys(seconds(60), 8, 2);
  const std::string ben = keys.make(kBen, at_seconds(0)).value();
  const std::string first = keys.make(kAnn, at_seconds(1)).value();
  const std::string second = keys.make(kAnn, at_seconds(1)).value();
  EXPECT_NE(first, second);
  EXPECT_FALSE(keys.find(ben, at_seconds(2)));
  for (const std::string& text : {first, second}) EXPECT_TRUE(keys.find(text, at_seconds(2)));
}

}  // namespace
}  // namespace rota::api
