#include "policy/chain.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "base/text.h"
#include "policy/power/power_demand.h"
#include "policy/power/power_load.h"

namespace rota {
namespace {

constexpr std::array<PolicyName, 9> kPolicies{{
    {"fcfs", "", "depth=0", "first come, first served; nobody overtakes", "textbook"},
    {"fcfs-skip", "first-fit ff", "depth=0+skip=yes", "in queue order, every job that fits starts; nothing is promised",
     "textbook"},
    {"easy", "", "depth=1", "the first blocked job is promised a start; others may overtake if they do not delay it",
     "Lifka 1995; Mu'alem and Feitelson 2001"},
    {"easy-sjbf", "easysjbf", "depth=1+candidates=sjf", "EASY that tries short jobs first when it backfills",
     "Tsafrir, Etsion and Feitelson 2007"},
    {"easy++", "easypp easypp_tsafrir", "depth=1+candidates=sjf+predict=tsafrir",
     "EASY-SJBF on predicted run times; a prediction never kills", "Tsafrir, Etsion and Feitelson 2007"},
    {"conservative", "cons", "depth=all", "every job is promised a start, which never moves later",
     "Mu'alem and Feitelson 2001"},
    {"strict", "", "depth=1+beside=no+fixed=yes+overrun=strict",
     "backfilling that stops overrunning jobs as soon as a promise is due", "Li and Lei 2018, their base"},
    {"rb-har", "rbhar", "depth=1+beside=no+fixed=yes+overrun=rb-har",
     "backfilling in which an overrunning job goes on when that harms nobody", "Li and Lei 2018"},
    {"grace", "lazy", "depth=1+beside=no+fixed=yes+overrun=lazy",
     "as rb-har, but kills only when the promised job can start by it at once",
     "after Li and Lei 2018; Yuan et al. 2014"},
}};

constexpr std::string_view kCao = "Cao, Cao, Dai, Zhu and Chi 2011";
constexpr std::string_view kBaranov = "Baranov et al. 2018";

constexpr auto kKnobs = std::to_array<KnobName>({
    {"depth", "0.. | all", "1", "how many blocked jobs, in queue order, are promised a start",
     "Mu'alem and Feitelson 2001", "jobs"},
    {"skip", "yes | no", "no", "with depth=0: jobs that fit overtake those that do not", "textbook"},
    {"order", "fcfs | sjf | smallest | largest | wfp3 | unicef | f1", "fcfs", "whose turn it is",
     "Tang et al. 2009 (wfp3, unicef); Carastan-Santos and de Camargo 2017 (f1)"},
    {"candidates", "fcfs | sjf | smallest | largest | wfp3 | unicef | f1", "as order",
     "who is tried first for backfilling", "Tsafrir, Etsion and Feitelson 2007"},
    {"predict", "limit | tsafrir", "limit", "the run time that planning counts on",
     "Tsafrir, Etsion and Feitelson 2007"},
    {"beside", "yes | no", "yes",
     "a backfilled job may outlast the promise on processors that the promised job leaves over",
     "Mu'alem and Feitelson 2001"},
    {"fixed", "yes | no", "no", "a promise stays as first made until its job starts", "Li and Lei 2018"},
    {"stretch", "1.0 .. 10", "1.0",
     "a backfilled job must end before the promise even if it takes so many times its estimate",
     "after Li and Lei 2018", "times the estimate"},
    {"overrun", "kill | run-on | strict | rb-har | rb-har-literal | lazy | DURATION", "kill",
     "what becomes of a job at its limit; a duration is a fixed grace like Slurm's OverTimeLimit", "Li and Lei 2018",
     "90, 90s, 10m, 1.5h"},
    {"bind", "no | node | node-literal | container | weighted | late", "no",
     "how tasks of an application come to the accelerators of a rack", "Li, Zhu, Liu and Qian 2016"},
    {"migrate", "no | cpu-factor | gain", "no",
     "running jobs move to faster nodes that have come free: as published, or where it gains more than it costs",
     "Wang et al. 2018"},
    {"poll", "DURATION", "60", "with migrate=cpu-factor: how often it looks", "Wang et al. 2018", "90, 90s, 10m, 1.5h"},
    {"threshold", "DURATION", "14400", "with migrate=cpu-factor: what a job must have run for", "Wang et al. 2018",
     "90, 90s, 10m, 1.5h"},
    {"margin", "0.0..100.0", "3.0", "with migrate=gain: how many times its cost a move must gain", "textbook",
     "factors"},
    {"preempt", "no | suspend | requeue | checkpoint", "no",
     "running jobs give way at once to a job of higher priority: with their work kept, lost, or kept after a "
     "checkpoint",
     "Baranov et al. 2018"},
    {"checkpoint", "DURATION", "60", "with preempt=checkpoint: how long writing one takes", "textbook",
     "90, 90s, 10m, 1.5h"},
    {"power", "always-on | load-factor | demand | idle-timeout", "always-on", "when nodes go to sleep and wake",
     "Cao et al. 2011 (load-factor); Slurm's SuspendTime (idle-timeout)"},
    {"power-interval", "DURATION", "30m", "load-factor: how often it looks", kCao, "30m, 2h"},
    {"power-close", "0 .. 100", "0.7", "load-factor: below this load nodes are switched off", kCao, "times capacity"},
    {"power-open", "0 .. 100", "1.5", "load-factor: above this load nodes are switched on", kCao, "times capacity"},
    {"power-close-to", "0 .. 100", "1.0", "load-factor: the load that switching off aims at", kCao, "times capacity"},
    {"power-open-to", "0 .. 100", "0.9", "load-factor: the load that switching on aims at", kCao, "times capacity"},
    {"power-confidence", "0 .. 10", "1.96", "load-factor: half-width of the confidence interval of a class's mean use",
     kCao, "standard errors"},
    {"power-samples", "1 .. 1000000", "30", "load-factor: size classes with fewer past jobs are taken together", kCao,
     "jobs"},
    {"power-longest", "DURATION", "max_time", "load-factor: the longest run time, with which capacity is reckoned",
     kCao, "60m"},
    {"power-trigger", "all | on", "all", "load-factor: the nodes over which the load that triggers is reckoned", kCao},
    {"power-root", "sample | queue", "sample", "load-factor: which jobs are counted under the root", kCao},
    {"power-few", "open | no", "open", "load-factor: whether too few idle nodes are a reason to switch on", kCao},
    {"power-history", "learn | log", "learn",
     "load-factor: past jobs are those that have ended, or, as in the paper's study, all of the log", kCao},
    {"power-wait", "DURATION", "10m",
     "demand: how long a job waits before nodes are woken for it, while some may come free", "Rota", "0, 10m"},
    {"power-idle", "DURATION", "10m",
     "idle-timeout: how long a node is idle before it goes to sleep; demand: the same of the node that the jobs of a "
     "boot "
     "time would just reach, others by how likely they are needed",
     "Slurm's SuspendTime", "5m, 1h"},
    {"power-thrift", "DURATION", "not used",
     "demand: sets power-wait to three times itself and power-idle to boot^2 / 4 of it: the longer, the more nodes are "
     "off and the longer jobs wait",
     "Rota", "10s, 5m"},
    {"power-reserve", "0 .. 0.9999", "0",
     "demand: nodes are kept ready so that the jobs of a boot time find some with this probability", "Rota",
     "probability"},
    {"power-least-on", "DURATION", "0", "demand: how long a node stays on once it was woken", "Rota", "0, 30m"},
    {"power-cycles", "1 .. 10000", "no limit", "demand: how often a node may go to sleep in a day", "Rota", "times"},
    {"power-ramp", "1 .. 1000000", "no limit", "demand: how many nodes are woken, or sent to sleep, in a minute",
     "Slurm's ResumeRate and SuspendRate", "nodes"},
    {"auction", "none | english | announced | random | round-robin | least-loaded | race | staged-race", "none",
     "with several sites: where a job runs; none is where it was submitted, race what Slurm's federation does",
     kBaranov},
    {"auction-round", "DURATION", "20m; announced: 30s", "english, announced: how long a round lasts", kBaranov,
     "90s, 20m"},
    {"auction-look", "DURATION", "20m", "english: how often a site looks at the global queue", kBaranov, "90s, 20m"},
    {"auction-bid", "published | rate | plan", "published; announced: plan",
     "english, announced: sites bid free processors as published, or how soon a job would start, by rate or by plan",
     kBaranov},
    {"auction-close", "on-time | unbeatable | stopping", "on-time; announced: stopping",
     "english, announced: a round closes at its end, or once no bid can be better, or once waiting does not pay",
     kBaranov},
    {"auction-patience", "DURATION", "0", "stopping: mean time until a site that has not bid does", "Rota", "0, 10m"},
    {"auction-margin", "DURATION", "1m", "bids by rate and plan: a job leaves its site only to start so much sooner",
     "Rota", "0, 10m"},
    {"auction-run-time", "DURATION", "1h", "english, announced: what sites take for the mean run time of jobs",
     kBaranov, "20m, 2h"},
    {"auction-spare", "0 .. 100", "0.3", "bids by rate and plan: so much later an empty site may be than a full one",
     "Rota", "mean run times"},
    {"auction-second-thoughts", "no | DURATION", "no",
     "announced, english: how often sites bid again, by rate or plan, on a job that was won and waits", "Rota",
     "1m, 10m"},
    {"auction-seed", "0 ..", "1", "random, race: seed of what is left to chance", "textbook"},
});

Result<bool> yes_or_no(std::string_view knob, std::string_view value) {
  if (value == "yes" || value == "no") return value == "yes";
  return fail("policy knob " + std::string(knob) + " is yes or no, not " + quoted(value) + ".");
}

Result<Order> order_value(std::string_view knob, std::string_view value) {
  if (const auto order = order_named(value)) return *order;
  return fail("policy knob " + std::string(knob) + ": there is no order " + quoted(value) +
              "; there are fcfs, sjf, smallest, largest, wfp3, unicef and f1.");
}

// While a chain is being read: candidates follow order unless they are set themselves.
struct Draft {
  ChainKnobs knobs;
  std::vector<std::string_view> said;  // knobs that are set one by one, not by the policy's name
  std::optional<Order> candidates;
};

Result<void> set_depth(Draft& d, std::string_view value) {
  if (value == "all") {
    d.knobs.backfill.promises = BackfillKnobs::kEveryJob;
    return {};
  }
  const auto depth = parse_integer(value);
  if (!depth || *depth < 0 || *depth > 100'000) {
    return fail("policy knob depth is a number of jobs from 0 to 100000, or all, not " + quoted(value) + ".");
  }
  d.knobs.backfill.promises = static_cast<std::int32_t>(*depth);
  return {};
}

Result<void> set_stretch(Draft& d, std::string_view value) {
  const auto factor = parse_number(value);
  if (!factor || *factor < 1.0 || *factor > 10.0) {
    return fail("policy knob stretch is a factor from 1 to 10, not " + quoted(value) + ".");
  }
  d.knobs.backfill.stretch = static_cast<std::int32_t>(std::lround(*factor * 100.0));
  return {};
}

Result<void> set_predict(Draft& d, std::string_view value) {
  if (value != "limit" && value != "tsafrir") {
    return fail("policy knob predict is limit or tsafrir, not " + quoted(value) + ".");
  }
  d.knobs.estimator = value == "limit" ? Estimator::limit : Estimator::tsafrir;
  return {};
}

Result<void> set_overrun(Draft& d, std::string_view value) {
  constexpr std::array<std::pair<std::string_view, Overrun>, 6> kNames{{{"kill", Overrun::kill},
                                                                        {"run-on", Overrun::run_on},
                                                                        {"strict", Overrun::strict},
                                                                        {"rb-har", Overrun::rb_har},
                                                                        {"rb-har-literal", Overrun::rb_har_literal},
                                                                        {"lazy", Overrun::lazy}}};
  const auto* found = std::find_if(kNames.begin(), kNames.end(), [&](const auto& n) { return n.first == value; });
  if (found != kNames.end()) {
    d.knobs.overrun = found->second;
    return {};
  }
  const auto grace = parse_duration(value);
  if (!grace) {
    return fail(
        "policy knob overrun is kill, run-on, strict, rb-har, rb-har-literal, lazy or a duration such as 10m, not " +
        quoted(value) + ".");
  }
  d.knobs.overrun = Overrun::fixed;
  d.knobs.grace = *grace;
  return {};
}

Result<void> set_bind(Draft& d, std::string_view value) {
  for (const Bind bind : {Bind::none, Bind::node, Bind::node_literal, Bind::container, Bind::weighted, Bind::late}) {
    if (name_of(bind) != value) continue;
    d.knobs.bind = bind;
    return {};
  }
  return fail("policy knob bind is no, node, node-literal, container, weighted or late, not " + quoted(value) + ".");
}

Result<void> set_migrate(Draft& d, std::string_view value) {
  constexpr std::array<std::pair<std::string_view, Migration>, 3> kNames{
      {{"no", Migration::none}, {"cpu-factor", Migration::cpu_factor}, {"gain", Migration::gain}}};
  const auto* found = std::find_if(kNames.begin(), kNames.end(), [&](const auto& n) { return n.first == value; });
  if (found == kNames.end()) {
    return fail("policy knob migrate is no, cpu-factor or gain, not " + quoted(value) + ".");
  }
  d.knobs.migrate.how = found->second;
  return {};
}

Result<void> set_poll(Draft& d, std::string_view value) {
  const auto time = parse_duration(value);
  if (!time || *time < seconds(1)) {
    return fail("policy knob poll is a duration of a second or more such as 90s, not " + quoted(value) + ".");
  }
  d.knobs.migrate.poll = *time;
  return {};
}

Result<void> set_threshold(Draft& d, std::string_view value) {
  const auto time = parse_duration(value);
  if (!time) return fail("policy knob threshold is a duration such as 4h, not " + quoted(value) + ".");
  d.knobs.migrate.threshold = *time;
  return {};
}

Result<void> set_margin(Draft& d, std::string_view value) {
  const auto factor = parse_number(value);
  if (!factor || *factor < 0.0 || *factor > 100.0) {
    return fail("policy knob margin is a factor from 0 to 100, not " + quoted(value) + ".");
  }
  d.knobs.migrate.margin = static_cast<std::int32_t>(std::lround(*factor * 100.0));
  return {};
}

Result<void> set_preempt(Draft& d, std::string_view value) {
  constexpr std::array<std::pair<std::string_view, Preemption>, 4> kNames{{{"no", Preemption::none},
                                                                           {"suspend", Preemption::suspend},
                                                                           {"requeue", Preemption::requeue},
                                                                           {"checkpoint", Preemption::checkpoint}}};
  const auto* found = std::find_if(kNames.begin(), kNames.end(), [&](const auto& n) { return n.first == value; });
  if (found == kNames.end()) {
    return fail("policy knob preempt is no, suspend, requeue or checkpoint, not " + quoted(value) + ".");
  }
  d.knobs.preempt = found->second;
  return {};
}

Result<void> set_checkpoint(Draft& d, std::string_view value) {
  const auto time = parse_duration(value);
  if (!time) return fail("policy knob checkpoint is a duration such as 90s, not " + quoted(value) + ".");
  d.knobs.checkpoint = *time;
  return {};
}

template <class Field>
Result<void> assign(Field& field, const Result<Field>& value) {
  if (!value) return std::unexpected(value.error());
  field = *value;
  return {};
}

Result<void> set_knob(Draft& d, std::string_view knob, std::string_view value) {
  if (knob == "depth") return set_depth(d, value);
  if (knob == "skip") return assign(d.knobs.backfill.skip, yes_or_no(knob, value));
  if (knob == "beside") return assign(d.knobs.backfill.beside, yes_or_no(knob, value));
  if (knob == "fixed") return assign(d.knobs.backfill.fixed, yes_or_no(knob, value));
  if (knob == "order") return assign(d.knobs.order, order_value(knob, value));
  if (knob == "candidates") {
    d.candidates.emplace();
    return assign(*d.candidates, order_value(knob, value));
  }
  if (knob == "stretch") return set_stretch(d, value);
  if (knob == "predict") return set_predict(d, value);
  if (knob == "overrun") return set_overrun(d, value);
  if (knob == "bind") return set_bind(d, value);
  if (knob == "migrate") return set_migrate(d, value);
  if (knob == "poll") return set_poll(d, value);
  if (knob == "threshold") return set_threshold(d, value);
  if (knob == "margin") return set_margin(d, value);
  if (knob == "preempt") return set_preempt(d, value);
  if (knob == "checkpoint") return set_checkpoint(d, value);
  if (is_power_knob(knob)) return set_power_knob(d.knobs.power, knob, value);
  if (is_auction_knob(knob)) return set_auction_knob(d.knobs.auction, knob, value);
  std::vector<std::string_view> names;
  names.reserve(kKnobs.size());
  for (const KnobName& k : kKnobs) names.push_back(k.name);
  const auto near = nearest(knob, names);
  return fail("there is no policy knob " + quoted(knob) +
              (near.empty() ? "; `rota policies` lists them." : "; did you mean " + std::string(near) + "?"));
}

const PolicyName* policy_named(std::string_view name) {
  const auto answers_to = [&](const PolicyName& p) {
    const auto aliases = split(p.aliases, ' ');
    return p.name == name || std::find(aliases.begin(), aliases.end(), name) != aliases.end();
  };
  const auto* found = std::find_if(kPolicies.begin(), kPolicies.end(), answers_to);
  return name.empty() || found == kPolicies.end() ? nullptr : found;
}

// Behind another policy "grace" and its like are short for what they do with a job whose time is up.
std::string_view overrun_of(std::string_view name) {
  constexpr std::string_view kOverrun = "overrun=";
  const PolicyName* policy = policy_named(name);
  if (!policy) return {};
  const std::size_t at = policy->stands_for.find(kOverrun);
  return at == std::string_view::npos ? std::string_view{} : policy->stands_for.substr(at);
}

Result<void> set_knobs(Draft& d, std::string_view chain) {
  for (std::string_view link : split(chain, '+')) {
    if (const std::string_view overrun = overrun_of(link); !overrun.empty()) link = overrun;
    const auto equals = link.find('=');
    if (equals == std::string_view::npos) {
      return fail("in a policy, " + quoted(link) +
                  " is not a knob of the form NAME=VALUE; `rota policies` lists them.");
    }
    if (auto set = set_knob(d, link.substr(0, equals), link.substr(equals + 1)); !set) return set;
    d.said.push_back(link.substr(0, equals));
  }
  return {};
}

// Rules that look at particular processors do not know of jobs that give way.
Result<void> check_together(const ChainKnobs& knobs) {
  if (knobs.preempt == Preemption::none) return {};
  if (knobs.auction.takes_back() && knobs.backfill.promises > 1) {
    return fail(
        "auction=race and auction-second-thoughts take back jobs for which others give way, and preempt beside several "
        "promises does not know of that: take depth=0 or depth=1, or another auction, or leave preempt out.");
  }
  if (!asks_for_processors(knobs.overrun)) return {};
  return fail("preempt goes with overrun=kill, run-on, lazy or a duration: take one of these, or leave preempt out.");
}

// "easy++" bears the separator in its name.
std::size_t length_of_name(std::string_view text) {
  constexpr std::string_view kPlusPlus = "easy++";
  const std::string_view rest = text.starts_with(kPlusPlus) ? text.substr(kPlusPlus.size()) : "no";
  if (rest.empty() || rest.starts_with('+')) return kPlusPlus.size();
  return std::min(text.find('+'), text.size());
}

// Who would go first is walked for each bid by expected start, and who waits at all for each look at the load.
bool asks_for_queue(const AuctionKnobs& knobs) {
  return knobs.by_expected_start() || knobs.siting == Siting::least_loaded;
}

bool by_run_time(Order order) { return order != Order::fcfs && order != Order::smallest && order != Order::largest; }

// A knob that is set and changes nothing: what was meant by it will not happen.
struct Idle {
  std::string_view knob;
  bool (*is)(const ChainKnobs&);
  std::string_view why;
};

constexpr bool one_promise(const ChainKnobs& k) { return k.backfill.promises == 1; }
bool nobody_is_tried(const ChainKnobs& k) {
  const std::int32_t depth = k.backfill.promises;
  return depth == BackfillKnobs::kEveryJob || (depth == 0 && !k.backfill.skip);
}

constexpr std::array<Idle, 10> kIdle{{
    {"skip", [](const ChainKnobs& k) { return k.backfill.skip && k.backfill.promises != 0; },
     "it is for depth=0; with promises, jobs that fit overtake anyway"},
    {"beside", [](const ChainKnobs& k) { return !k.backfill.beside && !one_promise(k); }, "it is for depth=1"},
    {"fixed", [](const ChainKnobs& k) { return k.backfill.fixed && !one_promise(k); }, "it is for depth=1"},
    {"stretch", [](const ChainKnobs& k) { return k.backfill.stretch != 100 && !one_promise(k); }, "it is for depth=1"},
    {"candidates", [](const ChainKnobs& k) { return k.candidates != k.order && nobody_is_tried(k); },
     "nobody is tried for backfilling: jobs start in queue order, or each as it was promised"},
    {"predict",
     [](const ChainKnobs& k) {
       return k.estimator != Estimator::limit && k.backfill.promises == 0 && !by_run_time(k.order) &&
              !by_run_time(k.candidates);
     },
     "nothing is promised with depth=0, and no order asks how long jobs run"},
    {"checkpoint", [](const ChainKnobs& k) { return k.preempt != Preemption::checkpoint; },
     "it is for preempt=checkpoint"},
    {"poll", [](const ChainKnobs& k) { return k.migrate.how != Migration::cpu_factor; },
     "it is for migrate=cpu-factor"},
    {"threshold", [](const ChainKnobs& k) { return k.migrate.how != Migration::cpu_factor; },
     "it is for migrate=cpu-factor"},
    {"margin", [](const ChainKnobs& k) { return k.migrate.how != Migration::gain; }, "it is for migrate=gain"},
}};

Result<void> check_that_all_matters(const Draft& d) {
  const ChainKnobs& k = d.knobs;
  for (const Idle& idle : kIdle) {
    const bool said = std::find(d.said.begin(), d.said.end(), idle.knob) != d.said.end();
    if (!said || !idle.is(k)) continue;
    return fail("policy knob " + std::string(idle.knob) + " would have no effect here: " + std::string(idle.why) +
                ". Leave it out.");
  }
  for (const std::string_view knob : d.said) {
    std::string_view why = idle_power_knob(k.power, knob);
    if (why.empty()) why = idle_auction_knob(k.auction, knob);
    if (why.empty()) continue;
    return fail("policy knob " + std::string(knob) + " would have no effect here: " + std::string(why) +
                ". Leave it out.");
  }
  if (k.overrun > Overrun::run_on && k.backfill.promises == 0) {
    return fail(
        "this overrun rule acts when a promised start is due, and with depth=0 nothing is promised. Take depth=1, or "
        "overrun=kill, run-on or a duration.");
  }
  return {};
}

}  // namespace

std::span<const PolicyName> policy_names() { return kPolicies; }
std::span<const KnobName> knob_names() { return kKnobs; }

Result<Chain> Chain::parse(std::string_view text) {
  const std::size_t length = length_of_name(text);
  const std::string_view name = text.substr(0, length);
  const PolicyName* policy = policy_named(name);
  if (!policy) {
    std::vector<std::string_view> names;
    names.reserve(kPolicies.size());
    for (const PolicyName& p : kPolicies) names.push_back(p.name);
    const auto near = nearest(name, names);
    return fail("there is no policy " + quoted(name) +
                (near.empty() ? "; `rota policies` lists them." : "; did you mean " + std::string(near) + "?"));
  }
  Draft draft;
  if (auto set = set_knobs(draft, policy->stands_for); !set) return std::unexpected(set.error());
  draft.said.clear();
  if (length < text.size()) {
    if (auto set = set_knobs(draft, text.substr(length + 1)); !set) return std::unexpected(set.error());
  }
  draft.knobs.candidates = draft.candidates.value_or(draft.knobs.order);
  if (auto matters = check_that_all_matters(draft); !matters) return std::unexpected(matters.error());
  if (auto agree = check_together(draft.knobs); !agree) return std::unexpected(agree.error());
  Chain chain;
  chain.text_ = text;
  chain.knobs_ = draft.knobs;
  if (auto overrun = make_overrun(draft.knobs.overrun)) chain.add("overrun", std::move(overrun));
  if (chain.ranks_running()) {
    const BackfillKnobs& backfill = draft.knobs.backfill;
    chain.add("preempt", std::make_unique<Preempt>(draft.knobs.preempt, draft.knobs.checkpoint, backfill.skip,
                                                   backfill.promises > 1));
  }
  chain.add("backfill", std::make_unique<Backfill>(draft.knobs.backfill));
  if (draft.knobs.migrate.how != Migration::none) {
    chain.add("migrate", std::make_unique<Migrate>(draft.knobs.migrate));
  }
  const PowerKnobs& power = chain.knobs_.power;
  if (power.rule == Power::load_factor) chain.add("power", std::make_unique<LoadFactorPower>(power));
  if (power.on_demand()) chain.add("power", std::make_unique<DemandPower>(power));
  return chain;
}

void Chain::set_power_options(ClusterOptions& options) const {
  const PowerKnobs& power = knobs_.power;
  if (power.rule == Power::none) return;
  options.idle_order = IdleOrder::latest_first;
  options.wakes_for_promises = power.on_demand();
  options.work_history = power.rule == Power::load_factor && !power.from_log;
  options.demand_history = power.rule == Power::demand;
}

WaitingOptions Chain::waiting() const {
  const std::int32_t depth = knobs_.backfill.promises;
  const bool conservative = depth == BackfillKnobs::kEveryJob;
  const bool backfills = depth > 0 || knobs_.backfill.skip;
  const bool searched = (backfills && !conservative) || asks_for_processors(knobs_.overrun);
  return {knobs_.order, knobs_.candidates, searched,
          conservative || depth != 1 || knobs_.power.rule == Power::load_factor || asks_for_queue(knobs_.auction)};
}

}  // namespace rota
