// Small clusters and workloads at random, as lines of a .sched file (tests/golden). Cases are numbered, and the same on
// every machine.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <vector>

#include "base/random.h"
#include "golden/sched_file.h"

namespace rota {

// A cluster and a policy, as lines of a .sched file; and its jobs, a line each.
struct Case {
  std::string cluster;
  std::string policy;
  std::vector<std::string> jobs;

  std::string text() const {
    std::string all = fmt::format("# lesson: {}\n{}policy {}\njobs\n", policy, cluster, policy);
    for (const std::string& job : jobs) all += job + "\n";
    return all + "timeline\n1 0 0\n";
  }
};

class Generator {
 public:
  explicit Generator(std::uint64_t seed)
      : random_(seed), limits_(seed + 1'000'000'007), auctions_(seed + 3'000'000'019) {}

  Case made() {
    Case made = without_policy();
    made.policy = chain();
    add_jobs(made);
    return made;
  }

  // The same, whose jobs are for the policy that is put in.
  Case made_for(const std::string& policy) {
    Case made = without_policy();
    made.policy = policy;
    add_jobs(made);
    return made;
  }

 private:
  Case without_policy() {
    Case made;
    no_limits_ = limits_.chance(0.2);
    sites_ = random_.chance(0.25) ? random_.between(2, 3) : 0;
    described_ = random_.chance(0.7);
    for (std::int64_t s = 0; s < std::max<std::int64_t>(sites_, 1); ++s) {
      if (sites_ > 0) made.cluster += fmt::format("site s{} {}\n", s, one_of({"0", "10", "1000"}));
      made.cluster += described_ ? nodes() : fmt::format("processors {}\n", widest_ = random_.between(1, 9));
    }
    licences_ = described_ && sites_ == 0 && random_.chance(0.2);
    if (licences_) made.cluster += "licences solver 2\n";
    return made;
  }

  void add_jobs(Case& made) {
    std::int64_t submit = 0;
    const std::int64_t count = random_.between(1, random_.chance(0.5) ? 8 : 30);
    for (std::int64_t i = 1; i <= count; ++i) made.jobs.push_back(job(i, submit += gap()));
    while (sites_ == 0 && random_.chance(0.3)) made.cluster += reservation();
  }

  std::string one_of(std::initializer_list<const char*> words) {
    return words.begin()[random_.between(0, static_cast<std::int64_t>(words.size()) - 1)];
  }

  std::string nodes() {
    std::string lines;
    const bool alike = random_.chance(0.4);
    const std::int64_t size = random_.between(1, 4);
    const std::int64_t count = nodes_ = random_.between(1, 5);
    widest_ = 0;
    for (std::int64_t n = 0; n < count; ++n) {
      const std::int64_t processors = alike ? size : random_.between(1, 4);
      widest_ += processors;
      lines += "node " + std::to_string(processors);
      if (!alike && random_.chance(0.3)) lines += one_of({" 4", " 8"});
      if (!alike && random_.chance(0.3)) lines += one_of({" factor=500", " factor=2000", " factor=1300"});
      if (sites_ == 0 && !alike && random_.chance(0.3)) lines += " partition=1", partitions_ = true;
      if (!alike && random_.chance(0.2)) lines += one_of({" accelerators=1", " accelerators=2"}), accelerators_ = true;
      if (random_.chance(0.1)) lines += " fails=300";
      lines += "\n";
      if (n + 1 < count && random_.chance(0.3)) lines += fmt::format("boot {}\n", one_of({"17", "300"}));
    }
    if (random_.chance(0.6)) lines += fmt::format("boot {}\n", one_of({"5", "30", "240"}));
    if (random_.chance(0.4)) lines += fmt::format("shutdown {}\n", one_of({"1", "20"}));
    return lines;
  }

