// The ways in which files are packed: gzip (RFC 1952), Zstandard (RFC 8878) and xz.
#pragma once

#include <cstdint>
#include <string_view>

namespace rota::log {

enum class Packing : std::uint8_t { none, gzip, zstd, xz };

inline constexpr std::size_t kLongestMagic = 6;  // bytes by which a packing is recognised, at most

Packing packing_of(std::string_view first_bytes);  // of a file that begins so, whatever it is called
Packing packing_named(std::string_view path);      // that the ending of a name asks for: .gz, .zst, .xz
// The path without such an ending.
std::string_view without_packing(std::string_view path);

}  // namespace rota::log
