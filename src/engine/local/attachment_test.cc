#include "engine/local/attachment.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <csignal>
#include <deque>
#include <filesystem>
#include <fstream>
#include <map>

#include "base/words.h"
#include "process/descriptor.h"

namespace rota::local {

using process::accept_from;
using process::Descriptor;
using process::listen_at;
using process::receive;
using process::send_whole;
using process::take_line;
using process::unguessable_name;

namespace {

// The side that waits for a job, and the job's supervisor, in one process.
class Attachments : public testing::Test {
 protected:
  Attachments() : name_(unguessable_name()), listener_(listen_at(name_)) {
    run_.attach.socket = name_;
    run_.attach.user = ::geteuid();
  }

  // What comes with the first line, by its name.
  void connect() {
    ASSERT_EQ(attachment_.open(run_), "");
    waits_ = accept_from(listener_.get());
    ASSERT_TRUE(waits_);
    ::fcntl(waits_.get(), F_SETFL, 0);
    std::deque<Descriptor> files;
    const AttachNews news = hear(files);
    ASSERT_EQ(news.files.size(), files.size());
    for (const std::string& file : news.files) {
      files_[file] = std::move(files.front());
      files.pop_front();
    }
  }
  AttachNews hear(std::deque<Descriptor>& files) {
    std::string line;
    while (!take_line(text_, line)) {
      if (!receive(waits_.get(), text_, files)) break;
    }
    AttachNews news;
    read_words(line, news);
    return news;
  }
  AttachNews hear() {
    std::deque<Descriptor> none;
    return hear(none);
  }
  static std::string taken(const Descriptor& from) {
    char piece[64];
    const ssize_t got = ::read(from.get(), piece, sizeof piece);
    return got > 0 ? std::string(piece, static_cast<std::size_t>(got)) : std::string();
  }
  static void put(const Descriptor& into, const std::string& text) {
    EXPECT_EQ(::write(into.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  // All signals that are told until the other end is gone, or so many.
  std::vector<int> signals(std::size_t most, bool& gone) {
    std::vector<int> all;
    gone = false;
    while (!gone && all.size() < most) {
      pollfd waits{attachment_.socket(), POLLIN, 0};
      if (::poll(&waits, 1, 60'000) <= 0) break;
      for (const int each : attachment_.hear(gone)) all.push_back(each);
    }
    return all;
  }

  RunRequest run_;
  std::string lost_;
  std::string name_;
  Descriptor listener_;
  Attachment attachment_;
  Descriptor waits_;
  std::string text_;
  std::map<std::string, Descriptor> files_;
};

TEST_F(Attachments, nothing_is_made_for_a_run_without_a_waiting_command) {
  run_.attach = {};
  EXPECT_EQ(attachment_.open(run_), "");
  EXPECT_EQ(attachment_.socket(), -1);
  EXPECT_FALSE(attachment_.streams().output);
}

TEST_F(Attachments, a_terminal_that_is_gone_before_the_job_starts_is_reported) {
  listener_.reset();
  EXPECT_EQ(attachment_.open(run_), "The terminal that the job was to run at is gone.");
}

TEST_F(Attachments, bytes_go_between_the_job_and_the_waiting_command) {
  connect();
  ASSERT_EQ(files_.size(), 3U);
  put(attachment_.streams().output, "out");
  put(attachment_.streams().error, "err");
  put(files_["input"], "in");
  EXPECT_EQ(taken(files_["output"]), "out");
  EXPECT_EQ(taken(files_["error"]), "err");
  EXPECT_EQ(taken(attachment_.streams().input), "in");
  attachment_.started();
  EXPECT_EQ(taken(files_["output"]), "") << "the job has its end alone";
}

TEST_F(Attachments, what_is_a_file_is_not_handed_over) {
  run_.output = "out";
  run_.input = "in";
  connect();
  EXPECT_TRUE(files_.empty());
}

TEST_F(Attachments, a_terminal_has_its_size_before_the_job_looks) {
  run_.attach.terminal = run_.attach.error_apart = true;
  run_.attach.rows = 33;
  run_.attach.columns = 77;
  connect();
  ASSERT_TRUE(files_.contains("terminal") && files_.contains("error"));
  EXPECT_TRUE(attachment_.streams().terminal);
  winsize size{};
  ASSERT_EQ(::ioctl(attachment_.streams().input.get(), TIOCGWINSZ, &size), 0);
  EXPECT_EQ(size.ws_row, 33);
  EXPECT_EQ(size.ws_col, 77);
  put(attachment_.streams().output, "seen");
  EXPECT_EQ(taken(files_["terminal"]), "seen");
}

TEST_F(Attachments, signals_are_heard_and_what_is_none_is_not) {
  connect();
  bool gone = false;
  for (const int number : {SIGINT, SIGUSR1})
    send_whole(waits_.get(), in_words(Tell{.kind = Tell::Kind::signal, .number = number}));
  EXPECT_EQ(signals(2, gone), (std::vector<int>{SIGINT, SIGUSR1}));
  EXPECT_FALSE(gone);
  for (const int number : {0, -9, 1000})
    send_whole(waits_.get(), in_words(Tell{.kind = Tell::Kind::signal, .number = number}));
  send_whole(waits_.get(), in_words(Tell{.kind = Tell::Kind::kill}) + "nonsense\n");
  waits_.reset();
  EXPECT_EQ(signals(1, gone), std::vector<int>{});
  EXPECT_TRUE(gone);
  EXPECT_EQ(attachment_.socket(), -1);
}

TEST_F(Attachments, a_command_that_sends_more_than_can_be_meant_is_hung_up_on) {
  connect();
  ::fcntl(waits_.get(), F_SETFL, O_NONBLOCK);
  bool gone = false;
  const std::string endless(16 << 10, 'x');
  for (int i = 0; i < 64 && !gone; ++i) {
    static_cast<void>(!::send(waits_.get(), endless.data(), endless.size(), MSG_NOSIGNAL));
    EXPECT_EQ(attachment_.hear(gone), std::vector<int>{});
  }
  EXPECT_TRUE(gone);
}

TEST_F(Attachments, it_tells_how_the_job_fares) {
  connect();
  RunRecord record;
  record.asked = Asked::limit;
  record.status = 9;
  record.sentence = "Its time was over.";
  attachment_.tell(record, RunPhase::ended);
  const AttachNews news = hear();
  EXPECT_EQ(news.phase, RunPhase::ended);
  EXPECT_EQ(news.asked, Asked::limit);
  EXPECT_EQ(news.status, 9);
  EXPECT_EQ(news.sentence, "Its time was over.");
}

TEST_F(Attachments, what_a_job_writes_that_goes_on_alone_is_kept_in_its_file) {
  const std::string path = fmt::format("{}attachment-left-{}", testing::TempDir(), ::getpid());
  run_.attach.keep = true;
  run_.left_output = path;
  connect();
  files_.clear();
  waits_.reset();
  EXPECT_EQ(attachment_.go_on_alone(run_), "");
  EXPECT_EQ(attachment_.left().size(), 2U) << "its input ends, and is no more";
  EXPECT_FALSE(attachment_.keep_what_is_left(run_, lost_));
  put(attachment_.streams().output, "one ");
  EXPECT_TRUE(attachment_.keep_what_is_left(run_, lost_));
  put(attachment_.streams().error, "two");
  EXPECT_TRUE(attachment_.keep_what_is_left(run_, lost_));
  attachment_.started();  // the job's ends are closed
  EXPECT_FALSE(attachment_.keep_what_is_left(run_, lost_));
  EXPECT_TRUE(attachment_.left().empty());
  std::ifstream file(path);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "one two");
  std::filesystem::remove(path);
}

TEST_F(Attachments, what_cannot_be_written_of_a_job_that_goes_on_alone_is_told_of) {
  const std::string path = fmt::format("{}attachment-full-{}", testing::TempDir(), ::getpid());
  run_.attach.keep = true;
  run_.left_output = path;
  connect();
  ASSERT_EQ(attachment_.go_on_alone(run_), "");
  put(attachment_.streams().output, "four and more");
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const rlimit four{4, before.rlim_max};
  ::signal(SIGXFSZ, SIG_IGN);
  ::setrlimit(RLIMIT_FSIZE, &four);
  const bool any = attachment_.keep_what_is_left(run_, lost_);
  ::setrlimit(RLIMIT_FSIZE, &before);
  ::signal(SIGXFSZ, SIG_DFL);
  EXPECT_TRUE(any);
  EXPECT_NE(lost_.find(path + " could not be written: File too large."), std::string::npos) << lost_;
  EXPECT_EQ(std::filesystem::file_size(path), 4U);
  std::filesystem::remove(path);
}

TEST_F(Attachments, a_file_that_is_none_is_not_waited_for_and_what_is_lost_is_told_of) {
  const std::string path = fmt::format("{}attachment-fifo-{}", testing::TempDir(), ::getpid());
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  run_.attach.keep = true;
  run_.left_output = path;
  connect();
  const std::string why = attachment_.go_on_alone(run_);
  EXPECT_NE(why.find(path + " could not be opened as a file to write to."), std::string::npos) << why;
  put(attachment_.streams().output, "lost");
  EXPECT_TRUE(attachment_.keep_what_is_left(run_, lost_)) << "the job must not wait until its pipe is empty";
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace rota::local
