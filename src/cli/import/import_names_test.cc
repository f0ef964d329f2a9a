#include <fmt/core.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>

#include "base/file.h"
#include "cli/import/import_case_test.h"
#include "log/attributes.h"
#include "log/line_blocks.h"
#include "log/log.h"
#include "model/sharers.h"
#include "site/cluster_file.h"

namespace rota::cli {
namespace {

namespace fs = std::filesystem;

// A site each of whose names is that of a bird.
class NamedImport : public ImportTest {
 protected:
  NamedImport() {
    put("saved/config.txt",
        "ClusterName = kea\nSchedulerType = sched/backfill\nSelectType = select/cons_tres\n"
        "SelectTypeParameters = CR_CPU\nPriorityType = priority/multifactor\n"
        "PriorityWeightFairShare = 10\nPriorityWeightQOS = 20\nPriorityWeightTRES = License/kokako=5\n"
        "SchedulerParameters = matata_of=tieke\nSLURM_VERSION = 22.05.8\n");
    put("saved/nodes.txt",
        "NodeName=tui7 CPUTot=4 Weight=1 AvailableFeatures=ruru State=DOWN Gres=miro:1\n"
        "NodeName=tui9 CPUTot=4 Weight=1\nNodeName=huia1 CPUTot=4 State=FUTURE\nNodeName=moa3 CPUTot=4\n");
    put("saved/partitions.txt",
        "PartitionName=takahe Nodes=tui7,tui9,huia1 MaxTime=60 State=DOWN\n"
        "PartitionName=weka Nodes=tui9 AllowAccounts=kaka\nPartitionName=pukeko Nodes=(null)\n");
    put("saved/licences.txt",
        "LicenseName=toroa@rata Total=3 Used=0 Free=3 Reserved=0 Remote=yes\n"
        "LicenseName=hoiho:x Total=3 Used=0 Free=3 Reserved=0 Remote=no\n");
    put("saved/qos.txt", "Name|Priority|UsageFactor\nkakapo|7|1.0001\nkereru|9|x\nkereru|1|1\n");
    put("saved/assoc.txt",
        "Cluster|Account|User|Partition|ParentName|Share\nkea|root||||1\nkea|kaka|||root|30\nkea|kiwi|||kaka|parent\n"
        "kea|kaka|anna|||2\nkea|kaka|bert|||parent\nkea|kiwi|anna|||5\nkea|kiwi|carl|weka||5\nkea|kiwi|do:ra|||5\n"
        "kea|orphan|||nobody|3\nkea|kiwi|anna|||7\n");
    put("saved/sacct_kea.txt", kHead + job(1, "bert|kaka|takahe|kakapo", "cpu=2,license/toroa@rata=1") +
                                   job(2, "anna|kiwi|weka|kereru", "cpu=2,license/matuku=1") +
                                   job(3, "erik|kiwi|takahe|kakapo", "cpu=2") +
                                   job(4, "anna|kaka|weka|kokako", "cpu=1"));
    fs::remove(path("saved/sacct.txt"));
  }

  static inline const std::string kHead =
      "JobIDRaw|User|Account|Partition|QOS|Submit|Start|End|ElapsedRaw|State|AllocCPUS|ReqTRES\n";
  static std::string job(int id, const std::string& of, const std::string& asks) {
    return fmt::format("{}|{}|2024-03-01T10:00:00|2024-03-01T10:00:05|2024-03-01T10:00:15|10|COMPLETED|2|{}\n", id, of,
                       asks);
  }
  std::vector<Sharer> sharers() const {
    const auto machine = site::read_cluster_file(path("site/cluster.toml"));
    const auto jobs = log::read_log(path("site/jobs.jsonl.gz"));
    EXPECT_TRUE(machine && jobs);
    return sharers_of(machine->accounts, jobs->users, jobs->groups, jobs->jobs);
  }
  // The text of all files of the folder, unpacked, in small letters.
  std::string all_text() const {
    std::string text;
    for (const auto& entry : fs::recursive_directory_iterator(path("site"))) {
      text += entry.path().filename().string() + "\n";
      auto blocks = log::LineBlocks::open(entry.path());
      for (auto block = blocks->next(); block && !block->empty(); block = blocks->next()) text += *block;
    }
    for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return text;
  }
};

constexpr std::array kBirds{"kea",    "tui",  "huia",   "moa",    "takahe", "weka",   "pukeko", "toroa", "rata",
                            "hoiho",  "kaka", "kakapo", "kiwi",   "kereru", "anna",   "bert",   "carl",  "do:ra",
                            "orphan", "erik", "ruru",   "matuku", "kokako", "matata", "tieke",  "miro"};

TEST_F(NamedImport, AnonymousLetsNoNameSurviveAnywhereInTheFolder) {
  ASSERT_EQ(import(), "");
  const std::string open = all_text();
  for (const char* name : kBirds) EXPECT_NE(open.find(name), std::string::npos) << name << " would be told";
  ASSERT_EQ(import({"--overwrite", "--anonymous"}), "");
  const std::string text = all_text();
  for (const char* name : kBirds) EXPECT_EQ(text.find(name), std::string::npos) << name << " in " << text;
}

TEST_F(NamedImport, AnonymousKeepsTheSharesOfEachUser) {
  ASSERT_EQ(import(), "");
  const auto real = sharers();
  EXPECT_EQ(real.size(), 4U);
  ASSERT_EQ(import({"--overwrite", "--anonymous"}), "");
  EXPECT_EQ(sharers(), real);
  const auto machine = site::read_cluster_file(path("site/cluster.toml")).value();
  ASSERT_EQ(machine.accounts.size(), 2U);
  EXPECT_EQ(machine.accounts[0].name, "account1") << "as the first job's, whose group has number 1";
  EXPECT_EQ(machine.accounts[0].users[1].name, "user1");
  EXPECT_EQ(machine.accounts[1].parent, 0);
  EXPECT_TRUE(machine.accounts[1].inherits);
  EXPECT_EQ(machine.qos[0].name, "qos1");
  EXPECT_EQ(machine.licences[0].name, "licence1");
  const auto jobs = log::read_log(path("site/jobs.jsonl.gz"));
  ASSERT_TRUE(jobs && jobs->attributes);
  EXPECT_TRUE(log::Attributes::match(jobs->attributes, &machine)) << "the jobs go with the cluster file";
  const std::string once = all_text();
  ASSERT_EQ(import({"--overwrite", "--anonymous"}), "");
  EXPECT_EQ(all_text(), once);
}

}  // namespace
}  // namespace rota::cli
