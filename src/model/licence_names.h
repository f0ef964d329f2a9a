// Licences by name, as people ask for them: "matlab:2,simulink".
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace rota {

inline constexpr std::int64_t kMostLicencesAsked = 1'000'000;  // of one kind

struct NamedLicences {
  std::string name;
  std::uint32_t count = 1;
  auto operator<=>(const NamedLicences&) const = default;
};

// Names with how many (1 where that is not said), and commas between them; of kMostLicenceKinds at most. The error is a
// whole sentence.
Result<std::vector<NamedLicences>> parse_named_licences(std::string_view text);

// Keeps what a job can ask for: of a name that is there twice the last, no name that is empty or has a colon or comma
// in it, kMostLicencesAsked of each and kMostLicenceKinds kinds at most. False: something else was left out.
bool keep_askable(std::vector<NamedLicences>& licences);

// The text that parse_named_licences() reads; one licence goes without its number.
std::string named_licences_text(std::span<const NamedLicences> licences);

}  // namespace rota
