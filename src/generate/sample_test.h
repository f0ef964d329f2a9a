// For tests, after gtest/gtest.h: real and sample logs that lie outside the repository, and what to say where they do
// not.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace rota::generate {

// The folder of logs: $ROTA_SHARED, else ../shared beside the repository.
inline std::filesystem::path shared_folder() {
  const char* const set = std::getenv("ROTA_SHARED");  // NOLINT(concurrency-mt-unsafe): tests do not set it
  return set != nullptr ? std::filesystem::path(set) : std::filesystem::path(ROTA_SOURCE_DIR) / ".." / "shared";
}

}  // namespace rota::generate

#define SKIP_WITHOUT(path)            \
  if (!std::filesystem::exists(path)) \
  GTEST_SKIP() << (path) << " is not here; set ROTA_SHARED to the folder that has it"
