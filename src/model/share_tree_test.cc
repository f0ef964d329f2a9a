#include "model/share_tree.h"

#include <gtest/gtest.h>

#include <cmath>

namespace rota {
namespace {

constexpr Duration kDay = seconds(86'400);

// Of jobs that a user, "anna" being 1 and so on, charges an account, "physics" being 1 and so on.
class Shares {
 public:
  explicit Shares(const std::vector<Account>& accounts)
      : tree_(accounts, {{1, "anna"}, {2, "bob"}, {3, "eve"}, {4, "joe"}}, {{1, "physics"}, {2, "chemistry"}}, jobs()) {
  }

  void used(std::uint32_t user, std::uint32_t group, std::int64_t seconds_long) {
    use_.add(tree_.holder_of(of(user, group)), 1, seconds(seconds_long), kEpoch + kDay);
  }
  // Of how many users he is at least level with.
  double factor(std::uint32_t user, std::uint32_t group) const {
    return tree_.factors(use_).at(tree_.holder_of(of(user, group)));
  }
  std::size_t users() const { return tree_.factors(use_).size(); }

  static JobSpec of(std::uint32_t user, std::uint32_t group) {
    JobSpec spec;
    spec.user = user;
    spec.group = group;
    return spec;
  }

 private:
  static std::vector<JobSpec> jobs() { return {of(1, 1), of(2, 1), of(3, 2), of(4, 2), of(1, 1)}; }

  ShareTree tree_;
  RecentUse use_{kDay};
};

std::vector<Account> two_accounts(std::int64_t physics, std::int64_t chemistry) {
  return {{.name = "physics", .shares = physics, .users = {{"anna"}, {"bob"}}},
          {.name = "chemistry", .shares = chemistry, .users = {{"eve"}, {"joe"}}}};
}

TEST(ShareTree, who_used_nothing_is_level_with_all_others) {
  const Shares shares(two_accounts(1, 1));
  EXPECT_EQ(shares.users(), 4U);
  EXPECT_EQ(shares.factor(1, 1), 1.0);
  EXPECT_EQ(shares.factor(4, 2), 1.0);
}

TEST(ShareTree, an_account_that_has_less_than_its_part_comes_before_the_other_with_all_its_users) {
  Shares shares(two_accounts(3, 1));
  shares.used(1, 1, 150);  // of physics, which has 3 shares of 4 and used 200 s of 300
  shares.used(2, 1, 50);
  shares.used(3, 2, 100);
  EXPECT_EQ(shares.factor(2, 1), 1.0);
  EXPECT_EQ(shares.factor(1, 1), 0.75);
  EXPECT_EQ(shares.factor(4, 2), 0.5) << "though he used nothing";
  EXPECT_EQ(shares.factor(3, 2), 0.25);
}

TEST(ShareTree, users_of_an_account_share_what_it_has) {
  Shares shares({{.name = "physics", .users = {{"anna", 9}, {"bob", 1}}}});
  shares.used(1, 1, 100);
  shares.used(2, 1, 50);
  EXPECT_GT(shares.factor(1, 1), shares.factor(2, 1));
}

TEST(ShareTree, level_ones_have_the_same_rank_and_the_next_one_that_of_his_place) {
  Shares shares(two_accounts(1, 1));
  shares.used(1, 1, 100);
  shares.used(2, 1, 100);
  shares.used(3, 2, 50);
  shares.used(4, 2, 50);
  EXPECT_EQ(shares.factor(3, 2), 1.0);
  EXPECT_EQ(shares.factor(4, 2), 1.0);
  EXPECT_EQ(shares.factor(1, 1), 0.5);
  EXPECT_EQ(shares.factor(2, 1), 0.5);
}

TEST(ShareTree, an_account_that_inherits_is_as_if_its_users_stood_above_it) {
  auto accounts = two_accounts(1, 1);
  accounts[1].inherits = true;
  Shares shares(accounts);
  shares.used(1, 1, 100);
  shares.used(3, 2, 101);
  EXPECT_EQ(shares.factor(4, 2), 1.0);
  EXPECT_EQ(shares.factor(2, 1), 0.75) << "physics used less than eve, and each has a third";
  EXPECT_EQ(shares.factor(1, 1), 0.5);
  EXPECT_EQ(shares.factor(3, 2), 0.25);
}

TEST(ShareTree, who_is_first_comes_before_the_others_of_his_account_whatever_he_used) {
  Shares shares({{.name = "physics", .users = {{"anna", 1, true}, {"bob"}}}});
  shares.used(1, 1, 100);
  shares.used(2, 1, 1);
  EXPECT_GT(shares.factor(1, 1), shares.factor(2, 1));
}

TEST(ShareTree, whom_nobody_named_has_one_share_of_the_account_of_his_job) {
  Shares shares({{.name = "physics", .shares = 8, .users = {{"anna"}}}});
  EXPECT_EQ(shares.users(), 4U) << "bob in physics, eve and joe at the top";
  shares.used(3, 2, 1);
  shares.used(2, 1, 1);
  shares.used(1, 1, 1);
  EXPECT_EQ(shares.factor(4, 2), 1.0);
  EXPECT_EQ(shares.factor(1, 1), 0.75);
  EXPECT_EQ(shares.factor(2, 1), 0.75);
  EXPECT_EQ(shares.factor(3, 2), 0.25);
}

TEST(ShareTree, no_shares_come_last) {
  Shares shares(two_accounts(0, 1));
  shares.used(3, 2, 100);
  EXPECT_GT(shares.factor(3, 2), shares.factor(1, 1));
}

}  // namespace
}  // namespace rota
