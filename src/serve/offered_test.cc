// What travels with jobs between sites: sealed or not, as text and back, hostile texts, and the scripts that copy
// files.
#include "serve/offered.h"

#include <gtest/gtest.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <filesystem>
#include <fstream>

#include "control/auction_record.h"
#include "serve/sealed.h"
#include "serve/site_card.h"
#include "serve/stage_commands.h"

namespace rota::serve {
namespace {

namespace fs = std::filesystem;

class Travels : public testing::Test {
 protected:
  Travels() : folder_(fs::temp_directory_path() / ("rota-travels-" + std::to_string(::getpid()))) {
    fs::create_directories(folder_);
  }
  ~Travels() override { fs::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text) const {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return folder_ / name;
  }
  process::SiteCommand::End run(const StageCommands::Command& command) const {
    boost::asio::io_context io;
    process::SiteCommand::End ended;
    const process::SiteCommand running(io, command, [&](const auto& end) { ended = end; });
    io.run();
    return ended;
  }

  fs::path folder_;
};

TEST_F(Travels, WhatIsSealedOpensWithTheSameSecretUnderTheSameLabelAlone) {
  const Seal one = *Seal::read(write("one", std::string(32, 'a'))),
             other = *Seal::read(write("two", std::string(32, 'b')));
  const std::string text("echo \0 secret", 13);
  const std::string closed = one.close(text, "7");
  EXPECT_EQ(closed.find("secret"), std::string::npos);
  EXPECT_EQ(one.open(closed, "7"), text);
  EXPECT_EQ(one.open(closed, "8"), std::nullopt);
  EXPECT_EQ(other.open(closed, "7"), std::nullopt);
  EXPECT_EQ(Seal().open(closed, "7"), std::nullopt);
  EXPECT_EQ(one.open(Seal().close(text, "7"), "7"), std::nullopt) << "a site with a secret wants it sealed";
  EXPECT_EQ(Seal().open(Seal().close(text, "7"), "7"), text);
  for (std::size_t i = 0; i < closed.size(); ++i) {
    std::string changed = closed;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    EXPECT_EQ(one.open(changed, "7"), std::nullopt) << i;
    EXPECT_EQ(one.open(closed.substr(0, i), "7"), std::nullopt) << i;
  }
  EXPECT_FALSE(Seal::read(write("short", "abc")));
}

TEST_F(Travels, WhatAJobRunsComesBackAsItWasAndNothingElseIsTakenForIt) {
  const std::string environment("A=1\0B=\xff two\0", 12);
  JobRequest read;
  ASSERT_TRUE(read_run(run_text("#!/bin/sh\nls\n", {"a b", "", "c"}, environment), read));
  EXPECT_EQ(read.script, "#!/bin/sh\nls\n");
  EXPECT_EQ(read.command, (std::vector<std::string>{"a b", "", "c"}));
  EXPECT_EQ(read.environment, (std::vector<std::string>{"A=1", "B=\xff two"}));
  for (const char* wrong : {"", "\n", "1\nx", "-1 0\nx", "9 0\nx", "0 9\nx", "1 9223372036854775807\nx", "a b\n"})
    EXPECT_FALSE(read_run(wrong, read)) << wrong;
}

TEST_F(Travels, AnOfferIsReadAsItWasWritten) {
  Travelling task{"ann", {}, true, 77, ArrayTask{12, 3, {5, 1, 9, 2}}};
  task.request.processors = 4;
  const std::string text = offer_text(task, 0);
  const auto read = read_offer(text, 0);
  ASSERT_TRUE(read);
  EXPECT_EQ(std::tuple(read->user, read->sealed, read->run_bytes, read->request.processors),
            std::tuple("ann", true, 77, 4U));
  ASSERT_TRUE(read->task);
  EXPECT_EQ(std::tuple(read->task->array, read->task->index, read->task->of),
            std::tuple(12, 3, About::Indexes{5, 1, 9, 2}));
  task.task.reset();
  EXPECT_FALSE(read_offer(offer_text(task, 0), 0)->task);
  for (const char* wrong : {"[12,3,5,1,9]", "12", "[12,-3,5,1,9,2]", "[12,3,5,1,9,\"2\"]"}) {
    std::string other = text;
    other.replace(other.find("[12,3,5,1,9,2]"), 14, wrong);
    EXPECT_FALSE(read_offer(other, 0)) << wrong;
  }
}

TEST_F(Travels, ACardAndAnAuctionAreReadAsTheyWereWritten) {
  SiteCard card{3,  64, {"batch"},      {"a100"}, {"matlab"},
                10, 20, "rota@berlin:", 50,       {{"lyon", {{12, 1'700'000'000'000}}}}};
  EXPECT_EQ(read_card(card_text(card)), card);
  std::string other = card_text(card);
  EXPECT_FALSE(read_card(other.replace(other.find("\"12\""), 4, "\"x\"")));
  for (const char* wrong : {"", "[]", "{", "{\"nodes\": 1}", "{\"nodes\": \"x\"}"})
    EXPECT_EQ(read_card(wrong), std::nullopt);
  JobRequest asks;
  EXPECT_TRUE(may_run(card, asks));
  asks.partition = "fast";
  EXPECT_FALSE(may_run(card, asks));

  const Instant submitted{Duration{5000}};
  AuctionRecord auction{submitted, submitted + Duration{900}, SiteId{0}, SiteId{1}, {}};
  auction.bids.push_back({submitted + Duration{7}, {SiteId{1}, -12, Duration{30}, Duration{4}, {1, 2, 3}, 41}});
  const auto read = parse_auction(text_of(auction, submitted), submitted + Duration{100});
  ASSERT_TRUE(read);
  EXPECT_EQ(read->winner, SiteId{1});
  EXPECT_EQ(read->closed - read->opened, Duration{900});
  ASSERT_EQ(read->bids.size(), 1U);
  EXPECT_EQ(read->bids[0].at, submitted + Duration{107});
  EXPECT_EQ(read->bids[0].bid.price, -12);
  EXPECT_EQ(read->bids[0].bid.parts[2], 3);
  EXPECT_EQ(read->bids[0].bid.fact, 41U);
  for (const char* wrong : {"", "1 2 3", "1 2 3 4 5", "1 2 99999999999 4", "x 2 3 4"})
    EXPECT_FALSE(parse_auction(wrong, submitted)) << wrong;
}

TEST_F(Travels, UsersAndPrioritiesOfOtherSitesAreWhatTheSettingsSay) {
  site::FederationSettings settings;
  settings.most_priority = 1;
  settings.priorities = {"lyon=4", "lyon:ann=9", "graz:ann=2"};
  EXPECT_EQ(priority_here("lyon", "ann", 20, settings), 9);
  EXPECT_EQ(priority_here("lyon", "bob", 20, settings), 4);
  EXPECT_EQ(priority_here("lyon", "bob", -5, settings), -5);
  EXPECT_EQ(priority_here("graz", "bob", 20, settings), 1);
  EXPECT_TRUE(names_site("any", "lyon"));
  EXPECT_TRUE(names_site("graz,lyon", "lyon"));
  EXPECT_FALSE(names_site("graz,lyon", "ly"));

  const passwd* self = ::getpwuid(::geteuid());
  ASSERT_NE(self, nullptr);
  const std::string own = self->pw_name;
  settings.takes_root = true;
  settings.users = {"lyon:ann=" + own, "lyon:eve=", "lyon:" + own + "=no-such-user-at-all"};
  EXPECT_EQ(user_here("lyon", "ann", settings)->user, own);
  EXPECT_FALSE(user_here("lyon", "eve", settings)) << "shut out";
  EXPECT_FALSE(user_here("lyon", own, settings)) << "as the table has it, and not by the name";
  EXPECT_TRUE(user_here("graz", own, settings));
  settings.takes_root = false;
  if (::geteuid() == 0) {
    EXPECT_FALSE(user_here("lyon", "ann", settings)) << "root by way of the table";
  }
}

TEST_F(Travels, PathsLieWithinTheFolder) {
  EXPECT_EQ(stage_paths("stage_in", "a,b/*.x")->size(), 2U);
  for (const char* wrong : {"/etc/passwd", "a/../../b", "..", "a,,b", "a\nb"})
    EXPECT_FALSE(stage_paths("stage_in", wrong));
}

TEST_F(Travels, FilesAreGivenFetchedAndBroughtHomeAndDamageIsSeen) {
  write("home/$(touch pwned)/it's -a.txt", "one");
  write("home/-rf", "two");
  write("home/other", "three");
  for (const char* data : {"a", "b"}) ASSERT_TRUE(run(StageCommands(folder_ / data, std::nullopt, "").prepare()).done);
  const StageCommands at_home(folder_ / "a", std::nullopt, ""), away(folder_ / "b", std::nullopt, "");
  const auto given = run(at_home.give("7", {}, folder_ / "home", {"$(touch pwned)", "-r*"}, {"none"}));
  ASSERT_TRUE(given.done) << given.why;
  ASSERT_TRUE(run(away.fetch(folder_ / "a/out", "7", "a-7", false)).done);
  EXPECT_TRUE(fs::exists(folder_ / "b/in/a-7/files/$(touch pwned)/it's -a.txt"));
  EXPECT_FALSE(fs::exists(folder_ / "b/in/a-7/files/other"));
  ASSERT_TRUE(run(away.hand_over("a-7", {}, "{}")).done);
  EXPECT_TRUE(fs::exists(folder_ / "b/in/a-7/job"));
  write("a/out/7/files/-rf", "2wo");
  fs::remove(folder_ / "b/in/a-7/files/-rf");
  EXPECT_FALSE(run(away.fetch(folder_ / "a/out", "7", "a-7", false)).done) << "its sum is another";

  const auto missing = run(at_home.give("8", {}, folder_ / "home", {"missing"}, {}));
  ASSERT_TRUE(missing.done) << missing.why;
  const auto never = run(away.fetch(folder_ / "a/out", "8", "a-8", false));
  EXPECT_EQ(never.code, StageCommands::kNeverMade);
  EXPECT_NE(never.output.find("missing"), std::string::npos) << never.output;

  fs::create_directories(folder_ / "work");
  ASSERT_TRUE(run(away.give("a-9", {}, folder_ / "home", {}, {"other", "none*"})).done);
  ASSERT_TRUE(run(at_home.fetch(folder_ / "b/out", "a-9", "back-9", false)).done);
  write("a/in/back-9/files/.profile", "not asked for");
  ASSERT_TRUE(run(at_home.bring_home("back-9", {}, folder_ / "work", {"other", "none*"})).done);
  EXPECT_TRUE(fs::exists(folder_ / "work/other"));
  EXPECT_FALSE(fs::exists(folder_ / "work/.profile"));
  ASSERT_TRUE(run(at_home.remove("in", "back-9")).done);
  EXPECT_FALSE(fs::exists(folder_ / "a/in/back-9"));
  EXPECT_FALSE(fs::exists(folder_ / "home/pwned"));
}

TEST_F(Travels, ResultsGoThroughLinksToFoldersAndStayWhereTheyCannotBeCopied) {
  const StageCommands at_home(folder_ / "a", std::nullopt, "");
  ASSERT_TRUE(run(at_home.prepare()).done);
  fs::create_directories(folder_ / "work");
  fs::create_directories(folder_ / "scratch");
  fs::create_directory_symlink(folder_ / "scratch", folder_ / "work/results");
  write("a/in/back-3/files/results/deep/one", "1");
  ASSERT_TRUE(run(at_home.bring_home("back-3", {}, folder_ / "work", {"results/"})).done);
  EXPECT_TRUE(fs::exists(folder_ / "scratch/deep/one"));

  write("work/taken", "a file");
  write("a/in/back-4/files/taken/two", "2");
  const auto kept = run(at_home.bring_home("back-4", {}, folder_ / "work", {"taken"}));
  EXPECT_FALSE(kept.done);
  EXPECT_TRUE(fs::exists(folder_ / "a/in/kept-back-4/files/taken/two"));
}

TEST_F(Travels, SumsOfFilesElsewhereAreNotReckonedAndNothingBesideTheFilesComes) {
  const StageCommands here(folder_ / "a", std::nullopt, "");
  ASSERT_TRUE(run(here.prepare()).done);
  const std::string sum(64, '0');
  int at = 0;
  for (const char* name : {"/dev/zero", "./../../../x", "./a/../../x"}) {
    const std::string of = std::to_string(at++);
    write("b/" + of + "/files/x", "x");
    write("b/" + of + "/sums", sum + "  " + name + "\n");
    write("b/" + of + "/job", "what its home would run");
    const auto refused = run(here.fetch(folder_ / "b", of, of, false));
    EXPECT_FALSE(refused.done);
    EXPECT_NE(refused.output.find("elsewhere"), std::string::npos) << refused.output;
    EXPECT_FALSE(fs::exists(folder_ / "a/in" / of / "job"));
  }
}

TEST_F(Travels, OnlyTheFilesAreEverTheUsersAndInTheEndTheAccounts) {
  if (::geteuid() != 0) GTEST_SKIP() << "not root";
  constexpr std::uint32_t kUser = 65'534, kAccount = 1;  // nobody and daemon
  const StageCommands here(folder_ / "a", StageUser{kAccount, kAccount}, "");
  ASSERT_TRUE(run(here.prepare()).done);
  write("home/open", "1");
  fs::permissions(folder_, fs::perms::others_exec, fs::perm_options::add);
  fs::permissions(folder_ / "home/open", fs::perms::all);
  const auto owner_of = [&](const std::string& path) {
    struct stat status{};
    EXPECT_EQ(::lstat((folder_ / path).c_str(), &status), 0) << path;
    return std::pair(status.st_uid, status.st_mode & 077U);
  };
  const auto given = run(here.give("5", {kUser, kUser}, folder_ / "home", {"open"}, {}));
  ASSERT_TRUE(given.done) << given.why;
  for (const char* path : {"a/out/5", "a/out/5/sums", "a/out/5/files", "a/out/5/files/open"})
    EXPECT_EQ(owner_of(path), std::pair(kAccount, 0U)) << path;
  ASSERT_TRUE(run(here.fetch(folder_ / "a/out", "5", "b-5", false)).done);
  ASSERT_TRUE(run(here.hand_over("b-5", {kUser, kUser}, "{}")).done);
  EXPECT_EQ(owner_of("a/in/b-5").first, 0U);
  EXPECT_EQ(owner_of("a/in/b-5/job").first, 0U);
  EXPECT_EQ(owner_of("a/in/b-5/files/open").first, kUser);
  const auto missing = run(here.give("6", {kUser, kUser}, folder_ / "home", {"none"}, {}));
  ASSERT_TRUE(missing.done) << missing.why;
  EXPECT_EQ(owner_of("a/out/6/failed"), std::pair(kAccount, 0U));
}

}  // namespace
}  // namespace rota::serve
