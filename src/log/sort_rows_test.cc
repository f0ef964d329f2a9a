#include "log/sort_rows.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>

namespace rota::log {
namespace {

RC_GTEST_PROP(SortRows, sorts_as_a_stable_sort_does, (std::vector<std::pair<unsigned char, std::string>> rows)) {
  const auto key = [](const std::pair<unsigned char, std::string>& row) { return row.first % 4; };
  auto wanted = rows;
  std::ranges::stable_sort(wanted, {}, key);
  sort_rows(rows, key);
  RC_ASSERT(rows == wanted);
}

}  // namespace
}  // namespace rota::log
