#include "site/slurm_policy.h"

#include <gtest/gtest.h>

namespace rota {
namespace {

std::string chain_of(const SlurmSettings& settings) { return slurm_policy_of(settings).chain; }
using Remarks = std::vector<std::string>;

TEST(SlurmPolicy, NamesOnlyWhatIsNotTheDefault) {
  EXPECT_EQ(chain_of({}), "slurm");
  EXPECT_EQ(chain_of({{"SchedulerType", "sched/backfill"},
                      {"SchedulerParameters", "bf_interval=30,bf_window=1440,bf_resolution=60,default_queue_depth=100"},
                      {"PriorityType", "priority/basic"}}),
            "slurm");
  EXPECT_EQ(chain_of({{"SchedulerParameters", "(null)"}}), "slurm");
}

TEST(SlurmPolicy, ReadsEachParameterInItsUnit) {
  EXPECT_EQ(chain_of({{"SchedulerParameters",
                       "bf_interval=90,bf_window=2880,bf_resolution=120,bf_max_job_test=1000,bf_max_job_user=10,"
                       "bf_job_part_count_reserve=1,default_queue_depth=500,sched_interval=30"}}),
            "slurm+bf-interval=90s+bf-window=2d+bf-resolution=2m+bf-max-job-test=1000+bf-max-job-user=10"
            "+bf-job-part-count-reserve=1+default-queue-depth=500+sched-interval=30s");
}

TEST(SlurmPolicy, TellsNoValuesWhereTheseMayHaveNamesInThem) {
  const SlurmSettings settings{{"SchedulerParameters", "bf_window=kea,tui=1,weka=2"},
                               {"PriorityType", "priority/multifactor"},
                               {"PriorityWeightTRES", "CPU=100,License/huia=5"},
                               {"PriorityFlags", "MOA"}};
  EXPECT_EQ(slurm_policy_of(settings, {.values = false}).remarks,
            (Remarks{"bf_window=...: that is no value, and the default is taken.",
                     "SchedulerParameters=...: policy slurm knows nothing of it.",
                     "PriorityWeightTRES=...: it has no factor here.",
                     "PriorityFlags=...: policy slurm does not follow it."}));
  EXPECT_EQ(slurm_policy_of(settings).remarks.size(), 5U);
}

TEST(SlurmPolicy, HasNoBackfillPassWhereThereIsNone) {
  EXPECT_EQ(chain_of({{"SchedulerType", "sched/builtin"}, {"SchedulerParameters", "bf_window=60"}}),
            "slurm+bf-interval=no");
  EXPECT_EQ(chain_of({{"SchedulerParameters", "bf_interval=-1"}}), "slurm+bf-interval=no");
  EXPECT_EQ(chain_of({{"SchedulerParameters", "bf_window=60,bf_interval=-1"}}), "slurm+bf-interval=no");
}

TEST(SlurmPolicy, MakesOnlyWhatCanBeParsed) {
  EXPECT_EQ(chain_of({{"SchedulerParameters", "bf_window=60,bf_window=120,bf_window=9223372036854775807"}}),
            "slurm+bf-window=1h");
  EXPECT_EQ(chain_of({{"SchedulerParameters", "bf_window=9223372036854775807,bf_max_job_start=10001"}}), "slurm");
}

TEST(SlurmPolicy, ReadsFactorsAndTheirTimes) {
  const SlurmPolicy policy = slurm_policy_of({{"PriorityType", "priority/multifactor"},
                                              {"PriorityWeightAge", "1000"},
                                              {"PriorityWeightJobSize", "2000"},
                                              {"PriorityWeightFairShare", "500"},
                                              {"PriorityMaxAge", "14-00:00:00"},
                                              {"PriorityDecayHalfLife", "1-12:00:00"},
                                              {"PriorityCalcPeriod", "1"},
                                              {"PriorityFlags", "SMALL_RELATIVE_TO_TIME"},
                                              {"BOOT_TIME", "2026-11-27T01:46:47"},
                                              {"PriorityFavorSmall", "Yes"}},
                                             {.unix_start = 1'795'743'991});  // at 01:46:31
  EXPECT_EQ(
      policy.chain,
      "slurm+bf-clock=31s+priority=multifactor+weight-job-size=2000+weight-age=1000+weight-fairshare=500+max-age=14d"
      "+calc-period=1m+calc-phase=17s+fair-half-life=36h+favor-small=yes+small-relative-to-time=yes");
  EXPECT_EQ(policy.remarks,
            Remarks{"PriorityWeightFairShare: every user has the same shares and accounts have none, for nothing says "
                    "what they have (assoc.txt)."});
}

TEST(SlurmPolicy, ReadsWhatPartitionsQosAndResourcesWeigh) {
  const SlurmPolicy policy = slurm_policy_of({{"PriorityType", "priority/multifactor"},
                                              {"PriorityWeightPartition", "10000"},
                                              {"PriorityWeightQOS", "20000"},
                                              {"PriorityWeightFairShare", "1"},
                                              {"SelectTypeParameters", "CR_CPU_MEMORY"},
                                              {"PriorityWeightTRES", "CPU=1000,Mem=2000.5,GRES/gpu=3000,Node=5"}},
                                             {.qos = true, .accounts = true});
  EXPECT_EQ(policy.chain,
            "slurm+priority=multifactor+weight-partition=10000+weight-qos=20000+weight-tres-cpu=1000"
            "+weight-tres-mem=2001+weight-tres-node=5+weight-tres-gpu=3000+weight-fairshare=1");
  EXPECT_EQ(policy.remarks, Remarks{"PriorityWeightTRES=Mem=2000.5: it is rounded to 2001."});
}

TEST(SlurmPolicy, TakesWeightsOfResourcesAsSlurmDoes) {
  const auto of = [](const std::string& weights) {
    return slurm_policy_of({{"PriorityType", "priority/multifactor"},
                            {"SelectTypeParameters", "CR_CPU_MEMORY"},
                            {"PriorityWeightTRES", weights}});
  };
  EXPECT_EQ(of("Node=1e3,mem=.6").chain, "slurm+priority=multifactor+weight-tres-mem=1+weight-tres-node=1000");
  EXPECT_EQ(of("cpu=0.4").chain, "slurm+priority=multifactor");
  EXPECT_EQ(of("cpu=0.4").remarks, Remarks{"PriorityWeightTRES=cpu=0.4: it is rounded to 0."});
  EXPECT_EQ(of("GRES/gpu=1,gres/gpu=2").chain, "slurm+priority=multifactor+weight-tres-gpu=2");
  EXPECT_EQ(of("cpu=2,cpu=0").chain, "slurm+priority=multifactor");
}

TEST(SlurmPolicy, NothingVariesWithoutADatabase) {
  const SlurmPolicy policy = slurm_policy_of({{"AccountingStorageType", "accounting_storage/none"},
                                              {"PriorityType", "priority/multifactor"},
                                              {"PriorityWeightAge", "1000"},
                                              {"PriorityWeightJobSize", "2000"}});
  EXPECT_EQ(policy.chain, "slurm+priority=multifactor+weight-job-size=2000");
  EXPECT_EQ(policy.remarks, Remarks{"AccountingStorageType=accounting_storage/none: without slurmdbd Slurm reckons "
                                    "neither ages nor shares anew, so that these weights are left out."});
}

TEST(SlurmPolicy, WeightsSayNothingUnderBasicPriority) {
  EXPECT_EQ(chain_of({{"PriorityType", "priority/basic"}, {"PriorityWeightAge", "1000"}}), "slurm");
}

TEST(SlurmPolicy, LetsJobsRunOnAsLongAsTheSiteDoes) {
  const SlurmPolicy some = slurm_policy_of({{"OverTimeLimit", "10 min"}, {"SchedulerParameters", "bf_interval=60"}});
  EXPECT_EQ(some.chain, "slurm+bf-interval=1m+overrun=10m");
  EXPECT_EQ(some.at_limit, "+overrun=10m");
  EXPECT_EQ(some.remarks, Remarks{});
  EXPECT_EQ(chain_of({{"OverTimeLimit", "90"}}), "slurm+overrun=90m") << "slurm.conf counts minutes";
  EXPECT_EQ(chain_of({{"OverTimeLimit", "UNLIMITED"}}), "slurm+overrun=run-on");
  EXPECT_EQ(chain_of({{"OverTimeLimit", "0 min"}}), "slurm");
  EXPECT_EQ(slurm_policy_of({{"OverTimeLimit", "soon"}}).remarks,
            Remarks{"OverTimeLimit=soon: that is no time, and jobs end at their limits."});
}

TEST(SlurmPolicy, ReadsTheClassicRuleOfFairShare) {
  const auto of = [](bool accounts, const std::string& factor) {
    return slurm_policy_of({{"PriorityType", "priority/multifactor"},
                            {"PriorityWeightFairShare", "9"},
                            {"PriorityFlags", "NO_FAIR_TREE"},
                            {"FairShareDampeningFactor", factor}},
                           {.accounts = accounts});
  };
  EXPECT_EQ(of(true, "1").chain, "slurm+priority=multifactor+weight-fairshare=9+fair-tree=no");
  EXPECT_EQ(of(true, "5").chain, "slurm+priority=multifactor+weight-fairshare=9+fair-tree=no+fair-dampening=5");
  EXPECT_EQ(of(false, "5").chain, "slurm+priority=multifactor+weight-fairshare=9");
  EXPECT_EQ(of(false, "5").remarks.back(), "PriorityFlags=NO_FAIR_TREE: users without accounts stand in one line.");
}

TEST(SlurmPolicy, TellsWhatItDoesNotFollow) {
  const SlurmPolicy policy = slurm_policy_of({{"SchedulerParameters", "bf_continue,bf_licenses,bf_window=soon"},
                                              {"PreemptType", "preempt/qos"},
                                              {"PreemptMode", "CANCEL"},
                                              {"PriorityType", "priority/multifactor"},
                                              {"PriorityWeightQOS", "10000"},
                                              {"PriorityWeightTRES", "CPU=0,mem=5,license/matlab=7,Node=soon"},
                                              {"PriorityWeightPartition", "0"},
                                              {"PriorityFlags", "ACCRUE_ALWAYS,DEPTH_OBLIVIOUS"},
                                              {"CompleteWait", "32 sec"},
                                              {"OverTimeLimit", "0 min"}});
  EXPECT_EQ(policy.chain, "slurm+priority=multifactor");
  EXPECT_EQ(policy.remarks, (Remarks{"bf_licenses: policy slurm knows nothing of it.",
                                     "bf_window=soon: that is no value, and the default is taken.",
                                     "PriorityWeightQOS=10000: the weight is left out, for nothing says what "
                                     "priorities the QOS have (qos.txt).",
                                     "PriorityWeightTRES=mem=5: it has no factor here, for memory does not count "
                                     "(SelectTypeParameters).",
                                     "PriorityWeightTRES=license/matlab=7: it has no factor here.",
                                     "PriorityWeightTRES=Node=soon: that is no value, and the default is taken.",
                                     "PriorityFlags=DEPTH_OBLIVIOUS: policy slurm does not follow it.",
                                     "PreemptType=preempt/qos: no job gives way, for nothing says to which QOS "
                                     "(qos.txt).",
                                     "CompleteWait=32 sec: a node that a job has left is free at once."}));
}

TEST(SlurmPolicy, HasJobsGiveWayAsTheSiteDoes) {
  const auto of = [](const char* type, const char* mode, const char* exempt = "00:00:00", bool gives_way = true) {
    const SlurmPolicy policy =
        slurm_policy_of({{"PreemptType", type}, {"PreemptMode", mode}, {"PreemptExemptTime", exempt}},
                        {.qos = true, .gives_way = gives_way});
    return policy.remarks.empty() ? policy.chain : policy.remarks.front();
  };
  EXPECT_EQ(of("preempt/none", "OFF"), "slurm");
  EXPECT_EQ(of("preempt/qos", "REQUEUE", "00:05:00"), "slurm+preempt=requeue+preempt-by=qos+preempt-exempt=5m");
  EXPECT_EQ(of("preempt/partition_prio", "GANG,CANCEL"), "slurm+preempt=cancel");
  EXPECT_EQ(of("preempt/partition_prio", "GANG,SUSPEND"),
            "PreemptMode=GANG,SUSPEND: policy slurm suspends no job, and none gives way.");
  EXPECT_EQ(of("preempt/qos", "REQUEUE", "00:00:00", false),
            "PreemptType=preempt/qos: no job gives way in a forecast.");
}

}  // namespace
}  // namespace rota
