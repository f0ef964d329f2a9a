#include "site/slurm_cluster.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/text.h"
#include "site/cluster_file.h"

namespace rota::site {
namespace {

constexpr const char* kConfig =
    "Configuration data as of 2026-11-22T18:11:22\nClusterName             = kea\n"
    "SchedulerType           = sched/backfill\nSelectType              = select/cons_tres\n"
    "SelectTypeParameters    = CR_CORE_MEMORY\nSLURM_VERSION           = 22.05.8\nPreemptType = preempt/none\n"
    "OverTimeLimit           = 0 min\n\nSlurmctld(primary) at vm is UP\n";
constexpr const char* kNodes =
    "NodeName=g1 Arch=x86_64 CoresPerSocket=1 \n   CPUAlloc=0 CPUEfctv=30 CPUTot=32 CPULoad=3.31\n"
    "   AvailableFeatures=(null)\n   Gres=gpu:a100:2(S:0-1),gpu:a100:2(S:2-3)\n"
    "   OS=Linux 6.18.44 #1 SMP PREEMPT_DYNAMIC @0 \n   RealMemory=64000 AllocMem=0 Sockets=4\n"
    "   State=IDLE ThreadsPerCore=1 TmpDisk=0 Weight=10 Owner=N/A MCS_label=N/A\n   Partitions=batch,gpu \n"
    "   CfgTRES=cpu=32,mem=64000M\n\n"
    "NodeName=n1 CPUTot=16 RealMemory=32768 MemSpecLimit=1024 State=IDLE Weight=1 Gres=(null)\n\n"
    "NodeName=n2 CPUTot=16 RealMemory=32768 MemSpecLimit=1024 State=DOWN+DRAIN Weight=1 Gres=(null)\n"
    "NodeName=n3 CPUTot=16 RealMemory=32768 State=FUTURE Weight=1\n";
constexpr const char* kPartitions =
    "PartitionName=batch AllowAccounts=ALL Default=YES DefaultTime=NONE MaxNodes=UNLIMITED MaxTime=2-00:00:00 "
    "MinNodes=0 "
    "Nodes=g1,n[1-2] PriorityTier=1 OverSubscribe=NO State=UP\n"
    "PartitionName=gpu AllowAccounts=physics,chemistry Default=NO DefaultTime=00:30:00 MaxNodes=1 MaxTime=UNLIMITED "
    "MinNodes=1 Nodes=g1 PriorityJobFactor=7 PriorityTier=5 OverSubscribe=EXCLUSIVE State=UP\n"
    "PartitionName=empty Nodes=(null) MaxTime=UNLIMITED State=UP\n";
constexpr const char* kLicences =
    "LicenseName=matlab\n    Total=3 Used=0 Free=3 Reserved=0 Remote=no\n"
    "LicenseName=fluent\n    Total=0 Used=0 Free=0 Reserved=0 Remote=no\n";

SlurmText texts() {
  return {{"config.txt", kConfig}, {"nodes.txt", kNodes}, {"partitions.txt", kPartitions}, {"licences.txt", kLicences}};
}

std::string refusal(const SlurmText& text) {
  const auto cluster = cluster_of_slurm(text);
  return cluster ? "no error" : cluster.error().message;
}

TEST(SlurmCluster, TellsNodesThatAreSwitchedOffApartFromThoseThatAreDown) {
  SlurmText text = texts();
  text.nodes.text.clear();
  int number = 0;
  for (const char* state : {"IDLE+CLOUD+POWERED_DOWN", "IDLE+POWERING_DOWN", "IDLE+POWER_DOWN", "IDLE~", "DOWN*",
                            "IDLE+DRAIN", "MIXED+DRAIN+POWERING_UP", "MAINT"})
    text.nodes.text += fmt::format("NodeName=n{} CPUTot=4 State={}\n", ++number, state);
  text.partitions.text = "PartitionName=batch Nodes=n[1-8] State=UP\n";
  const auto cluster = cluster_of_slurm(text);
  ASSERT_TRUE(cluster) << cluster.error().message;
  const auto tells = [&](const std::string& what) { return std::ranges::count(cluster->guessed, what); };
  EXPECT_EQ(tells("nodes that were down, drained or in maintenance are taken as there all the time (n[5-8])"), 1);
  EXPECT_EQ(tells("nodes that Slurm switches off and on are taken as on all the time (n[1-3],n7)"), 1);
}

TEST(SlurmCluster, BecomesAClusterFile) {
  const auto cluster = cluster_of_slurm(texts());
  ASSERT_TRUE(cluster) << cluster.error().message;
  EXPECT_EQ(cluster->toml,
            "# Made by rota import slurm from Slurm 22.05.8.\n"
            "name = \"kea\"\nlicences = \"matlab:3\"\n"
            "\n[[nodes]]\nnames = \"n[1-2]\"\nprocessors = 16\nmemory = \"31G\"\nweight = 1\n"
            "\n[[nodes]]\nnames = \"g1\"\nprocessors = 30\nmemory = \"64000M\"\naccelerators = 4\n"
            "accelerator_type = \"a100\"\nweight = 10\n"
            "\n[[partitions]]\nname = \"batch\"\nnodes = \"n[1-2],g1\"\ndefault = true\nmax_time = \"2d\"\npriority = "
            "1\njob_factor = 1\n"
            "\n[[partitions]]\nname = \"gpu\"\nnodes = \"g1\"\ndefault_time = \"30m\"\nmax_nodes = 1\npriority = "
            "5\njob_factor = 7\n");
  EXPECT_EQ(cluster->machine.processors, 62);
}

TEST(SlurmCluster, TellsWhatAClusterFileCannotSay) {
  const auto cluster = cluster_of_slurm(texts());
  ASSERT_TRUE(cluster);
  EXPECT_EQ(cluster->left_out,
            (std::vector<std::string>{"AllowAccounts of partitions (gpu)",
                                      "OverSubscribe=FORCE or EXCLUSIVE of partitions (gpu)",
                                      "nodes in state FUTURE (n3)", "partitions without nodes (empty)"}));
  EXPECT_EQ(
      cluster->guessed,
      std::vector<std::string>{"nodes that were down, drained or in maintenance are taken as there all the time (n2)"});
}

TEST(SlurmCluster, LeavesMemoryOutThatSlurmDoesNotCount) {
  SlurmText text = texts();
  text.config.text =
      "ClusterName = kea\nSchedulerType = sched/backfill\nSelectType = select/cons_tres\n"
      "SelectTypeParameters = CR_CPU\nSLURM_VERSION = 22.05.8\n";
  const auto cluster = cluster_of_slurm(text);
  ASSERT_TRUE(cluster);
  EXPECT_EQ(cluster->toml.find("memory"), std::string::npos);
  EXPECT_EQ(cluster->left_out.back(), "partitions without nodes (empty)");
  EXPECT_EQ(cluster->left_out[2], "memory of nodes: Slurm does not count it here (SelectTypeParameters)");
}

TEST(SlurmCluster, SaysWhatUseCountsInEachPartition) {
  SlurmText text = texts();
  text.config.text += "PriorityFlags = MAX_TRES,ACCRUE_ALWAYS\n";
  text.partitions.text =
      "PartitionName=batch Nodes=n[1-2] State=UP TRESBillingWeights=CPU=0.5,Mem=0.25G,license/matlab=3\n"
      "PartitionName=gpu Nodes=g1 State=UP TRESBillingWeights=mem=1,GRES/gpu:a100=12,GRES/gpu:t4=2,Node=1.5\n"
      "PartitionName=plain Nodes=n1 State=UP\n";
  const auto cluster = cluster_of_slurm(text);
  ASSERT_TRUE(cluster) << cluster.error().message;
  const auto billing = [&](std::size_t partition) { return cluster->machine.partitions[partition].billing; };
  EXPECT_EQ(billing(0), (Billing{.processor = 500, .memory = 250, .most = true}));
  EXPECT_EQ(billing(1),
            (Billing{.processor = 0, .node = 1500, .memory = 1'024'000, .accelerator = 12'000, .most = true}));
  EXPECT_EQ(billing(2), Billing{});
  const auto tells = [](const std::vector<std::string>& all, const std::string& what) {
    return std::ranges::count(all, what);
  };
  EXPECT_EQ(
      tells(cluster->left_out, "TRESBillingWeights of other than processors, memory, nodes and accelerators (batch)"),
      1);
  EXPECT_EQ(tells(cluster->guessed,
                  "TRESBillingWeights of a type of accelerators, the greatest, is taken as that of all (gpu)"),
            1);
  text.partitions.text = "PartitionName=batch Nodes=n[1-2] State=UP TRESBillingWeights=CPU=much\n";
  EXPECT_EQ(
      refusal(text),
      "partitions.txt: partition \"batch\": TRESBillingWeights is \"CPU=much\", which has no number in \"CPU=much\".");
}

TEST(SlurmCluster, FindsGpusAndTheirTypeWhereTheyAreOnlyConfigured) {
  for (const char* const gpus : {"gres/gpu=2,gres/gpu:a100=2", "gres/gpu:a100=2", "gres/gpu=2"}) {
    SlurmText text = texts();
    text.nodes.text = fmt::format(
        "{}{}\n", std::string("NodeName=n1 CPUTot=4 RealMemory=1000 State=IDLE Gres=(null) CfgTRES=cpu=4,"), gpus);
    text.partitions.text = "PartitionName=batch Nodes=n1 MaxTime=60 State=UP\n";
    const auto cluster = cluster_of_slurm(text);
    ASSERT_TRUE(cluster) << cluster.error().message;
    EXPECT_NE(cluster->toml.find("accelerators = 2"), std::string::npos) << cluster->toml;
    const bool typed = std::string_view(gpus).find("a100") != std::string_view::npos;
    EXPECT_EQ(cluster->toml.find("accelerator_type = \"a100\"") != std::string::npos, typed) << cluster->toml;
  }
}

TEST(SlurmCluster, HasTheFeaturesOfNodes) {
  SlurmText text = texts();
  text.nodes.text =
      "NodeName=n1 CPUTot=4 State=IDLE AvailableFeatures=ib,avx512,knl ActiveFeatures=ib,avx512\n"
      "NodeName=n2 CPUTot=4 State=IDLE AvailableFeatures=(null) ActiveFeatures=(null)\n";
  text.partitions.text = "PartitionName=batch Nodes=n[1-2] MaxTime=60 State=UP\n";
  const auto cluster = cluster_of_slurm(text);
  ASSERT_TRUE(cluster) << cluster.error().message;
  EXPECT_EQ(cluster->machine.features, (std::vector<std::string>{"ib", "avx512"}));
  EXPECT_EQ(cluster->machine.nodes[0].features, 3U);
  EXPECT_EQ(cluster->machine.nodes[1].features, 0U);
  std::string many;
  for (int i = 0; i < 70; ++i) many += ",f" + std::to_string(i);
  text.nodes.text =
      "NodeName=n1 CPUTot=4 State=IDLE ActiveFeatures=ib\nNodeName=n2 CPUTot=4 State=IDLE ActiveFeatures=ib" + many +
      "\n";
  const auto some = cluster_of_slurm(text);
  ASSERT_TRUE(some) << some.error().message;
  EXPECT_EQ(some->machine.features.size(), 64U);
  EXPECT_EQ(some->machine.features[0], "ib");
  EXPECT_NE(std::ranges::find(some->left_out, "features beyond the 64 that most nodes have (n2)"),
            some->left_out.end());
}

TEST(SlurmCluster, WithoutLicencesIsOne) {
  SlurmText text = texts();
  text.licences.text = "No licenses configured in Slurm.\n";
  EXPECT_TRUE(cluster_of_slurm(text));
  text.licences.text = "";
  EXPECT_TRUE(cluster_of_slurm(text));
}

TEST(SlurmCluster, SaysWhichFileIsWrongAndHowToHaveIt) {
  SlurmText text = texts();
  text.nodes.text = "sinfo: something else\n";
  EXPECT_EQ(refusal(text), "nodes.txt: no line begins with NodeName=. Write it with `scontrol -a -o show node`.");
  text = texts();
  text.config.text = "slurm_load_ctl_conf error: Unable to contact slurm controller\n";
  EXPECT_EQ(refusal(text), "config.txt: it does not tell ClusterName. Write it with `scontrol show config`.");
  text = texts();
  text.partitions.text = "PartitionName=batch Nodes=n[1-2 MaxTime=1\n";
  EXPECT_NE(refusal(text).find("partitions.txt: partition \"batch\""), std::string::npos) << refusal(text);
  text = texts();
  text.nodes.text = "NodeName=n1 CPUTot=many\n";
  EXPECT_EQ(refusal(text), "nodes.txt: node \"n1\": CPUTot is \"many\", which is not a number.");
}

TEST(SlurmCluster, NamesTheNodeThatAClusterFileCannotHave) {
  SlurmText text = texts();
  text.nodes.text = "NodeName=n1 CPUTot=16\nNodeName=n2 CPUTot=16\nNodeName=n1 CPUTot=16\n";
  EXPECT_EQ(refusal(text), "nodes.txt: node \"n1\" is described twice: leave one of its records in the file.");
  text.nodes.text = "NodeName=n1 CPUTot=16\nNodeName=n2 CPUTot=1000001\n";
  EXPECT_EQ(refusal(text),
            "nodes.txt: node \"n2\" has 1,000,001 processors (CPUTot), and Rota knows 1,000,000 at most.");
  text.nodes.text = "";
  for (int i = 1; i <= 2148; ++i) text.nodes.text += fmt::format("NodeName=n{} CPUTot=1000000\n", i);
  EXPECT_EQ(refusal(text),
            "nodes.txt: with node \"n2148\" there are more than 2,147,483,647 processors (CPUTot), and Rota knows no "
            "more.");
}

TEST(SlurmCluster, TellsHowSlurmChoosesNodes) {
  SlurmText text = texts();
  const auto configured = [&](const std::string& type, const std::string& parameters) {
    text.config.text = fmt::format(
        "ClusterName = kea\nSchedulerType = sched/backfill\nSelectType = {}\nSelectTypeParameters = {}\nSLURM_VERSION "
        "= 22.05.8\n",
        type, parameters);
    return cluster_of_slurm(text).value();
  };
  const auto told = [](const std::vector<std::string>& all, const std::string& what) {
    return std::ranges::any_of(all, [&](const std::string& one) { return one.find(what) != std::string::npos; });
  };
  const auto some = configured("select/cons_tres", "CR_CORE_MEMORY,CR_LLN,CR_PACK_NODES");
  EXPECT_TRUE(told(some.left_out, "(CR_LLN)"));
  EXPECT_TRUE(told(some.left_out, "(CR_PACK_NODES)"));
  EXPECT_TRUE(told(configured("select/linear", "CR_MEMORY").guessed, "(select/linear)"));
  const auto none = configured("select/cons_tres", "CR_CORE_MEMORY");
  EXPECT_FALSE(told(none.left_out, "CR_") || told(none.guessed, "select/linear"));
}

TEST(SlurmCluster, IsNotMadeOfWhatIsCutOff) {
  SlurmText text = texts();
  for (const char* key : {"SchedulerType", "SelectType ", "SelectTypeParameters", "SLURM_VERSION"}) {
    text.config.text = kConfig;
    text.config.text.resize(text.config.text.find(key));
    EXPECT_EQ(refusal(text),
              fmt::format("config.txt: it is cut off, for it does not tell {}. Write it with `scontrol show config`.",
                          trimmed(key)));
  }
  text = texts();
  text.nodes.text = "NodeName=n1 CPUTot=16\nNodeName=n2 CPUEfctv=16 CPUA";
  EXPECT_EQ(refusal(text), "nodes.txt: node \"n2\": it does not tell CPUTot (is the file cut off?).");
}

TEST(SlurmCluster, NamesNodesThatAreNotDescribedOnce) {
  SlurmText text = texts();
  text.nodes.text = "NodeName=n1 CPUTot=16\n";
  text.partitions.text =
      "PartitionName=a Nodes=n[1-3] Default=YES\nPartitionName=b Nodes=n[1-3]\nPartitionName=c Nodes=n1,n3\n";
  const auto cluster = cluster_of_slurm(text);
  ASSERT_TRUE(cluster) << cluster.error().message;
  EXPECT_EQ(cluster->left_out,
            std::vector<std::string>{"nodes of partitions that `scontrol show node` does not describe (n[2-3])"});
}

TEST(SlurmTimes, AreInTheirOwnUnits) {
  const auto time = [](std::string_view text) { return parse_slurm_time(text).value(); };
  EXPECT_EQ(time("30"), seconds(1800));
  EXPECT_EQ(time("30 min"), seconds(1800));
  EXPECT_EQ(time("300 sec"), seconds(300));
  EXPECT_EQ(time("2000 usec"), Duration{2});
  EXPECT_EQ(time("1-12:00:00"), seconds(129'600));
  EXPECT_EQ(time("UNLIMITED"), kLongest);
  EXPECT_EQ(time("NONE"), std::nullopt);
  EXPECT_EQ(time("(null)"), std::nullopt);
  EXPECT_FALSE(parse_slurm_time("soon"));
  EXPECT_FALSE(parse_slurm_time("3 fortnights"));
}

// With what sacctmgr says, and PriorityWeightFairShare.
SlurmText texts_with_shares() {
  SlurmText text = texts();
  text.config.text += "PriorityType = priority/multifactor\nPriorityWeightFairShare = 1000\n";
  text.qos = {"qos.txt", "Name|Priority|UsageFactor\nnormal|0|1.000000\nlow|20|2.500000\n"};
  text.associations = {"assoc.txt",
                       "Cluster|Account|User|Partition|ParentName|Share\n"
                       "kea|root||||1\nkea|root|root|||1\nkea|solid|||physics|1\nkea|solid|joe|||parent\n"
                       "kea|physics|||root|30\nkea|physics|anna|||1\nkea|physics|bob|||4\n"
                       "kea|physics|bob|gpu||9\nkea|guests|||root|parent\nother|physics|||root|99\n"};
  return text;
}

TEST(SlurmCluster, HasItsQosAndTheSharesOfAccounts) {
  const auto cluster = cluster_of_slurm(texts_with_shares());
  ASSERT_TRUE(cluster) << cluster.error().message;
  const std::string shares = cluster->toml.substr(cluster->toml.find("\n[[qos]]"));
  EXPECT_EQ(shares,
            "\n[[qos]]\nname = \"normal\"\n\n[[qos]]\nname = \"low\"\npriority = 20\nusage_factor = 2.500\n"
            "\n[[accounts]]\nname = \"root\"\ninherits = true\nusers = \"root\"\n"
            "\n[[accounts]]\nname = \"physics\"\nshares = 30\nusers = \"anna,bob:4\"\n"
            "\n[[accounts]]\nname = \"solid\"\nparent = \"physics\"\nusers = \"joe:parent\"\n"
            "\n[[accounts]]\nname = \"guests\"\ninherits = true\n");
  EXPECT_EQ(cluster->machine.qos[1].usage_factor, 2500);
  EXPECT_EQ(std::ranges::count(cluster->left_out, "shares that users have in a single partition (bob)"), 1)
      << ::testing::PrintToString(cluster->left_out);
}

TEST(SlurmCluster, NamesNoUserWhereSharesDoNotCount) {
  SlurmText text = texts_with_shares();
  text.config.text = kConfig;
  const auto cluster = cluster_of_slurm(text);
  ASSERT_TRUE(cluster) << cluster.error().message;
  EXPECT_EQ(cluster->toml.find("anna"), std::string::npos);
}

TEST(SlurmCluster, NamesNoUserUnderPriorityBasic) {
  SlurmText text = texts_with_shares();
  text.config.text = std::string(kConfig) + "PriorityType = priority/basic\nPriorityWeightFairShare = 1000\n";
  const auto cluster = cluster_of_slurm(text);
  ASSERT_TRUE(cluster) << cluster.error().message;
  EXPECT_EQ(cluster->toml.find("anna"), std::string::npos);
}

std::string account_rows(const std::string& rows) {
  return "Cluster|Account|User|Partition|ParentName|Share\nkea|physics|||root|1\n" + rows;
}

TEST(SlurmCluster, HasAsManyUsersAsASite) {
  SlurmText text = texts_with_shares();
  std::string rows;
  for (int i = 0; i < 30'000; ++i) rows += fmt::format("kea|physics|user{}|||1\n", i);
  text.associations.text = account_rows(rows);
  const auto cluster = cluster_of_slurm(text);
  ASSERT_TRUE(cluster) << cluster.error().message;
  ASSERT_EQ(cluster->machine.accounts.size(), 1U);
  EXPECT_EQ(cluster->machine.accounts[0].users.size(), 30'000U);
}

// What is left out when this is a part of assoc.txt, and how many accounts are not.
std::pair<std::string, std::size_t> left_out_of(const std::string& rows) {
  SlurmText text = texts_with_shares();
  const auto before = cluster_of_slurm(text);
  text.associations.text = account_rows(rows);
  const auto cluster = cluster_of_slurm(text);
  if (!before || !cluster) return {(before ? cluster : before).error().message, 0};
  std::string all;
  for (const std::string& each : cluster->left_out)
    if (std::ranges::find(before->left_out, each) == before->left_out.end()) all += each + "\n";
  return {all, cluster->machine.accounts.size()};
}

TEST(SlurmCluster, LeavesOutSharesThatAClusterFileCannotHave) {
  using LeftOut = std::pair<std::string, std::size_t>;
  EXPECT_EQ(left_out_of(""), (LeftOut{"", 1}));
  EXPECT_EQ(left_out_of("kea|physics|anna|||1\nkea|physics|anna|||2\nkea|art|||root|1\nkea|physics|||art|1\n"),
            (LeftOut{"shares of accounts and users that are told of twice: the first ones count (anna,physics)\n", 2}));
  EXPECT_EQ(left_out_of("kea|physics|J\xf6rg|||1\n"), (LeftOut{"rows that are not UTF-8 text (assoc.txt)\n", 1}));
  EXPECT_EQ(left_out_of("kea|a:b|||root|1\nkea|below|||a:b|1\nkea|below|anna|||1\nkea|lost|||gone|1\n"),
            (LeftOut{"accounts below one that is not told of, or left out (below,lost)\n"
                     "shares of accounts and users with a colon, a comma or too many letters in their names (a:b)\n"
                     "shares of users in accounts that are left out (below)\n",
                     1}));
  EXPECT_EQ(left_out_of("kea|nowhere|anna|||1\n"),
            (LeftOut{"shares of users in accounts that are left out (nowhere)\n", 1}));
  std::string rows;
  for (int i = 1; i <= 10'000; ++i) rows += fmt::format("kea|account{}|||root|1\n", i);
  EXPECT_EQ(left_out_of(rows), (LeftOut{"accounts, of which a cluster file can have 10,000 (account10000)\n", 10'000}));
}

TEST(SlurmCluster, TellsThatSharesAreOfAnotherCluster) {
  SlurmText text = texts_with_shares();
  text.associations.text = "Cluster|Account|User|Partition|ParentName|Share\nother|physics|||root|99\n";
  const auto cluster = cluster_of_slurm(text);
  ASSERT_TRUE(cluster) << cluster.error().message;
  EXPECT_EQ(
      std::ranges::count(cluster->left_out, "shares of accounts and users: assoc.txt tells of none of cluster \"kea\""),
      1);
}

TEST(SlurmCluster, HasSharesWhateverTheLettersOfItsName) {
  SlurmText text = texts_with_shares();
  text.config.text = "ClusterName = KEA\n" + text.config.text;
  const auto cluster = cluster_of_slurm(text);
  ASSERT_TRUE(cluster) << cluster.error().message;
  EXPECT_NE(cluster->toml.find("name = \"physics\"\nshares = 30\n"), std::string::npos) << cluster->toml;
}

TEST(SlurmCluster, HasTheQosThatCount) {
  SlurmText text = texts_with_shares();
  text.qos.text = "Name|Priority|UsageFactor\n";
  for (int i = 0; i < 255; ++i) text.qos.text += fmt::format("q{}|0|1.000000\n", i);
  text.qos.text += "high|7|1.000000\nhigh|8|1.000000\nlong|0|1500\nsmall|0|0.0004\nnear|0|0.9999\nodd|0|abc\n";
  const auto cluster = cluster_of_slurm(text);
  ASSERT_TRUE(cluster) << cluster.error().message;
  const auto& all = cluster->machine.qos;
  ASSERT_EQ(all.size(), 255U);
  EXPECT_EQ(all[0].name, "high");
  EXPECT_EQ(all[0].priority, 7);
  EXPECT_EQ(all[1].name, "small");
  EXPECT_EQ(all[1].usage_factor, 0);
  const auto told = [&](const std::vector<std::string>& in, const std::string& what) {
    return std::ranges::count(in, what);
  };
  EXPECT_EQ(told(cluster->left_out, "QOS that are told of twice: the first one counts (high)"), 1);
  EXPECT_EQ(told(cluster->guessed, "UsageFactor of QOS that is no number from 0 to 1000 is taken as 1 (long,odd)"), 1)
      << ::testing::PrintToString(cluster->guessed);
  EXPECT_EQ(told(cluster->guessed, "UsageFactor of QOS is rounded to three decimals (small,near)"), 1)
      << ::testing::PrintToString(cluster->guessed);
}

TEST(SlurmCluster, SaysHowToSaveShares) {
  SlurmText text = texts_with_shares();
  text.qos.text = "normal|0|1.000000\n";
  EXPECT_EQ(
      refusal(text),
      "qos.txt: its first line names no column \"name\". Write it with `sacctmgr -P show qos "
      "format=Name,Priority,UsageFactor,GrpTRES,GrpTRESMins,GrpTRESRunMins,GrpJobs,GrpSubmit,GrpWall,MaxTRES,"
      "MaxTRESPerNode,MaxTRESMins,MaxWall,MaxTRESPU,MaxJobsPU,MaxSubmitPU,MaxTRESPA,MaxJobsPA,MaxSubmitPA,MinTRES,"
      "Flags,Preempt,PreemptMode,PreemptExemptTime,GraceTime`, "
      "without -n.");
  text = texts_with_shares();
  text.associations.text = "Cluster|Account|User|Partition|ParentName|Share\nkea|physics|||root|half\n";
  EXPECT_EQ(refusal(text),
            "assoc.txt: account \"physics\" has \"half\" shares, which is neither a number nor `parent`.");
}

TEST(SlurmCluster, TellsWhatSlurmDoesNotAccount) {
  SlurmText text = texts();
  const auto guessed = [&](const std::string& what) {
    const auto cluster = cluster_of_slurm(text);
    EXPECT_TRUE(cluster) << cluster.error().message;
    return std::ranges::count_if(cluster->guessed, [&](const std::string& said) { return said.contains(what); });
  };
  const std::string gpus = "add gres/gpu to AccountingStorageTRES", licences = "license/NAME of each";
  EXPECT_EQ(guessed(gpus) + guessed(licences), 0) << "config.txt of an old Slurm does not say what is accounted";
  text.config.text = std::string(kConfig) + "AccountingStorageTRES = cpu,mem,energy,node,billing,fs/disk,vmem,pages\n";
  EXPECT_EQ(guessed(gpus), 1);
  EXPECT_EQ(guessed("21.08 or later) (g1)"), 1) << "the node that has GPUs is named";
  EXPECT_EQ(guessed("21.08 or later) (matlab)"), 1) << "and the licence that there are any of";
  EXPECT_TRUE(cluster_of_slurm(text)->gpus_unaccounted);
  text.config.text = std::string(kConfig) + "AccountingStorageTRES = cpu,mem,gres/gpu:a100,license/matlab\n";
  EXPECT_EQ(guessed(gpus) + guessed(licences), 0);
  EXPECT_FALSE(cluster_of_slurm(text)->gpus_unaccounted);
}

TEST(SlurmCluster, TellsThatJobsOfOthersMayBeHidden) {
  SlurmText text = texts();
  for (const auto& [value, times] : {std::pair{"jobs,usage", 1}, {"usage", 0}, {"none", 0}, {"all", 1}}) {
    text.config.text = fmt::format("{}PrivateData = {}\n", kConfig, value);
    const auto cluster = cluster_of_slurm(text);
    ASSERT_TRUE(cluster) << cluster.error().message;
    EXPECT_EQ(
        std::ranges::count_if(cluster->guessed, [](const std::string& said) { return said.contains("PrivateData"); }),
        times)
        << value;
  }
}

}  // namespace
}  // namespace rota::site