  // Chains that do not keep it, and several that do not go together, are refused as a whole.
  std::string reservation() {
    const std::int64_t from = random_.between(0, 100);
    std::string line = fmt::format("reserve from={} until=", from);
    line += std::to_string(from + random_.between(1, random_.chance(0.2) ? 3'000 : 60));
    if (!described_) return fmt::format("{} processors={}\n", line, random_.between(1, widest_));
    line += " nodes=";
    std::string nodes;
    for (std::int64_t n = 1; n <= nodes_; ++n) {
      if (random_.chance(0.5)) nodes += (nodes.empty() ? "" : ",") + std::to_string(n);
    }
    return fmt::format("{}{}\n", line, nodes.empty() ? "1" : nodes);
  }

  std::int64_t gap() {
    if (random_.chance(0.4)) return 0;
    return random_.between(0, random_.chance(0.1) ? 2'000 : 20);
  }

  std::string job(std::int64_t number, std::int64_t submit) {
    const std::int64_t processors = random_.chance(0.2) ? widest_ : random_.between(1, widest_);
    const std::int64_t run = random_.between(1, random_.chance(0.1) ? 5'000 : 40);
    std::int64_t limit = random_.chance(0.3) ? run : random_.between(1, run * 2);
    if (no_limits_ && limits_.chance(0.6)) limit = kLongest / seconds(1);
    std::string line;
    for (const std::int64_t n : {number, submit, processors, limit, run}) line += std::to_string(n) + " ";
    const auto maybe = [&](double how_often, const std::string& word) {
      if (random_.chance(how_often)) line += word + " ";
    };
    maybe(0.3, "priority=" + std::to_string(random_.between(-1, 2)));
    maybe(0.5, "user=" + std::to_string(random_.between(1, 3)));
    if (described_) {
      maybe(0.3, "nodes=" + std::to_string(random_.between(1, std::min<std::int64_t>(processors, 3))));
      maybe(0.2, "memory=" + one_of({"3", "8"}));
    }
    if (partitions_) maybe(0.4, "partition=1");
    if (accelerators_) maybe(0.2, "accelerators=1");
    if (licences_) maybe(0.3, "licences=" + one_of({"1", "2"}));
    if (sites_ > 0) {
      maybe(0.8, "site=" + std::to_string(random_.between(1, sites_)));
      maybe(0.4, "input=" + one_of({"10", "600"}));
      if (auctions_.chance(0.1)) line += "anywhere=0 ";
    } else {
      maybe(0.3, one_of({"checkpoint=0", "checkpoint=5", "rerun=0", "rerun=5"}));
    }
    return line;
  }

  // Knobs that would have no effect, or that do not go together, are left out.
  std::string chain() {
    std::string text =
        one_of({"fcfs", "fcfs-skip", "easy", "easy-sjbf", "easy++", "conservative", "strict", "rb-har", "grace",
                "easy+depth=2", "easy+depth=3", "easy+fixed=yes", "easy+beside=no", "slurm",
                "slurm+bf-interval=7s+bf-resolution=3s",
                "slurm+bf-interval=no+priority=multifactor+weight-age=9+weight-fairshare=9000+calc-period=20s",
                "slurm+bf-interval=5s+bf-job-part-count-reserve=1+bf-max-job-start=1"});
    const auto maybe = [&](double how_often, const std::string& knob) {
      if (random_.chance(how_often) && Chain::parse(fmt::format("{}+{}", text, knob))) text += "+" + knob;
    };
    maybe(0.3, "order=" + one_of({"sjf", "smallest", "largest", "wfp3", "unicef", "f1", "hrrn"}));
    maybe(0.5, "hrrn-cap=" + one_of({"1", "3"}));
    maybe(0.2, "candidates=" + one_of({"sjf", "largest", "wfp3"}));
    maybe(0.2, "predict=tsafrir");
    maybe(0.4, "overrun=" + one_of({"run-on", "grace", "strict", "rb-har", "rb-har-literal", "7"}));
    maybe(0.1, "stretch=1.5");
    if (no_limits_ && limits_.chance(0.7)) maybe(1, "pass=" + std::to_string(limits_.between(0, 2)));
    maybe(0.3, "preempt=" + one_of({"suspend", "requeue", "checkpoint+checkpoint=0", "checkpoint+checkpoint=9"}));
    if (described_) {
      maybe(0.2, "migrate=" + one_of({"gain", "gain+margin=0", "cpu-factor+poll=10+threshold=5"}));
      power(maybe);
    }
    if (sites_ > 0) auction(maybe);
    if (sites_ > 0) auction_as_published(text);
    return text;
  }

  template <class Maybe>
  void power(const Maybe& maybe) {
    maybe(0.6, "power=" + one_of({"demand", "demand", "idle-timeout", "load-factor"}));
    maybe(0.5, "power-idle=" + one_of({"1", "10", "300"}));
    maybe(0.5, "power-wait=" + one_of({"0", "30", "600"}));
    maybe(0.2, "power-thrift=" + one_of({"1", "60"}));
    maybe(0.2, "power-reserve=" + one_of({"0.5", "0.95"}));
    maybe(0.2, "power-least-on=" + one_of({"10", "100"}));
    maybe(0.2, "power-cycles=" + one_of({"1", "3"}));
    maybe(0.3, "power-ramp=" + one_of({"1", "2"}));
    maybe(0.7, "power-interval=" + one_of({"60", "300"}));
    maybe(0.2, "power-few=no");
    maybe(0.2, "power-trigger=on");
  }

  template <class Maybe>
  void auction(const Maybe& maybe) {
    maybe(0.9, "auction=" +
                   one_of({"english", "announced", "random", "round-robin", "least-loaded", "race", "staged-race"}));
    maybe(0.5, "auction-round=" + one_of({"1", "10", "60"}));
    maybe(0.5, "auction-look=" + one_of({"1", "10", "60"}));
    maybe(0.7, "auction-bid=" + one_of({"published", "rate", "plan"}));
    maybe(0.5, "auction-close=" + one_of({"on-time", "unbeatable", "stopping"}));
    maybe(0.3, "auction-margin=" + one_of({"0", "5"}));
    maybe(0.5, "auction-second-thoughts=" + one_of({"1", "20"}));
    maybe(0.3, "auction-run-time=" + one_of({"10", "100"}));
  }

  // As the paper has auctions, one rule or another.
  void auction_as_published(std::string& text) {
    for (const char* knob : {"auction-join=freed", "auction-minimum=0", "auction-minimum=0.3", "auction-buyers=2",
                             "auction-buyers=9", "auction-head=yes", "auction-early=yes"}) {
      if (auctions_.chance(0.3) && Chain::parse(fmt::format("{}+{}", text, knob))) text += std::string("+") + knob;
    }
  }

  Random random_;
  Random limits_;  // apart, so that the other cases are what they were, as is:
  Random auctions_;
  bool no_limits_ = false;
  std::int64_t sites_ = 0;
  std::int64_t widest_ = 1;  // processors of the cluster or of the last site
  std::int64_t nodes_ = 0;   // of the cluster or of the last site
  bool described_ = false;
  bool partitions_ = false;
  bool accelerators_ = false;
  bool licences_ = false;
};

}  // namespace rota
