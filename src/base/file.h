// Files as Rota reads and writes them: every failure is a sentence with the path and the system's reason, and an output
// file appears whole or not at all.
#pragma once

#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace rota {

// A path for messages: quoted where it would not print.
std::string shown_path(const std::string& path);

// Whether two paths lead to one file, also where it is not there yet. Devices, pipes and "-" are no such file.
bool same_file(const std::string& a, const std::string& b);

// A path for one of several files that belong together: "-mark" before the ending of the name, ".gz" and the like
// behind another ending included; "log.d/out.csv" becomes "log.d/out-mark.csv".
std::string marked_path(const std::string& path, std::string_view mark);

// The folder that a file stands in: "log.d" of "log.d/out.csv", "." of "out.csv".
std::string folder_of(const std::string& path);

// Where a shared object of Rota's own may lie, the first that is there counts: beside the program, or in ../lib/rota,
// as the package has it.
std::vector<std::string> places_of_shared_object(const std::string& name);

// So that the names in a folder are there after a power failure, too. Best effort: some file systems refuse it, and
// what the files hold is not its matter.
void sync_folder(const std::string& folder);

// A file opened for reading; "-" is standard input. Closes on destruction. Not thread-safe.
class InputFile {
 public:
  static Result<InputFile> open(const std::string& path);
  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&& other) noexcept;
  ~InputFile();

  // Reads up to `most` bytes into buffer; 0 at the end only.
  Result<std::size_t> read(char* buffer, std::size_t most);
  std::int64_t size() const { return size_; }  // bytes of a regular file when it was opened; -1: a pipe or device
  const std::string& shown() const { return shown_; }  // the path for messages; "standard input"

 private:
  InputFile(int descriptor, std::int64_t size, std::string shown);
  int descriptor_ = -1;
  std::int64_t size_ = -1;
  std::string shown_;
};

// The whole file as a string; more than `most` bytes fail. For configuration files and the like.
Result<std::string> read_file(const std::string& path, std::size_t most = std::size_t{64} << 20U);

// A file being written: goes to a temporary file beside the target (one without a name where the system can do that, so
// that nothing is left of it even if the process is killed), and takes the target's name in commit(), so that no reader
// ever sees half of it. Without commit() the temporary file is removed and the target stays as it was. "-" is standard
// output; devices and pipes (/dev/null, /dev/full) are written as they are.
class OutputFile {
 public:
  static Result<OutputFile> create(const std::string& path);
  OutputFile(OutputFile&&) noexcept;
  OutputFile& operator=(OutputFile&&) noexcept;
  ~OutputFile();

  // Buffered. A failed write is remembered and told by commit(); until then writing goes on without effect.
  std::ostream& stream();
  bool failed() const;    // some write has failed: no use in going on
  Result<void> commit();  // flushes, syncs to disk and renames; at most once

 private:
  struct State;
  explicit OutputFile(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace rota
