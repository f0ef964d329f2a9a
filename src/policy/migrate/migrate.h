// Second scheduling: running jobs move to nodes with a higher CPU factor that have come free. A job moves only if it
// can be stopped and go on, or start over; it stays if jobs wait that could be the worse for it: while any job waits,
// only jobs that keep their progress move, and only where room is a matter of counting; while any job is promised a
// start, no job moves that would end later by it.
//
// cpu_factor is Wang et al. 2018 (second scheduling), as printed: at every poll, the fastest node with a free processor
// is the target and the slowest node with a running job the source; the first job of the source that has run for longer
// than the threshold moves. The paper's hosts count jobs, so that any job fits where one does; here it is the first
// that fits, so that a wide one keeps no other from moving. Added is that the source must be slower than the target.
//
// gain weighs each move: with R the time that the job is still expected to run where it is, E the time it has run, C
// the cost of moving it and f the CPU factors of source and target,
//   gain = R - (C + R f/f')          where progress is kept,
//   gain = R - (C + (E + R) f/f')    where the job starts over.
// The greatest gain moves first, and as many as gain more than two minutes and `margin` times C.
#pragma once

#include "policy/policy.h"

namespace rota {

enum class Migration : std::uint8_t { none, cpu_factor, gain };

struct MigrateKnobs {
  Migration how = Migration::none;
  Duration poll = seconds(60);           // cpu_factor: at whole multiples of it since the epoch
  Duration threshold = seconds(14'400);  // 240 min; cpu_factor: of the time that a job has run
  std::int32_t margin = 300;             // gain: per cent of the cost

  bool operator==(const MigrateKnobs&) const = default;
};

class Migrate final : public Policy {
 public:
  explicit Migrate(const MigrateKnobs& knobs) : knobs_(knobs) {}

  // Drafts moves after all other links. O(running) where a faster node has room, else O(1).
  void decide(const View& view, Plan& plan) const override;

  // cpu_factor: the next poll, while anything runs.
  Instant next_wakeup(const View& view) const override;

 private:
  void by_cpu_factor(const View& view, Plan& plan) const;
  void by_gain(const View& view, Plan& plan) const;

  MigrateKnobs knobs_;
};

}  // namespace rota
