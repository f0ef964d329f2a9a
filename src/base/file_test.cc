#include "base/file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace rota {
namespace {

namespace fs = std::filesystem;

class FileTest : public testing::Test {
 protected:
  FileTest() {
    std::string pattern = fs::temp_directory_path() / "rota-file-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
  }
  ~FileTest() override { fs::remove_all(folder_); }

  std::string path(const char* name) const { return folder_ / name; }
  std::size_t files() const { return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), {})); }
  static std::string content(const std::string& path) { return read_file(path).value(); }
  static void put(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

  fs::path folder_;
};

TEST_F(FileTest, AppearsWholeAtTheCommit) {
  auto file = OutputFile::create(path("out")).value();
  file.stream() << "hello " << 42 << "\n";
  EXPECT_FALSE(fs::exists(path("out")));
  ASSERT_TRUE(file.commit());
  EXPECT_EQ(content(path("out")), "hello 42\n");
  EXPECT_EQ(files(), 1U);
}

TEST_F(FileTest, LeavesTheOldFileAloneWithoutCommit) {
  put(path("out"), "old");
  {
    auto file = OutputFile::create(path("out")).value();
    file.stream() << "new" << std::flush;
  }
  EXPECT_EQ(content(path("out")), "old");
  EXPECT_EQ(files(), 1U) << "the temporary file is gone";
}

TEST_F(FileTest, KeepsModeAndSymbolicLinkOfWhatItReplaces) {
  put(path("real"), "old");
  ::chmod(path("real").c_str(), 0640);
  fs::create_symlink("real", path("link"));
  auto file = OutputFile::create(path("link")).value();
  file.stream() << "new";
  ASSERT_TRUE(file.commit());
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(content(path("real")), "new");
  struct stat facts{};
  ::stat(path("real").c_str(), &facts);
  EXPECT_EQ(facts.st_mode & 0777U, 0640U);
}

TEST_F(FileTest, WritesThroughALinkToWhatIsNotThereYetAndRefusesACircle) {
  fs::create_symlink("second", path("first"));
  fs::create_symlink("new", path("second"));
  auto file = OutputFile::create(path("first")).value();
  file.stream() << "text";
  ASSERT_TRUE(file.commit());
  EXPECT_TRUE(fs::is_symlink(path("first")) && fs::is_symlink(path("second")));
  EXPECT_EQ(content(path("new")), "text");
  fs::create_symlink("round", path("round"));
  EXPECT_FALSE(OutputFile::create(path("round")));
}

TEST_F(FileTest, WritesToAPipeByTheNameOfItsDescriptor) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  auto file = OutputFile::create("/dev/fd/" + std::to_string(ends[1])).value();
  file.stream() << "text";
  ASSERT_TRUE(file.commit());
  std::array<char, 8> got{};
  EXPECT_EQ(::read(ends[0], got.data(), got.size()), 4);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_F(FileTest, WritesMoreThanItsBufferHolds) {
  auto file = OutputFile::create(path("out")).value();
  const std::string text(1'000'000, 'x');
  for (int i = 0; i < 3; ++i) file.stream() << text;
  ASSERT_TRUE(file.commit());
  EXPECT_EQ(fs::file_size(path("out")), 3'000'000U);
}

TEST_F(FileTest, TellsThatTheDiskIsFull) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  auto file = OutputFile::create("/dev/full").value();
  file.stream() << std::string(1'000'000, 'x');
  EXPECT_TRUE(file.failed());
  EXPECT_EQ(file.commit().error().message,
            "Cannot write /dev/full: No space left on device. Free some space or choose another path.");
}

TEST_F(FileTest, WritesDevicesInPlace) {
  auto file = OutputFile::create("/dev/null").value();
  file.stream() << "gone";
  EXPECT_TRUE(file.commit());
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(FileTest, SaysWhyItCannotWrite) {
  EXPECT_EQ(
      OutputFile::create(path("no/such/out")).error().message,
      fmt::format("Cannot write {}: No such file or directory. Check the spelling of the path.", path("no/such/out")));
  EXPECT_EQ(OutputFile::create(folder_).error().message,
            fmt::format("Cannot write {}: it is a folder.", folder_.string()));
  EXPECT_FALSE(OutputFile::create(""));
}

TEST_F(FileTest, SaysWhyItCannotRead) {
  EXPECT_EQ(InputFile::open(path("none")).error().message,
            fmt::format("Cannot read {}: No such file or directory. Check the spelling of the path.", path("none")));
  EXPECT_EQ(read_file(folder_).error().message,
            fmt::format("Cannot read {}: it is a folder; give a file in it.", folder_.string()));
  EXPECT_FALSE(InputFile::open(""));
}

TEST(MarkedPath, MarksTheNameBeforeItsEnding) {
  EXPECT_EQ(marked_path("out.csv", "easy"), "out-easy.csv");
  EXPECT_EQ(marked_path("may.2024.journal", "texel"), "may.2024-texel.journal");
  EXPECT_EQ(marked_path("log.swf.gz", "easy"), "log-easy.swf.gz");
  EXPECT_EQ(marked_path("log.d/out", "easy+stretch=1.5"), "log.d/out-easy+stretch=1.5");
  EXPECT_EQ(marked_path("log.d/.out", "easy"), "log.d/.out-easy");
  EXPECT_EQ(marked_path(".out.csv", "easy"), ".out-easy.csv");
  EXPECT_EQ(marked_path("", "easy"), "-easy");
}

TEST_F(FileTest, ReadsFilesOfAnySizeUpToItsLimit) {
  const std::string text(200'000, 'y');
  put(path("in"), text);
  EXPECT_EQ(content(path("in")), text);
  EXPECT_EQ(read_file(path("in"), 200'000).value().size(), 200'000U);
  EXPECT_NE(read_file(path("in"), 199'999).error().message.find("is larger than 195.3K"), std::string::npos);
  put(path("empty"), "");
  EXPECT_EQ(content(path("empty")), "");
  EXPECT_EQ(InputFile::open(path("in"))->size(), 200'000);
}

}  // namespace
}  // namespace rota
