// Rows that are far larger than what they are sorted by.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace rota::log {

// Stably, by key(row): keys are sorted, and then each row that does not stand where it belongs moves once. O(rows log
// rows), O(rows) where they stand in order, as those of most logs do.
template <class Row, class Key>
void sort_rows(std::vector<Row>& rows, const Key& key) {
  if (std::ranges::is_sorted(rows, {}, key)) return;
  std::vector<std::pair<decltype(key(rows.front())), std::size_t>> order;
  order.reserve(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) order.emplace_back(key(rows[i]), i);
  std::ranges::sort(order);
  for (std::size_t first = 0; first < order.size(); ++first) {  // along each cycle of the permutation
    if (order[first].second == first) continue;
    Row row = std::move(rows[first]);
    std::size_t to = first;
    for (std::size_t from = order[to].second; from != first; from = order[to].second) {
      rows[to] = std::move(rows[from]);
      order[to].second = to;
      to = from;
    }
    order[to].second = to;
    rows[to] = std::move(row);
  }
}

}  // namespace rota::log
