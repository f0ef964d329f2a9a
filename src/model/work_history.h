// How much past jobs used, by size class: what a load factor is reckoned from. A job's use is its nodes times its run
// time; its class is the power of two at or above its nodes. Not thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "model/fact.h"
#include "model/machine.h"

namespace rota {

class WorkHistory {
 public:
  // Jobs that say nothing of nodes get as many as they fill; on counted processors each is a node.
  explicit WorkHistory(const Machine* machine);

  std::uint32_t nodes_of(const JobSpec& spec) const;

  void add(const JobSpec& spec, Duration run);

  // Jobs of a class in the sample, and the mean and standard deviation of their use in node-milliseconds. Classes with
  // fewer than `least` jobs are taken together with the next larger one, the last ones with the one before.
  struct Use {
    std::int64_t jobs = 0;
    double mean = 0;
    double deviation = 0;  // of the sample, with n - 1
  };
  static constexpr std::size_t kClasses = 33;
  static std::size_t class_of(std::uint32_t nodes);
  std::array<Use, kClasses> uses(std::int64_t least) const;

  // For a snapshot: each class in which there are any, and how they are put back.
  std::vector<WorkKept> kept() const;
  void put_back(const WorkKept& kept);

  Duration longest_limit() const { return longest_limit_; }  // of the jobs added; 0: none

 private:
  struct Sums {
    std::int64_t jobs = 0;
    double use = 0;
    double squares = 0;
    void add(const Sums& o) { jobs += o.jobs, use += o.use, squares += o.squares; }
  };

  std::int64_t per_node_ = 1;  // processors
  std::array<Sums, kClasses> sums_{};
  Duration longest_limit_{0};
};

}  // namespace rota
