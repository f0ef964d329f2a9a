// Image files as the payload of a task of the backend `images`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace rota::cli {

struct ImageTask {
  std::int64_t width = 0;  // 0 by 0: JPEG files
  std::int64_t height = 0;
  std::string payload;
};

// All are JPEG files, or all are PPM files (P6, 255 levels) of one size; what they are is seen by their first bytes.
// Fails with a sentence.
Result<ImageTask> read_images(const std::vector<std::string>& paths);

}  // namespace rota::cli
