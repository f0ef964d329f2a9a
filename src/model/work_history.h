// How much past jobs used, by size class: what a load factor is reckoned from. A job's use is its nodes times its run
// time; its class is the power of two at or above its nodes. Beside the sums of all that ever ended, of each class the
// latest and some drawn at random are kept. Not thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "model/fact.h"
#include "model/machine.h"

namespace rota {

// Which past jobs are the sample.
enum class WorkSample : std::uint8_t {
  all,
  latest,  // of each class, traced back from the one that ended last
  drawn,   // of each class, at random from all that ever ended
};

class WorkHistory {
 public:
  static constexpr std::size_t kKept = 256;  // jobs of a class, the latest and the drawn
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
  // `window`: so many of a class, kKept at most, where the sample is not all.
  std::array<Use, kClasses> uses(std::int64_t least, WorkSample sample = WorkSample::all,
                                 std::int64_t window = kKept) const;

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
    static Sums of(std::int64_t one) {
      const auto use = static_cast<double>(one);
      return {1, use, use * use};
    }
  };
  // What one class keeps, in node-milliseconds.
  struct Kept {
    std::vector<std::int64_t> latest;  // a ring: the job after kKept others takes the place of the first
    std::vector<std::int64_t> drawn;   // each past job is among them with the same probability
  };

  void keep(std::size_t size_class, std::int64_t use);
  Sums sample_of(std::size_t size_class, WorkSample sample, std::size_t window) const;

  std::int64_t per_node_ = 1;  // processors
  std::array<Sums, kClasses> sums_{};
  std::array<Kept, kClasses> kept_;
  Duration longest_limit_{0};
};

}  // namespace rota
