#include "model/share_tree.h"

#include <gtest/gtest.h>

#include <cmath>

#include <cmath>

#include "model/cluster.h"

namespace rota {
namespace {

constexpr Duration kDay = seconds(86'400);

// The shares for jobs that a user, "anna" being 1 and so on, charges an account, "physics" being 1 and so on.
class Shares {
 public:
  explicit Shares(const std::vector<Account>& accounts)
      : tree_(accounts, sharers_of(accounts, {{1, "anna"}, {2, "bob"}, {3, "eve"}, {4, "joe"}},
                                   {{1, "physics"}, {2, "chemistry"}}, jobs())) {}

  void used(std::uint32_t user, std::uint32_t group, std::int64_t seconds_long) {
    use_.add(tree_.holder_of(of(user, group)), 1, seconds(seconds_long), kEpoch + kDay);
  }
  // The part of the users that this user is at least level with.
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

TEST(ShareTree, a_user_without_use_is_level_with_all_others) {
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

TEST(ShareTree, level_users_have_the_same_rank_and_the_next_one_that_of_its_place) {
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

TEST(ShareTree, a_first_user_comes_before_the_others_of_the_account_whatever_was_used) {
  Shares shares({{.name = "physics", .users = {{"anna", 1, true}, {"bob"}}}});
  shares.used(1, 1, 100);
  shares.used(2, 1, 1);
  EXPECT_GT(shares.factor(1, 1), shares.factor(2, 1));
}

TEST(ShareTree, a_user_that_is_not_named_has_one_share_of_the_account_of_the_job) {
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

// A Slurm 22.05 with these accounts and this use says so (sshare -l).
TEST(ShareTree, accounts_that_are_level_are_one_line_of_users) {
  const std::vector<Account> accounts{{.name = "top", .users = {{"root"}}},
                                      {.name = "a", .shares = 0, .users = {{"bin"}, {"daemon"}}},
                                      {.name = "b", .shares = 0, .users = {{"sys"}}},
                                      {.name = "c", .shares = 5, .users = {{"mail"}}},
                                      {.name = "d", .shares = 3, .users = {{"games"}, {"man", 0}}},
                                      {.name = "e", .shares = 4, .users = {{"lp"}}}};
  const NamesByNumber users{{0, "root"}, {1, "bin"},   {2, "daemon"}, {3, "sys"},
                            {4, "mail"}, {5, "games"}, {6, "man"},    {7, "lp"}};
  const NamesByNumber groups{{0, "top"}, {1, "a"}, {2, "b"}, {3, "c"}, {4, "d"}, {5, "e"}};
  const std::vector<std::uint32_t> group_of{0, 1, 1, 2, 3, 4, 4, 5};
  std::vector<JobSpec> jobs;
  for (std::uint32_t user = 0; user < group_of.size(); ++user) jobs.push_back(Shares::of(user, group_of[user]));
  auto inheriting = accounts;
  inheriting[0].inherits = true;
  const ShareTree tree(inheriting, sharers_of(inheriting, users, groups, jobs));
  RecentUse use(kDay);
  use.add(tree.holder_of(jobs[2]), 1, seconds(2), kEpoch + kDay);
  use.add(tree.holder_of(jobs[4]), 1, seconds(3), kEpoch + kDay);
  std::vector<double> factors;
  for (const JobSpec& job : jobs) factors.push_back(tree.factors(use)[tree.holder_of(job)]);
  EXPECT_EQ(factors, (std::vector<double>{1, 0.375, 0.125, 0.375, 0.5, 1, 0.625, 1}));
}

TEST(ShareTree, users_without_jobs_count_where_they_stand) {
  std::vector<Account> accounts = two_accounts(1, 1);
  accounts[0].users.push_back({"idle", 2});
  accounts[0].users.push_back({"first", 1, true});
  accounts[0].users.push_back({"last", 0});
  Shares shares(accounts);
  EXPECT_EQ(shares.users(), 7U);
  shares.used(1, 1, 100);  // a quarter of the shares
  shares.used(2, 1, 50);   // as much
  shares.used(3, 2, 10);
  EXPECT_EQ(shares.factor(4, 2), 1.0);
  EXPECT_EQ(shares.factor(3, 2), 6.0 / 7.0);
  EXPECT_EQ(shares.factor(2, 1), 3.0 / 7.0) << "behind idle and first";
  EXPECT_EQ(shares.factor(1, 1), 2.0 / 7.0) << "before last";
}

TEST(Sharers, AreTheSameAfterTheyWereText) {
  const auto accounts = two_accounts(1, 1);
  const auto sharers =
      sharers_of(accounts, {{1, "joe"}}, {{1, "chemistry"}},
                 std::vector{Shares::of(1, 1), Shares::of(5, 1), Shares::of(1, 1), Shares::of(UINT32_MAX, 9)});
  EXPECT_EQ(sharers, (std::vector<Sharer>{{1, 1, 3, -1}, {5, 1, 4, 1}, {UINT32_MAX, 9, 5, -1}}));
  EXPECT_EQ(text_of(sharers), "1 1 3,5 1 4 1,4294967295 9 5");
  EXPECT_EQ(parse_sharers(text_of(sharers), accounts), sharers);
}

TEST(Sharers, AreReadOnlyWhereTheyCanBe) {
  const auto accounts = two_accounts(1, 1);
  for (const char* text :
       {"", "1 1", "1 1 x", "1 1 5", "1 1 3 1", "1 1 4 2", "1 1 3,1 1 3", "-1 1 3", "1 1 3,", "1 1 3 0 0"})
    EXPECT_FALSE(parse_sharers(text, accounts)) << text;
}

TEST(ShareTree, is_asked_again_only_when_use_has_changed) {
  const auto accounts = two_accounts(1, 1);
  const std::vector jobs{Shares::of(1, 1), Shares::of(2, 1)};
  const ShareTree tree(accounts, sharers_of(accounts, {}, {}, jobs));
  ClusterOptions options{.processors = 1, .waiting = {}, .use = {.half_life = kDay, .shares = &tree}};
  Cluster cluster(options);
  const double* kept = cluster.use().share_factors().data();
  EXPECT_EQ(cluster.use().share_factors()[tree.holder_of(jobs[0])], 1.0);
  cluster.open_cycle(kEpoch + kDay);
  EXPECT_EQ(cluster.use().share_factors().data(), kept);
  cluster.fold(cluster.now(), 1, UserKept{.user = tree.holder_of(jobs[0]), .runs = {}, .spent = 1'000'000});
  EXPECT_LT(cluster.use().share_factors()[tree.holder_of(jobs[0])], 1.0);
}

// Physics has 3 shares of 4, of which anna has 1 of 2 and bob the other; chemistry has 1. Anna has used 30 of 100, bob
// 10 and joe of chemistry 60. By hand: physics has 0.4 of the use; anna's is 0.3 + (0.4 - 0.3) / 2 of 3/8 of the
// shares.
TEST(ShareTree, classic_shares_count_what_an_account_has_used_beside_its_user) {
  std::vector<Account> accounts{{.name = "physics", .shares = 3, .users = {{"anna"}, {"bob"}, {"eve", 1, true}}},
                                {.name = "chemistry", .users = {{"joe"}}}};
  const std::vector jobs{Shares::of(1, 1), Shares::of(2, 1), Shares::of(3, 2), Shares::of(4, 1)};
  const ShareTree tree(accounts, sharers_of(accounts, {{1, "anna"}, {2, "bob"}, {3, "joe"}, {4, "eve"}},
                                            {{1, "physics"}, {2, "chemistry"}}, jobs));
  RecentUse use(kDay);
  for (const auto& [job, spent] : {std::pair{0, 30}, {1, 10}, {2, 60}})
    use.add(tree.holder_of(jobs[static_cast<std::size_t>(job)]), 1, seconds(spent), kEpoch);
  const auto factor = [&](std::size_t job, std::int64_t dampening) {
    return tree.classic_factors(use, dampening)[tree.holder_of(jobs[job])];
  };
  EXPECT_NEAR(factor(0, 1), std::exp2(-0.35 / 0.375), 1e-9);
  EXPECT_NEAR(factor(1, 1), std::exp2(-0.25 / 0.375), 1e-9);
  EXPECT_NEAR(factor(2, 1), std::exp2(-0.6 / 0.25), 1e-9);
  EXPECT_NEAR(factor(3, 1), std::exp2(-0.4 / 0.75), 1e-9) << "eve has her account's";
  EXPECT_NEAR(factor(0, 3), std::exp2(-0.35 / 0.375 / 3), 1e-9);
  EXPECT_EQ(tree.classic_factors(RecentUse(kDay), 1), std::vector<double>(4, 1.0)) << "none has used anything";
}

TEST(ShareTree, no_shares_come_last) {
  Shares shares(two_accounts(0, 1));
  shares.used(3, 2, 100);
  EXPECT_GT(shares.factor(3, 2), shares.factor(1, 1));
}

}  // namespace
}  // namespace rota
