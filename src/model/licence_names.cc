#include "model/licence_names.h"

#include <algorithm>

#include "base/text.h"
#include "model/licence_use.h"

namespace rota {

Result<std::vector<NamedLicences>> parse_named_licences(std::string_view text) {
  std::vector<NamedLicences> all;
  for (const std::string_view piece : split(text, ',')) {
    const auto colon = piece.find(':');
    const std::string_view name = trimmed(piece.substr(0, colon));
    const auto count =
        colon == std::string_view::npos ? Result<std::int64_t>(1) : parse_integer(trimmed(piece.substr(colon + 1)));
    if (name.empty() || !count || *count < 1 || *count > kMostLicencesAsked) {
      return fail("licences are names, each alone or with how many, such as matlab:4,simulink, not {}.", quoted(text));
    }
    if (std::ranges::find(all, name, &NamedLicences::name) != all.end())
      return fail("the licence {} is there twice in {}.", quoted(name), quoted(text));
    if (all.size() == kMostLicenceKinds)
      return fail("a job may hold licences of {} kinds at most, and {} names more.", kMostLicenceKinds, quoted(text));
    all.push_back({std::string(name), static_cast<std::uint32_t>(*count)});
  }
  return all;
}

bool keep_askable(std::vector<NamedLicences>& licences) {
  bool all = true;
  std::vector<NamedLicences> kept;
  for (NamedLicences& each : licences) {
    const auto known = std::ranges::find(kept, each.name, &NamedLicences::name);
    if (each.name.empty() || each.name.find_first_of(":,") != std::string::npos || each.count < 1 ||
        each.count > kMostLicencesAsked || (known == kept.end() && kept.size() == kMostLicenceKinds)) {
      all = false;
    } else if (known != kept.end()) {
      known->count = each.count;
    } else {
      kept.push_back(std::move(each));
    }
  }
  licences = std::move(kept);
  return all;
}

std::string named_licences_text(std::span<const NamedLicences> licences) {
  std::string text;
  for (const NamedLicences& each : licences) {
    if (!text.empty()) text += ',';
    text += each.name;
    if (each.count != 1) text += ":" + std::to_string(each.count);
  }
  return text;
}

}  // namespace rota
