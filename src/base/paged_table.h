// A table whose dense, ever-growing ids are given by the caller, and whose dead rows give their memory back: rows live
// in pages of 64, and a page whose rows have all been retired is used again for new ones. What is alive stays in few,
// warm pages however many rows have come and gone, and the directory follows what is alive too (but for 8 bytes for
// each 32,768 ids ever used). An id never names two things. Not thread-safe.
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
  // A fresh row. The reference stays good until it is retired.
  Row& add(std::uint32_t id) {
    if (page_number(id) != newest_) open_page(id);
    Page& page = *page_of(id);
    CHECK((page.alive & bit(id)) == 0, "a row is added once");
    page.alive |= bit(id);
    Row& row = page.rows[id % kRows];
    row = Row{};
    return row;
  }

  // nullptr: it is not there.
  Row* find(std::uint32_t id) {
    Page* page = live_page(id);
    return page ? &page->rows[id % kRows] : nullptr;
  }
  const Row* find(std::uint32_t id) const { return const_cast<PagedTable*>(this)->find(id); }
  bool contains(std::uint32_t id) const { return find(id) != nullptr; }

  // The row must be there.
  Row& operator[](std::uint32_t id) { return page_of(id)->rows[id % kRows]; }
  const Row& operator[](std::uint32_t id) const { return page_of(id)->rows[id % kRows]; }

  // The row must not be asked for again.
  void retire(std::uint32_t id) {
    Page* page = live_page(id);
    CHECK(page, "a row is retired once");
    page->alive &= ~bit(id);
    if (page->alive == 0 && page_number(id) != newest_) close_page(page_number(id));
  }

  // visit(id, row) for each row, by id.
  template <class Visit>
  void for_each(const Visit& visit) const {
    for (std::size_t part = 0; part < parts_.size(); ++part) {
      if (!parts_[part]) continue;
      for (std::uint32_t p = 0; p < kPages; ++p) {
        const auto& page = parts_[part]->pages[p];
        for (std::uint32_t row = 0; page && row < kRows; ++row) {
          if ((page->alive & bit(row)) == 0) continue;
          visit(static_cast<std::uint32_t>(part) * kPartIds + p * kRows + row, page->rows[row]);
        }
      }
    }
  }

 private:
  static constexpr std::uint32_t kRows = 64;
  static constexpr std::uint32_t kPages = 512;
  static constexpr std::uint32_t kPartIds = kRows * kPages;
  static constexpr std::uint32_t kNoPage = UINT32_MAX;
  struct Page {
    std::uint64_t alive = 0;  // bit r: row r is there
    std::array<Row, kRows> rows;
  };
  struct Part {
    std::uint32_t open = 0;  // pages
    std::array<std::unique_ptr<Page>, kPages> pages;
  };

  static std::uint32_t page_number(std::uint32_t id) { return id / kRows; }
  static std::uint64_t bit(std::uint32_t id) { return std::uint64_t{1} << (id % kRows); }
  Page* page_of(std::uint32_t id) const { return parts_[id / kPartIds]->pages[page_number(id) % kPages].get(); }

  // nullptr: the row is not there.
  Page* live_page(std::uint32_t id) const {
    const std::size_t part = id / kPartIds;
    if (part >= parts_.size() || !parts_[part]) return nullptr;
    Page* page = parts_[part]->pages[page_number(id) % kPages].get();
    return page && (page->alive & bit(id)) != 0 ? page : nullptr;
  }

  // The page of the row that was added last stays open while it is empty.
  void open_page(std::uint32_t id) {
    const std::uint32_t before = newest_;
    newest_ = page_number(id);
    if (before != kNoPage && page_of(before * kRows)->alive == 0) close_page(before);
    const std::size_t part = id / kPartIds;
    if (part >= parts_.size()) parts_.resize(part + 1);
    if (!parts_[part]) parts_[part] = std::make_unique<Part>();
    std::unique_ptr<Page>& page = parts_[part]->pages[newest_ % kPages];
    if (page) return;
    ++parts_[part]->open;
    if (spare_.empty()) {
      page = std::make_unique<Page>();
    } else {
      page = std::move(spare_.back());
      spare_.pop_back();
    }
  }

  void close_page(std::uint32_t number) {
    std::unique_ptr<Part>& part = parts_[number / kPages];
    spare_.push_back(std::move(part->pages[number % kPages]));
    if (--part->open == 0 && number / kPages != newest_ / kPages) part.reset();
  }

  std::vector<std::unique_ptr<Part>> parts_;  // [id / kPartIds]; nullptr: all its rows are retired
  std::vector<std::unique_ptr<Page>> spare_;
  std::uint32_t newest_ = kNoPage;  // number of the page to which a row was added last
};

}  // namespace rota
