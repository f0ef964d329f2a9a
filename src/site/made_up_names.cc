#include "site/made_up_names.h"

#include <algorithm>

namespace rota::site {
namespace {

constexpr std::array<std::string_view, MadeUpNames::kKinds> kWords{"user",    "account", "qos",    "partition",
                                                                   "licence", "node",    "feature"};

std::string numbered(MadeUpNames::Of kind, std::uint32_t number) {
  return std::string(kWords[static_cast<std::size_t>(kind)]) + std::to_string(number);
}

}  // namespace

void MadeUpNames::number(Of kind, std::string_view real, std::uint32_t number) {
  Kind& of = kinds_[static_cast<std::size_t>(kind)];
  of.names.try_emplace(std::string(real), numbered(kind, number));
  of.last = std::max(of.last, number);
}

std::string_view MadeUpNames::name(Of kind, std::string_view real) {
  if (real.empty() || (kind == Of::account && real == "root")) return real;
  Kind& of = kinds_[static_cast<std::size_t>(kind)];
  const auto [at, fresh] = of.names.try_emplace(std::string(real));
  if (fresh) at->second = numbered(kind, ++of.last);
  return at->second;
}

}  // namespace rota::site
