// What an image looks like, in numbers: the features of Li 2016, colour and local binary patterns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rota::accel_images {

inline constexpr std::size_t kColours = 45;   // hue 5, by 3 of purity, by 3 of brightness
inline constexpr std::size_t kPatterns = 59;  // uniform patterns of 8 neighbours: 58, and one for all others
inline constexpr int kMostSide = 4096;        // pixels
inline constexpr int kLeastSide = 3;          // a pixel with all its neighbours

struct Image {
  std::span<const std::uint8_t> pixels;  // red, green, blue of each, row by row
  int width;
  int height;
};

// The part of the pixels that each bin has; together 1. O(pixels).
void colours_of(const Image& image, std::span<float> bins);
// Likewise the histogram of LBP(8, 1), Ojala 2002, in the grey image; pixels of the border have none. `grey` is
// overwritten.
void patterns_of(const Image& image, std::vector<std::uint8_t>& grey, std::span<float> bins);

}  // namespace rota::accel_images
