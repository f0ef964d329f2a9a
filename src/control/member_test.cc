// A member whose exchange, queue and carrier are played by the test; what it has recorded is folded, so that another
// life can go on from it.
#include "control/member.h"

#include <gtest/gtest.h>

#include <optional>

#include "control/hand_loop_test.h"
#include "model/world_test.h"

namespace rota {
namespace {

constexpr SiteId kOwn{0}, kOther{1};
constexpr std::int64_t kJob = 1001;

ClusterOptions idle() {
  ClusterOptions options;
  options.processors = 4;
  return options;
}

class MemberTest : public testing::Test,
                   public LocalQueue,
                   public Carrier,
                   public Directory,
                   public Exchange,
                   public Engine,
                   public Durable {
 protected:
  using Kind = Request::Kind;
  using What = Change::Kind;

  MemberTest() { rise(); }

  const View& view() const override { return cluster_; }
  void submit(const Offer&, const JobSpec& spec, Instant input, bool) override {
    submitted_.push_back(spec);
    input_ = input;
  }
  void tell(const Observed& fact) override { told_.push_back(fact); }
  void take_back(std::int64_t, JobId id) override { taken_back_.push_back(id); }
  void cancel_guest(std::int64_t, JobId id) override { cancelled_.push_back(id); }
  void not_started(const Command&) override {}

  Duration haul(const Offer& offer, SiteId to) const override { return offer.data == to ? Duration{0} : seconds(10); }
  Duration longest_haul(const Offer&) const override { return seconds(10); }
  void bring(const Offer& offer) override { brought_.push_back(offer.spec.number); }
  void leave(std::int64_t job) override { left_.push_back(job); }
  std::vector<Coming> coming() const override { return {}; }

  std::uint32_t sites() const override { return 2; }
  std::optional<JobSpec> asked_at(SiteId, const Offer& offer) const override { return offer.spec; }

  void send(const Request& request) override { sent_.push_back(request); }
  void watch(SiteId, Watcher& watcher, Revision) override { watcher_ = &watcher; }
  void stop(Watcher&) override { watcher_ = nullptr; }

  void dispatch(const Command& command) override { started_.push_back(command.job); }
  Result<void> commit() override { return {}; }

  // A process that begins, with what the journal says; settled: the exchange says that it has the job.
  void rise(Fetch fetch = Fetch::before, bool settled = false) {
    DispatchRules rules{{seconds(100)}, {}};
    rules.lease = seconds(30'000);
    rules.patience = seconds(4);
    LocalQueue& queue = *this;
    Durable& journal = *this;
    member_.emplace(kOwn, MemberRules{rules, fetch}, Member::Ports{queue, *this, *this, *this, *this, loop_, &journal});
    member_->take_over();
    member_->open(loop_.now(), ++life_);
    change({.kind = What::resync});
    if (settled) about_job(What::settled, kOwn);
    change({.kind = What::resynced});
    change({.kind = What::joined, .token = {kOwn, life_, 1}, .site = kOwn});
    own_ = revision_;
  }
  void change(Change change) {
    change.revision = ++revision_;
    if (change.kind == What::joined) change.epoch = revision_;
    watcher_->hear(change);
  }
  void about_job(What kind, SiteId site = {}, Epoch epoch = 0) {
    change({.kind = kind,
            .site = site,
            .epoch = epoch,
            .job = kJob,
            .bid = {site, 1, {}},
            .offer = std::make_shared<const Offer>(offer())});
  }
  static Offer offer() {
    Offer offer{{}, kOther, kOther, kEpoch, 1};
    offer.spec.number = kJob;
    offer.spec.processors = 1;
    offer.spec.limit = seconds(50);
    return offer;
  }
  void now(std::int64_t s) { loop_.move_to(at_seconds(s)); }
  // Through the door, with its observer.
  template <class What>
  void record(const What& what) {
    ASSERT_EQ(cluster_.objection(what), std::nullopt);
    member_->observer().fact_recorded(cluster_, {cluster_.now(), cluster_.sequence() + 1, &what});
    fold(cluster_, what);
  }
  // What it has told, in one turn, durable.
  void turn() {
    for (const Observed& fact : std::exchange(told_, {})) {
      if (const auto* traded = std::get_if<Traded>(&fact)) record(*traded);
    }
    for (const JobSpec& spec : std::exchange(submitted_, {})) {
      const JobId id = cluster_.next_job();
      record(Submitted{id, spec, spec.limit});
      member_->queued(spec.number, id);
      ids_.push_back(id);
    }
    EXPECT_TRUE(member_->durable().commit());
  }
  void win() {
    about_job(What::offered);
    about_job(What::claimed, kOwn, own_);
    now(1);
    about_job(What::settled, kOwn);
    now(1);
  }
  std::int64_t count(Kind kind) const {
    return std::count_if(sent_.begin(), sent_.end(), [&](const Request& r) { return r.kind == kind; });
  }

  HandLoop loop_;
  Cluster cluster_{idle()};
  std::vector<JobSpec> submitted_;
  std::vector<Observed> told_;
  std::vector<JobId> taken_back_, started_, ids_, cancelled_;
  std::vector<std::int64_t> brought_, left_;
  std::vector<Request> sent_;
  Instant input_ = kNever;
  Watcher* watcher_ = nullptr;
  Revision revision_ = 0;
  Epoch own_ = 0;
  std::uint32_t life_ = 0;
  std::optional<Member> member_;
};

TEST_F(MemberTest, OffersAJobOnceThatIsDurable) {
  Offer offer = member_->next_offer(MemberTest::offer().spec, kOwn);
  EXPECT_EQ(offer.serial, 1);
  EXPECT_EQ(offer.home, kOwn);
  record(Offered{offer});
  EXPECT_EQ(count(Kind::offer), 0);
  turn();
  EXPECT_EQ(count(Kind::offer), 1);
  EXPECT_EQ(member_->next_offer(offer.spec, kOwn).serial, 2);
}

TEST_F(MemberTest, OffersItAgainInItsNextLifeUntilItIsListed) {
  const Offer offer = member_->next_offer(MemberTest::offer().spec, kOwn);
  record(Offered{offer});
  rise();
  ASSERT_EQ(count(Kind::offer), 1) << "it was killed before that left";
  change({.kind = What::offered,
          .token = sent_.back().token,
          .site = kOwn,
          .epoch = own_,
          .job = kJob,
          .offer = std::make_shared<const Offer>(offer)});
  turn();
  EXPECT_TRUE(cluster_.trades().empty());
  EXPECT_EQ(cluster_.trades().last_serial(), 1);
}

TEST_F(MemberTest, BringsTheInputOfWhatItHasWonAndThenQueuesIt) {
  win();
  EXPECT_EQ(brought_, std::vector<std::int64_t>{kJob});
  turn();
  EXPECT_TRUE(ids_.empty());
  member_->arrived(kJob);
  turn();
  ASSERT_EQ(ids_.size(), 1U);
  EXPECT_EQ(cluster_.trades().guests().at(kJob).stage, Trades::Guest::Stage::queued);
}

TEST_F(MemberTest, QueuesItAtOnceWhereItIsFetchedMeanwhile) {
  rise(Fetch::queued);
  now(5);
  about_job(What::offered);
  about_job(What::claimed, kOwn, own_);
  now(5);
  about_job(What::settled, kOwn);
  now(5);
  turn();
  EXPECT_EQ(ids_.size(), 1U);
  EXPECT_EQ(input_, at_seconds(15));
}

TEST_F(MemberTest, StartsInItsNextLifeOnlyWhatTheExchangeStillShowsAsItsOwn) {
  win();
  member_->arrived(kJob);
  turn();
  rise();
  member_->gate().dispatch({.key = 1, .job = ids_[0]});
  EXPECT_TRUE(started_.empty()) << "what was asked for before is not known";
  about_job(What::offered, kOwn);
  about_job(What::settled, kOwn);
  EXPECT_EQ(started_, ids_);
}

TEST_F(MemberTest, GivesUpInItsNextLifeWhatHasGoneElsewhere) {
  win();
  member_->arrived(kJob);
  turn();
  rise();
  change({.kind = What::resync});
  change({.kind = What::joined, .token = {kOwn, life_, 1}, .site = kOwn});
  change({.kind = What::counted, .site = kOther, .last = 1});
  change({.kind = What::resynced});
  EXPECT_EQ(taken_back_, ids_);
  turn();
  EXPECT_TRUE(cluster_.trades().empty());
  EXPECT_FALSE(member_->has(kJob));
}

TEST_F(MemberTest, CancelsWhatItsHomeDoesNotWantHoweverFarItHasCome) {
  win();
  about_job(What::cancelled, kOwn);
  EXPECT_TRUE(cancelled_.empty()) << "that is not its home";
  about_job(What::cancelled, kOther);
  ASSERT_EQ(cancelled_.size(), 1U);
  EXPECT_FALSE(cancelled_[0].valid()) << "its input has not come yet";
  EXPECT_EQ(left_, std::vector<std::int64_t>{kJob});
  member_->queued(kJob, {}, "cancelled");
  turn();
  EXPECT_EQ(count(Kind::end), 1);
  EXPECT_EQ(sent_.back().report, "cancelled");
}

TEST_F(MemberTest, CancelsAJobThatIsInTheQueueAndAgainInItsNextLife) {
  win();
  member_->arrived(kJob);
  about_job(What::cancelled, kOther);
  EXPECT_TRUE(cancelled_.empty()) << "it has no id yet";
  turn();
  EXPECT_EQ(cancelled_, ids_);
  rise();
  change({.kind = What::resync});
  change({.kind = What::joined, .token = {kOwn, life_, 1}, .site = kOwn});
  about_job(What::settled, kOwn);
  about_job(What::cancelled, kOther);
  change({.kind = What::resynced});
  now(2);
  EXPECT_GE(cancelled_.size(), 2U) << "asked again";
  EXPECT_EQ(cancelled_.back(), ids_[0]);
}

TEST_F(MemberTest, EndsAJobThatRunsAndThatAnOperatorHasTakenFromIt) {
  win();
  member_->arrived(kJob);
  turn();
  member_->gate().dispatch({.key = 1, .job = ids_[0]});
  ASSERT_EQ(started_, ids_);
  record(Started{ids_[0], false});
  about_job(What::forfeited, kOwn);
  turn();
  EXPECT_EQ(cancelled_, ids_);
  EXPECT_TRUE(cluster_.trades().empty());
  EXPECT_FALSE(member_->has(kJob));
  member_->gate().dispatch({.key = 2, .job = ids_[0]});
  EXPECT_EQ(started_.size(), 2U) << "what is ordered about its end passes";
}

TEST_F(MemberTest, EndsInItsNextLifeWhatRunsHereAndWasSoldElsewhereMeanwhile) {
  win();
  member_->arrived(kJob);
  turn();
  record(Started{ids_[0], false});
  rise();
  change({.kind = What::resync});
  change({.kind = What::joined, .token = {kOwn, life_, 1}, .site = kOwn});
  change({.kind = What::joined, .token = {kOther, 1, 1}, .site = kOther});
  const Epoch other = revision_;
  about_job(What::offered);
  change({.kind = What::resynced});
  now(2);
  EXPECT_TRUE(cancelled_.empty()) << "it may have it again";
  about_job(What::claimed, kOther, other);
  now(3);
  EXPECT_EQ(cancelled_, ids_);
}

TEST_F(MemberTest, TellsTheExchangeThatAJobHasEndedOnceThatIsDurable) {
  win();
  member_->arrived(kJob);
  turn();
  record(Started{ids_[0], false});
  record(Finished{ids_[0]});
  member_->job_gone(ids_[0], kJob);
  EXPECT_EQ(count(Kind::end), 0);
  turn();
  EXPECT_EQ(count(Kind::end), 1);
  about_job(What::ended, kOwn);
  turn();
  EXPECT_TRUE(cluster_.trades().empty());
}

TEST_F(MemberTest, TellsItAgainInItsNextLife) {
  win();
  member_->arrived(kJob);
  turn();
  record(Started{ids_[0], false});
  record(Finished{ids_[0]});
  rise(Fetch::before, true);
  EXPECT_EQ(count(Kind::end), 0) << "nothing is written down of its end yet";
  member_->job_gone(ids_[0], kJob, "well");
  EXPECT_EQ(count(Kind::end), 1);
  EXPECT_EQ(sent_.back().report, "well");
  EXPECT_FALSE(member_->has(kJob));
  fold(cluster_, CycleClosed{});
  ASSERT_FALSE(cluster_.knows(ids_[0]));
  rise(Fetch::before, true);
  EXPECT_EQ(count(Kind::end), 2) << "what was written down of it is reported again";
}

}  // namespace
}  // namespace rota
