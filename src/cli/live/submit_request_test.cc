#include "cli/live/submit_request.h"

#include <gtest/gtest.h>

#include "cli/live/change_request.h"
#include "cli/live/submit_value.h"

namespace rota::cli {
namespace {

Surroundings here() {
  return {.folder = "/data/ada",
          .environment = {"HOME=/h", "A=1", "B=2", "SHELL=/bin/sh"},
          .now = 1'795'996'800,
          .umask = 18};
}

// The request's members for these values, or the sentence of the error.
std::string made(std::initializer_list<std::pair<const char*, const char*>> given, Dialect dialect = Dialect::rota) {
  SubmitValues values;
  for (const auto& [key, text] : given) values[key] = SubmitValue{.text = text, .dialect = dialect, .where = key};
  std::vector<std::string> remarks;
  auto out = job_request(values, here(), remarks);
  if (!out) return out.error().message;
  for (const char* always : {"folder", "umask", "environment"}) out->erase(always);
  return out->dump();
}

TEST(SubmitRequestTest, CountsProcessorsFromTasksNodesAndThreads) {
  EXPECT_EQ(made({}), "{}");
  EXPECT_EQ(made({{"processors", "4"}}), R"({"processors":4})");
  EXPECT_EQ(made({{"processors", "4"}, {"each", "3"}}), R"({"tasks":4,"processors":12})");
  EXPECT_EQ(made({{"each", "8"}}), R"({"tasks":1,"processors":8})");
  EXPECT_EQ(made({{"processors", "1"}, {"each", "8"}}), R"({"tasks":1,"processors":8})");
  EXPECT_EQ(made({{"processors", "1"}, {"each", "8"}, {"nodes", "2"}}), R"({"tasks":1,"processors":8,"nodes":1})");
  EXPECT_EQ(made({{"each", "1"}}), R"({"processors":1})");
  EXPECT_EQ(made({{"nodes", "2"}}), R"({"processors":2,"nodes":2,"tasks_per_node":1})");
  EXPECT_EQ(made({{"per_node", "8"}}), R"({"processors":8,"nodes":1,"tasks_per_node":8})");
  EXPECT_EQ(made({{"processors", "5"}, {"per_node", "2"}}), R"({"processors":5,"nodes":3})");
  EXPECT_EQ(made({{"processors", "4"}, {"per_node", "2"}, {"nodes", "1-4"}}),
            R"({"most_nodes":4,"processors":4,"nodes":2})");
  EXPECT_EQ(made({{"processors", "4"}, {"per_node", "2"}, {"nodes", "1"}}), R"({"processors":4,"nodes":1})");
  EXPECT_EQ(made({{"nodes", "2"}, {"per_node", "8"}, {"each", "2"}}),
            R"({"tasks":16,"processors":32,"nodes":2,"tasks_per_node":8})");
  EXPECT_EQ(made({{"processors", "1000000000"}, {"each", "2"}}),
            "A job asks for 1,000,000,000 processors at most; ask for fewer.");
}

TEST(SubmitRequestTest, WhatSaysTheSameInTwoWaysIsRefused) {
  EXPECT_EQ(made({{"memory", "4G"}, {"memory_each", "1G"}}),
            "memory and memory_each say the same in two ways; give one of them.");
  EXPECT_EQ(made({{"each", "2"}, {"tres_each", "cpu=3"}}),
            "tres_each and each say the same in two ways; give one of them.");
  EXPECT_EQ(made({{"accelerators_all", "a100:4"}, {"accelerators", "v100:2"}}),
            "The accelerators in all, on each node and for each task do not fit together: a100 is not v100; leave one "
            "of them out.");
  EXPECT_EQ(made({{"accelerators_all", "4"}, {"accelerators", "0"}}), R"({"accelerators":4})");
  EXPECT_EQ(made({{"array", "1-10%5"}, {"throttle", "3"}}), R"({"array":"1-10%5"})");
  EXPECT_EQ(made({{"memory_all", "9223372036854775807"}, {"nodes", "2"}}, Dialect::lsf),
            R"({"processors":2,"nodes":2,"tasks_per_node":1,"memory":4611686018427387904})");
  EXPECT_NE(made({{"tres_each", "gres/gpuutil=50"}}).find("Rota has nothing like"), std::string::npos);
}

TEST(SubmitRequestTest, ChangesOfAJobNameOnlyWhatIsGiven) {
  const auto changed = [](std::initializer_list<std::pair<const char*, const char*>> given) {
    SubmitValues values;
    for (const auto& [key, text] : given) values[key] = SubmitValue{.text = text, .dialect = {}, .where = key};
    Json out = Json::object();
    const auto put = put_changes(values, out);
    return put ? out.dump() : put.error().message;
  };
  EXPECT_EQ(changed({}), "{}");
  EXPECT_EQ(changed({{"processors", "4"}}), R"({"tasks":4})");
  EXPECT_EQ(changed({{"processors", "4"}, {"each", "1"}}), R"({"processors":4})");
  EXPECT_EQ(changed({{"nodes", "2"}}), R"({"nodes":2})");
  EXPECT_EQ(changed({{"nodes", "0"}, {"name", "n"}}), R"({"name":"n","nodes":0})");
  EXPECT_EQ(changed({{"processors", "4"}, {"each", "2"}}), R"({"processors":8,"tasks":4})");
  EXPECT_EQ(changed({{"processors", "1"}, {"each", "2"}}), R"({"processors":2,"tasks":1})");
  EXPECT_EQ(changed({{"nodes", "2"}, {"per_node", "3"}}), R"({"nodes":2,"tasks":6,"tasks_per_node":3})");
  EXPECT_EQ(changed({{"memory", "1M"}}), R"({"memory":1048576})");
  EXPECT_EQ(changed({{"memory", "none"}}), R"({"memory":0})");
  EXPECT_EQ(changed({{"memory", "5"}}), R"(memory takes a size with its unit, such as 500M or 4G, not "5".)");
  EXPECT_EQ(changed({{"each", "2"}}), "-c says how many processors each of -n has; name -n, too.");
  EXPECT_EQ(changed({{"per_node", "2"}}), "--ntasks-per-node goes with -N, which says on how many nodes; name both.");
  EXPECT_EQ(changed({{"processors", "0"}}), R"(processors takes a whole number from 1 to 1,000,000,000, not "0".)");
}

TEST(SubmitRequestTest, HasATaskForEachNodeThatItNames) {
  EXPECT_EQ(made({{"required_nodes", "n[1-2]"}}),
            R"({"processors":2,"nodes":2,"tasks_per_node":1,"required_nodes":"n[1-2]"})");
  const std::string few =
      "required_nodes names 2 nodes, and processors asks for 1 task; ask for one on each at least, or name fewer "
      "nodes.";
  EXPECT_EQ(made({{"required_nodes", "n[1-2]"}, {"processors", "1"}}), few);
  EXPECT_EQ(made({{"required_nodes", "n[1-2]"}, {"processors", "1"}, {"each", "4"}}), few);
}

TEST(SubmitRequestTest, ReadsBareNumbersByTheirDialect) {
  EXPECT_EQ(made({{"limit", "90"}}), R"({"limit":90.0})");
  EXPECT_EQ(made({{"limit", "90"}}, Dialect::slurm), R"({"limit":5400.0})");
  EXPECT_EQ(made({{"limit", "1-12"}}, Dialect::slurm), R"({"limit":129600.0})");
  EXPECT_EQ(made({{"limit", "10:30"}}, Dialect::slurm), R"({"limit":630.0})");
  for (const char* none : {"0", "00", "0:00", "0-0"})
    EXPECT_EQ(made({{"limit", none}}, Dialect::slurm), R"({"limit":100000000000.0})") << none;
  EXPECT_EQ(made({{"limit", "-1"}}, Dialect::slurm), R"({"limit":100000000000.0})");
  EXPECT_NE(made({{"limit", "1.5"}}, Dialect::slurm).find("no number of whole minutes"), std::string::npos);
  EXPECT_EQ(made({{"limit", "unlimited"}}), R"({"limit":100000000000.0})");
  EXPECT_EQ(made({{"limit", "0"}}), "limit: a limit of 0 would end the job at once; write `unlimited` for no limit.");
  EXPECT_EQ(made({{"memory", "100"}}, Dialect::slurm), R"({"memory":104857600})");
  EXPECT_EQ(made({{"memory", "100"}}), R"(memory takes a size with its unit, such as 500M or 4G, not "100".)");
  EXPECT_EQ(made({{"memory", "1.5G"}}), R"({"memory":1610612736})");
}

TEST(SubmitRequestTest, MultipliesMemoryByTheProcessorsOfANode) {
  EXPECT_EQ(made({{"processors", "5"}, {"nodes", "2"}, {"memory_each", "1M"}}),
            R"({"processors":5,"nodes":2,"memory":3145728})");
}

TEST(SubmitRequestTest, TakesDependenciesApart) {
  EXPECT_EQ(made({{"after", "afterok:1:2_3,singleton,afterany:4"}}),
            R"({"after":["afterok:1","afterok:2_3","singleton","afterany:4"]})");
  EXPECT_EQ(made({{"after", "afterok:1_*:2"}}), R"({"after":["afterok:1","afterok:2"]})");
  EXPECT_NE(made({{"after", "afterok"}}).find("such as"), std::string::npos);
  EXPECT_EQ(made({{"after", "afterok:1?after:2+5"}}), R"({"after":["any","afterok:1","after:2+5"]})");
  EXPECT_NE(made({{"after", "afterok:1?afterok:2,after:3"}}).find("one will do"), std::string::npos);
}

TEST(SubmitRequestTest, KnowsAcceleratorsByNumberAndType) {
  EXPECT_EQ(made({{"accelerators", "2"}}), R"({"accelerators":2})");
  EXPECT_EQ(made({{"accelerators", "gpu"}}), R"({"accelerators":1})");
  EXPECT_EQ(made({{"accelerators", "gpu:h100:4"}}), R"({"accelerators":4,"accelerator_type":"h100"})");
  EXPECT_EQ(made({{"accelerators", "h100:4"}}), R"({"accelerators":4,"accelerator_type":"h100"})");
  EXPECT_EQ(made({{"accelerators", "gpu:0"}}), "{}");
  EXPECT_EQ(made({{"accelerators", "none"}}), "{}");
  EXPECT_NE(made({{"accelerators", "a:b:2"}}).find("accelerators such as"), std::string::npos);
}

TEST(SubmitRequestTest, SumsAcceleratorsOfAListAndDropsNone) {
  const auto gres = [](const char* text) {
    std::vector<std::string> remarks;
    const SubmitValues values{{"accelerators", {.text = text, .dialect = Dialect::slurm, .where = "--gres"}}};
    auto out = job_request(values, here(), remarks);
    return out ? out->value("accelerators", Json(0)).dump() : out.error().message;
  };
  EXPECT_EQ(gres("gpu:2,craynetwork:0"), "2");
  EXPECT_EQ(gres("craynetwork:0,gpu:a100:1,gpu:a100:1(S:0-1)"), "2");
  EXPECT_EQ(gres("craynetwork:0"), "0");
  EXPECT_EQ(gres("gpu:1,gpu:a100:1"), "--gres takes accelerators of one type, not \"gpu:1,gpu:a100:1\".");
  EXPECT_EQ(gres("gpu:1,shard:2"), "--gres takes accelerators such as gpu:2 or gpu:a100:2, not \"gpu:1,shard:2\".");
}

TEST(SubmitRequestTest, TwoNumbersOfAcceleratorsSayAThird) {
  EXPECT_EQ(made({{"accelerators_all", "8"}, {"accelerators", "4"}}),
            R"({"processors":2,"nodes":2,"tasks_per_node":1,"accelerators":4})");
  EXPECT_EQ(made({{"accelerators_all", "4"}, {"accelerators_each", "2"}}), R"({"processors":2,"accelerators":4})");
  EXPECT_EQ(made({{"processors", "8"}, {"accelerators_each", "a100:1"}, {"accelerators", "4"}}),
            R"({"processors":8,"nodes":2,"accelerators":4,"accelerator_type":"a100"})");
  EXPECT_EQ(made({{"nodes", "2"}, {"accelerators_each", "1"}, {"accelerators", "2"}}),
            R"({"processors":4,"nodes":2,"tasks_per_node":2,"accelerators":2})");
  for (const auto& wrong : {made({{"accelerators_all", "4"}, {"accelerators", "2"}, {"nodes", "1"}}),
                            made({{"accelerators_all", "3"}, {"accelerators_each", "2"}}),
                            made({{"accelerators_all", "4"}, {"accelerators_each", "1"}, {"processors", "2"}}),
                            made({{"accelerators_all", "4"}, {"accelerators", "1"}, {"processors", "2"}})})
    EXPECT_TRUE(wrong.contains("do not fit together")) << wrong;
}

TEST(SubmitRequestTest, ReadsValuesAsSbatchDoes) {
  const auto slurms = [](const char* key, const char* text) {
    std::vector<std::string> remarks;
    SubmitValues values;
    values[key] = SubmitValue{.text = text, .dialect = Dialect::slurm, .where = "--it"};
    auto out = job_request(values, here(), remarks);
    if (!out) return out.error().message;
    for (const char* always : {"folder", "umask", "environment"}) out->erase(always);
    return out->dump();
  };
  EXPECT_EQ(slurms("memory", "0"), R"({"all_memory":true})");
  EXPECT_EQ(slurms("nodes", "1-1"), R"({"processors":1,"nodes":1,"tasks_per_node":1})");
  EXPECT_EQ(slurms("nodes", "2-4"), R"({"most_nodes":4,"processors":2,"nodes":2,"tasks_per_node":1})");
  EXPECT_EQ(slurms("nodes", "4-2"),
            "--it takes a number of nodes, or the least and the most, such as 2-4, not \"4-2\".");
  EXPECT_EQ(slurms("tres_each", "cpu=3"), R"({"tasks":1,"processors":3})");
  EXPECT_EQ(slurms("tres_each", "cpu:2,gres/gpu:a100:1"),
            R"({"tasks":1,"processors":2,"accelerators":1,"accelerator_type":"a100"})");
  EXPECT_TRUE(slurms("tres_each", "license/x=1").starts_with("--it: Rota has nothing like \"license/x=1\""));
  EXPECT_EQ(slurms("accelerators", "gpu:2(S:0-1)"), R"({"accelerators":2})");
  EXPECT_TRUE(slurms("memory_of_accelerator", "4G").starts_with("--it goes with --gpus-per-node"));
  EXPECT_EQ(slurms("partition", "a,b"), "--it takes one partition; write the one, not \"a,b\".");
  EXPECT_EQ(made({{"accelerators", "2"}, {"memory_of_accelerator", "1G"}, {"each_of_accelerator", "3"}}),
            R"({"accelerators":2,"processors":6,"tasks":1,"memory":2147483648})");
}

TEST(SubmitRequestTest, NamesSignals) {
  EXPECT_EQ(made({{"signal", "B:USR1@5m"}}),
            R"({"warning_to_script":true,"warning_signal":"USR1","warning_time":300.0})");
  EXPECT_EQ(made({{"signal", "12"}}), R"({"warning_signal":"USR2","warning_time":60.0})");
}

TEST(SubmitRequestTest, OptionsInTheEnvironmentAreTold) {
  Surroundings of_slurm = here();
  of_slurm.environment = {"SBATCH_PARTITION=long", "SBATCH_MEM_BIND=none", "HOME=/h"};
  std::vector<std::string> remarks;
  ASSERT_TRUE(job_request({{"variables", {.text = "slurm", .dialect = {}, .where = {}}}}, of_slurm, remarks));
  ASSERT_EQ(remarks.size(), 1U);
  EXPECT_TRUE(remarks[0].starts_with("SBATCH_PARTITION of the environment is not read")) << remarks[0];
}

TEST(SubmitRequestTest, LeavesTheEnvironmentThatIsWanted) {
  const auto environment = [](const char* text) {
    std::vector<std::string> remarks;
    SubmitValues values;
    if (*text != '\0') values["export"] = SubmitValue{.text = text, .dialect = {}, .where = "--export"};
    return words_of(job_request(values, here(), remarks).value(), "environment", " ");
  };
  EXPECT_EQ(environment(""), "HOME=/h A=1 B=2 SHELL=/bin/sh");
  EXPECT_EQ(environment("NONE"), "HOME=/h SHELL=/bin/sh");
  EXPECT_EQ(environment("B,C=3"), "HOME=/h B=2 SHELL=/bin/sh C=3");
  EXPECT_EQ(environment("all,C=3"), "HOME=/h A=1 B=2 SHELL=/bin/sh C=3");
  EXPECT_EQ(environment("ALL,A=9"), "HOME=/h B=2 SHELL=/bin/sh A=9");
}

}  // namespace
}  // namespace rota::cli
