#include "model/job_request.h"

#include <algorithm>
#include <concepts>
#include <type_traits>

namespace rota {

KeptTexts kept_texts(const JobRequest& request) {
  KeptTexts kept;
  each_wish([&](const auto& wish) {
    if constexpr (std::same_as<std::remove_cvref_t<decltype(request.*wish.member)>, std::string>) {
      const std::string& text = request.*wish.member;
      if (wish.kept != KeptAs::nothing && !text.empty()) kept.emplace_back(wish.name, text);
    }
  });
  return kept;
}

std::string text_of(const KeptTexts& kept, std::string_view name) {
  const auto found = std::ranges::find(kept, name, &KeptTexts::value_type::first);
  return found == kept.end() ? "" : found->second;
}

NodeWishTexts node_wish_texts(const KeptTexts& kept) {
  return {text_of(kept, "features"), text_of(kept, "required_nodes"), text_of(kept, "excluded_nodes")};
}

void set_text(KeptTexts& kept, std::string_view name, const std::string& text) {
  std::erase_if(kept, [&](const auto& one) { return one.first == name; });
  if (!text.empty()) kept.emplace_back(name, text);
}

std::vector<std::string_view> labels() {
  std::vector<std::string_view> names;
  each_wish([&](const auto& wish) {
    if (wish.kept == KeptAs::label) names.push_back(wish.name);
  });
  return names;
}

}  // namespace rota
