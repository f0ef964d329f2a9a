// A table with dense, ever-growing ids whose dead rows give their memory back: rows live in pages of 64, and a page
// whose rows have all been retired is used again for new ones. What is alive stays in few, warm pages however many rows
// have come and gone, and an id never names two things. Not thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/check.h"

namespace rota {

template <class Row>
class PagedTable {
 public:
  // Rows ever added: the next id.
  std::uint32_t size() const { return size_; }

  // A fresh row; its id is size() before the call. The reference stays good until it is retired.
  Row& add() {
    if (size_ % kRows == 0) {
      if (spare_.empty()) {
        pages_.push_back(std::make_unique<Page>());
      } else {
        pages_.push_back(std::move(spare_.back()));
        spare_.pop_back();
      }
    }
    Page& page = *pages_.back();
    Row& row = page.rows[size_ % kRows];
    row = Row{};
    ++page.alive;
    ++size_;
    return row;
  }

  Row& operator[](std::uint32_t id) { return pages_[id / kRows]->rows[id % kRows]; }
  const Row& operator[](std::uint32_t id) const { return pages_[id / kRows]->rows[id % kRows]; }

  // The row must not be asked for again.
  void retire(std::uint32_t id) {
    std::unique_ptr<Page>& page = pages_[id / kRows];
    CHECK(page && page->alive > 0, "a row is retired once");
    if (--page->alive == 0 && size_ / kRows > id / kRows) spare_.push_back(std::move(page));
  }

 private:
  static constexpr std::uint32_t kRows = 64;
  struct Page {
    std::uint32_t alive = 0;
    std::array<Row, kRows> rows;
  };
  std::vector<std::unique_ptr<Page>> pages_;  // [id / kRows]; nullptr: all its rows are retired
  std::vector<std::unique_ptr<Page>> spare_;
  std::uint32_t size_ = 0;
};

}  // namespace rota
