#include "policy/slurm/consecutive.h"

#include <algorithm>
#include <vector>

namespace rota {
namespace {

struct Block {
  std::uint32_t first;
  std::uint32_t behind;  // the node behind its last one
  std::int64_t processors = 0;
  std::int64_t weight = 0;  // of each of its nodes
};

class Search {
 public:
  Search(const NodeRoom& room, const std::vector<Node>& nodes, const JobSpec& spec, Placement& where)
      : room_(room), nodes_(nodes), spec_(spec), where_(where), left_(spec.processors) {
    where_.shares.clear();
    where_.per_node = spec.per_node();
    copy_licences(spec, where_);
  }

  bool find() {
    if (!room_.has_licences(spec_)) return false;
    list_blocks();
    const auto sooner = [](const Block& a, const Block& b) {
      return a.weight != b.weight ? a.weight < b.weight : a.processors > b.processors;
    };
    std::stable_sort(blocks_.begin(), blocks_.end(), sooner);
    auto block = blocks_.begin();
    for (; block != blocks_.end() && block->processors < left_; ++block) fill(*block);
    if (block == blocks_.end()) return false;
    // Behind the last of this weight that has enough.
    const auto enough = std::upper_bound(block, blocks_.end(), Block{0, 0, left_, block->weight}, sooner);
    fill(*std::lower_bound(block, enough, *std::prev(enough), sooner));
    return true;
  }

 private:
  // That the job can have on a node; a job that is to be on one node has no use for less than all.
  std::int64_t on(std::uint32_t node) const {
    const std::int64_t processors = room_.suitable_on(NodeId{node}, spec_);
    return spec_.nodes == 1 && processors < spec_.processors ? 0 : processors;
  }

  void list_blocks() {
    for (std::uint32_t node = 0; node < room_.size(); ++node) {
      const std::int64_t processors = on(node);
      if (processors == 0) continue;
      const std::int64_t weight = nodes_[node].weight;
      if (blocks_.empty() || blocks_.back().behind != node || blocks_.back().weight != weight)
        blocks_.push_back({node, node, 0, weight});
      ++blocks_.back().behind;
      blocks_.back().processors += processors;
    }
  }

  void fill(const Block& block) {
    std::uint32_t alone = block.behind;  // the node that has enough; none yet
    for (std::uint32_t node = block.first; node < block.behind; ++node) {
      if (on(node) >= left_ && (alone == block.behind || on(node) < on(alone))) alone = node;
    }
    if (alone != block.behind) return give(alone);
    for (std::uint32_t node = block.first; node < block.behind && left_ > 0; ++node) give(node);
  }

  void give(std::uint32_t node) {
    const std::int64_t share = std::min(left_, on(node));
    where_.shares.push_back({NodeId{node}, static_cast<std::uint32_t>(share)});
    left_ -= share;
  }

  const NodeRoom& room_;
  const std::vector<Node>& nodes_;
  const JobSpec& spec_;
  Placement& where_;
  std::int64_t left_;
  std::vector<Block> blocks_;
};

}  // namespace

bool find_consecutive(const NodeRoom& room, const std::vector<Node>& nodes, const JobSpec& spec, Placement& where) {
  return Search(room, nodes, spec, where).find();
}

}  // namespace rota
