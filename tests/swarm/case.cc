#include "swarm/case.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <sstream>
#include <string_view>

#include "model/never_fits.h"
#include "policy/chain.h"

namespace rota::swarm {
namespace {

constexpr std::int64_t kSpan = 4000;  // seconds in which things happen

template <std::size_t N>
std::string any_of(Random& random, const std::array<std::string_view, N>& choices) {
  return std::string(choices[static_cast<std::size_t>(random.between(0, N - 1))]);
}

Machine any_machine(Random& random) {
  Machine machine = Machine::counted(0);
  machine.racks = {""};
  machine.partitions.resize(2);
  machine.partitions[0].name = "all";
  machine.partitions[1].name = "some";
  machine.default_partition = PartitionId{0};
  const auto nodes = static_cast<std::uint32_t>(random.between(2, 8));
  const bool alike = random.chance(0.4);
  const std::int32_t boots_that_fail = random.chance(0.3) ? 200 : 0;
  for (std::uint32_t i = 0; i < nodes; ++i) {
    Node& node = machine.nodes.emplace_back();
    node.name = "n" + std::to_string(i);
    node.processors = alike ? 4 : static_cast<std::uint32_t>(random.between(1, 8));
    node.memory = alike || random.chance(0.5) ? 0 : random.between(2, 16);
    if (!alike && random.chance(0.3)) {
      node.accelerators = static_cast<std::uint32_t>(random.between(1, 4));
      node.accelerator_type = AcceleratorTypeId{0};
    }
    node.cpu_factor = alike || random.chance(0.5) ? 1000 : 2000;
    node.partitions = {PartitionId{0}};
    if (i % 2 == 1) node.partitions.push_back(PartitionId{1});
    node.power.boot = seconds(random.between(20, 300));
    node.power.shutdown = seconds(random.between(0, 60));
    node.power.idle = 1000;
    node.power.boot_fails = boots_that_fail;
    for (const PartitionId p : node.partitions) {
      machine.partitions[p.value].nodes.push_back(NodeId{i});
      machine.partitions[p.value].processors += node.processors;
    }
    machine.processors += node.processors;
  }
  machine.accelerator_types = {"gpu"};
  machine.licences = {{"solver", random.between(1, 3)}, {"mesher", 1}};
  machine.boot_seed = random.between(1, 1000);
  return machine;
}

// Knobs that would have no effect, or that do not go together, are left out.
std::string any_policy(Random& random, bool counted) {
  std::string policy = any_of<11>(
      random, {"fcfs", "fcfs-skip", "easy", "easy", "easy+depth=3", "conservative", "strict", "rb-har", "grace",
               "slurm+bf-interval=60s", "slurm+bf-interval=20s+priority=multifactor+weight-age=9+weight-fairshare=9"});
  const auto maybe = [&](const std::string& knob) {
    if (Chain::parse(fmt::format("{}+{}", policy, knob))) policy += "+" + knob;
  };
  if (random.chance(0.3)) maybe("order=" + any_of<5>(random, {"sjf", "smallest", "largest", "wfp3", "hrrn"}));
  if (random.chance(0.3)) maybe("predict=tsafrir");
  if (random.chance(0.5)) maybe("overrun=" + any_of<4>(random, {"run-on", "kill", "grace", "200"}));
  if (random.chance(0.4)) {
    maybe(any_of<4>(random, {"preempt=suspend", "preempt=requeue", "preempt=checkpoint+checkpoint=0",
                             "preempt=checkpoint+checkpoint=150"}));
  }
  if (!counted && random.chance(0.5)) {
    maybe(any_of<5>(random, {"power=demand+power-wait=0+power-idle=300", "power=demand+power-wait=400+power-idle=100",
                             "power=idle-timeout+power-idle=200", "power=load-factor+power-interval=600",
                             "power=load-factor+power-interval=60+power-close=0.9"}));
  }
  return policy;
}

CaseJob any_job(Random& random, const Case& drawn, std::int64_t number) {
  CaseJob job;
  JobSpec& spec = job.spec;
  spec.number = number;
  spec.submit = at_seconds(random.between(0, kSpan / 2));
  const std::int64_t most = drawn.machine.processors;
  spec.processors =
      static_cast<std::uint32_t>(random.between(1, random.chance(0.7) ? std::max<std::int64_t>(most / 3, 1) : most));
  const std::int64_t run = random.between(1, random.chance(0.7) ? 200 : 900);
  job.run_time = seconds(run);
  spec.limit = seconds(std::max<std::int64_t>(run + random.between(random.chance(0.3) ? -run / 2 : 0, 300), 1));
  spec.priority = random.chance(0.3) ? static_cast<std::int32_t>(random.between(-1, 2)) : 0;
  spec.user = static_cast<std::uint32_t>(random.between(0, 3));
  spec.restart = static_cast<Restart>(random.between(0, 2));
  if (spec.restart != Restart::never) spec.restart_cost = seconds(random.between(0, 20));
  if (!drawn.counted) {
    if (random.chance(0.3))
      spec.nodes = static_cast<std::uint32_t>(random.between(1, std::min<std::int64_t>(spec.processors, 3)));
    if (random.chance(0.3)) spec.memory = random.between(1, 8);
    if (random.chance(0.2)) spec.accelerators = static_cast<std::uint8_t>(random.between(1, 2));
    if (random.chance(0.2)) spec.partition = PartitionId{static_cast<std::uint32_t>(random.between(0, 1))};
    std::vector<LicenceUse> licences;
    const std::int64_t solvers = drawn.machine.licences[0].count;
    if (random.chance(0.2)) licences.push_back({LicenceId{0}, static_cast<std::uint32_t>(random.between(1, solvers))});
    if (random.chance(0.1)) licences.push_back({LicenceId{1}, 1});
    set_licences(spec, std::move(licences));
  }
  if (random.chance(0.7)) return job;
  job.has_terms = true;
  if (random.chance(0.4)) job.begin = random.between(0, kSpan);
  if (number > 1 && random.chance(0.4)) {
    for (std::int64_t i = random.between(1, 2); i > 0; --i) {
      job.after.emplace_back(random.between(1, number - 1), static_cast<Dependency::When>(random.between(0, 4)));
    }
  }
  if (random.chance(0.3)) {
    job.array = random.between(1, 2);
    job.throttle = static_cast<std::uint32_t>(job.array);
  }
  if (random.chance(0.2)) job.holds = random.chance(0.5) ? kHeldByUser : kHeldByOperator;
  return job;
}

void draw_troubles(Random& random, Case& drawn) {
  const double level = random.chance(0.2) ? 0 : random.unit() * 0.3;  // how bad the link is
  drawn.link = {level * random.unit(), level * random.unit(), level * 2 * random.unit(),
                seconds(random.between(1, 200))};
  drawn.engine.seed = random.bits();
  if (random.chance(0.5)) drawn.engine.launch_fails = random.unit() * 0.2;
  if (random.chance(0.3)) drawn.engine.launch_fails_for_good = random.unit() * 0.05;
  if (random.chance(0.5)) drawn.engine.boot_hangs = random.unit() * 0.3;
  if (random.chance(0.5)) drawn.store = {random.unit() * 0.01, random.unit() * 0.3, 0.4, 0.4};
  const auto nodes = static_cast<std::int64_t>(drawn.machine.nodes.size());
  for (std::int64_t i = drawn.counted || random.chance(0.3) ? 0 : random.between(1, 6); i > 0; --i) {
    NodeTrouble trouble{random.chance(0.6) ? NodeTrouble::Kind::dies : NodeTrouble::Kind::drains,
                        random.between(0, kSpan), NodeId{static_cast<std::uint32_t>(random.between(0, nodes - 1))}};
    drawn.troubles.push_back(trouble);
    if (random.chance(0.3)) continue;
    trouble.kind = NodeTrouble::Kind::recovers;
    trouble.at += random.between(1, 1000);
    drawn.troubles.push_back(trouble);
  }
  for (std::int64_t i = random.chance(0.7) ? 0 : random.between(1, 3); i > 0; --i) {
    drawn.jumps.push_back(
        {random.between(0, kSpan), random.chance(0.5) ? random.between(1, 500) : -random.between(1, 120)});
  }
  for (std::int64_t i = random.chance(0.2) ? 0 : random.between(1, 6); i > 0; --i) {
    drawn.crashes.push_back({static_cast<CrashPoint::Where>(random.between(0, 4)),
                             random.between(1, random.chance(0.5) ? 400 : 60), random.between(0, 300)});
  }
  for (std::int64_t i = random.between(0, 3); i > 0; --i) drawn.compactions.push_back(random.between(0, kSpan));
}

void draw_acts(Random& random, Case& drawn) {
  const auto jobs = static_cast<std::int64_t>(drawn.jobs.size());
  for (std::int64_t i = random.between(0, jobs / 3); i > 0; --i) {
    UserAct act;
    act.kind = static_cast<UserAct::Kind>(random.between(0, 3));
    act.at = random.between(0, kSpan);
    act.job = random.between(1, jobs);
    act.limit = random.between(1, 900);
    act.priority = static_cast<std::int32_t>(random.between(-1, 2));
    act.begin = random.chance(0.5) ? 0 : random.between(0, kSpan);
    drawn.acts.push_back(act);
  }
}

// Where every command comes at once and every answer is heard.
void draw_a_good_link(Random& random, Case& drawn) {
  drawn.link = {};
  drawn.confirms_starts = random.chance(0.5);
  if (random.chance(0.5)) drawn.answers.answer_within = Duration{0};
  if (random.chance(0.5) && drawn.confirms_starts && drawn.engine.boot_hangs == 0) {
    drawn.answers.look_every = Duration{0};
  }
  if (drawn.counted || random.chance(0.5)) return;
  const std::string policy = fmt::format(
      "{}+overrun=run-on+migrate={}", any_of<4>(random, {"fcfs-skip", "easy", "easy+depth=3", "conservative"}),
      any_of<3>(random, {"gain", "gain+margin=0", "cpu-factor+poll=100+threshold=50"}));
  if (!Chain::parse(policy)) return;
  drawn.policy = policy;
  for (std::size_t i = 0; i < drawn.machine.nodes.size(); i += 2) drawn.machine.nodes[i].cpu_factor = 3000;
}

// What only some runs have, from a generator of its own.
void draw_the_unusual(Random& random, Case& drawn) {
  if (random.chance(0.25)) {
    draw_a_good_link(random, drawn);
  } else if (random.chance(0.2)) {
    drawn.answers.answer_within = Duration{0};
  }
  if (random.chance(0.2)) drawn.ties = random.chance(0.5) ? sim::Ties::submit_first : sim::Ties::one_by_one;
  if (!drawn.counted && random.chance(0.3)) {
    for (std::int64_t i = random.between(1, 4); i > 0; --i) {
      drawn.licences.push_back({random.between(0, kSpan), random.between(0, drawn.machine.licences[0].count + 1)});
    }
  }
  if (drawn.counted && random.chance(0.3)) {
    for (std::int64_t i = random.between(1, 3); i > 0; --i) {
      const std::int64_t from = random.between(0, kSpan / 2);
      drawn.bad_policies.push_back({from, from + random.between(1, 500)});
      drawn.looks.push_back(from + random.between(1, 1000));
    }
  }
  for (UserAct& act : drawn.acts) {
    if (random.chance(0.3)) act.throttle = static_cast<std::uint32_t>(random.between(1, 3));
  }
}

// Few of them, and from a generator of their own. A policy that does not keep them must refuse them.
void draw_reservations(Random& random, Case& drawn) {
  const bool keeps = Chain::parse(drawn.policy)->keeps_reservations().has_value();
  if (!random.chance(keeps ? 0.6 : 0.05)) return;
  const auto nodes = static_cast<std::int64_t>(drawn.machine.nodes.size());
  for (std::int64_t i = random.between(1, 4); i > 0; --i) {
    CaseReservation& r = drawn.reservations.emplace_back();
    r.at = random.between(0, random.chance(0.7) ? kSpan / 2 : kSpan);
    r.ahead = random.chance(0.3) ? 0 : random.between(random.chance(0.1) ? -300 : 1, random.chance(0.5) ? 200 : 1500);
    r.length = random.between(1, random.chance(0.7) ? 300 : 1500);
    if (random.chance(0.3)) r.kept = random.between(1, r.length + std::max<std::int64_t>(r.ahead, 0));
    if (drawn.counted) {
      r.processors = random.between(1, drawn.machine.processors);
      continue;
    }
    for (std::int64_t n = random.between(1, random.chance(0.8) ? (nodes + 1) / 2 : nodes); n > 0; --n) {
      const NodeId node{static_cast<std::uint32_t>(random.between(0, nodes - 1))};
      if (std::ranges::find(r.nodes, node) == r.nodes.end()) r.nodes.push_back(node);
    }
  }
}

// Features of nodes, and jobs that ask for them or for nodes by name, from a generator of their own.
void draw_wishes(Random& random, Case& drawn) {
  if (drawn.counted || random.chance(0.6)) return;
  drawn.machine.features = {"avx512", "ib", "left"};
  for (Node& node : drawn.machine.nodes) node.features = static_cast<std::uint64_t>(random.between(0, 7));
  const auto last = static_cast<std::int64_t>(drawn.machine.nodes.size()) - 1;
  for (CaseJob& job : drawn.jobs) {
    NodeWish wish;
    if (random.chance(0.3)) wish.features = {static_cast<std::uint64_t>(random.between(1, 7))};
    if (random.chance(0.1)) wish.features = {1, 2};
    const NodeId node{static_cast<std::uint32_t>(random.between(0, last))};
    JobSpec spec = job.spec;
    if (random.chance(0.2)) {
      wish.without = {node};
    } else if (random.chance(0.1)) {
      wish.among = {node};
      spec.nodes = 1;
    }
    if (wish.empty()) continue;
    spec.node_wish = std::make_shared<const NodeWish>(std::move(wish));
    if (!never_fits(drawn.machine, spec)) job.spec = spec;
  }
}

// Jobs that run in a reservation, from a generator of their own.
void draw_jobs_within(Random& random, Case& drawn) {
  if (drawn.counted || drawn.reservations.empty() || random.chance(0.2)) return;
  const auto last = static_cast<std::int64_t>(drawn.reservations.size()) - 1;
  for (CaseJob& job : drawn.jobs) {
    const auto which = static_cast<std::size_t>(random.between(0, last));
    const CaseReservation& r = drawn.reservations[which];
    if (job.spec.submit < at_seconds(r.at) || !random.chance(0.6)) continue;  // it is not there yet
    run_within(job.spec, ReservationId{static_cast<std::uint32_t>(which)});
    if (random.chance(0.5)) job.spec.limit = std::min(job.spec.limit, seconds(std::max<std::int64_t>(r.length / 3, 1)));
  }
}

// What people tell jobs that run, from a generator of its own.
void draw_orders(Random& random, Case& drawn) {
  using Kind = UserAct::Kind;
  if (random.chance(0.4)) return;
  const auto jobs = static_cast<std::int64_t>(drawn.jobs.size());
  for (std::int64_t i = random.between(1, jobs); i > 0; --i) {
    UserAct act;
    act.kind = random.chance(0.6) ? Kind::suspend : Kind::limit;
    act.at = random.between(0, kSpan);
    act.job = random.between(1, jobs);
    act.limit = random.between(1, 900);
    act.priority = static_cast<std::int32_t>(random.between(0, 1));
    drawn.acts.push_back(act);
    if (act.kind == Kind::limit || random.chance(0.2)) continue;
    act.kind = Kind::resume;
    act.at += random.between(0, random.chance(0.5) ? 30 : 500);
    drawn.acts.push_back(act);
  }
}

}  // namespace

Case draw_case(std::uint64_t seed) {
  Random random(seed);
  Case drawn;
  drawn.seed = seed;
  drawn.counted = random.chance(0.35);
  drawn.machine = drawn.counted ? Machine::counted(random.between(1, 16)) : any_machine(random);
  drawn.policy = any_policy(random, drawn.counted);
  const std::int64_t jobs = random.between(5, 60);
  for (std::int64_t number = 1; number <= jobs; ++number) {
    CaseJob job = any_job(random, drawn, number);
    while (!drawn.counted && never_fits(drawn.machine, job.spec)) job = any_job(random, drawn, number);
    drawn.jobs.push_back(job);
  }
  draw_acts(random, drawn);
  draw_troubles(random, drawn);
  drawn.answers = {seconds(random.between(20, 120)), seconds(random.between(100, 600)),
                   seconds(random.between(60, 600))};
  drawn.heals_at = kSpan + random.between(0, 500);
  Random unusual(seed ^ 0xadd5U);
  draw_the_unusual(unusual, drawn);
  Random reserving(seed ^ 0x2e5e27eU);
  draw_reservations(reserving, drawn);
  Random ordering(seed ^ 0x0bde25U);
  draw_orders(ordering, drawn);
  Random wishing(seed ^ 0x3157edU);
  draw_wishes(wishing, drawn);
  Random gathering(seed ^ 0x9a74e2U);
  draw_jobs_within(gathering, drawn);
  return drawn;
}

bool is_bad_at(const Case& drawn, Instant now) {
  return std::any_of(drawn.bad_policies.begin(), drawn.bad_policies.end(),
                     [&](const BadPolicy& b) { return at_seconds(b.from) <= now && now < at_seconds(b.to); });
}

std::string told(const Case& drawn) {
  std::ostringstream out;
  out << "seed " << drawn.seed << ", policy " << drawn.policy << ", " << drawn.machine.processors << " processors on "
      << drawn.machine.nodes.size() << " nodes\n";
  for (const Node& n : drawn.machine.nodes) {
    out << "  node " << n.name << ": " << n.processors << " processors, memory " << n.memory << ", cpu " << n.cpu_factor
        << ", boot " << n.power.boot.count() / 1000 << " s, shutdown " << n.power.shutdown.count() / 1000
        << " s, features " << n.features << "\n";
  }
  for (const CaseJob& j : drawn.jobs) {
    out << "  job " << j.spec.number << ": at " << j.spec.submit.time_since_epoch().count() / 1000 << ", "
        << j.spec.processors << " processors, limit " << j.spec.limit.count() / 1000 << ", runs "
        << j.run_time.count() / 1000 << ", priority " << j.spec.priority << ", nodes " << j.spec.nodes << ", memory "
        << j.spec.memory << ", licences " << licences_of(j.spec, LicenceId{0}) << " and "
        << licences_of(j.spec, LicenceId{1}) << ", restart " << static_cast<int>(j.spec.restart);
    if (j.spec.node_wish) out << ", on " << wish_text(*j.spec.node_wish, drawn.machine, false);
    if (j.spec.node_wish && j.spec.node_wish->reservation.valid())
      out << ", in reservation " << j.spec.node_wish->reservation.value;
    if (j.has_terms)
      out << ", begin " << j.begin << ", array " << j.array << "/" << j.throttle << ", holds " << int{j.holds};
    for (const auto& [on, when] : j.after) out << ", after " << on << "/" << static_cast<int>(when);
    out << "\n";
  }
  for (const UserAct& a : drawn.acts) {
    out << "  act " << static_cast<int>(a.kind) << " at " << a.at << " job " << a.job << " limit " << a.limit
        << " priority " << a.priority << " begin " << a.begin << " throttle " << a.throttle << "\n";
  }
  for (const LicenceCount& l : drawn.licences) out << "  licences elsewhere at " << l.at << ": " << l.elsewhere << "\n";
  for (const CaseReservation& r : drawn.reservations) {
    out << "  reservation asked for at " << r.at << ", " << r.ahead << " ahead, for " << r.length << ", of "
        << r.processors << " processors, nodes";
    for (const NodeId node : r.nodes) out << " " << node.value;
    out << (r.kept > 0 ? ", taken back after " + std::to_string(r.kept) : "") << "\n";
  }
  for (const BadPolicy& b : drawn.bad_policies) out << "  bad policy from " << b.from << " to " << b.to << "\n";
  for (const std::int64_t at : drawn.looks) out << "  an operator looks at " << at << "\n";
  for (const NodeTrouble& t : drawn.troubles) {
    out << "  node trouble " << static_cast<int>(t.kind) << " at " << t.at << " node " << t.node.value << "\n";
  }
  for (const ClockJump& j : drawn.jumps) out << "  clock jump at " << j.at << " by " << j.by << "\n";
  for (const CrashPoint& c : drawn.crashes) {
    out << "  crash " << static_cast<int>(c.where) << " at the " << c.count << "th, away " << c.away << "\n";
  }
  out << "  link loses " << drawn.link.loses << " doubles " << drawn.link.doubles << " delays " << drawn.link.delays
      << " up to " << drawn.link.longest.count() / 1000 << " s; launches fail " << drawn.engine.launch_fails
      << " for good " << drawn.engine.launch_fails_for_good << ", boots hang " << drawn.engine.boot_hangs << "; "
      << (drawn.confirms_starts ? "starts are confirmed" : "starts are not confirmed") << ", ties "
      << static_cast<int>(drawn.ties) << ", answers within " << drawn.answers.answer_within.count() / 1000
      << " s, looks every " << drawn.answers.look_every.count() / 1000 << " s; commits fail "
      << drawn.store.commit_fails << "; compactions " << drawn.compactions.size() << "; heals at " << drawn.heals_at
      << "\n";
  return out.str();
}

}  // namespace rota::swarm
