#include "accel_images/features.h"

#include <algorithm>
#include <array>

namespace rota::accel_images {
namespace {

constexpr int kLevels = 256;
constexpr unsigned kNeighbours = 8;

// The bin of each pattern: those with at most two changes between 0 and 1 around the circle have one of their own.
constexpr std::array<std::uint8_t, kLevels> kBinOf = [] {
  std::array<std::uint8_t, kLevels> bins{};
  std::uint8_t next = 0;
  for (unsigned pattern = 0; pattern < kLevels; ++pattern) {
    int changes = 0;
    for (unsigned bit = 0; bit < kNeighbours; ++bit)
      changes += ((pattern >> bit) & 1U) != ((pattern >> ((bit + 1) % kNeighbours)) & 1U) ? 1 : 0;
    bins.at(pattern) = changes <= 2 ? next++ : static_cast<std::uint8_t>(kPatterns - 1);
  }
  return bins;
}();

std::size_t colour_bin(int red, int green, int blue) {
  constexpr int kGrey = 24;  // of so little difference no hue is told
  constexpr int kSteps = 3;
  const int high = std::max({red, green, blue});
  const int chroma = high - std::min({red, green, blue});
  int hue = 3;
  if (chroma < kGrey) {
    hue = 0;
  } else if (high == red) {
    hue = green >= blue ? 1 : 4;
  } else if (high == green) {
    hue = 2;
  }
  return static_cast<std::size_t>(hue * kSteps * kSteps + chroma * kSteps / kLevels * kSteps + high * kSteps / kLevels);
}

// Patterns of the inner pixels of one row, between two others. Without a branch, so that it is done for many at once.
void patterns_of_row(const std::uint8_t* above, const std::uint8_t* row, const std::uint8_t* below, int width,
                     std::uint8_t* patterns) {
  for (int x = 1; x < width - 1; ++x) {
    const std::uint8_t c = row[x];
    const auto bit = [c](std::uint8_t neighbour, int place) { return (neighbour >= c ? 1 : 0) << place; };
    patterns[x] =
        static_cast<std::uint8_t>(bit(above[x - 1], 0) | bit(above[x], 1) | bit(above[x + 1], 2) | bit(row[x + 1], 3) |
                                  bit(below[x + 1], 4) | bit(below[x], 5) | bit(below[x - 1], 6) | bit(row[x - 1], 7));
  }
}

void to_grey(std::span<const std::uint8_t> pixels, std::vector<std::uint8_t>& grey) {
  grey.resize(pixels.size() / 3);
  for (std::size_t i = 0; i < grey.size(); ++i)
    grey[i] =
        static_cast<std::uint8_t>((77U * pixels[3 * i] + 150U * pixels[3 * i + 1] + 29U * pixels[3 * i + 2]) / kLevels);
}

}  // namespace

void colours_of(const Image& image, std::span<float> bins) {
  std::array<std::uint32_t, kColours> counts{};
  const std::size_t all = image.pixels.size() / 3;
  for (std::size_t i = 0; i < all; ++i)
    ++counts.at(colour_bin(image.pixels[3 * i], image.pixels[3 * i + 1], image.pixels[3 * i + 2]));
  for (std::size_t i = 0; i < kColours; ++i) bins[i] = static_cast<float>(counts.at(i)) / static_cast<float>(all);
}

void patterns_of(const Image& image, std::vector<std::uint8_t>& grey, std::span<float> bins) {
  to_grey(image.pixels, grey);
  std::array<std::uint32_t, kLevels> counts{};
  std::array<std::uint8_t, kMostSide> patterns{};
  for (int y = 1; y < image.height - 1; ++y) {
    const std::uint8_t* row = grey.data() + static_cast<std::ptrdiff_t>(y) * image.width;
    patterns_of_row(row - image.width, row, row + image.width, image.width, patterns.data());
    for (int x = 1; x < image.width - 1; ++x) ++counts[patterns[static_cast<std::size_t>(x)]];
  }
  const auto inner = static_cast<float>((image.width - 2) * (image.height - 2));
  std::array<std::uint32_t, kPatterns> uniform{};
  for (std::size_t pattern = 0; pattern < kLevels; ++pattern) uniform.at(kBinOf.at(pattern)) += counts.at(pattern);
  for (std::size_t i = 0; i < kPatterns; ++i) bins[i] = static_cast<float>(uniform.at(i)) / inner;
}

}  // namespace rota::accel_images
