// JPEG files as pixels, by libturbojpeg where the computer has it: it is opened at the start. Files are
// anyone's: what is wrong with one is a sentence, and memory is bounded by the largest image that there may be.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "accel_images/features.h"

namespace rota::accel_images {

class Jpeg {
 public:
  Jpeg();

  // Whether the library is here.
  bool usable() const { return functions_ != nullptr; }
  // The pixels of a file, until the next one is read; of 3 to 4096 by 3 to 4096 pixels. Empty: `why` says what is wrong
  // with it. A file that is cut off, or has more than 500 scans, is wrong. O(pixels).
  Image read(std::span<const std::uint8_t> file, std::string& why);

 private:
  struct Functions;

  const Functions* functions_;  // null: there are none
  std::vector<std::uint8_t> pixels_;
};

}  // namespace rota::accel_images
