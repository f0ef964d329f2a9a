#include "log/attributes.h"

#include <gtest/gtest.h>

#include <sstream>

namespace rota::log {
namespace {

Machine licensed() {
  Machine machine = Machine::counted(8);
  machine.licences = {{"matlab", 4}, {"fluent", 12}};
  return machine;
}

JobSpec given(std::string_view text, std::int64_t number) {
  const Machine machine = licensed();
  const auto read = Attributes::parse(text, "a.csv", &machine);
  EXPECT_TRUE(read) << read.error().message;
  JobSpec spec;
  spec.number = number;
  if (read) read->give(spec);
  return spec;
}

std::string refusal(std::string_view text) {
  const Machine machine = licensed();
  const auto read = Attributes::parse(text, "a.csv", &machine);
  return read ? "taken" : read.error().message;
}

TEST(Attributes, say_how_a_job_restarts_and_what_that_costs) {
  const JobSpec spec = given("job,restart,restart_cost\n7,checkpoint,90s\n", 7);
  EXPECT_EQ(spec.restart, Restart::checkpoint);
  EXPECT_EQ(spec.restart_cost, seconds(90));
  EXPECT_FALSE(spec.licence.valid());
  EXPECT_EQ(given("job,restart\n7,from-start\n", 7).restart, Restart::from_start);
}

TEST(Attributes, say_which_licences_a_job_holds) {
  const JobSpec one = given("job,licences\n7,fluent\n8,matlab:3\n", 7);
  EXPECT_EQ(one.licence, LicenceId{1});
  EXPECT_EQ(one.licences, 1U);
  EXPECT_EQ(given("job,licences\n7,fluent\n8,matlab:3\n", 8).licences, 3U);
  const JobSpec both = given("job,licences\n7,\"fluent:2,matlab:3\"\n", 7);
  EXPECT_EQ(both.licence, LicenceId{0});
  EXPECT_EQ(both.licences, 3U);
  ASSERT_EQ(both.more_licences.size(), 1U);
  EXPECT_EQ(licences_of(both, LicenceId{1}), 2U);
}

TEST(Attributes, of_jobs_that_are_not_named_stand_under_the_star) {
  const std::string_view text = "# of all\nrestart_cost, job, restart\n5m, *, checkpoint\n, 3, never\n";
  EXPECT_EQ(given(text, 9).restart_cost, seconds(300));
  EXPECT_EQ(given(text, 3).restart, Restart::never);
  EXPECT_EQ(given("job\n3\n", 9).restart, Restart::never);
}

TEST(Attributes, that_are_wrong_are_refused_with_file_and_line) {
  EXPECT_EQ(refusal(""), "a.csv: there is no line with the names of the columns, such as job,restart,restart_cost.");
  EXPECT_EQ(refusal("job,restrat\n"), "a.csv:1: there is no column \"restrat\"; did you mean restart?");
  EXPECT_EQ(refusal("job,job\n"), "a.csv:1: column \"job\" is there twice.");
  EXPECT_EQ(refusal("restart\n"),
            "a.csv:1: no column is called job: it has the jobs' numbers, or * for all jobs that are not named.");
  EXPECT_EQ(refusal("job,restart\n1\n"), "a.csv:2: there are 1 cells under 2 columns.");
  EXPECT_EQ(refusal("job\none\n"), "a.csv:2: a job is a number, or * for all jobs that are not named, not \"one\".");
  EXPECT_EQ(refusal("job\n1\n1\n"), "a.csv:3: job 1 is there twice.");
  EXPECT_EQ(refusal("job\n*\n*\n"), "a.csv:3: * is there twice.");
  EXPECT_EQ(refusal("job,restart\n1,maybe\n"),
            "a.csv:2: restart is checkpoint, from-start, never or once, not \"maybe\".");
  EXPECT_EQ(refusal("job,restart_cost\n1,5m\n"), "a.csv:2: there is a restart_cost, but the job is never restarted.");
  EXPECT_EQ(refusal("job,restart,restart_cost\n1,checkpoint,soon\n"),
            "a.csv:2: restart_cost is a duration such as 90s, not \"soon\".");
  EXPECT_EQ(refusal("job,licences\n1,matlba\n"),
            "a.csv:2: the cluster has no licence \"matlba\"; did you mean \"matlab\"?");
  EXPECT_EQ(refusal("job,licences\n1,matlab:0\n"),
            "a.csv:2: licences are names, each alone or with how many, such as matlab:4,simulink, not \"matlab:0\".");
  EXPECT_EQ(refusal("job,licences\n1,\"a,b,c,d,e,f,g,h,i\"\n"),
            "a.csv:2: a job may hold licences of 8 kinds at most, and \"a,b,c,d,e,f,g,h,i\" names more.");
  EXPECT_EQ(refusal("job,licences\n1,\"matlab,matlab:2\"\n"),
            "a.csv:2: the licence \"matlab\" is there twice in \"matlab,matlab:2\".");
}

TaskTable tasks_of(std::string_view text) {
  Machine machine = licensed();
  machine.nodes.resize(2);
  const auto read = Attributes::parse(text, "a.csv", &machine);
  EXPECT_TRUE(read) << read.error().message;
  return read ? read->tasks() : TaskTable{};
}

TEST(Attributes, say_which_tasks_a_job_has) {
  const TaskTable table = tasks_of(
      "job,tasks,task_accelerator,task_cpu,task_transfer,start_up,task_limit\n7,100,2.5s,20s,50MB,40s,15s\n8,1,1ms,,,,"
      "\n9,,,,,,\n");
  const TaskSpec* spec = table.of(7);
  ASSERT_NE(spec, nullptr);
  EXPECT_EQ(spec->count, 100U);
  EXPECT_EQ(spec->accelerator, Duration{2500});
  EXPECT_EQ(spec->cpu, seconds(20));
  EXPECT_EQ(spec->transfer, std::int64_t{50} << 20U);
  EXPECT_EQ(spec->start_up, seconds(40));
  EXPECT_EQ(spec->limit, seconds(15));
  ASSERT_NE(table.of(8), nullptr);
  EXPECT_EQ(table.of(8)->cpu, Duration{0}) << "as the log says";
  EXPECT_EQ(table.of(9), nullptr);
  EXPECT_EQ(table.of(10), nullptr);
}

TEST(Attributes, of_jobs_that_are_not_named_may_be_tasks_that_a_named_one_does_not_have) {
  const TaskTable table = tasks_of("job,tasks,task_accelerator\n*,10,1s\n3,,\n4,20,1s\n");
  EXPECT_EQ(table.of(9)->count, 10U);
  EXPECT_EQ(table.of(4)->count, 20U);
  EXPECT_EQ(table.of(3), nullptr);
  EXPECT_TRUE(tasks_of("job,restart\n3,checkpoint\n").empty());
}

TEST(Attributes, say_which_nodes_a_job_may_use) {
  Machine machine;
  machine.features = {"avx512", "ib"};
  for (const char* name : {"n1", "n2", "n3"}) machine.nodes.emplace_back().name = name;
  const std::string columns = "job,features,on_nodes,not_on_nodes\n";
  const auto read =
      Attributes::parse(columns + "7,avx512|ib,,n3\n8,,\"n[1-2]\",\n9,avx512|ib,,n3\n", "a.csv", &machine);
  ASSERT_TRUE(read) << read.error().message;
  const auto of = [&](std::int64_t number) {
    JobSpec spec;
    spec.number = number;
    spec.processors = 2;
    read->give(spec);
    return spec;
  };
  EXPECT_EQ(*of(7).node_wish, (NodeWish{{1, 2}, {}, {NodeId{2}}}));
  EXPECT_EQ(of(7).nodes, 0U);
  EXPECT_EQ(of(8).node_wish->among, (std::vector<NodeId>{NodeId{0}, NodeId{1}}));
  EXPECT_EQ(of(8).nodes, 2U);
  EXPECT_EQ(of(9).node_wish, of(7).node_wish) << "they share it";
  EXPECT_EQ(of(10).node_wish, nullptr);
  const auto message = [&](const std::string& rows) {
    const auto wrong = Attributes::parse("job,nodes,features,on_nodes\n" + rows, "a.csv", &machine);
    return wrong ? "taken" : wrong.error().message;
  };
  EXPECT_EQ(message("1,,avx,\n"), "a.csv:2: no node has the feature \"avx\"; did you mean \"avx512\"?");
  EXPECT_TRUE(message("1,,a*2,\n").starts_with("a.csv:2: \"a*2\" is no wish for features: "));
  EXPECT_EQ(message("1,,,n4\n"), "a.csv:2: the cluster has no node \"n4\".");
  EXPECT_EQ(message("1,2,,n1\n"),
            "a.csv:2: nodes is 2 and on_nodes names 1: the job gets all that it names, and no others.");
  EXPECT_EQ(refusal("job,features\n1,ib\n"),
            "a.csv:2: jobs ask for features, nodes or a reservation, and processors are only counted. Give a --cluster "
            "file with "
            "[[nodes]].");
  machine.sites.resize(2);
  EXPECT_EQ(message("1,,,n1\n"),
            "a.csv:2: jobs name nodes, and the cluster has several sites. Leave out on_nodes and not_on_nodes.");
}

TEST(Attributes, add_a_priority_to_that_of_the_partition) {
  EXPECT_EQ(given("job,priority\n7,-3\n", 7).priority, -3);
  EXPECT_EQ(refusal("job,priority\n7,high\n"),
            "a.csv:2: priority is a whole number from -1000000 to 1000000, not \"high\".");
}

TEST(Attributes, with_tasks_that_are_wrong_are_refused) {
  EXPECT_EQ(refusal("job,tasks,task_accelerator\n1,5,1s\n"),
            "a.csv:2: jobs have tasks, and processors are only counted. Give a --cluster file with [[nodes]].");
  EXPECT_EQ(refusal("job,tasks\n1,many\n"), "a.csv:2: tasks are a whole number up to 1,000,000, not \"many\".");
  EXPECT_EQ(refusal("job,start_up\n1,5s\n"), "a.csv:2: there is a start_up, but no tasks.");
  Machine machine = licensed();
  machine.nodes.resize(2);
  const auto message = [&](std::string_view text) {
    const auto read = Attributes::parse(text, "a.csv", &machine);
    return read ? "taken" : read.error().message;
  };
  EXPECT_EQ(message("job,tasks\n1,5\n"),
            "a.csv:2: the job has tasks, and task_accelerator does not say what one takes on an accelerator.");
  EXPECT_EQ(message("job,tasks,task_accelerator,task_limit\n1,5,1s,9s\n"),
            "a.csv:2: there is a task_limit, and task_cpu does not say what a task takes on a CPU.");
  EXPECT_EQ(message("job,task_limit\n1,9s\n"), "a.csv:2: there is a task_limit, but no tasks.");
  EXPECT_EQ(message("job,tasks,task_accelerator\n1,5,0s\n"),
            "a.csv:2: task_accelerator is a duration such as 2.5s, not \"0s\".");
  EXPECT_EQ(message("job,tasks,task_accelerator,task_transfer\n1,5,1s,lots\n"),
            "a.csv:2: task_transfer is a size such as 50MB, not \"lots\".");
}

TEST(Attributes, may_say_how_many_nodes_and_how_much_memory_a_job_asks_for) {
  const JobSpec spec = given("job,nodes,memory\n7,2,4G\n8,,\n", 7);
  EXPECT_EQ(spec.nodes, 2U);
  EXPECT_EQ(spec.memory, std::int64_t{4} << 30U);
  JobSpec other;
  other.number = 8;
  other.nodes = 3;
  Attributes::parse("job,nodes,memory\n7,2,4G\n8,,\n", "a.csv", nullptr)->give(other);
  EXPECT_EQ(other.nodes, 3U) << "as the log says";
  EXPECT_EQ(refusal("job,nodes\n7,0\n"), "a.csv:2: nodes are a whole number from 1 on, not \"0\".");
}

TEST(Attributes, are_written_as_they_are_read) {
  const std::string text =
      "job,nodes,memory,licences,accelerators,accelerator_type,features,on_nodes,not_on_nodes,reservation,restart,"
      "restart_cost,"
      "priority,tasks,task_accelerator,task_cpu,task_transfer,start_up,task_limit,input,site,anywhere\n7,2,4096,matlab:"
      "4,"
      "2,a100,a|b&c,\"n1,n3\",n2,course,checkpoint,90.5,-3,100,0.25,3,50,60,2.5,77,texel,no\n9,,,fluent,,,,,,,,,,,,,,,,"
      ",,\n";
  const auto table = AttributeTable::parse(text, "a.csv");
  ASSERT_TRUE(table) << table.error().message;
  std::ostringstream out;
  SidecarWriter writer(out);
  for (const std::int64_t job : {7, 8, 9}) ASSERT_TRUE(writer.row(job, table->attributes_of(job)));
  EXPECT_EQ(out.str(), text);
  EXPECT_EQ(writer.rows(), 2);
  JobAttributes odd;
  odd.site = "a, \"b\"";
  ASSERT_TRUE(writer.row(10, odd));
  EXPECT_EQ(AttributeTable::parse(out.str(), "a.csv")->attributes_of(10).site, odd.site) << "in quotes";
  odd.site = "a\nb";
  EXPECT_EQ(writer.row(1, odd).error().message,
            "job 1: site \"a\\x0ab\" cannot stand in a CSV file. Write JSON lines, or choose another name.");
}

TEST(Attributes, with_licences_need_a_cluster_that_has_some) {
  const auto read = Attributes::parse("job,licences\n1,matlab\n", "a.csv", nullptr);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().message,
            "a.csv:2: jobs ask for licences, and the cluster has none. Give a --cluster file with `licences`.");
}

TEST(Attributes, say_how_many_accelerators_a_job_needs_on_each_node) {
  Machine machine = licensed();
  machine.nodes.resize(2);
  machine.nodes[1].accelerators = 4;
  machine.accelerator_types = {"a100", "mi300"};
  const auto read = Attributes::parse("job,accelerators,accelerator_type\n7,2,mi300\n8,1,\n9,0,\n", "a.csv", &machine);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_TRUE(read->asks_for_accelerators());
  const auto of = [&](std::int64_t number) {
    JobSpec spec;
    spec.number = number;
    read->give(spec);
    return std::pair(static_cast<int>(spec.accelerators), spec.accelerator_type);
  };
  EXPECT_EQ(of(7), std::pair(2, AcceleratorTypeId{1}));
  EXPECT_EQ(of(8), std::pair(1, AcceleratorTypeId{}));
  EXPECT_EQ(of(9), std::pair(0, AcceleratorTypeId{}));
  const auto message = [&](std::string_view text, const Machine* described) {
    const auto wrong = Attributes::parse(text, "a.csv", described);
    return wrong ? "taken" : wrong.error().message;
  };
  EXPECT_EQ(message("job,accelerators\n7,65\n", &machine),
            "a.csv:2: accelerators are how many the job needs on each of its nodes, up to 64, not \"65\".");
  EXPECT_EQ(message("job,accelerator_type\n7,a100\n", &machine),
            "a.csv:2: there is an accelerator_type, but no accelerators.");
  EXPECT_EQ(message("job,accelerators,accelerator_type\n7,1,a10\n", &machine),
            "a.csv:2: the cluster has no accelerators of type \"a10\"; did you mean \"a100\"?");
  EXPECT_EQ(message("job,accelerators\n7,1\n", nullptr),
            "a.csv:2: jobs ask for accelerators, and the cluster has none. Give a --cluster file with `accelerators`.");
}

TEST(Attributes, say_where_a_job_comes_from_and_how_much_input_it_brings) {
  Machine machine = licensed();
  machine.sites.resize(2);
  machine.sites[0].name = "texel";
  machine.sites[1].name = "ameland";
  const auto read = Attributes::parse("job,input,site\n7,20G,ameland\n*,4096,\n", "a.csv", &machine);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->site_of(7), SiteId{1});
  EXPECT_EQ(read->input_of(7), std::int64_t{20} << 30U);
  EXPECT_FALSE(read->site_of(8).valid());
  EXPECT_EQ(read->input_of(8), 4096);
  const auto unknown = Attributes::parse("job,site\n7,texl\n", "a.csv", &machine);
  EXPECT_EQ(unknown.error().message, "a.csv:2: the cluster has no site \"texl\"; did you mean \"texel\"?");
  EXPECT_EQ(refusal("job,site\n7,texel\n"),
            "a.csv:2: jobs name a site, and the cluster has none. Give a --cluster file with [[sites]].");
  EXPECT_EQ(refusal("job,input\n7,much\n"), "a.csv:2: input is a number of bytes such as 4096 or 20G, not \"much\".");
}

TEST(Attributes, say_which_jobs_stay_where_they_were_submitted) {
  Machine machine = licensed();
  const auto read = Attributes::parse("job,anywhere\n7,no\n8,yes\n9,\n", "a.csv", &machine);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_FALSE(read->anywhere(7));
  for (const std::int64_t job : {8, 9, 10}) EXPECT_TRUE(read->anywhere(job)) << job;
  EXPECT_FALSE(Attributes::parse("job,anywhere\n*,no\n", "a.csv", &machine)->anywhere(10));
  EXPECT_EQ(refusal("job,anywhere\n7,perhaps\n"), "a.csv:2: anywhere is yes or no, not \"perhaps\".");
}

}  // namespace
}  // namespace rota::log
