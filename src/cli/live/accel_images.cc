#include "cli/live/accel_images.h"

#include <cstddef>
#include <sstream>
#include <string_view>

#include "base/file.h"
#include "base/text.h"

namespace rota::cli {
namespace {

constexpr std::size_t kMost = std::size_t{1} << 30U;  // bytes of a file

struct Pixels {
  std::int64_t width, height;
  std::string_view bytes;
};

Result<Pixels> pixels_of(const std::string& path, const std::string& file) {
  // P6, width, height and the highest level, each behind blanks or comments; then one blank and the pixels.
  std::istringstream text(file.substr(0, 1000));
  std::int64_t width = 0, height = 0, levels = 0;
  text.ignore(2);
  for (std::int64_t* number : {&width, &height, &levels}) {
    while ((text >> std::ws).peek() == '#') text.ignore(1000, '\n');
    text >> *number;
  }
  constexpr std::int64_t kMostSide = 1'000'000;
  const bool possible = text && width > 0 && width < kMostSide && height > 0 && height < kMostSide && levels == 255;
  const std::size_t from = possible ? static_cast<std::size_t>(text.tellg()) + 1 : 0;
  const auto size = static_cast<std::size_t>(width * height * 3);
  if (!possible || file.size() < from || file.size() - from != size)
    return fail("{} is no whole PPM file (P6) of 255 levels.", shown_path(path));
  return Pixels{width, height, std::string_view(file).substr(from)};
}

}  // namespace

Result<ImageTask> read_images(const std::vector<std::string>& paths) {
  ImageTask task;
  std::string lengths;
  std::string files;
  for (const std::string& path : paths) {
    const std::string file = TRY(read_file(path, kMost));
    if (file.starts_with("\xff\xd8")) {
      for (unsigned byte = 0; byte < 4; ++byte) lengths += static_cast<char>(file.size() >> (8 * byte) & 0xffU);
      files += file;
      continue;
    }
    if (!file.starts_with("P6")) return fail("{} is neither a JPEG file nor a PPM file (P6).", shown_path(path));
    const Pixels pixels = TRY(pixels_of(path, file));
    if (!task.payload.empty() && (pixels.width != task.width || pixels.height != task.height))
      return fail("{} is of {} by {} pixels, and those before it of {} by {}: those of a task are of one size.",
                  shown_path(path), pixels.width, pixels.height, task.width, task.height);
    task.width = pixels.width;
    task.height = pixels.height;
    task.payload += pixels.bytes;
  }
  if (!files.empty() && !task.payload.empty()) return fail("JPEG and PPM files are to be given to tasks of their own.");
  if (!files.empty()) task.payload = lengths + files;
  return task;
}

}  // namespace rota::cli
