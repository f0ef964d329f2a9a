#include "engine/local/file_readings.h"

#include <fmt/core.h>

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <fstream>
#include <optional>

#include "engine/local/desk_test.h"
#include "engine/local/file_reader.h"
#include "process/descriptor.h"

namespace rota::local {

using process::Descriptor;

namespace {

class FileReadingsTest : public testing::Test {
 protected:
  FileReadingsTest() { desk_.open(); }
  std::string path(const std::string& name) const { return fmt::format("{}/{}", desk_.work(), name); }
  OutputReader::Piece piece(const std::string& file, std::int64_t from = 0) {
    std::optional<OutputReader::Piece> piece;
    const OutputReader::Wanted wanted{
        .job = JobId{1}, .uid = ::geteuid(), .gid = ::getegid(), .user = {}, .file = file, .from = from};
    EXPECT_TRUE(
        desk_.engine().output_reader()->begin(wanted, [&](OutputReader::Piece got) { piece = std::move(got); }));
    EXPECT_TRUE(desk_.wait([&] { return piece.has_value(); }));
    return piece.value_or(OutputReader::Piece{});
  }
  Desk desk_;
};

TEST_F(FileReadingsTest, a_piece_is_what_comes_behind_a_byte) {
  std::ofstream(path("out")) << "one\ntwo\n";
  EXPECT_EQ(piece(path("out")).bytes, "one\ntwo\n");
  EXPECT_EQ(piece(path("out"), 4).bytes, "two\n");
  EXPECT_EQ(piece(path("out"), 4).size, 8);
  EXPECT_EQ(piece(path("out"), 100).bytes, "");
}

TEST_F(FileReadingsTest, a_piece_is_no_longer_than_the_most) {
  std::ofstream(path("out")) << std::string(kMostRead, 'x') << "end";
  const OutputReader::Piece first = piece(path("out"));
  EXPECT_EQ(first.bytes, std::string(kMostRead, 'x'));
  EXPECT_EQ(first.size, kMostRead + 3);
  EXPECT_EQ(piece(path("out"), kMostRead).bytes, "end");
}

TEST_F(FileReadingsTest, what_is_not_there_or_no_plain_file_is_an_error) {
  EXPECT_EQ(piece(path("out")).error, ENOENT);
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(piece(path("pipe")).error, EINVAL);
  EXPECT_EQ(piece("/dev/zero").error, EINVAL);
  EXPECT_EQ(piece("/proc/self/fd/0").error, ENXIO) << "a reader shows nothing of its own";
}

TEST_F(FileReadingsTest, a_reader_that_cannot_be_asked_is_told_from_a_file_that_hangs) {
  std::ofstream(path("out")) << "out";
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  const Descriptor next(::dup(STDIN_FILENO));
  const rlimit none{static_cast<rlim_t>(next.get()) + 1, before.rlim_max};
  ::setrlimit(RLIMIT_NOFILE, &none);
  EXPECT_EQ(piece(path("out")).error, EAGAIN);
  ::setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_EQ(piece(path("out")).bytes, "out");
}

TEST_F(FileReadingsTest, a_reader_that_dies_while_it_reads_is_told_from_a_file_that_hangs) {
  std::ofstream(path("out")) << "out";
  const pid_t spawner = desk_.engine().spawner();
  ::kill(spawner, SIGSTOP);  // it has not read what it is asked for
  std::optional<OutputReader::Piece> got;
  const OutputReader::Wanted wanted{
      .job = JobId{1}, .uid = ::geteuid(), .gid = ::getegid(), .user = {}, .file = path("out"), .from = 0};
  ASSERT_TRUE(
      desk_.engine().output_reader()->begin(wanted, [&](OutputReader::Piece piece) { got = std::move(piece); }));
  ::kill(spawner, SIGKILL);
  ASSERT_TRUE(desk_.wait([&] { return got.has_value(); }));
  EXPECT_EQ(got.value_or(OutputReader::Piece{}).error, EAGAIN);
}

TEST_F(FileReadingsTest, another_spawner_reads_when_one_is_gone) {
  std::ofstream(path("out")) << "out";
  ::kill(desk_.engine().spawner(), SIGKILL);
  const int error = piece(path("out")).error;
  EXPECT_TRUE(error == 0 || error == EAGAIN) << "it may have been asked before its end was heard";
  EXPECT_EQ(piece(path("out")).bytes, "out");
}

}  // namespace
}  // namespace rota::local
