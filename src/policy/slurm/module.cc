// The queue of a site as its Slurm schedules it.
#include "policy/registry.h"
#include "policy/slurm/slurm.h"

namespace rota {
namespace {

constexpr std::string_view kConf = "slurm.conf, SchedulerParameters";
constexpr std::string_view kMultifactor = "Slurm's multifactor priority";
constexpr std::string_view kTres = "slurm.conf, PriorityWeightTRES";

constexpr NamedValue kPlanners[]{{"rota", 0}, {"slurm", 1}};
constexpr NamedValue kNoPass[]{{"no", 0}};
constexpr NamedValue kOver[]{{"priority", 0}, {"qos", 1}};
constexpr NamedValue kPriorities[]{{"basic", 0}, {"multifactor", 1}};

std::string_view for_slurm(const ChainKnobs& k) { return k.slurm.planner ? "" : "it is for policy slurm"; }
std::string_view for_backfill(const ChainKnobs& k) {
  if (!k.slurm.planner) return for_slurm(k);
  return k.slurm.interval > Duration{0} ? "" : "with bf-interval=no there is no backfill pass";
}
std::string_view for_own_order(const ChainKnobs& k) {
  return k.slurm.planner
             ? ""
             : "it is for policies slurm, fcfs, easy and conservative: the others have an order of their own";
}
std::string_view for_multifactor(const ChainKnobs& k) {
  return k.slurm.planner && k.slurm.multifactor ? "" : "it is for policy slurm with priority=multifactor";
}

std::string_view for_preempting(const ChainKnobs& k) {
  return k.slurm.planner && k.preempt != Preemption::none ? "" : "it is for policy slurm with preempt";
}
std::string_view for_requeuing(const ChainKnobs& k) {
  return k.slurm.planner && k.preempt == Preemption::requeue ? "" : "it is for policy slurm with preempt=requeue";
}

std::string_view for_fair_share(const ChainKnobs& k) {
  return k.slurm.by_shares() ? "" : "it is for policy slurm with weight-fairshare";
}
std::string_view for_classic(const ChainKnobs& k) {
  return k.slurm.by_shares() && !k.slurm.weights.fair_tree ? "" : "it is for policy slurm with fair-tree=no";
}

template <auto... Members>
constexpr auto slurm = put<&ChainKnobs::slurm, Members...>;
template <auto Member>
constexpr auto weights = put<&ChainKnobs::slurm, &SlurmKnobs::weights, Member>;

constexpr Range kAmount = Range::whole(0, 1'000'000'000);

constexpr Knob kKnobs[]{
    {.name = "planner",
     .names = kPlanners,
     .fallback = "rota",
     .meaning = "whose rules say who starts; `slurm`: those that follow, with Slurm's names",
     .source = kConf,
     .set = slurm<&SlurmKnobs::planner>},
    {.name = "tick",
     .range = Range::time(),
     .fallback = "1s",
     .meaning = "slurmctld looks so often whether a pass is due; 0: passes come at the very instant",
     .source = "Slurm 22.05",
     .set = slurm<&SlurmKnobs::tick>,
     .idle = for_slurm},
    {.name = "bf-interval",
     .names = kNoPass,
     .range = Range::time(seconds(1)),
     .fallback = "30s",
     .meaning =
         "from one backfill pass to the next at least, once something has happened; no: there is none (sched/builtin)",
     .source = kConf,
     .set = slurm<&SlurmKnobs::interval>,
     .idle = for_slurm},
    {.name = "bf-phase",
     .range = Range::time(),
     .fallback = "0",
     .meaning = "the first backfill pass comes so long after second 0 of the log, and others at looks that far from it",
     .source = "Rota",
     .set = slurm<&SlurmKnobs::phase>,
     .idle = for_backfill},
    {.name = "bf-resolution",
     .range = Range::time(seconds(1)),
     .fallback = "60s",
     .meaning =
         "a reservation's times on nodes are rounded down to a multiple of this; it lasts to the end of such a step "
         "at least",
     .source = kConf,
     .set = slurm<&SlurmKnobs::resolution>,
     .idle = for_backfill},
    {.name = "bf-clock",
     .range = Range::time(),
     .fallback = "0",
     .meaning = "Unix time at second 0 of the log, or what is left of it: multiples of bf-resolution and of 30 s count "
                "from there",
     .source = "Rota",
     .set = slurm<&SlurmKnobs::clock>,
     .idle = for_backfill},
    {.name = "bf-window",
     .range = Range::time(seconds(1)),
     .fallback = "1d",
     .meaning = "a job that could start only later has nothing reserved",
     .source = kConf,
     .set = slurm<&SlurmKnobs::window>,
     .idle = for_backfill},
    {.name = "bf-max-job-test",
     .range = Range::whole(1, 1'000'000),
     .fallback = "500",
     .unit = "jobs",
     .meaning = "so many jobs are looked at in a backfill pass",
     .source = kConf,
     .set = slurm<&SlurmKnobs::max_job_test>,
     .idle = for_backfill},
    {.name = "bf-max-job-start",
     .range = Range::whole(0, 10'000),
     .fallback = "0",
     .unit = "jobs",
     .meaning = "so many jobs start in a backfill pass at most; 0: as many as can",
     .source = kConf,
     .set = slurm<&SlurmKnobs::max_job_start>,
     .idle = for_backfill},
    {.name = "bf-max-job-user",
     .range = Range::whole(0, 1'000'000),
     .fallback = "0",
     .unit = "jobs",
     .meaning = "so many jobs of a user are looked at in a backfill pass; 0: all",
     .source = kConf,
     .set = slurm<&SlurmKnobs::max_job_user>,
     .idle = for_backfill},
    {.name = "bf-max-job-part",
     .range = Range::whole(0, 1'000'000),
     .fallback = "0",
     .unit = "jobs",
     .meaning = "so many jobs of a partition are looked at in a backfill pass; 0: all",
     .source = kConf,
     .set = slurm<&SlurmKnobs::max_job_part>,
     .idle = for_backfill},
    {.name = "bf-job-part-count-reserve",
     .range = Range::whole(0, 100'000),
     .fallback = "0",
     .unit = "jobs",
     .meaning = "so many jobs of a partition have something reserved; 0: all",
     .source = kConf,
     .set = slurm<&SlurmKnobs::part_count_reserve>,
     .idle = for_backfill},
    {.name = "batch-sched-delay",
     .range = Range::time(),
     .fallback = "3s",
     .meaning = "from one main pass to the next, whatever happens in between",
     .source = kConf,
     .set = slurm<&SlurmKnobs::batch_delay>,
     .idle = for_slurm},
    {.name = "default-queue-depth",
     .range = Range::whole(0, 1'000'000'000),
     .fallback = "100",
     .unit = "jobs",
     .meaning = "so many jobs are tried in a main pass",
     .source = kConf,
     .set = slurm<&SlurmKnobs::queue_depth>,
     .idle = for_slurm},
    {.name = "partition-job-depth",
     .range = Range::whole(0, 1'000'000),
     .fallback = "0",
     .unit = "jobs",
     .meaning = "so many jobs of a partition are tried in a main pass; 0: all",
     .source = kConf,
     .set = slurm<&SlurmKnobs::partition_depth>,
     .idle = for_slurm},
    {.name = "sched-interval",
     .range = Range::time(seconds(1)),
     .fallback = "60s",
     .meaning = "so often a main pass tries the whole queue",
     .source = kConf,
     .set = slurm<&SlurmKnobs::sched_interval>,
     .idle = for_slurm},
    {.name = "priority",
     .names = kPriorities,
     .fallback = "basic",
     .meaning = "whose turn it is: by arrival, or by a sum of factors; with fcfs, easy and conservative: multifactor",
     .source = "slurm.conf, PriorityType",
     .set = slurm<&SlurmKnobs::multifactor>,
     .idle = for_own_order},
    {.name = "weight-age",
     .range = kAmount,
     .fallback = "0",
     .meaning = "of how long a job has waited, as a part of max-age",
     .source = kMultifactor,
     .set = weights<&SlurmWeights::age>,
     .idle = for_multifactor},
    {.name = "weight-job-size",
     .range = kAmount,
     .fallback = "0",
     .meaning = "of what part of the nodes and processors a job asks for",
     .source = kMultifactor,
     .set = weights<&SlurmWeights::job_size>,
     .idle = for_multifactor},
    {.name = "weight-fairshare",
     .range = kAmount,
     .fallback = "0",
     .meaning = "of how few have used less of late beside their shares: the cluster file's accounts, or all the same",
     .source = "Slurm's multifactor priority and Fair Tree",
     .set = weights<&SlurmWeights::fair_share>,
     .idle = for_multifactor},
    {.name = "fair-tree",
     .names = kYesOrNo,
     .fallback = "yes",
     .meaning =
         "no: each user's own use beside his shares counts (Slurm's classic rule), and not the order in the tree",
     .source = "slurm.conf, PriorityFlags=NO_FAIR_TREE",
     .set = weights<&SlurmWeights::fair_tree>,
     .idle = for_fair_share},
    {.name = "fair-dampening",
     .range = Range::whole(1, 65'535),
     .fallback = "1",
     .unit = "times",
     .meaning = "so much more a user may use beyond his shares for the same factor",
     .source = "slurm.conf, FairShareDampeningFactor",
     .set = weights<&SlurmWeights::dampening>,
     .idle = for_classic},
    {.name = "weight-partition",
     .range = kAmount,
     .fallback = "0",
     .meaning = "of the partition's job_factor in the cluster file, as a part of the largest",
     .source = kMultifactor,
     .set = weights<&SlurmWeights::partition>,
     .idle = for_multifactor},
    {.name = "weight-qos",
     .range = kAmount,
     .fallback = "0",
     .meaning = "of the priority of the job's QOS in the cluster file, as a part of the largest",
     .source = kMultifactor,
     .set = weights<&SlurmWeights::qos>,
     .idle = for_multifactor},
    {.name = "weight-tres-cpu",
     .range = kAmount,
     .fallback = "0",
     .meaning = "of what part of its partition's processors a job asks for",
     .source = kTres,
     .set = weights<&SlurmWeights::processors>,
     .idle = for_multifactor},
    {.name = "weight-tres-mem",
     .range = kAmount,
     .fallback = "0",
     .meaning = "of what part of its partition's memory a job asks for",
     .source = kTres,
     .set = weights<&SlurmWeights::memory>,
     .idle = for_multifactor},
    {.name = "weight-tres-node",
     .range = kAmount,
     .fallback = "0",
     .meaning = "of what part of its partition's nodes a job asks for",
     .source = kTres,
     .set = weights<&SlurmWeights::nodes>,
     .idle = for_multifactor},
    {.name = "weight-tres-gpu",
     .range = kAmount,
     .fallback = "0",
     .meaning = "of what part of its partition's accelerators a job asks for",
     .source = kTres,
     .set = weights<&SlurmWeights::accelerators>,
     .idle = for_multifactor},
    {.name = "max-age",
     .range = Range::time(seconds(1)),
     .fallback = "7d",
     .meaning = "a job that has waited so long gets no older",
     .source = "slurm.conf, PriorityMaxAge",
     .set = weights<&SlurmWeights::max_age>,
     .idle = for_multifactor},
    {.name = "favor-small",
     .names = kYesOrNo,
     .fallback = "no",
     .meaning = "small jobs have the greater factor, not large ones",
     .source = "slurm.conf, PriorityFavorSmall",
     .set = weights<&SlurmWeights::favor_small>,
     .idle = for_multifactor},
    {.name = "small-relative-to-time",
     .names = kYesOrNo,
     .fallback = "no",
     .meaning = "the size of a job counts for each minute of its limit",
     .source = "slurm.conf, PriorityFlags=SMALL_RELATIVE_TO_TIME",
     .set = weights<&SlurmWeights::relative_to_time>,
     .idle = for_multifactor},
    {.name = "calc-period",
     .range = Range::time(seconds(1)),
     .fallback = "5m",
     .meaning = "so often ages and use are reckoned anew",
     .source = "slurm.conf, PriorityCalcPeriod",
     .set = weights<&SlurmWeights::calc_period>,
     .idle = for_multifactor},
    {.name = "preempt-by",
     .names = kOver,
     .fallback = "priority",
     .meaning = "which jobs give way with preempt: those of partitions of lower priority, or of QOS that the cluster "
                "file says "
                "to",
     .source = "slurm.conf, PreemptType",
     .set = slurm<&SlurmKnobs::by_qos>,
     .idle = for_preempting},
    {.name = "preempt-exempt",
     .range = Range::time(),
     .fallback = "0",
     .meaning = "a job that has run no longer gives way to none",
     .source = "slurm.conf, PreemptExemptTime",
     .set = slurm<&SlurmKnobs::exempt>,
     .idle = for_preempting},
    {.name = "requeue-delay",
     .range = Range::time(seconds(1)),
     .fallback = "121s",
     .meaning = "a job that gave way is looked at again so much later, which counts as no waiting",
     .source = "Slurm 22.05",
     .set = slurm<&SlurmKnobs::requeue_delay>,
     .idle = for_requeuing},
    {.name = "calc-phase",
     .range = Range::time(),
     .fallback = "0",
     .meaning = "when that is: so long after second 0 of the log, and every calc-period before and after",
     .source = "Rota",
     .set = weights<&SlurmWeights::calc_phase>,
     .idle = for_multifactor},
};

std::unique_ptr<Policy> link(const ChainKnobs& k) {
  SlurmKnobs slurm = k.slurm;
  slurm.preempt = k.preempt;
  return slurm.planner ? std::make_unique<SlurmPlanner>(slurm) : nullptr;
}

void ask(const ChainKnobs& k, ClusterOptions& options) {
  options.waiting.by_queue |= k.slurm.planner;
  options.limits_at_start |= k.slurm.planner;
  options.outlasts_reservations |= k.slurm.planner;
  if (k.slurm.planner && k.preempt == Preemption::requeue) options.requeue_delay = k.slurm.requeue_delay;
  options.use.weighed |= k.slurm.by_shares();
  if (k.slurm.by_shares()) {
    options.use.period = k.slurm.weights.calc_period;
    options.use.phase = k.slurm.weights.calc_phase;
    options.use.classic = !k.slurm.weights.fair_tree;
    options.use.dampening = k.slurm.weights.dampening;
  }
  options.turns_of_its_own |= k.slurm.planner && (k.slurm.multifactor || k.order != Order::fcfs);
}

constexpr Refusal kRefusals[]{
    {[](const ChainKnobs& k) {
       return k.slurm.planner && (k.candidates != k.order || k.backfill.promises != 0 || k.backfill.skip);
     },
     "policy slurm has a depth of its own, and one order. Leave candidates, depth and skip out; bf-max-job-test and "
     "bf-job-part-count-reserve are its knobs for that."},
    {[](const ChainKnobs& k) {
       return k.slurm.planner && (k.preempt == Preemption::suspend || k.preempt == Preemption::checkpoint);
     },
     "policy slurm knows no jobs that go on later where they were. Take preempt=requeue or preempt=cancel, or leave "
     "preempt out."},
};

constexpr PolicyName kPolicies[]{
    {"slurm", "", "planner=slurm+depth=0",
     "what a Slurm controller does: a main pass at events, and a backfill pass that plans everything anew",
     "slurm.conf(5); Jette and Wickberg 2023"},
};

}  // namespace

constinit const Module kSlurmModule{
    .name = "slurm", .knobs = kKnobs, .policies = kPolicies, .link = link, .ask = ask, .refusals = kRefusals};

}  // namespace rota
