#include "serve/submission.h"

#include <gtest/gtest.h>

#include "serve/job_book.h"
#include "site/cluster_file.h"

namespace rota::serve {
namespace {

std::string why(const auto& result) { return result ? std::string() : result.error().message; }

TEST(ParseArray, takes_ranges_steps_and_a_throttle) {
  struct Case {
    const char* text;
    std::vector<std::int64_t> indexes;
    std::uint32_t throttle;
  };
  for (const Case& c : {Case{"3", {3}, 0}, Case{"1-4", {1, 2, 3, 4}, 0}, Case{"0-20:5", {0, 5, 10, 15, 20}, 0},
                        Case{"7,1-2,2", {1, 2, 7}, 0}, Case{"1-3%2", {1, 2, 3}, 2}}) {
    const auto range = parse_array(c.text, 100);
    ASSERT_TRUE(range) << c.text;
    EXPECT_EQ(range->indexes, c.indexes) << c.text;
    EXPECT_EQ(range->throttle, c.throttle) << c.text;
  }
}

TEST(ParseArray, refuses_what_makes_no_sense_or_is_too_much) {
  for (const char* text : {"", "a", "-1", "3-1", "1-3:0", "1,,2", "1-3%0", "1-3%x", "1-99999999999"}) {
    EXPECT_FALSE(parse_array(text, 100)) << text;
  }
  EXPECT_EQ(why(parse_array("1-101", 100)), "the array \"1-101\" has more than 100 tasks, the most here.");
  EXPECT_TRUE(parse_array("0-2000000000:100000000", 100));
}

TEST(ParseSignal, knows_names_and_numbers) {
  EXPECT_EQ(parse_signal("USR1").value(), 10);
  EXPECT_EQ(parse_signal("sigterm").value(), 15);
  EXPECT_EQ(parse_signal("9").value(), 9);
  EXPECT_EQ(parse_signal("WINCH").value(), 28) << "the client says names where it was given numbers";
  EXPECT_EQ(why(parse_signal("USR3")), "there is no signal \"USR3\"; name one as USR1, TERM or 10.");
  EXPECT_FALSE(parse_signal("0"));
  EXPECT_FALSE(parse_signal("99"));
}

TEST(CheckName, takes_one_to_two_hundred_bytes) {
  EXPECT_TRUE(check_name("n"));
  EXPECT_TRUE(check_name(std::string(200, 'n')));
  EXPECT_EQ(why(check_name("")), "a job's name has one byte at least; give it one.");
  EXPECT_EQ(why(check_name(std::string(201, 'n'))), "a job's name has 200 bytes at most.");
}

TEST(SpecOfNodeWishes, looks_up_features_nodes_and_qos) {
  const Machine machine =
      site::parse_cluster(
          "[[nodes]]\nnames = \"n[1-2]\"\nprocessors = 4\nfeatures = \"ib\"\n"
          "[[nodes]]\nnames = \"n3\"\nprocessors = 8\nfeatures = \"ib,big\"\n[[qos]]\nname = \"high\"\n",
          "test")
          .value();
  JobRequest wanted;
  wanted.required_nodes = "n[1-2]";
  const auto named = spec_of(wanted, machine);
  ASSERT_TRUE(named) << why(named);
  EXPECT_EQ(named->nodes, 2U);
  EXPECT_EQ(named->processors, 2U) << "one on each";
  wanted.exclusive = true;
  EXPECT_EQ(spec_of(wanted, machine)->processors, 8U) << "only nodes that it may use count";
  wanted.nodes = 3;
  wanted.processors = 3;
  EXPECT_FALSE(spec_of(wanted, machine)) << "more than it names";
  JobRequest counted;
  counted.required_nodes = "n[1-2]";
  counted.nodes = 2;
  EXPECT_TRUE(spec_of(counted, machine)) << "with a processor on each";
  counted.nodes = 1;
  counted.most_nodes = 3;
  ASSERT_TRUE(spec_of(counted, machine)) << why(spec_of(counted, machine));
  EXPECT_EQ(spec_of(counted, machine)->nodes, 2U);
  JobRequest featured;
  featured.features = "big&ib";
  featured.qos = "high";
  ASSERT_TRUE(spec_of(featured, machine));
  EXPECT_EQ(spec_of(featured, machine)->qos, QosId{0});
  EXPECT_TRUE(spec_of(featured, machine)->node_wish->admits(NodeId{2}, machine.nodes[2].features));
  featured.features = "bg";
  EXPECT_EQ(why(spec_of(featured, machine)), "no node has the feature \"bg\"; did you mean \"big\"?");
  featured.features = "";
  featured.qos = "low";
  EXPECT_EQ(why(spec_of(featured, machine)), "there is no QOS \"low\"; there is high.");
}

class SpecOf : public testing::Test {
 protected:
  Machine machine = site::parse_cluster(
                        "licences = \"matlab:3,simulink:2\"\n[[nodes]]\nnames = \"n[1-2]\"\nprocessors = 4\n"
                        "[[partitions]]\nname = \"day\"\nnodes = \"n[1-2]\"\ndefault = true\ndefault_time = \"1h\"\n"
                        "[[partitions]]\nname = \"night\"\nnodes = \"n2\"\n"
                        "[[partitions]]\nname = \"narrow\"\nnodes = \"n[1-2]\"\nmax_nodes = 1\n",
                        "test")
                        .value();
  JobRequest submission;
};

TEST_F(SpecOf, looks_names_up_and_takes_the_partitions_default_time) {
  submission.licence = "matlab";
  const auto spec = spec_of(submission, machine);
  ASSERT_TRUE(spec);
  EXPECT_EQ(spec->limit, seconds(3600));
  EXPECT_EQ(spec->licences, 1U);
  EXPECT_EQ(machine.partitions[spec->partition.value].name, "day");
  submission.partition = "night";
  EXPECT_EQ(spec_of(submission, machine)->limit, kLongest);
}

TEST_F(SpecOf, takes_licences_of_several_kinds) {
  submission.licence = "simulink";
  submission.more_licences = {"matlab:2"};
  const auto spec = spec_of(submission, machine);
  ASSERT_TRUE(spec);
  EXPECT_EQ(licences_of(*spec, LicenceId{0}), 2U);
  EXPECT_EQ(licences_of(*spec, LicenceId{1}), 1U);
  EXPECT_TRUE(licences_in_order(*spec, 2));
  submission.more_licences = {"matlab:2", "simulink"};
  EXPECT_EQ(why(spec_of(submission, machine)), "the licence \"simulink\" is asked for twice; say once how many.");
  submission.more_licences = {"matlab:0"};
  EXPECT_EQ(why(spec_of(submission, machine)),
            "licences are names, each alone or with how many, such as matlab:4,simulink, not \"matlab:0\".");
}

TEST_F(SpecOf, has_a_single_process_on_one_node_and_whole_nodes_whole) {
  submission.processors = 3;
  EXPECT_EQ(spec_of(submission, machine)->nodes, 0U);
  submission.tasks = 1;
  EXPECT_EQ(spec_of(submission, machine)->nodes, 1U);
  submission.nodes = 2;
  EXPECT_EQ(spec_of(submission, machine)->nodes, 2U);
  submission.exclusive = true;
  EXPECT_EQ(spec_of(submission, machine)->processors, 8U);
  submission.tasks = 4;
  EXPECT_EQ(why(spec_of(submission, machine)),
            "a job has at most as many `tasks` as processors, and 4 is more; ask for more of these or fewer of those.");
  submission.tasks = 2;
  submission.tasks_per_node = 3;
  EXPECT_EQ(why(spec_of(submission, machine)),
            "`tasks_per_node` times `nodes` is not the number of processes; say `nodes`, and as many `tasks`.");
}

TEST_F(SpecOf, is_on_one_node_where_a_partition_lets_no_job_have_more) {
  submission.processors = 3;
  submission.partition = "narrow";
  EXPECT_EQ(spec_of(submission, machine)->nodes, 1U);
  submission.nodes = 2;
  EXPECT_EQ(spec_of(submission, machine)->nodes, 2U) << "which is refused";
}

TEST_F(SpecOf, has_no_process_on_two_nodes) {
  submission.nodes = 2;
  submission.tasks = 5;
  submission.processors = 10;
  EXPECT_EQ(spec_of(submission, machine)->processors, 12U);  // three of two processors on each
  submission.tasks = 4;
  submission.processors = 8;
  EXPECT_EQ(spec_of(submission, machine)->processors, 8U);
  submission.tasks = 3;
  submission.processors = 3;
  EXPECT_EQ(spec_of(submission, machine)->processors, 3U);
  submission.tasks = 1;
  submission.processors = 3;
  EXPECT_EQ(spec_of(submission, machine)->processors, 3U);  // is to be on two
}

TEST_F(SpecOf, is_kept_so_that_what_was_asked_for_is_known) {
  for (const bool exclusive : {false, true}) {
    for (const std::uint32_t nodes : {0U, 1U, 2U, 9U}) {
      for (const std::uint32_t tasks : {0U, 1U, 2U}) {
        for (const std::uint32_t processors : {2U, 3U, 8U}) {
          const Size size{processors, nodes, tasks, 0, exclusive};
          JobSpec spec;
          ASSERT_TRUE(give_size(size, machine, spec));
          About about;
          keep_size(size, spec, about);
          EXPECT_EQ(size_asked(read_about(about_text(about))->about, spec), size) << processors << nodes << tasks;
        }
      }
    }
  }
}

TEST_F(SpecOf, of_a_single_process_that_was_kept_by_an_older_version_may_get_other_nodes) {
  About about;
  about.tasks = 1;
  JobSpec spec;
  spec.processors = 4;
  spec.nodes = 1;
  EXPECT_EQ(size_asked(about, spec).nodes, 0U);
}

TEST_F(SpecOf, says_how_it_may_be_run_again) {
  EXPECT_EQ(spec_of(submission, machine)->restart, Restart::never);
  submission.requeue = true;
  EXPECT_EQ(spec_of(submission, machine)->restart, Restart::from_start);
  submission.checkpoint = "save";
  EXPECT_EQ(spec_of(submission, machine)->restart, Restart::checkpoint);
  submission.requeue = false;
  EXPECT_EQ(why(spec_of(submission, machine)),
            "a job that writes a checkpoint is run again from it; leave out the checkpoint or `--no-requeue`.");
}

TEST_F(SpecOf, names_what_is_not_there) {
  submission.partition = "nigth";
  EXPECT_EQ(why(spec_of(submission, machine)), "there is no partition \"nigth\"; did you mean night?");
  submission.partition = "";
  submission.licence = "abaqus";
  EXPECT_EQ(why(spec_of(submission, machine)), "there is no licence \"abaqus\"; there is matlab, simulink.");
  submission.licence = "";
  submission.limit = Duration{0};
  EXPECT_EQ(why(spec_of(submission, machine)), "a job needs a time limit that is longer than nothing.");
}

TEST(About, is_the_same_after_it_was_kept) {
  About about;
  about.name = "näme \"q\"";
  about.user = "ann";
  about.folder = "/data/x y";
  about.output = "%j.out";
  about.command = {"a", "b c", ""};
  about.after = {"afterok:3"};
  about.append = false;
  about.uid = 7;
  about.array = 12;
  about.warning_signal = 10;
  about.warning_time = seconds(5);
  about.kill_wait = seconds(1);
  about.never = true;
  const auto kept = read_about(about_text(about, 4));
  ASSERT_TRUE(kept) << why(kept);
  EXPECT_EQ(about_text(kept->about, kept->index), about_text(about, 4));
  EXPECT_EQ(kept->about.name, about.name);
  EXPECT_TRUE(kept->about.never);
  EXPECT_EQ(kept->about.append, std::optional(false));
  EXPECT_EQ(kept->index, 4);
  EXPECT_FALSE(read_about("{"));
  EXPECT_FALSE(read_about("{\"uid\":\"x\"}"));
}

TEST(AboutReader, keeps_once_what_tasks_share) {
  About array;
  array.name = "one,\"index\":7}";  // a text that looks like what tells tasks apart
  array.array = 3;
  About other = array;
  other.name = "two";
  AboutReader reader;
  const auto first = reader.read(about_text(array, 1));
  const auto second = reader.read(with_index(about_text(array), 2));
  const auto whole = reader.read(about_text(array));
  const auto last = reader.read(about_text(other, 2));
  ASSERT_TRUE(first && second && whole && last);
  EXPECT_EQ(*first->about, array);
  EXPECT_EQ(first->about, second->about);
  EXPECT_EQ(*whole->about, array);
  EXPECT_EQ(*last->about, other);
  EXPECT_EQ((std::vector{first->index, second->index, whole->index, last->index}),
            (std::vector<std::int64_t>{1, 2, -1, 2}));
  // As they were written once, with the index in between.
  const auto old = reader.read(R"({"array":3,"index":5,"name":"old"})");
  ASSERT_TRUE(old);
  EXPECT_EQ(old->index, 5);
  EXPECT_EQ(old->about->name, "old");
  EXPECT_FALSE(reader.read("{"));
  EXPECT_FALSE(reader.read(""));
}

TEST(JobBook, keeps_once_what_one_job_after_the_other_says) {
  JobBook book;
  for (std::uint32_t job = 0; job < 3; ++job) {
    About about;
    about.uid = job / 2;
    book.put(JobId{job}, {std::make_shared<const About>(about), 100 + job});
  }
  EXPECT_EQ(book.find(JobId{0})->about, book.find(JobId{1})->about);
  EXPECT_NE(book.find(JobId{1})->about, book.find(JobId{2})->about);
  book.forget(JobId{1});
  EXPECT_EQ(book.latest_of(0), JobId{1});  // though it has left
  EXPECT_EQ(book.latest_of(1), JobId{2});
  EXPECT_FALSE(book.latest_of(2).valid());
  const auto put = [&](std::uint32_t job, std::uint32_t uid) {
    About about;
    about.uid = uid;
    book.put(JobId{job}, {std::make_shared<const About>(about), 100 + job});
  };
  put(3, 1);
  put(4, 2);
  book.take_back(JobId{3});
  book.take_back(JobId{4});  // refused, both
  EXPECT_EQ(book.latest_of(1), JobId{2});
  EXPECT_FALSE(book.latest_of(2).valid());
  EXPECT_EQ(book.find(JobId{0})->heard().message, "");
  book.find(JobId{0})->hear().message = "hot";
  EXPECT_EQ(book.find(JobId{0})->heard().message, "hot");
}

TEST(JobBook, counts_the_jobs_of_each_user) {
  JobBook book;
  const auto put = [&](std::uint32_t job, std::uint32_t uid) {
    About about;
    about.uid = uid;
    about.array = 1;
    book.put(JobId{job}, {std::make_shared<const About>(about), 100 + job, job});
  };
  for (std::uint32_t job = 0; job < 5; ++job) put(job, job / 3);
  put(0, 0);  // again, with other words
  EXPECT_EQ(book.count_of(0), 3U);
  EXPECT_EQ(book.count_of(1), 2U);
  EXPECT_EQ(book.count_of(2), 0U);
  EXPECT_EQ(book.task(1, 4), JobId{4});
  book.forget(JobId{0});
  book.forget(JobId{0});
  book.take_back(JobId{4});
  book.take_back(JobId{3});
  EXPECT_EQ(book.count_of(0), 2U);
  EXPECT_EQ(book.count_of(1), 0U);
  EXPECT_FALSE(book.task(1, 4).valid());
  EXPECT_FALSE(book.task(2, 1).valid());
}

// Its number says nothing about the place that a job has in the state.
TEST(JobBook, finds_jobs_by_number) {
  JobBook book;
  const auto about = std::make_shared<const About>();
  book.put(JobId{0}, {about, 5'482'113});
  book.put(JobId{1}, {about, 17});
  EXPECT_EQ(book.numbered(5'482'113), JobId{0});
  EXPECT_EQ(book.numbered(17), JobId{1});
  EXPECT_FALSE(book.numbered(1).valid());
  EXPECT_EQ(book.shown(JobId{0}), "5482113");
  std::vector<JobId> in_order;
  const auto see = [&](std::int64_t, JobId job) {
    in_order.push_back(job);
    return true;
  };
  book.for_each_number_after(0, see);
  EXPECT_EQ(in_order, (std::vector{JobId{1}, JobId{0}}));
  in_order.clear();
  book.for_each_number_after(17, see);
  EXPECT_EQ(in_order, std::vector{JobId{0}});
  book.forget(JobId{0});
  EXPECT_FALSE(book.numbered(5'482'113).valid());
}

// However many have left, the history is asked once for them.
TEST(JobBook, shows_those_that_have_left_by_one_question) {
  JobBook book;
  About about;
  about.array = 3;
  book.put(JobId{3}, {std::make_shared<const About>(about), 4, 1});
  int asked = 0;
  const auto history = [&](const store::HistoryQuery& query) -> Result<std::vector<store::HistoryRow>> {
    ++asked;
    EXPECT_EQ(query.jobs, (std::pair{JobId{2}, JobId{4}}));
    std::vector<store::HistoryRow> rows(2);
    rows[0].job = JobId{2};
    rows[0].array = 3;
    rows[0].array_index = 0;
    rows[1].job = JobId{4};
    rows[1].number = 5'482'113;
    return rows;
  };
  EXPECT_EQ(shown_all(book, {JobId{2}, JobId{3}, JobId{4}}, history),
            (std::vector<std::string>{"3_0", "3_1", "5482113"}));
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(shown_all(book, {JobId{3}}, history), std::vector<std::string>{"3_1"});
  EXPECT_EQ(asked, 1) << "of those that are known nobody has to ask";
}

TEST(Callers, call_users_by_name_by_number_and_themselves_me) {
  const Caller ann{.uid = 1001, .gid = 1001, .user = "ann"};
  EXPECT_EQ(user_called(ann, "me"), "ann");
  EXPECT_EQ(user_called(ann, "ben"), "ben");
  EXPECT_EQ(user_called(ann, "0"), "root");
  EXPECT_EQ(user_called(ann, "4294967290"), "4294967290");
  EXPECT_EQ(user_number("1001"), 1001U);
  for (const char* const none : {"ann", "-1", "4294967295", "1001,ann"}) EXPECT_EQ(user_number(none), std::nullopt);
}

TEST(Submissions, of_a_request_have_a_place_where_there_are_several) {
  const std::vector<JobRequest> three(3);
  EXPECT_EQ(which_of(three, three[2]), "submission 3: ");
  const std::vector<JobRequest> one(1);
  EXPECT_EQ(which_of(one, one[0]), "");
}

}  // namespace
}  // namespace rota::serve
