// power=load-factor: nodes are switched on and off by how much work the queue may hold. Cao, Cao, Dai, Zhu and Chi,
// "node start/stop for HPC clusters based on task load monitoring", Application Research of Computers 28(12), 2011.
//
// Every `interval` it asks how much node time the jobs in the queue may take (waiting and running, each counted in
// full):
//   W = sum over size classes of  jobs in the queue x (mean use + z x deviation / sqrt(n)),   n: past jobs of the class
//   T(p) = W / (p x tmax):  the load if p nodes were on
// B nodes are busy, O are on or booting, I = O - B, m is the smallest job and q the largest that waits, in nodes.
// OPEN if T > Ts or q > O or I < m, to
//   (a) all N nodes if T(N) > Ts and N - B >= m;  else
//   (b) max(B + m, q) if that gives T < Ts';       else
//   (c) the nodes whose T is the nearest to Ts', at least max(B + m, q).
// If nothing was opened, CLOSE if T < Tc or I < m, to
//   (a) B if T(B) < Tc and B >= q;  else (b) max(B + m, q) if that gives T < Tc';  else
//   (c) the nodes whose T is the nearest to Tc', at least max(B + m, q), if so many are on;  else
//   (d) B: what is idle is too small for any job.
// All of that for each partition by itself, with thresholds and a function T of its own where its description has them
// (model/load_rule.h), or once for all nodes (by_cluster).
// Beyond the paper, but with `published`: the nodes that are on or booting could take, if they were empty, each job
// that waits and the smallest that each partition allows (policy/power/capacity_on.h). With `published` a job that asks
// for more than how many nodes there are may wait for ever, and (d) leaves q nodes on if B is less.
#pragma once

#include "policy/policy.h"
#include "policy/power/power_knobs.h"

namespace rota {

class LoadFactorPower final : public Policy {
 public:
  explicit LoadFactorPower(const PowerKnobs& knobs) : knobs_(knobs) {}
  void decide(const View& view, Plan& plan) const override;
  Instant next_wakeup(const View& view) const override;

 private:
  PowerKnobs knobs_;
};

}  // namespace rota
