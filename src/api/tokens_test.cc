#include "api/tokens.h"

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

namespace rota::api {
namespace {

struct Folder {
  Folder()
      : path(fmt::format("{}tokens-{}", ::testing::TempDir(),
                         ::testing::UnitTest::GetInstance()->current_test_info()->name())) {
    std::filesystem::remove_all(path);
    std::filesystem::create_directory(path);
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string path;
};

Token of(const std::string& user, std::int64_t expires) {
  Token token;
  token.user = user;
  token.uid = 7;
  token.made = 1000;
  token.expires = expires;
  return token;
}

TEST(Tokens, a_token_is_known_by_its_text_until_it_runs_out) {
  const Folder folder;
  auto tokens = Tokens::open(folder.path);
  ASSERT_TRUE(tokens);
  Token ann = of("ann", 2000);
  Token ben = of("ben", 3000);
  const std::string first = tokens->add(ann).value();
  const std::string second = tokens->add(ben).value();
  EXPECT_NE(first, second);
  ASSERT_NE(tokens->shown(first, 1999), nullptr);
  EXPECT_EQ(tokens->shown(first, 1999)->user, "ann");
  EXPECT_EQ(tokens->shown(second, 1999)->user, "ben");
  EXPECT_EQ(tokens->shown(first, 2000), nullptr);
  for (const std::string& other : {std::string(), first.substr(1), first + "0", ann.id, ann.sha256})
    EXPECT_EQ(tokens->shown(other, 1500), nullptr) << other;
}

TEST(Tokens, what_is_kept_shows_nothing_and_is_closed_to_others) {
  const Folder folder;
  Token token = of("ann", 2000);
  token.read_only = true;
  token.comment = "of the \"panel\"";
  const std::string text = Tokens::open(folder.path)->add(token).value();
  const std::string path = folder.path + "/tokens";
  struct stat file{};
  ASSERT_EQ(::stat(path.c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 0777U, 0600U);
  std::ifstream stream(path);
  const std::string kept(std::istreambuf_iterator<char>(stream), {});
  EXPECT_EQ(kept.find(text), std::string::npos);
  EXPECT_EQ(kept.find(text.substr(text.size() - 32)), std::string::npos);
  auto again = Tokens::open(folder.path);
  ASSERT_TRUE(again);
  const Token* known = again->shown(text, 1500);
  ASSERT_NE(known, nullptr);
  EXPECT_TRUE(known->read_only);
  EXPECT_FALSE(known->operates);
  EXPECT_EQ(known->comment, token.comment);
  EXPECT_EQ(known->uid, 7U);
  ASSERT_TRUE(again->remove(token.id));
  EXPECT_EQ(again->shown(text, 1500), nullptr);
  EXPECT_EQ(Tokens::open(folder.path)->shown(text, 1500), nullptr);
}

TEST(Tokens, a_user_has_so_many_and_those_that_ran_out_do_not_count) {
  const Folder folder;
  auto tokens = Tokens::open(folder.path);
  ASSERT_TRUE(tokens);
  for (std::size_t i = 0; i < 3; ++i) {
    Token token = of("ann", 2000);
    ASSERT_TRUE(tokens->add(token, 3));
  }
  Token more = of("ann", 3000);
  EXPECT_EQ(
      tokens->add(more, 3).error().message,
      "\"ann\" has 3 tokens, the most that a user who is no operator may have; revoke one with `rota token revoke`.");
  Token bens = of("ben", 3000);
  bens.uid = 8;
  EXPECT_TRUE(tokens->add(bens, 3));
  more.made = 2000;
  EXPECT_TRUE(tokens->add(more, 3));
  EXPECT_EQ(tokens->all().size(), 2U);
  EXPECT_EQ(Tokens::open(folder.path)->all().size(), 2U);
}

TEST(Tokens, a_file_that_is_open_or_makes_no_sense_is_refused) {
  const Folder folder;
  Token token = of("ann", 2000);
  ASSERT_TRUE(Tokens::open(folder.path)->add(token));
  const std::string path = folder.path + "/tokens";
  ::chmod(path.c_str(), 0640);
  EXPECT_NE(Tokens::open(folder.path).error().message.find("chmod 600"), std::string::npos);
  ::chmod(path.c_str(), 0600);
  std::ofstream(path, std::ios::app) << "{\"id\":\"x\"}\n";
  EXPECT_NE(Tokens::open(folder.path).error().message.find(":2: "), std::string::npos);
}

}  // namespace
}  // namespace rota::api
