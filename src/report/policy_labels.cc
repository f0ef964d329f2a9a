#include "report/policy_labels.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

namespace rota::report {
namespace {

constexpr std::size_t kLongest = 40;  // characters of a text that is its own label

std::string_view first_word(std::string_view text) { return text.substr(0, text.find_first_of("+ ")); }

}  // namespace

std::vector<std::string> policy_labels(std::span<const std::string> texts) {
  std::vector<std::string> labels;
  std::map<std::string_view, std::string> known;
  for (const std::string& text : texts) {
    const std::string_view word = first_word(text);
    const auto [at, is_new] = known.try_emplace(text, text);
    if (is_new && text.size() > kLongest) {
      const bool shared = std::ranges::any_of(
          texts, [&](const std::string& other) { return other != text && first_word(other) == word; });
      const auto taken = [&](const std::string& label) {
        return std::ranges::count(labels, label) + std::ranges::count(texts, label) > 0;
      };
      at->second = word;
      for (int n = 1; shared && (n == 1 || taken(at->second)); ++n) at->second = fmt::format("{}-{}", word, n);
    }
    labels.push_back(at->second);
  }
  return labels;
}

void call_by_labels(std::span<Summary> summaries) {
  std::vector<std::string> texts;
  for (const Summary& summary : summaries) texts.push_back(summary.policy);
  const std::vector<std::string> labels = policy_labels(texts);
  for (std::size_t i = 0; i < summaries.size(); ++i) summaries[i].label = labels[i];
}

std::vector<std::pair<std::string, std::string>> labelled(std::span<const Summary> summaries) {
  std::vector<std::pair<std::string, std::string>> all;
  for (const Summary& summary : summaries) {
    const std::pair label(summary.name(), summary.policy);
    if (label.first != label.second && std::ranges::count(all, label) == 0) all.push_back(label);
  }
  return all;
}

}  // namespace rota::report
