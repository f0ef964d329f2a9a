// For tests: facts as text, field by field from the one table of fields, so that two states can be compared to the
// letter and a difference be read.
#pragma once

#include <fmt/core.h>

#include <string>
#include <vector>

#include "model/fact.h"

namespace rota {

std::string text_of(const Job& job);
std::string text_of(const JobSpec& spec);
std::string text_of(const CycleClosed& fact);
// A line each; not when it was and which number it has.
std::string text_of(const Fact& fact);
std::string text_of_all(const std::vector<Fact>& facts);

// The first line in which two texts differ, of both; empty: they are equal.
inline std::string difference(const std::string& a, const std::string& b) {
  std::size_t from = 0;
  while (from < a.size() || from < b.size()) {
    const std::string one = from < a.size() ? a.substr(from, a.find('\n', from) - from) : "nothing";
    const std::string other = from < b.size() ? b.substr(from, b.find('\n', from) - from) : "nothing";
    if (one != other) return fmt::format("{}\nbut\n{}", one, other);
    from += one.size() + 1;
  }
  return {};
}

}  // namespace rota
