#include "log/packing.h"

#include <array>

namespace rota::log {
namespace {

struct Kind {
  Packing packing;
  std::string_view magic;
  std::string_view ending;
};
using namespace std::string_view_literals;

constexpr std::array kKinds{Kind{Packing::gzip, "\x1f\x8b"sv, ".gz"sv},
                            Kind{Packing::zstd, "\x28\xb5\x2f\xfd"sv, ".zst"sv},
                            Kind{Packing::xz, "\xfd\x37zXZ\0"sv, ".xz"sv}};

}  // namespace

Packing packing_of(std::string_view first_bytes) {
  for (const Kind& kind : kKinds) {
    if (first_bytes.starts_with(kind.magic)) return kind.packing;
  }
  return Packing::none;
}

Packing packing_named(std::string_view path) {
  for (const Kind& kind : kKinds) {
    if (path.ends_with(kind.ending)) return kind.packing;
  }
  return Packing::none;
}

std::string_view without_packing(std::string_view path) {
  for (const Kind& kind : kKinds) {
    if (path.ends_with(kind.ending)) return path.substr(0, path.size() - kind.ending.size());
  }
  return path;
}

}  // namespace rota::log
