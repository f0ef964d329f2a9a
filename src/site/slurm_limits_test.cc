#include "site/slurm_limits.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "site/slurm_cluster.h"

namespace rota::site {
namespace {

constexpr const char* kConfig =
    "ClusterName = kea\nSchedulerType = sched/backfill\nSelectType = select/cons_tres\n"
    "SelectTypeParameters = CR_CORE_MEMORY\nSLURM_VERSION = 22.05.8\n"
    "AccountingStorageEnforce = associations,limits,qos\n";
constexpr const char* kNodes = "NodeName=n1 CPUTot=16 State=IDLE\nNodeName=n2 CPUTot=16 State=IDLE\n";
constexpr const char* kPartitions = "PartitionName=batch Nodes=n[1-2] State=UP\n";

// The limits of the cluster, as tables of the file; and what is told of others.
class SlurmLimits : public testing::Test {
 protected:
  SlurmCluster cluster() const {
    auto cluster = cluster_of_slurm(text_);
    EXPECT_TRUE(cluster) << cluster.error().message;
    return std::move(*cluster);
  }
  std::vector<std::string> told() const {
    std::vector<std::string> told;
    for (const std::string& said : cluster().left_out)
      if (said.contains("limit")) told.push_back(said);
    return told;
  }
  // "qos=low user=* jobs=4: QOSMaxJobsPerUserLimit"
  std::vector<std::string> tables() const {
    std::vector<std::string> all;
    for (const Limit& limit : cluster().machine.limits) {
      std::string& text = all.emplace_back();
      const auto say = [&](const char* what, const std::string& is) {
        if (!is.empty()) text += fmt::format("{}{}={}", text.empty() ? "" : " ", what, is);
      };
      say("account", limit.account);
      say("user", limit.user);
      say("qos", limit.qos);
      say("partition", limit.partition);
      say("type", limit.accelerator_type);
      for (const std::string& qos : limit.except_qos) say("except", qos);
      for (const std::string& partition : limit.except_partitions) say("outside", partition);
      const auto most = [&](const char* what, std::int64_t is) {
        if (is != Limit::kNone) say(what, std::to_string(is));
      };
      most("jobs", limit.most.jobs);
      most("processors", limit.most.processors);
      most("nodes", limit.most.nodes);
      most("memory", limit.most.memory);
      most("accelerators", limit.most.accelerators);
      most("seconds", limit.most.processor_seconds);
      text += ": " + limit.reason;
    }
    return all;
  }
  void associations(const std::string& columns, const std::string& rows) {
    text_.associations = {"assoc.txt", "Cluster|Account|User|Partition|ParentName|Share|" + columns + "\n" + rows};
  }

