#include "store/fact_json.h"

#include <gtest/gtest.h>

#include "store/fact_codec.h"
#include "store/journal_head.h"
#include "store/random_facts_test.h"

namespace rota::store {
namespace {

std::string error(const std::string& line) {
  const auto fact = read_fact_line(line);
  return fact ? "nothing" : fact.error().message;
}

TEST(FactJson, says_what_is_not_as_usual) {
  const Finished finished{JobId{3}, Outcome::failed};
  EXPECT_EQ(fact_line({at_seconds(1), 7, &finished}),
            R"({"at":1000,"sequence":7,"kind":"finished","job":3,"outcome":"failed"})");
  Started started{JobId{4}};
  started.where.shares = {{NodeId{0}, 8}, {NodeId{2}, 0}};
  started.reason.promise = at_seconds(9);
  EXPECT_EQ(fact_line({at_seconds(2), 8, &started}),
            R"({"at":2000,"sequence":8,"kind":"started","job":4,)"
            R"("where":{"shares":[{"node":0,"processors":8},{"node":2}]},"reason":{"promise":9000}})");
  const CycleClosed cycle{UINT64_MAX};
  EXPECT_EQ(fact_line({kEpoch, 9, &cycle}),
            R"({"at":0,"sequence":9,"kind":"cycle_closed","plan":18446744073709551615})");
}

TEST(FactJson, gives_any_facts_back) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    for (const Fact& fact : random_facts(AllKinds::kCount, seed)) {
      const std::string line = fact_line(ref_of(fact));
      const auto again = read_fact_line(line);
      ASSERT_TRUE(again) << again.error().message << "\n" << line;
      ASSERT_TRUE(same_fact(*again, fact)) << line;
    }
  }
}

TEST(FactJson, says_what_is_wrong) {
  EXPECT_EQ(error("{"), "\"{\" is not JSON.");
  EXPECT_EQ(error("[1]"),
            "A fact is an object such as {\"at\":1000,\"sequence\":7,\"kind\":\"launched\",\"job\":3}, not "
            "\"[1]\".");
  EXPECT_EQ(error(R"({"at":1,"sequence":1,"kind":"finnished"})"),
            "There is no kind of fact \"finnished\"; did you mean finished?");
  EXPECT_EQ(error(R"({"at":1,"sequence":1,"kind":"started","where":{"sharse":[]}})"),
            "There is no field \"sharse\" in where; did you mean shares?");
  EXPECT_EQ(error(R"({"at":1,"sequence":1,"kind":"finished","job":3,"job":4})"), "The field \"job\" is there twice.");
  EXPECT_EQ(error(R"({"at":1.5,"sequence":1,"kind":"finished"})"),
            "The field at is a whole number of milliseconds, or \"never\", and here it is 1.5.");
  EXPECT_EQ(error(R"({"at":1,"sequence":-1,"kind":"finished"})"),
            "The field sequence is a whole number from 0 to 18446744073709551615, and here it is -1.");
  EXPECT_EQ(error(R"({"at":1,"sequence":1,"kind":"launch_failed","again":0})"),
            "The field again is true or false, and here it is 0.");
  EXPECT_EQ(error(R"({"at":1,"sequence":1,"kind":"started","where":{"shares":[{"node":4294967295}]}})"),
            "The field where.shares[0].node is an id, or null, and here it is 4294967295.");
  EXPECT_EQ(error(R"({"at":1,"sequence":1,"kind":"health_changed","health":"ill"})"),
            "The field health is one of up, draining, down, and here it is \"ill\".");
  EXPECT_EQ(error(R"({"at":1,"sequence":1,"kind":"started","where":[]})"),
            "The field where is an object, and here it is a list.");
  EXPECT_EQ(error(R"({"at":1,"sequence":1})"), "A fact has a kind, which is a text; here there is none.");
}

TEST(FactJson, does_not_mind_what_is_nested_deeply) {
  std::string deep = R"({"at":1,"sequence":1,"kind":"started","where":)";
  deep.append(1'000'000, '[');
  deep.append(1'000'000, ']');
  EXPECT_EQ(error(deep + "}"), "The field where is an object, and here it is a list.");
}

TEST(JournalHead, is_a_line_of_text) {
  const JournalHead head{"1.2.0", "easy,beside=no", 128, "", "name = \"kea\"\n[[nodes]]\n", "may.swf", ""};
  const std::string text = head_text(head);
  EXPECT_EQ(text,
            R"({"rota":"1.2.0","policy":"easy,beside=no","processors":128,"cluster":"name = \"kea\"\n[[nodes]]\n",)"
            R"("workload":"may.swf"})");
  EXPECT_EQ(read_head(text).value(), head);
  EXPECT_EQ(read_head("{}").value(), JournalHead{});
  EXPECT_EQ(read_head(R"({"polcy":"easy"})").error().message, "There is no field \"polcy\"; did you mean policy?");
}

}  // namespace
}  // namespace rota::store
