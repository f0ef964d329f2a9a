// For tests: a folder of its own, which goes with all that is in it.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <string>

namespace rota::store {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    const std::filesystem::path memory = "/dev/shm";  // where no disk is waited for, if there is such a place
    const bool writable = ::access(memory.c_str(), W_OK) == 0;
    std::string pattern = (writable ? memory : std::filesystem::temp_directory_path()) / "rota-store-XXXXXX";
    path_ = ::mkdtemp(pattern.data());
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }

  const std::filesystem::path& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ / name; }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path_), {}));
  }

 private:
  std::filesystem::path path_;
};

}  // namespace rota::store
