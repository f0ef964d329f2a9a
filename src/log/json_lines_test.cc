#include "log/json_lines.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "base/text.h"
#include "log/attributes.h"

namespace rota::log {
namespace {

Workload parsed(std::string_view text) {
  auto read = parse_json_lines(text, "jobs.jsonl");
  EXPECT_TRUE(read) << read.error().message;
  return read ? std::move(*read) : Workload{};
}

// What is said of a file with that line.
std::string refusal(std::string_view line, const SwfOptions& options = {}) {
  const auto read = parse_json_lines(line, "jobs.jsonl", options);
  if (read) return "taken";
  const std::string& message = read.error().message;
  EXPECT_TRUE(is_utf8(message));
  const std::string ending = " Mend the line, or drop such lines with --skip-bad-rows.";
  return message.ends_with(ending) ? message.substr(0, message.size() - ending.size()) : message;
}

TEST(JsonLines, turn_a_line_into_a_job) {
  const Workload w = parsed(
      R"({"number": 7, "submit": 30, "run_time": 12.5, "processors": 16, "nodes": 2, "memory": "4G", "limit": "1h30m",)"
      R"( "user": 3, "group": 4, "partition": 5, "status": 1, "wait": null})");
  ASSERT_EQ(w.jobs.size(), 1U);
  const JobSpec& job = w.jobs[0];
  EXPECT_EQ(job.number, 7);
  EXPECT_EQ(job.submit, kEpoch + seconds(30));
  EXPECT_EQ(w.run_times[0], Duration{12'500});
  EXPECT_EQ(job.processors, 16U);
  EXPECT_EQ(job.nodes, 2U);
  EXPECT_EQ(job.memory, std::int64_t{4} << 30U);
  EXPECT_EQ(job.limit, seconds(5400));
  EXPECT_EQ(job.user, 3U);
  EXPECT_EQ(job.group, 4U);
  EXPECT_EQ(job.partition.value, 5U);
  EXPECT_EQ(w.name, "jobs");
  EXPECT_EQ(w.attributes, nullptr) << "nothing that a job itself does not have";
}

TEST(JsonLines, take_durations_in_seconds_and_in_words) {
  const auto limit = [](const std::string& text) {
    return parsed(R"({"number":1,"submit":0,"run_time":1,"processors":1,"limit":)" + text + "}").jobs[0].limit;
  };
  EXPECT_EQ(limit("90"), seconds(90));
  EXPECT_EQ(limit("90.0625"), Duration{90'063}) << "rounded as in SWF";
  EXPECT_EQ(limit("9e1"), seconds(90));
  EXPECT_EQ(limit("\"01:30:00\""), seconds(5400));
  EXPECT_EQ(limit("\"2d12h\""), seconds(216'000));
  EXPECT_EQ(limit("\"UNLIMITED\""), kLongest);
}

TEST(JsonLines, tell_how_long_a_job_was_suspended) {
  const auto suspended = [](const std::string& text) {
    return parse_json_lines(R"({"number":1,"submit":0,"run_time":1,"suspended":)" + text + "}", "jobs.jsonl",
                            {.keep_recorded = true})
        ->recorded[0]
        .suspended;
  };
  EXPECT_EQ(suspended("90.0625"), Duration{90'063});
  EXPECT_EQ(suspended("\"1h30m\""), seconds(5400));
  EXPECT_EQ(suspended("null"), Duration{0});
  EXPECT_EQ(suspended("-1"), Duration{0}) << "not known";
  EXPECT_EQ(suspended("0"), Duration{0});
  const auto refused = [](const std::string& value) { return refusal(R"({"number":1,"suspended":)" + value + "}"); };
  EXPECT_EQ(refused("-5"), "jobs.jsonl:1: suspended is \"-5\", but only -1 (unknown) may be negative.");
  EXPECT_EQ(refused("100000000001"), "jobs.jsonl:1: suspended is \"100000000001\", which is more than 100000000000.");
  EXPECT_EQ(refused("1e300"), "jobs.jsonl:1: suspended is \"1e300\", which is too large.");
  EXPECT_EQ(refused("true"), "jobs.jsonl:1: suspended is true, which no field of a job can be.");
}

TEST(JsonLines, tell_on_which_nodes_a_job_ran) {
  const auto w = parse_json_lines(R"({"number":1,"submit":9,"run_time":1,"node_list":"n[1-3,7]"})"
                                  "\n"
                                  R"({"number":2,"submit":0,"run_time":1,"node_list":"login"})"
                                  "\n"
                                  R"({"number":3,"submit":10,"run_time":1,"node_list":"n[1-3,7]"})"
                                  "\n"
                                  R"({"number":4,"submit":11,"run_time":1,"node_list":null})"
                                  "\n",
                                  "jobs.jsonl", {.keep_recorded = true});
  ASSERT_TRUE(w) << w.error().message;
  std::vector<std::uint32_t> ran_on;
  for (const RecordedJob& job : w->recorded) ran_on.push_back(job.ran_on);
  EXPECT_EQ(ran_on, (std::vector<std::uint32_t>{2, 1, 1, 0})) << "in order of submission";
  EXPECT_EQ(w->node_lists->size(), 2U) << "each text is kept once";
  EXPECT_EQ(w->node_lists->text(1), "n[1-3,7]");
  EXPECT_EQ(refusal(R"({"number":1,"node_list":"n[1-"})"),
            "jobs.jsonl:1: node_list is \"n[1-\", which is not a host list such as n[1-3,7].");
  EXPECT_EQ(refusal(R"({"number":1,"node_list":7})"),
            "jobs.jsonl:1: node_list is a text in quotes, and here it is the number \"7\".");
}

TEST(JsonLines, tell_how_many_tasks_of_an_array_run_at_once) {
  const Workload w = parsed(R"({"number":3,"submit":9,"run_time":1,"array":7,"array_throttle":2})"
                            "\n"
                            R"({"number":1,"submit":0,"run_time":1,"array":7})"
                            "\n"
                            R"({"number":2,"submit":5,"run_time":1,"array":8,"array_throttle":null})"
                            "\n");
  ASSERT_EQ(w.terms.size(), 1U);
  EXPECT_EQ(w.terms.at(2).array, 7) << "by place, in order of submission";
  EXPECT_EQ(w.terms.at(2).throttle, 2U);
  EXPECT_EQ(refusal(R"({"number":1,"array_throttle":1.5})"),
            "jobs.jsonl:1: array_throttle is \"1.5\", which is not a whole number from 1 to 2147483647.");
}

TEST(JsonLines, mend_and_drop_jobs_as_swf_does) {
  const Workload w = parsed(
      "{\"number\":1,\"submit\":5,\"processors\":4}\n\n"
      "{\"number\":2,\"submit\":3,\"run_time\":60,\"requested_processors\":8,\"processors\":null}\n"
      "{\"number\":3,\"submit\":9,\"status\":5,\"run_time\":0}\r\n");
  ASSERT_EQ(w.jobs.size(), 2U);
  EXPECT_EQ(w.jobs[0].number, 2) << "sorted by submit time";
  EXPECT_EQ(w.jobs[0].processors, 8U);
  EXPECT_EQ(w.jobs[0].limit, seconds(60));
  EXPECT_EQ(w.run_times[1], seconds(1));
  EXPECT_EQ(w.report.rows, 3);
  EXPECT_EQ(w.report.kept, 2);
  ASSERT_EQ(w.report.findings.size(), 4U);
  EXPECT_EQ(w.report.findings[0].first_line, 4);
}

TEST(JsonLines, begin_with_a_header_if_one_is_wanted) {
  const Workload w = parsed(
      R"({"workload":"may","computer":"a cluster","notes":["one","two"],"unix_start":1714521600,"processors":512,)"
      R"("nodes":16,"queue_floor":10,"partitions":{"1":"batch","2":"debug"},"users":{"12":"anna"}})"
      "\n"
      R"({"number":1,"submit":0,"run_time":60,"processors":1,"partition":"debug","user":"anna"})");
  EXPECT_EQ(w.name, "may");
  EXPECT_EQ(w.unix_start, 1'714'521'600);
  EXPECT_EQ(w.processors, 512);
  EXPECT_EQ(w.nodes, 16);
  EXPECT_EQ(w.queue_floor, 10);
  EXPECT_EQ(w.partitions.at(2), "debug");
  EXPECT_EQ(w.jobs[0].partition.value, 2U);
  EXPECT_EQ(w.jobs[0].user, 12U);
}

TEST(JsonLines, number_names_that_the_header_does_not_have_in_order_of_appearance) {
  const Workload w = parsed(R"({"users":{"3":"anna"}})"
                            "\n"
                            R"({"number":1,"submit":0,"run_time":1,"processors":1,"user":"bert","partition":"long"})"
                            "\n"
                            R"({"number":2,"submit":0,"run_time":1,"processors":1,"user":"anna","partition":"short"})"
                            "\n"
                            R"({"number":3,"submit":0,"run_time":1,"processors":1,"user":3,"partition":"long"})");
  EXPECT_EQ(w.jobs[0].user, 4U);
  EXPECT_EQ(w.jobs[1].user, 3U);
  EXPECT_EQ(w.jobs[2].user, 3U);
  EXPECT_EQ(w.jobs[1].partition.value, 2U);
  EXPECT_EQ(w.jobs[2].partition.value, 1U);
  EXPECT_EQ(w.users.at(4), "bert");
  EXPECT_EQ(w.partitions.at(1), "long");
}

TEST(JsonLines, have_the_attributes_of_their_jobs) {
  Machine machine = Machine::counted(8);
  machine.licences = {{"matlab", 4}, {"fluent", 12}};
  machine.nodes.resize(2);
  machine.sites.resize(2);
  machine.sites[1].name = "ameland";
  const Workload w = parsed(
      R"({"number":1,"submit":0,"run_time":1,"processors":1})"
      "\n"
      R"({"number":2,"submit":0,"run_time":1,"processors":1,"licences":"fluent:3,matlab","restart":"checkpoint",)"
      R"("restart_cost":90,"priority":-2,"tasks":100.0,"task_accelerator":0.25,"input":"20G","site":"ameland"})");
  ASSERT_NE(w.attributes, nullptr);
  const auto attributes = Attributes::match(w.attributes, &machine);
  ASSERT_TRUE(attributes) << attributes.error().message;
  JobSpec job = w.jobs[1];
  attributes->give(job);
  EXPECT_EQ(licences_of(job, LicenceId{0}), 1U);
  EXPECT_EQ(licences_of(job, LicenceId{1}), 3U);
  EXPECT_EQ(job.restart, Restart::checkpoint);
  EXPECT_EQ(job.restart_cost, seconds(90));
  EXPECT_EQ(job.priority, -2);
  EXPECT_EQ(attributes->tasks().of(2)->count, 100U);
  EXPECT_EQ(attributes->tasks().of(2)->accelerator, Duration{250});
  EXPECT_EQ(attributes->tasks().of(1), nullptr);
  EXPECT_EQ(attributes->input_of(2), std::int64_t{20} << 30U);
  EXPECT_EQ(attributes->site_of(2), SiteId{1});
  EXPECT_EQ(attributes->input_of(1), 0);
  const auto elsewhere = Attributes::match(w.attributes, nullptr);
  EXPECT_EQ(elsewhere.error().message,
            "jobs.jsonl:2: jobs ask for licences, and the cluster has none. Give a --cluster file with `licences`.");
}

TEST(JsonLines, that_are_wrong_are_refused_with_file_line_and_field) {
  EXPECT_EQ(refusal(R"({"number":1,"limt":5})"), "jobs.jsonl:1: there is no field \"limt\"; did you mean limit?");
  EXPECT_EQ(refusal(R"({"number":1,"x":5})"), "jobs.jsonl:1: there is no field \"x\"; docs/workloads.md lists them.");
  EXPECT_EQ(refusal(R"({"number":1,"number":1})"), "jobs.jsonl:1: number is there twice.");
  EXPECT_EQ(refusal(R"({"number":"one"})"), "jobs.jsonl:1: number is a number, and here it is the text \"one\".");
  EXPECT_EQ(refusal(R"({"number":true})"), "jobs.jsonl:1: number is true, which no field of a job can be.");
  EXPECT_EQ(refusal(R"({"number":null})"), "jobs.jsonl:1: the job has no number, which is the name that it goes by.");
  EXPECT_EQ(refusal(R"({"number":1.5})"), "jobs.jsonl:1: number is \"1.5\", which is not a whole number.");
  EXPECT_EQ(refusal(R"({"number":-2})"), "jobs.jsonl:1: number is \"-2\", but must not be negative.");
  EXPECT_EQ(refusal(R"({"number":99999999999999999999})"),
            "jobs.jsonl:1: number is \"99999999999999999999\", which is too large.");
  EXPECT_EQ(refusal(R"({"number":1,"submit":1e400})"), "jobs.jsonl:1: a number in the line is too large.");
  EXPECT_EQ(refusal(R"({"number":1,"processors":3000000000})"),
            "jobs.jsonl:1: processors is \"3000000000\", which is more than 2147483647.");
  EXPECT_EQ(refusal(R"({"number":1,"run_time":-5})"),
            "jobs.jsonl:1: run_time is \"-5\", but only -1 (unknown) may be negative.");
  EXPECT_EQ(refusal(R"({"number":1,"run_time":"soon"})"),
            "jobs.jsonl:1: run_time: \"soon\" is not a duration; write it such as 90, 90s, 1.5h, 2d12h, 30:00 or "
            "1-12:00:00.");
  EXPECT_EQ(refusal(R"({"number":1,"user":{"name":"anna"}})"),
            "jobs.jsonl:1: user is an object, and a job's fields have none.");
  EXPECT_EQ(refusal(R"({"number":1,"user":[1]})"), "jobs.jsonl:1: user is a list, and a job's fields have none.");
  EXPECT_EQ(refusal(R"({"number":1,"user":""})"), "jobs.jsonl:1: user is empty; leave it out where it is not known.");
}

TEST(JsonLines, with_wrong_attributes_are_refused_in_the_words_of_the_sidecar) {
  EXPECT_EQ(refusal(R"({"number":1,"restart":"perhaps"})"),
            "jobs.jsonl:1: restart is checkpoint, from-start, never or once, not \"perhaps\".");
  EXPECT_EQ(refusal(R"({"number":1,"restart":1})"),
            "jobs.jsonl:1: restart is a text in quotes, and here it is the number \"1\".");
  EXPECT_EQ(refusal(R"({"number":1,"priority":"5"})"),
            "jobs.jsonl:1: priority is a number, and here it is the text \"5\".");
  EXPECT_EQ(refusal(R"({"number":1,"priority":1e9})"),
            "jobs.jsonl:1: priority is a whole number from -1000000 to 1000000, not \"1e9\".");
  EXPECT_EQ(refusal(R"({"number":1,"memory":"lots"})"),
            "jobs.jsonl:1: memory is a number of bytes on each node such as 4096 or 64G, not \"lots\".");
  EXPECT_EQ(refusal(R"({"number":1,"memory":-1})"),
            "jobs.jsonl:1: memory is a number of bytes on each node such as 4096 or 64G, not \"-1\".");
  EXPECT_EQ(refusal(R"({"number":1,"nodes":0})"), "jobs.jsonl:1: nodes are a whole number from 1 on, not \"0\".");
  EXPECT_EQ(refusal(R"({"number":1,"task_cpu":5})"), "jobs.jsonl:1: there is a task_cpu, but no tasks.");
}

TEST(JsonLines, that_are_no_json_are_refused_with_the_column) {
  EXPECT_EQ(refusal(R"({"number":1} {"number":2})"),
            "jobs.jsonl:1: from column 14 on this is not JSON: \"{\\\"number\\\":2}\".");
  EXPECT_EQ(refusal("{\n\"number\":1\n}"),
            "jobs.jsonl:1: the object does not end in this line: the file is cut off, or has no line for each job, as "
            "jq -c writes it.");
  EXPECT_EQ(refusal("[{\"number\":1}]"),
            "jobs.jsonl:1: this is a list of JSON. Write one object a line, as jq -c '.[]' does.");
  EXPECT_EQ(refusal("null"),
            "jobs.jsonl:1: a line is an object such as {\"number\": 1, \"submit\": 0, \"run_time\": 60, "
            "\"processors\": 4}, not \"null\".");
  EXPECT_EQ(refusal("{\"number\":1,\"user\":\"\xff\"}"),
            "jobs.jsonl:1: byte 21 of the line, at \"\\xff\\\"}\", is not UTF-8 text. Save the file as UTF-8.");
  EXPECT_TRUE(refusal(fmt::format("{{\"number\":1,\"user\":\"{}\xff\"}}", std::string(100'000, 'u')))
                  .starts_with("jobs.jsonl:1: byte 100021 of the line, at "));
  EXPECT_EQ(refusal(std::string("{\"number\":1,\"user\":\"a\0b\"}", 25)),
            "jobs.jsonl:1: from column 22 on this is not JSON: \"\\x00b\\\"}\".");
  const std::string deep = "{\"number\":" + std::string(1'000'000, '[');
  EXPECT_EQ(refusal(deep), "jobs.jsonl:1: number is a list, and a job's fields have none.");
  EXPECT_EQ(
      refusal(fmt::format("{{\"notes\":{}{}}}", std::string(1'000'000, '['), std::string(1'000'000, ']'))),
      "jobs.jsonl:1: notes in the header is a list of texts such as [\"from the archive\"], and here it is a list.");
}

TEST(JsonLines, with_a_wrong_header_are_refused) {
  EXPECT_EQ(
      refusal(R"({"submit":5,"run_time":7})"),
      "jobs.jsonl:1: this line has no number, so it is the header, in which there is no field \"submit\"; if it is "
      "a job, give it its number.");
  EXPECT_EQ(refusal(R"({"procesors":5})"),
            "jobs.jsonl:1: this line has no number, so it is the header, in which there is no field \"procesors\"; did "
            "you mean processors?");
  EXPECT_EQ(refusal(R"({"processors":-1})"),
            "jobs.jsonl:1: processors in the header is a whole number from 0 to 2147483647, and here it is -1.");
  EXPECT_EQ(refusal(R"({"processors":1,"processors":1})"), "jobs.jsonl:1: processors is there twice in the header.");
  EXPECT_EQ(refusal(R"({"notes":"one"})"),
            "jobs.jsonl:1: notes in the header is a list of texts such as [\"from the archive\"], and here it is "
            "\"one\".");
  EXPECT_EQ(refusal(R"({"users":{"anna":"1"}})"),
            "jobs.jsonl:1: \"anna\" in users of the header is not a number; it has names by number, such as {\"1\": "
            "\"batch\"}.");
  EXPECT_EQ(refusal(R"({"users":{"1":"anna","1":"bert"}})"), "jobs.jsonl:1: the number 1 is there twice in users.");
  EXPECT_EQ(refusal("{\"processors\":1}\n"),
            "jobs.jsonl: no job can be read from it because it has no rows. Is it a job log in SWF, in JSON lines, or "
            "written by sacct -P?");
}

TEST(JsonLines, with_names_that_cannot_be_told_from_numbers_are_refused) {
  EXPECT_EQ(
      refusal("{\"number\":1,\"user\":7}\n{\"number\":2,\"user\":\"anna\"}"),
      "jobs.jsonl:2: user is the name \"anna\", and other jobs have numbers there: number the names in the header, "
      "or write one kind of them only.");
  EXPECT_EQ(refusal("{\"number\":1,\"user\":\"anna\"}\n{\"number\":2,\"user\":1}"),
            "jobs.jsonl:2: user is the number 1, and other jobs have names there: number the names in the header, or "
            "write one kind of them only.");
  EXPECT_EQ(refusal("{\"users\":{\"1\":\"anna\",\"2\":\"anna\"}}\n{\"number\":2,\"user\":\"anna\"}"),
            "jobs.jsonl:2: user is \"anna\", which is the name of several numbers in the header: write the number.");
}

TEST(JsonLines, that_are_bad_can_be_dropped) {
  const auto read = parse_json_lines(
      "{\"number\":1,\"submit\":0,\"run_time\":5,\"processors\":1}\n{\"numb\":2}\nnonsense\n"
      "{\"number\":1,\"submit\":0,\"run_time\":5,\"processors\":1}\n",
      "jobs.jsonl", {.skip_bad_rows = true});
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->jobs.size(), 1U);
  EXPECT_EQ(
      refusal("{\"number\":1}\n{\"number\":1}"),
      "jobs.jsonl:2: job number 1 is already that of line 1. Give each job a number of its own, or drop the later "
      "one with --skip-bad-rows.");
}

TEST(JsonLines, are_told_from_other_logs_by_their_beginning) {
  EXPECT_TRUE(looks_like_json("{\"number\":1}"));
  EXPECT_TRUE(looks_like_json("\xEF\xBB\xBF \n {}"));
  EXPECT_TRUE(looks_like_json("[{}]"));
  EXPECT_FALSE(looks_like_json("; Version: 2.2\n1 2 3\n"));
  EXPECT_FALSE(looks_like_json("JobID|Submit\n"));
  EXPECT_FALSE(looks_like_json(""));
  EXPECT_EQ(parsed("\xEF\xBB\xBF{\"number\":1,\"submit\":0,\"run_time\":5,\"processors\":1}").jobs.size(), 1U);
}

TEST(JsonLines, that_are_dropped_leave_no_names_behind) {
  const auto read = parse_json_lines(
      "{\"number\":1,\"user\":\"anna\",\"group\":5,\"x\":1}\n"
      "{\"number\":2,\"submit\":0,\"run_time\":5,\"processors\":1,\"user\":\"bert\",\"group\":\"staff\"}\n",
      "jobs.jsonl", {.skip_bad_rows = true});
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->jobs[0].user, 1U);
  EXPECT_EQ(read->users.size(), 1U);
}

TEST(JsonLines, with_attributes_cannot_have_a_number_twice) {
  EXPECT_EQ(refusal("{\"number\":1}\n{\"number\":1,\"restart\":\"checkpoint\"}", {.skip_bad_rows = true}),
            "jobs.jsonl: some jobs have the same number, so that it is not clear whose attributes are whose. Give each "
            "job a number of its own.");
}

// All lines of a log read and written again.
std::string again(std::string_view text) {
  ImportReport report;
  JsonLinesReader reader(LineBlocks::over(text, "jobs.jsonl"), false, report);
  std::ostringstream out;
  {
    JsonLinesWriter writer(out);
    SwfRow row;
    JobAttributes attributes;
    for (bool first = true;; first = false) {
      const auto more = reader.next(row, attributes);
      EXPECT_TRUE(more) << more.error().message;
      if (!more || !*more) break;
      if (first) writer.top(reader.top());
      writer.job(row, attributes);
    }
  }
  return out.str();
}

TEST(JsonLines, are_written_as_they_are_read) {
  const std::string text =
      R"({"workload":"may","computer":"\"x\"","notes":["one","two"],"unix_start":5,"processors":512,"nodes":16,)"
      R"("queue_floor":0,"queues":{"1":"q"},"partitions":{"1":"batch","2":"debug"},"users":{"7":"an\"na"},)"
      R"("groups":{"1":"same","2":"same"}})"
      "\n"
      R"({"number":1,"submit":0.5,"wait":-3.25,"run_time":12.005,"suspended":2.5,"earlier_elapsed":90,"processors":16,"requested_processors":8,"cpu_time":7,)"
      R"("limit":60,"used_memory_kb":5,"requested_memory_kb":6,"status":1,"user":"an\"na","group":2,"executable":3,)"
      R"("queue":"q","partition":"debug","preceding":4,"think_time":9,"array":12,"array_throttle":3,"node_list":"n[1-3,7]","nodes":4,"memory":4096,"licences":"matlab:2",)"
      R"("restart":"checkpoint","restart_cost":0.25,"priority":-3,"tasks":5,"task_accelerator":0.001,"task_cpu":1.5,)"
      R"("task_transfer":50,"start_up":2,"task_limit":1.25,"input":77,"site":"texel","anywhere":"no"})"
      "\n"
      R"({"number":2,"submit":0,"run_time":1,"processors":4,"requested_processors":null,"user":"new"})"
      "\n"
      R"({"number":3,"submit":0,"run_time":1,"requested_processors":4,"user":"an\"na"})"
      "\n";
  EXPECT_EQ(again(text), text);
}

TEST(WorkloadsPage, has_every_field_and_every_column) {
  std::ifstream in(ROTA_SOURCE_DIR "/docs/workloads.md");
  const std::string page((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const std::size_t lines = page.find("## JSON lines");
  ASSERT_NE(lines, std::string::npos);
  for (const std::string_view name : json_field_names()) {
    EXPECT_NE(page.find(fmt::format("`{}`", name), lines), std::string::npos) << name << " is not among the fields";
  }
  for (const AttributeColumn& column : attribute_columns()) {
    EXPECT_LT(page.find(fmt::format("| `{}` |", column.name)), lines) << column.name << " is not among the columns";
  }
}

}  // namespace
}  // namespace rota::log
