#include "model/licence_use.h"

#include "base/check.h"

namespace rota {

MoreLicences::MoreLicences(std::initializer_list<LicenceUse> some) {
  CHECK(assign(std::vector<LicenceUse>(some)), "they find room");
}

std::vector<LicenceUse> MoreLicences::all() const {
  std::vector<LicenceUse> all;
  all.reserve(size());
  for (std::size_t i = 0; i < size(); ++i) all.push_back((*this)[i]);
  return all;
}

bool MoreLicences::assign(const std::vector<LicenceUse>& some) {
  if (some.size() > kMost || !std::ranges::all_of(some, takes)) return false;
  packed_ = {};
  for (std::size_t i = 0; i < some.size(); ++i) packed_[i] = (some[i].licence.value + 1) << 20U | some[i].count;
  return true;
}

void sort_by_kind(std::vector<LicenceUse>& kinds) { std::ranges::sort(kinds, {}, &LicenceUse::licence); }

}  // namespace rota
