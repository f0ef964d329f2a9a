// Licences of several kinds that a job asks for (JobSpec) or holds (Placement). Most have none or one kind: that stands
// in `licence` and `licences`, and the others, by rising id, in `more_licences`. There is a JobSpec for each job, and
// it is copied at every submission: so the others are packed, and a job that has none pays one comparison.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "base/id.h"

namespace rota {

// So many of one kind.
struct LicenceUse {
  LicenceId licence;
  std::uint32_t count = 0;
  bool operator==(const LicenceUse&) const = default;
};

// A short list of them, each in 32 bits.
class MoreLicences {
 public:
  using value_type = LicenceUse;
  static constexpr std::size_t kMost = 7;
  static constexpr std::uint32_t kMostCount = (1U << 20U) - 1;  // of a kind
  static constexpr std::uint32_t kKinds = (1U << 12U) - 1;      // ids below it

  // What it cannot hold, or by halves: a number of none.
  static constexpr bool takes(const LicenceUse& use) {
    return use.licence.value < kKinds && use.count > 0 && use.count <= kMostCount;
  }

  MoreLicences() = default;
  MoreLicences(std::initializer_list<LicenceUse> some);

  bool empty() const { return packed_[0] == 0; }
  std::size_t size() const { return static_cast<std::size_t>(std::ranges::find(packed_, 0U) - packed_.begin()); }
  LicenceUse operator[](std::size_t i) const { return {LicenceId{(packed_[i] >> 20U) - 1}, packed_[i] & kMostCount}; }
  std::vector<LicenceUse> all() const;

  void clear() { packed_ = {}; }
  // False, and nothing is changed: they are too many, or one of them is too large.
  bool assign(const std::vector<LicenceUse>& some);

  // visit(LicenceUse) until it gives false; whether it never did.
  template <class Visit>
  bool each(const Visit& visit) const {
    for (std::size_t i = 0; i < kMost && packed_[i] != 0; ++i) {
      if (!visit((*this)[i])) return false;
    }
    return true;
  }

  bool operator==(const MoreLicences&) const = default;

 private:
  std::array<std::uint32_t, kMost> packed_{};  // 1 more than the id, and the count below it; 0: no more
};

void sort_by_kind(std::vector<LicenceUse>& kinds);

inline constexpr std::size_t kMostLicenceKinds = MoreLicences::kMost + 1;  // of a job

// Whether test(id, count) holds for each kind.
template <class Holder, class Test>
bool all_licences(const Holder& holder, const Test& test) {
  if (!holder.licence.valid()) return true;
  return test(holder.licence, holder.licences) &&
         holder.more_licences.each([&](const LicenceUse& u) { return test(u.licence, u.count); });
}

// visit(id, count) for each kind, by rising id.
template <class Holder, class Visit>
void each_licence(const Holder& holder, const Visit& visit) {
  all_licences(holder, [&](LicenceId id, std::uint32_t count) {
    visit(id, count);
    return true;
  });
}

// How many of that kind.
template <class Holder>
std::uint32_t licences_of(const Holder& holder, LicenceId kind) {
  std::uint32_t count = 0;
  each_licence(holder, [&](LicenceId id, std::uint32_t uses) { count += id == kind ? uses : 0; });
  return count;
}

// Whether of each kind so many are free; `free` is by kind.
template <class Holder>
bool licences_suffice(const std::vector<std::int64_t>& free, const Holder& asked) {
  return all_licences(asked, [&](LicenceId id, std::uint32_t count) { return free[id.value] >= count; });
}

template <class From, class To>
void copy_licences(const From& from, To& to) {
  to.licence = from.licence;
  to.licences = from.licences;
  to.more_licences = from.more_licences;
}

template <class Holder>
void forget_licences(Holder& holder) {
  holder.licence = {};
  holder.licences = 0;
  holder.more_licences.clear();
}

// In whatever order they come, each kind once. False, and there are none: there is no room for so many, or for so large
// a number of one of several.
template <class Holder>
bool set_licences(Holder& holder, std::vector<LicenceUse> kinds) {
  forget_licences(holder);
  if (kinds.empty()) return true;
  sort_by_kind(kinds);
  if (!holder.more_licences.assign({kinds.begin() + 1, kinds.end()})) return false;
  holder.licence = kinds.front().licence;
  holder.licences = kinds.front().count;
  return true;
}

// Whether they stand as they should: by rising id, all below `end`, and further ones only where there is a first.
template <class Holder>
bool licences_in_order(const Holder& holder, std::size_t end) {
  if (!holder.licence.valid()) return holder.more_licences.empty();
  LicenceId last = holder.licence;
  const bool rising = holder.more_licences.each([&](const LicenceUse& u) {
    const bool rises = last < u.licence;
    last = u.licence;
    return rises;
  });
  return rising && last.value < end;
}

}  // namespace rota
