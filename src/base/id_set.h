// A set of small numbers as bits, with one summary bit for each word: insert and erase are O(1), the next member is
// found by looking at n / 4096 words at most. Not thread-safe.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

namespace rota {

class IdSet {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  explicit IdSet(std::size_t ids) : words_((ids + 63) / 64), summary_((words_.size() + 63) / 64) {}

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  bool contains(std::uint32_t id) const { return (words_[id / 64] >> (id % 64) & 1U) != 0; }

  // Does nothing if it is a member.
  void insert(std::uint32_t id) {
    if (contains(id)) return;
    words_[id / 64] |= bit(id);
    summary_[id / 4096] |= bit(id / 64);
    ++size_;
  }
  // Does nothing if it is none.
  void erase(std::uint32_t id) {
    if (!contains(id)) return;
    words_[id / 64] &= ~bit(id);
    if (words_[id / 64] == 0) summary_[id / 4096] &= ~bit(id / 64);
    --size_;
  }

  // The least member that is `from` or greater; kNone: there is none.
  std::uint32_t next(std::uint32_t from) const {
    std::uint32_t word = from / 64;
    if (size_ == 0 || word >= words_.size()) return kNone;
    if (const std::uint64_t rest = words_[word] >> (from % 64)) return from + lowest(rest);
    if (++word >= words_.size()) return kNone;
    std::uint32_t top = word / 64;
    std::uint64_t rest = summary_[top] >> (word % 64) << (word % 64);
    while (rest == 0) {
      if (++top >= summary_.size()) return kNone;
      rest = summary_[top];
    }
    word = top * 64 + lowest(rest);
    return word * 64 + lowest(words_[word]);
  }
  std::uint32_t first() const { return next(0); }

  // The least member of both, which have room for the same ids, that is `from` or greater; kNone: there is none. Looks
  // at the words in which both have members.
  std::uint32_t next_in(const IdSet& other, std::uint32_t from) const {
    std::uint32_t word = from / 64;
    if (size_ == 0 || word >= words_.size()) return kNone;
    std::uint64_t both = (words_[word] & other.words_[word]) >> (from % 64) << (from % 64);
    while (both == 0) {
      if (++word >= words_.size()) return kNone;
      std::uint32_t top = word / 64;
      std::uint64_t rest = (summary_[top] & other.summary_[top]) >> (word % 64) << (word % 64);
      while (rest == 0) {
        if (++top >= summary_.size()) return kNone;
        rest = summary_[top] & other.summary_[top];
      }
      word = top * 64 + lowest(rest);
      both = words_[word] & other.words_[word];
    }
    return word * 64 + lowest(both);
  }

 private:
  static std::uint64_t bit(std::uint32_t id) { return std::uint64_t{1} << (id % 64); }
  static std::uint32_t lowest(std::uint64_t bits) { return static_cast<std::uint32_t>(std::countr_zero(bits)); }

  std::vector<std::uint64_t> words_;
  std::vector<std::uint64_t> summary_;  // bit w: words_[w] is not zero
  std::size_t size_ = 0;
};

}  // namespace rota
