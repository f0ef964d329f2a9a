// An ordered set whose every subtree carries a summary, so that "the first entry that ..." and "the sum up to ..." cost
// O(log n): a B+ tree with lazy removal (a node goes when it is empty). While it is small it is one sorted array.
//
// Entry:   cheap to copy; `using Key = ...; Key key() const;` keys are unique and ordered by <.
// Summary: default is that of nothing; add(const Entry&) and add(const Summary&) take more in;
//          bool remove(const Entry&) takes an entry out, or returns false if the summary must be made anew.
// Pointers returned stay good until the next insert or erase. Not thread-safe.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace rota {

template <class Entry, class Summary>
class OrderedTree {
 public:
  using Key = typename Entry::Key;

  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  const Summary& total() const { return total_; }

  void insert(const Entry& entry) {
    if (leaves_.empty()) {
      root_ = new_node(leaves_, free_leaves_);
      height_ = 0;
    }
    total_.add(entry);
    ++size_;
    const Split split = height_ == 0 ? insert_in_leaf(root_, entry) : insert_in_inner(root_, height_, entry);
    if (split.happened) grow(split);
  }

  // Removes the entry with this key; false if there is none.
  bool erase(const Key& key) {
    if (size_ == 0) return false;
    Entry gone;
    const bool found = height_ == 0 ? erase_in_leaf(root_, key, gone) : erase_in_inner(root_, height_, key, gone);
    if (!found) return false;
    if (--size_ == 0 && height_ > 0) {
      clear();
      return true;
    }
    if (!total_.remove(gone)) total_ = summary_of(root_, height_);
    while (height_ > 0 && inners_[root_].count == 1) {
      const std::uint32_t child = inners_[root_].child[0];
      free_inners_.push_back(root_);
      root_ = child;
      --height_;
    }
    return true;
  }

  void clear() { *this = OrderedTree(); }

  // nullptr if empty.
  const Entry* first() const {
    if (size_ == 0) return nullptr;
    std::uint32_t node = root_;
    for (int level = height_; level > 0; --level) node = inners_[node].child[0];
    return &leaves_[node].entry[0];
  }

  // The first entry for which yes(entry) holds. may(summary) must hold for every summary over such an entry; the better
  // it rules out the others, the fewer nodes are looked at.
  template <class May, class Yes>
  const Entry* find(const May& may, const Yes& yes) const {
    return size_ == 0 ? nullptr : find_in(root_, height_, nullptr, may, yes);
  }

  // The first such entry with a key greater than `after`.
  template <class May, class Yes>
  const Entry* find_after(const Key& after, const May& may, const Yes& yes) const {
    return size_ == 0 ? nullptr : find_in(root_, height_, &after, may, yes);
  }

  // The first entry e for which reached(summary of all entries up to and including e) holds; nullptr if none does.
  // reached must stay true once it is true.
  template <class Reached>
  const Entry* seek(const Reached& reached) const {
    Summary sum;
    bool cut = false;
    return seek(reached, [](const Entry&, const Entry&) { return false; }, sum, cut);
  }
  // Finds that entry; `sum` becomes the summary up to the last entry in a row for which same(e, entry) holds; cut says
  // whether the row may go on beyond what was looked at.
  template <class Reached, class Same>
  const Entry* seek(const Reached& reached, const Same& same, Summary& sum, bool& cut) const {
    Summary so_far;
    if (size_ == 0 || !reached(total_)) return nullptr;
    std::uint32_t node = root_;
    for (int level = height_; level > 0; --level) {
      const Inner& inner = inners_[node];
      unsigned i = 0;
      for (;; ++i) {
        Summary with = so_far;
        with.add(inner.summary[i]);
        if (i + 1U == inner.count || reached(with)) break;
        so_far = with;
      }
      node = inner.child[i];
    }
    const Leaf& leaf = leaves_[node];
    for (unsigned i = 0; i < leaf.count; ++i) {
      so_far.add(leaf.entry[i]);
      if (!reached(so_far)) continue;
      const Entry* found = &leaf.entry[i];
      for (++i; i < leaf.count && same(*found, leaf.entry[i]); ++i) so_far.add(leaf.entry[i]);
      sum = so_far;
      cut = i == leaf.count && height_ > 0;
      return found;
    }
    return nullptr;
  }

  // The summary of all entries with key <= last.
  Summary up_to(const Key& last) const {
    Summary sum;
    if (size_ == 0) return sum;
    std::uint32_t node = root_;
    for (int level = height_; level > 0; --level) {
      const Inner& inner = inners_[node];
      const unsigned at = child_for(inner, last);
      for (unsigned i = 0; i < at; ++i) sum.add(inner.summary[i]);
      node = inner.child[at];
    }
    const Leaf& leaf = leaves_[node];
    for (unsigned i = 0; i < leaf.count && !(last < leaf.entry[i].key()); ++i) sum.add(leaf.entry[i]);
    return sum;
  }