  using Sentences = std::vector<std::string>;
  SlurmText text_{
      {"config.txt", kConfig}, {"nodes.txt", kNodes}, {"partitions.txt", kPartitions}, {"licences.txt", ""}};
};

TEST_F(SlurmLimits, AreTablesOfTheFile) {
  text_.qos = {"qos.txt",
               "Name|Priority|UsageFactor|GrpTRES|MaxJobsPU|MaxTRESPU|MaxTRESPA|MaxWall|MaxSubmitPU\n"
               "normal|0|1.0||||||\nlow|1|1.0|cpu=64,mem=2G|4|||1-00:00:00|9\nhigh|2|1.0||2|gres/gpu=8|node=3||\n"};
  associations("GrpTRES|MaxJobs",
               "tui|other||||1|cpu=1|\nkea|root||||1||\nkea|physics|||root|1|cpu=9|5\nkea|physics|anna|||1||3\n");
  EXPECT_EQ(
      tables(),
      (Sentences{"qos=low processors=64: QOSGrpCpuLimit", "qos=low memory=2147483648: QOSGrpMemLimit",
                 "user=* qos=low jobs=4: QOSMaxJobsPerUserLimit", "user=* qos=high jobs=2: QOSMaxJobsPerUserLimit",
                 "user=* qos=high accelerators=8: QOSMaxGRESPerUser", "account=* qos=high nodes=3: MaxNodePerAccount",
                 "account=physics except=low processors=9: AssocGrpCpuLimit",
                 "account=physics user=anna except=low except=high jobs=3: AssocMaxJobsLimit"}));
  EXPECT_EQ(told(), Sentences{});
  EXPECT_EQ(cluster().machine.accounts.size(), 1U) << "what is below an account counts there";
}

TEST_F(SlurmLimits, ThatAFileCannotHaveAreNamed) {
  text_.qos = {"qos.txt",
               "Name|Priority|UsageFactor|GrpTRES|GrpTRESMins|GrpJobs\nnormal|0|1.0|billing=5,cpu=1|cpu=100|many\n"};
  associations("GrpWall", "kea|root||||1|\nkea|physics|||root|1|100\n");
  EXPECT_EQ(tables(), Sentences{"qos=normal processors=1: QOSGrpCpuLimit"});
  EXPECT_EQ(told(), (Sentences{"the limit GrpJobs of QOS (normal)", "the limit GrpTRESMins of QOS (normal)",
                               "the limit GrpWall of accounts (physics)", "the limit billing of QOS (normal)"}));
}

TEST_F(SlurmLimits, AreNotKnownWithoutTheirColumns) {
  EXPECT_EQ(told().size(), 2U) << "no table tells whether there are any";
  text_.qos = {"qos.txt", "Name|Priority|UsageFactor\nnormal|0|1.0\n"};
  associations("GrpTRES", "kea|root||||1|\n");
  EXPECT_EQ(told(),
            Sentences{"limits of QOS, if they have any (AccountingStorageEnforce): qos.txt does not tell them; the "
                      "commands that --help shows do"});
  text_.config.text.replace(text_.config.text.find("limits,"), 7, "");
  EXPECT_EQ(told(), Sentences{}) << "Slurm keeps none";
}

TEST_F(SlurmLimits, OfAPartitionsQosHoldForItsJobs) {
  text_.qos = {"qos.txt", "Name|Priority|UsageFactor|MaxJobsPU\nnormal|0|1.0|\npart|0|1.0|1\n"};
  associations("GrpTRES", "kea|root||||1|\n");
  text_.partitions.text = "PartitionName=batch Nodes=n[1-2] QoS=part State=UP\n";
  EXPECT_EQ(tables(), (Sentences{"user=* qos=part outside=batch jobs=1: QOSMaxJobsPerUserLimit",
                                 "user=* partition=batch jobs=1: QOSMaxJobsPerUserLimit"}));
  associations("MaxJobs", "kea|root||||1|\nkea|physics|||root|1|\nkea|physics|anna|||1|3\n");
  EXPECT_EQ(tables().back(), "account=physics user=anna except=part outside=batch jobs=3: AssocMaxJobsLimit");
  EXPECT_EQ(told(), Sentences{});
}

TEST_F(SlurmLimits, OfAQosThatStandsOverPartitionsHoldThere) {
  text_.qos = {"qos.txt",
               "Name|Priority|UsageFactor|GrpJobs|Flags\nlow|0|1.0|1|\nhigh|0|1.0|2|DenyOnLimit,OverPartQOS\n"
               "part|0|1.0|3|\nother|0|1.0||OverPartQOS\n"};
  associations("GrpTRES", "kea|root||||1|\n");
  text_.partitions.text = "PartitionName=batch Nodes=n[1-2] QoS=part State=UP\n";
  EXPECT_EQ(tables(), (Sentences{"qos=low outside=batch jobs=1: QOSGrpJobsLimit", "qos=high jobs=2: QOSGrpJobsLimit",
                                 "qos=part outside=batch jobs=3: QOSGrpJobsLimit",
                                 "partition=batch except=high jobs=3: QOSGrpJobsLimit"}));
}

TEST_F(SlurmLimits, OfMinutesAndOfGpusOfATypeAreTables) {
  text_.nodes.text = "NodeName=n1 CPUTot=16 Gres=gpu:a100:4 State=IDLE\nNodeName=n2 CPUTot=16 State=IDLE\n";
  text_.qos = {"qos.txt",
               "Name|Priority|UsageFactor|GrpTRES|GrpTRESRunMins\n"
               "low|0|1.0|gres/gpu:a100=2,gres/gpu:none=3|cpu=600,mem=7\n"};
  associations("GrpTRESRunMins", "kea|root||||1|\nkea|physics|||root|1|cpu=60\n");
  EXPECT_EQ(tables(), (Sentences{"qos=low type=a100 accelerators=2: QOSGrpGRES",
                                 "qos=low seconds=36000: QOSGrpCPURunMinutesLimit",
                                 "account=physics except=low seconds=3600: AssocGrpCPURunMinutesLimit"}));
  EXPECT_EQ(told(), (Sentences{"the limit gres/gpu:none of QOS (low)", "the limit mem of QOS (low)"}));
}

}  // namespace
}  // namespace rota::site
