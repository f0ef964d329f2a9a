#include "policy/chain.h"

#include <gtest/gtest.h>

#include "model/world_test.h"

namespace rota {
namespace {

std::string sentence(std::string_view text) {
  const auto chain = Chain::parse(text);
  return chain ? "" : chain.error().message;
}

TEST(Chain, RefusesKnobsThatWouldHaveNoEffect) {
  EXPECT_EQ(sentence("conservative+beside=no"),
            "policy knob beside would have no effect here: it is for depth=1. Leave it out.");
  EXPECT_EQ(sentence("fcfs+fixed=yes"),
            "policy knob fixed would have no effect here: it is for depth=1. Leave it out.");
  for (const char* text :
       {"easy+skip=yes", "easy+depth=3+fixed=yes", "fcfs+stretch=1.5", "easy+depth=2+stretch=2", "fcfs+candidates=sjf",
        "conservative+candidates=sjf", "fcfs+predict=tsafrir", "fcfs-skip+beside=no"}) {
    EXPECT_NE(sentence(text).find("would have no effect here"), std::string::npos) << text;
  }
}

TEST(Chain, TakesThemWhereTheyHaveOne) {
  for (const char* text : {"easy+beside=no+fixed=yes+stretch=1.5", "fcfs+skip=yes", "fcfs-skip+candidates=sjf",
                           "easy+depth=4+candidates=sjf", "fcfs+predict=tsafrir+order=sjf",
                           "conservative+predict=tsafrir", "easy+depth=0+skip=yes+candidates=largest"}) {
    EXPECT_EQ(sentence(text), "") << text;
  }
}

TEST(Chain, TakesADefaultThatIsSaid) {
  for (const char* text :
       {"easy+skip=no", "conservative+beside=yes", "fcfs+stretch=1", "fcfs+order=sjf+candidates=sjf"}) {
    EXPECT_EQ(sentence(text), "") << text;
  }
}

TEST(Chain, RefusesAnOverrunRuleForPromisesWhereNothingIsPromised) {
  for (const char* text : {"fcfs+overrun=grace", "strict+depth=0", "rb-har+depth=0+skip=yes"}) {
    EXPECT_NE(sentence(text).find("with depth=0 nothing is promised"), std::string::npos) << text;
  }
  EXPECT_EQ(sentence("fcfs+overrun=run-on"), "");
  EXPECT_EQ(sentence("fcfs+overrun=10m"), "");
}

TEST(Chain, TakesARuleForOverrunsByTheNameOfItsPolicy) {
  EXPECT_EQ(Chain::parse("easy+grace")->knobs().overrun, Overrun::grace);
  EXPECT_EQ(Chain::parse("conservative+depth=4+grace")->knobs().backfill.promises, 4);
  EXPECT_NE(sentence("fcfs+grace").find("with depth=0 nothing is promised"), std::string::npos);
  EXPECT_NE(sentence("easy+easy").find("NAME=VALUE"), std::string::npos);
  for (const PolicyName& policy : policy_names()) {
    const bool short_for_one = sentence("easy+" + std::string(policy.name)).empty();
    EXPECT_EQ(short_for_one, !policy.behind.empty()) << policy.name;
    if (!short_for_one) continue;
    EXPECT_EQ(Chain::parse("easy+" + std::string(policy.name))->knobs().overrun,
              Chain::parse(policy.name)->knobs().overrun);
  }
}

TEST(Chain, reads_a_name_that_bears_the_separator) {
  for (const char* text : {"easy++", "easy+++depth=4", "easy+++order=sjf+depth=2"}) {
    ASSERT_EQ(sentence(text), "") << text;
    EXPECT_EQ(Chain::parse(text)->knobs().estimator, Estimator::tsafrir) << text;
  }
  EXPECT_EQ(Chain::parse("easy+++depth=4")->knobs().backfill.promises, 4);
  EXPECT_NE(sentence("easy++depth=4").find("NAME=VALUE"), std::string::npos);
  EXPECT_NE(sentence("easy+").find("NAME=VALUE"), std::string::npos);
}

TEST(Chain, says_which_knob_takes_a_word_that_is_no_policy) {
  EXPECT_EQ(sentence("sjf"),
            "there is no policy \"sjf\"; it is what a knob takes: put +order=sjf behind a policy, as in "
            "easy+order=sjf.");
  EXPECT_NE(sentence("tsafrir").find("easy+predict=tsafrir."), std::string::npos);
  EXPECT_NE(sentence("idle-timeout").find("easy+power=idle-timeout."), std::string::npos);
  for (const char* text : {"no", "yes", "none"}) {
    EXPECT_EQ(sentence(text).find("what a knob takes"), std::string::npos) << text;
  }
  EXPECT_EQ(sentence("fifo"), "");
}

TEST(Chain, does_not_race_where_many_are_promised_that_others_give_way) {
  EXPECT_TRUE(Chain::parse("easy+preempt=suspend+auction=race"));
  EXPECT_TRUE(Chain::parse("conservative+preempt=suspend+auction=announced"));
  EXPECT_TRUE(Chain::parse("conservative+preempt=suspend+auction=staged-race")
                  .error()
                  .message.starts_with("auction=race and auction-second-thoughts take back jobs"));
  EXPECT_FALSE(Chain::parse("easy+depth=2+preempt=suspend+auction=announced+auction-second-thoughts=5m"));
  EXPECT_TRUE(Chain::parse("easy+preempt=suspend+auction=announced+auction-second-thoughts=5m"));
}

TEST(Chain, does_not_preempt_for_a_job_that_recent_use_puts_first) {
  EXPECT_FALSE(Chain::parse("easy+preempt=requeue+order=fair"));
  EXPECT_FALSE(Chain::parse("easy+depth=3+candidates=fair+preempt=suspend"));
  EXPECT_TRUE(Chain::parse("easy+order=fair"));
}

TEST(Chain, takes_knobs_in_any_order) {
  const auto auction = [](const char* text) { return Chain::parse(text)->knobs().auction; };
  EXPECT_EQ(auction("easy+auction=announced+auction-round=5m").round, seconds(300));
  EXPECT_EQ(auction("easy+auction-round=5m+auction=announced").round, seconds(300));
  EXPECT_EQ(auction("easy+auction=announced").round, seconds(30));
  EXPECT_EQ(auction("easy+auction-bid=published+auction=announced").bid, Valuation::published);
  EXPECT_EQ(auction("easy+auction-bid=published+auction=announced").close, Close::stopping);
  EXPECT_EQ(Chain::parse("easy+candidates=sjf+order=largest")->knobs(),
            Chain::parse("easy+order=largest+candidates=sjf")->knobs());
  EXPECT_EQ(Chain::parse("easy-sjbf+order=largest")->knobs().candidates, Order::sjf);
  EXPECT_EQ(Chain::parse("easy+order=largest")->knobs().candidates, Order::largest);
}

TEST(Chain, caps_response_ratios_where_they_order) {
  EXPECT_EQ(Chain::parse("easy+order=hrrn+hrrn-cap=20")->knobs().hrrn_cap, 20);
  EXPECT_EQ(Chain::parse("easy+candidates=hrrn+hrrn-cap=no")->knobs().hrrn_cap, kNoRatioCap);
  ClusterOptions options;
  Chain::parse("easy+order=hrrn+hrrn-cap=20")->ask(options);
  EXPECT_EQ(options.waiting.ratio_cap, 20);
  EXPECT_EQ(sentence("easy+order=wfp3+hrrn-cap=20"),
            "policy knob hrrn-cap would have no effect here: it is for order=hrrn. Leave it out.");
}

TEST(Chain, takes_each_knob_once) {
  EXPECT_EQ(sentence("easy+order=sjf+depth=2+order=fcfs"), "policy knob order is set twice. Leave one of the two out.");
  EXPECT_EQ(sentence("easy+grace+overrun=10m"), "policy knob overrun is set twice. Leave one of the two out.");
  EXPECT_EQ(sentence("rb-har+overrun=rb-har-literal"), "") << "a policy's own knobs can be set anew";
}

TEST(Chain, reads_an_older_word_for_a_value) {
  EXPECT_EQ(Chain::parse("easy+overrun=lazy")->knobs(), Chain::parse("easy+overrun=grace")->knobs());
  EXPECT_EQ(sentence("easy+overrun=soon").find("lazy"), std::string::npos);
}

TEST(Chain, keeps_its_power_rule_in_plain_mode) {
  const auto plain = [](const char* text) { return plain_mode_of(*Chain::parse(text)).text(); };
  EXPECT_EQ(plain("conservative+order=sjf"), "fcfs");
  EXPECT_EQ(plain("easy+power=demand+order=sjf+power-wait=0"), "fcfs+power=demand+power-wait=0");
}

TEST(Chain, wakes_for_a_promise_only_where_it_may_fall_due_by_itself) {
  World world(4);
  world.running({.processors = 4, .limit = 50});
  world.promise(world.waiting({.processors = 4}), 50);
  EXPECT_EQ(Chain::parse("easy")->next_wakeup(world.cluster()), kNever);
  EXPECT_EQ(Chain::parse("conservative")->next_wakeup(world.cluster()), at_seconds(50));
}

TEST(Chain, knows_where_knobs_of_auctions_matter) {
  const auto knobs = [](const char* text) { return Chain::parse(text)->knobs().auction; };
  EXPECT_EQ(knobs("easy").siting, Siting::none);
  EXPECT_EQ(knobs("easy+auction=announced").bid, Valuation::by_plan);
  EXPECT_EQ(knobs("easy+auction=announced+auction-bid=rate").bid, Valuation::by_rate);
  EXPECT_EQ(knobs("easy+auction=english+auction-round=5m").round, seconds(300));
  EXPECT_EQ(Chain::parse("easy+auction-round=5m").error().message,
            "policy knob auction-round would have no effect here: it is for auction=english and auction=announced. "
            "Leave it out.");
  EXPECT_EQ(Chain::parse("easy+auction=english+auction-margin=5m").error().message,
            "policy knob auction-margin would have no effect here: it is for auction-bid=plan and auction-bid=rate. "
            "Leave it out.");
  EXPECT_EQ(knobs("easy+auction=announced+auction-second-thoughts=5m").second_thoughts, seconds(300));
  EXPECT_EQ(knobs("easy+auction=announced+auction-second-thoughts=no").second_thoughts, Duration{0});
  EXPECT_EQ(Chain::parse("easy+auction=announced+auction-second-thoughts=yes").error().message,
            "policy knob auction-second-thoughts is no or a time of a second or more such as 20m, not \"yes\".");
  EXPECT_EQ(Chain::parse("easy+auction=english+auction-second-thoughts=5m").error().message,
            "policy knob auction-second-thoughts would have no effect here: it is for auction-bid=plan and "
            "auction-bid=rate. Leave it out.");
  EXPECT_EQ(Chain::parse("easy+auction=dutch").error().message,
            "policy knob auction is none, english, announced, random, round-robin, least-loaded, race or staged-race, "
            "not \"dutch\".");
  EXPECT_EQ(Chain::parse("easy+auction=english+auction-look=0").error().message,
            "policy knob auction-look is a time of a second or more such as 20m, not \"0\".");
}

TEST(Chain, has_a_name_for_the_published_auction) {
  const AuctionKnobs knobs = Chain::parse("english-auction+auction-round=5m")->knobs().auction;
  EXPECT_EQ(knobs.siting, Siting::english);
  EXPECT_EQ(knobs.join, Joining::freed);
  EXPECT_EQ(knobs.minimum, 0);
  EXPECT_EQ(knobs.buyers, 2);
  EXPECT_TRUE(knobs.head && knobs.early);
  EXPECT_EQ(knobs.round, seconds(300));
  EXPECT_EQ(Chain::parse("english-auction")->knobs().preempt, Preemption::suspend);
}

TEST(Chain, knows_where_the_published_rules_of_auctions_matter) {
  const auto knobs = [](const char* text) { return Chain::parse(text)->knobs().auction; };
  const auto refusal = [](const char* text) { return Chain::parse(text).error().message; };
  EXPECT_EQ(knobs("easy+auction=english").minimum, kAnyPrice);
  EXPECT_EQ(knobs("easy+auction=english+auction-minimum=no").minimum, kAnyPrice);
  EXPECT_EQ(knobs("easy+auction=english+auction-minimum=0").minimum, 0);
  EXPECT_EQ(knobs("easy+auction=english+auction-minimum=0.25").minimum, 250'000'000);
  EXPECT_EQ(refusal("easy+auction=announced+auction-minimum=0"),
            "policy knob auction-minimum would have no effect here: it is for auction-bid=published. Leave it out.");
  EXPECT_EQ(knobs("easy+auction=english+auction-join=freed").join, Joining::freed);
  EXPECT_EQ(refusal("easy+auction=announced+auction-bid=published+auction-join=freed"),
            "policy knob auction-join would have no effect here: it is for auction=english. Leave it out.");
  EXPECT_EQ(refusal("easy+auction=english+auction-bid=rate+auction-join=freed"),
            "policy knob auction-join would have no effect here: it is for auction-bid=published. Leave it out.");
  for (const char* knob : {"auction-buyers=2", "auction-head=yes", "auction-early=yes"}) {
    EXPECT_TRUE(Chain::parse(std::string("easy+auction=announced+") + knob)) << knob;
    EXPECT_FALSE(Chain::parse(std::string("easy+auction=race+") + knob)) << knob;
  }
}

}  // namespace
}  // namespace rota