  // Visits entries in order until visit(entry) returns false; false if it did.
  template <class Visit>
  bool for_each(const Visit& visit) const {
    return size_ == 0 || visit_in(root_, height_, visit);
  }

 private:
  static constexpr unsigned kFan = 32;

  struct Leaf {
    unsigned count = 0;
    std::array<Entry, kFan> entry;
  };
  struct Inner {
    unsigned count = 0;
    std::array<std::uint32_t, kFan> child;
    std::array<Key, kFan> last;  // no key in child[i] is greater; every key in child[i + 1] is
    std::array<Summary, kFan> summary;
  };
  struct Split {
    bool happened = false;
    std::uint32_t right = 0;
    Key left_last{};
  };

  // How many of the first `count` items come before the key; branch-free.
  template <class T, class KeyOf>
  static unsigned count_before(const std::array<T, kFan>& items, unsigned count, const Key& key, const KeyOf& key_of) {
    unsigned begin = 0;
    while (count > 0) {
      const unsigned half = count / 2;
      const bool before = key_of(items[begin + half]) < key;
      begin = before ? begin + half + 1 : begin;
      count = before ? count - half - 1 : half;
    }
    return begin;
  }
  static unsigned place_in(const Leaf& leaf, const Key& key) {
    return count_before(leaf.entry, leaf.count, key, [](const Entry& e) { return e.key(); });
  }
  // The child in which the key is, or belongs.
  static unsigned child_for(const Inner& inner, const Key& key) {
    return count_before(inner.last, inner.count - 1, key, [](const Key& k) { return k; });
  }

  template <class Node>
  static std::uint32_t new_node(std::vector<Node>& nodes, std::vector<std::uint32_t>& unused) {
    if (unused.empty()) {
      nodes.emplace_back();
      return static_cast<std::uint32_t>(nodes.size() - 1);
    }
    const std::uint32_t node = unused.back();
    unused.pop_back();
    nodes[node].count = 0;
    return node;
  }

  // Moves the upper half of `from` to the new, empty node `to`.
  template <class T>
  static void move_half(std::array<T, kFan>& from, std::array<T, kFan>& to) {
    std::copy(from.begin() + kFan / 2, from.end(), to.begin());
  }
  template <class T>
  static void open_gap(std::array<T, kFan>& items, unsigned at, unsigned count) {
    std::move_backward(items.begin() + at, items.begin() + count, items.begin() + count + 1);
  }
  template <class T>
  static void close_gap(std::array<T, kFan>& items, unsigned at, unsigned count) {
    std::move(items.begin() + at + 1, items.begin() + count, items.begin() + at);
  }

  Summary summary_of(std::uint32_t node, int level) const {
    Summary sum;
    if (level == 0) {
      for (unsigned i = 0; i < leaves_[node].count; ++i) sum.add(leaves_[node].entry[i]);
    } else {
      for (unsigned i = 0; i < inners_[node].count; ++i) sum.add(inners_[node].summary[i]);
    }
    return sum;
  }

  Key last_of(std::uint32_t node, int level) const {
    if (level == 0) return leaves_[node].entry[leaves_[node].count - 1].key();
    return inners_[node].last[inners_[node].count - 1];
  }

  // The root was split: a new root stands over both halves.
  void grow(const Split& split) {
    const std::uint32_t top = new_node(inners_, free_inners_);
    Inner& inner = inners_[top];
    inner.count = 2;
    inner.child[0] = root_;
    inner.child[1] = split.right;
    inner.last[0] = split.left_last;
    inner.last[1] = last_of(split.right, height_);
    inner.summary[0] = summary_of(root_, height_);
    inner.summary[1] = summary_of(split.right, height_);
    root_ = top;
    ++height_;
  }

  void put(Leaf& leaf, const Entry& entry) {
    const unsigned at = place_in(leaf, entry.key());
    open_gap(leaf.entry, at, leaf.count);
    leaf.entry[at] = entry;
    ++leaf.count;
  }

  Split insert_in_leaf(std::uint32_t node, const Entry& entry) {
    if (leaves_[node].count < kFan) {
      put(leaves_[node], entry);
      return {};
    }
    const std::uint32_t right = new_node(leaves_, free_leaves_);
    Leaf& left = leaves_[node];
    if (left.entry[kFan - 1].key() < entry.key()) {  // grows at its end, as queues do: the full leaf stays full
      put(leaves_[right], entry);
      return {true, right, left.entry[kFan - 1].key()};
    }
    move_half(left.entry, leaves_[right].entry);
    left.count = leaves_[right].count = kFan / 2;
    const Key left_last = left.entry[left.count - 1].key();
    put(left_last < entry.key() ? leaves_[right] : left, entry);
    return {true, right, last_of(node, 0)};
  }

  Split insert_in_inner(std::uint32_t node, int level, const Entry& entry) {
    const unsigned i = child_for(inners_[node], entry.key());
    const std::uint32_t child = inners_[node].child[i];
    const Split split = level == 1 ? insert_in_leaf(child, entry) : insert_in_inner(child, level - 1, entry);
    Inner& inner = inners_[node];
    if (inner.last[i] < entry.key()) inner.last[i] = entry.key();
    inner.summary[i].add(entry);
    return split.happened ? adopt(node, level, i, split) : Split{};
  }

  // Child i of `node` was split: takes in the right half after it, and splits in turn if it was full.
  Split adopt(std::uint32_t node, int level, unsigned i, const Split& split) {
    Split own;
    if (inners_[node].count == kFan) {
      own.happened = true;
      own.right = new_node(inners_, free_inners_);
      Inner& left = inners_[node];
      Inner& right = inners_[own.right];
      move_half(left.child, right.child);
      move_half(left.last, right.last);
      move_half(left.summary, right.summary);
      left.count = right.count = kFan / 2;
      if (i >= kFan / 2) {
        adopt_at(right, level, i - kFan / 2, split);
      } else {
        adopt_at(left, level, i, split);
      }
      own.left_last = last_of(node, level);
      return own;
    }
    adopt_at(inners_[node], level, i, split);
    return own;
  }

  void adopt_at(Inner& inner, int level, unsigned i, const Split& split) {
    open_gap(inner.child, i + 1, inner.count);
    open_gap(inner.last, i, inner.count);  // the old bound goes to the right half
    open_gap(inner.summary, i + 1, inner.count);
    ++inner.count;
    inner.child[i + 1] = split.right;
    inner.last[i] = split.left_last;
    inner.summary[i] = summary_of(inner.child[i], level - 1);
    inner.summary[i + 1] = summary_of(split.right, level - 1);
  }

  bool erase_in_leaf(std::uint32_t node, const Key& key, Entry& gone) {
    Leaf& leaf = leaves_[node];
    const unsigned i = place_in(leaf, key);
    if (i == leaf.count || key < leaf.entry[i].key()) return false;
    gone = leaf.entry[i];
    close_gap(leaf.entry, i, leaf.count);
    --leaf.count;
    return true;
  }

  bool erase_in_inner(std::uint32_t node, int level, const Key& key, Entry& gone) {
    Inner& inner = inners_[node];
    const unsigned i = child_for(inner, key);
    const std::uint32_t child = inner.child[i];
    const bool found = level == 1 ? erase_in_leaf(child, key, gone) : erase_in_inner(child, level - 1, key, gone);
    if (!found) return false;
    const bool child_empty = level == 1 ? leaves_[child].count == 0 : inners_[child].count == 0;
    if (child_empty) {
      (level == 1 ? free_leaves_ : free_inners_).push_back(child);
      close_gap(inner.child, i, inner.count);
      close_gap(inner.last, i, inner.count);
      close_gap(inner.summary, i, inner.count);
      --inner.count;
    } else if (!inner.summary[i].remove(gone)) {
      inner.summary[i] = summary_of(child, level - 1);
    }
    return true;
  }

  template <class May, class Yes>
  const Entry* find_in(std::uint32_t node, int level, const Key* after, const May& may, const Yes& yes) const {
    if (level == 0) {
      const Leaf& leaf = leaves_[node];
      unsigned i = 0;
      if (after) {
        while (i < leaf.count && !(*after < leaf.entry[i].key())) ++i;
      }
      for (; i < leaf.count; ++i) {
        if (yes(leaf.entry[i])) return &leaf.entry[i];
      }
      return nullptr;
    }
    const Inner& inner = inners_[node];
    unsigned i = 0;
    if (after) {
      while (i < inner.count && !(*after < inner.last[i])) ++i;
    }
    for (; i < inner.count; ++i) {
      if (may(inner.summary[i])) {
        if (const Entry* found = find_in(inner.child[i], level - 1, after, may, yes)) return found;
      }
      after = nullptr;  // it lies in one child only
    }
    return nullptr;
  }

  template <class Visit>
  bool visit_in(std::uint32_t node, int level, const Visit& visit) const {
    if (level == 0) {
      const Leaf& leaf = leaves_[node];
      return std::all_of(leaf.entry.begin(), leaf.entry.begin() + leaf.count, visit);
    }
    const Inner& inner = inners_[node];
    return std::all_of(inner.child.begin(), inner.child.begin() + inner.count,
                       [&](std::uint32_t child) { return visit_in(child, level - 1, visit); });
  }

  std::vector<Leaf> leaves_;
  std::vector<Inner> inners_;
  std::vector<std::uint32_t> free_leaves_;
  std::vector<std::uint32_t> free_inners_;
  std::size_t size_ = 0;
  Summary total_;
  std::uint32_t root_ = 0;
  int height_ = 0;
};

}  // namespace rota
