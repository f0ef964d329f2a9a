// The dispatcher of one site in a federation (Baranov et al. 2018): looks at the global queue, bids for its site, is
// the auctioneer of the jobs that were submitted at its site and of some of those whose site is gone, and hands what
// the site has won to the local controller. Also says which site may start a job that several sites have in their
// queues. All dispatchers are equal; they meet only in the Exchange. What a dispatcher knows of the queue is a fold
// over changes (GlobalQueue); what it asks for, it asks for until that shows what became of it (OpenRequests). One
// thread.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "control/auction_record.h"
#include "control/global_queue.h"
#include "control/home_jobs.h"
#include "control/open_requests.h"
#include "policy/auction/auction.h"

namespace rota {

struct DispatchRules {
  AuctionRules auction;
  BidRules bid;
  Duration look{0};              // how often it looks at the global queue; 0: it hears of every auction at once
  bool second_thoughts = false;  // a job that was won and has not started stays on offer
  Duration bids_again{0};  // on such a job at most so often, and rounds are as long then; 0: whenever load changes
  bool race = false;  // no auctions: every site has a copy of every job in its queue, and the first to start has it
  Duration lease = seconds(2'592'000);  // without a word for so long, a site counts as dead; renewed every third of it
  Duration patience = seconds(5);       // until a request is sent again of which nothing was heard
  Joining join = Joining::look;         // where auctions are found by looking
  bool records = false;                 // how auctions went goes with their claims
};

// What becomes of a job that a site wants to start.
enum class StartAnswer : std::uint8_t {
  ours,     // it may start here, and nowhere else
  gone,     // it is another site's
  pending,  // that is being asked for
};

// A dispatcher's own site.
class Site {
 public:
  virtual ~Site() = default;
  virtual const View& view() const = 0;
  // What the job asks for here, where partitions differ; nullopt: it can never run here.
  virtual std::optional<JobSpec> asked_here(const Offer& offer) const = 0;
  virtual Haul haul(const Offer& offer) const = 0;
  // Jobs that it has taken and that are not in its queue yet, in the order in which they come.
  virtual std::vector<Coming> coming() const = 0;
  // For every site of the federation, when it could start the job at best; kLongest: never.
  virtual std::vector<Duration> soonest(const Offer& offer) const = 0;
  // Whether it has ever taken the job, and has not given it up.
  virtual bool has(std::int64_t job) const = 0;
  // The site has won the job: fetch its input and queue it.
  virtual void take_won(const Offer& offer) = 0;
  // A job that it has in its queue, or that is coming, has gone to another site, or an operator has taken it from this
  // one, where it may run.
  virtual void give_up(std::int64_t job) = 0;
  // The home of a job that the site has taken wants it ended. That may come again until it has ended.
  virtual void cancelled(std::int64_t /*job*/) {}
  // To claim() of a job, where that was pending. If it is not the site's, this is give_up() too.
  virtual void answered(std::int64_t job, bool ours) = 0;
  // A job that was offered here is in the global queue.
  virtual void listed(const Offer& /*offer*/) {}
  // The exchange has no record left of a job that has ended here.
  virtual void closed(std::int64_t /*job*/) {}
  // A job that was offered here, or that this site is to have, was sold.
  virtual void auctioned(const Offer& /*offer*/, SiteId /*winner*/, const std::string& /*auction*/) {}
  // Bytes that the job needs in the global queue.
  virtual std::size_t bytes_of(const Offer& offer) const { return offer.request.size(); }
  // How a job that was offered here has ended at another site. The report comes again until noted().
  virtual void reported(std::int64_t /*job*/, SiteId /*site*/, const std::string& /*report*/) {}
  // All that the exchange has is known, at the beginning or anew; it may be older than what was known before.
  virtual void all_known() {}
};

class Dispatcher final : public Alarm, private Watcher {
 public:
  Dispatcher(SiteId self, const DispatchRules& rules, Site& site, Exchange& exchange, Loop& loop);
  Dispatcher(const Dispatcher&) = delete;
  Dispatcher& operator=(const Dispatcher&) = delete;
  ~Dispatcher() override;  // without a word to the exchange, as if the site died

  // Begins, at this instant to look. life: of the site's process, 1 and on; never the same again.
  void open(Instant first_look, std::uint32_t life = 1);

  // The site has this job in its queue, or will have it: a copy in a race, or one that it took in an earlier life.
  void stands_by(const Offer& offer);
  // A job that the site has taken, or stands by for, is in its queue now; false: it has gone to another site meanwhile
  // and must not be queued.
  bool queued(std::int64_t job);
  // It is about to start there for the first time, or others are about to give way to it.
  StartAnswer claim(std::int64_t job);
  // A job that was the site's has ended there; a report for its home, empty: none is needed.
  void ended(std::int64_t job, const std::string& report = {});
  // What it does about jobs that were submitted here.
  HomeJobs& home() { return home_; }
  const HomeJobs& home() const { return home_; }
  // Something has started, ended or been queued at the site. able: jobs on offer that could not run there before.
  void load_changed(const std::set<std::int64_t>& able = {});
  void ring() override;

  // Nothing to do but to keep its lease.
  bool idle() const;

 private:
  struct Here {  // a job in the site's queue, or on its way there
    SiteId home;
    std::int64_t serial = 0;
    bool wanted = false;  // it is to start as soon as it is known to be the site's
    bool ours = false;    // that is known, and it starts or has started
  };
  struct Sale {
    Auctioneer auctioneer;
    Revision round = 0;
    SiteId holder = {};
    AuctionRecord record = {};
  };
  struct News {  // a change to be acted on, in its turn
    Change::Kind kind;
    std::int64_t job;
    SiteId site;
  };

  void hear(const Change& change) override;
  void note(const Change& change);
  void follow_up(std::int64_t job);
  void follow_up_all();
  Epoch epoch() const { return requests_.epoch(queue_); }  // 0: the site is not alive, for all that it knows
  void keep_lease(Instant now);
  void finish(std::int64_t job);
  void withdraw(std::int64_t job);

  void read_news();
  void read(const News& news);
  void offered(std::int64_t job);
  void open_lot(std::int64_t job, const GlobalQueue::Lot& lot);
  void sell(std::int64_t job, const GlobalQueue::Lot& lot);
  void hears(Sale& sale, const Bid& bid) const;
  void claimed(std::int64_t job, SiteId site);
  void settle(std::int64_t job);
  void settled(std::int64_t job, SiteId site);
  void members_changed(SiteId site);
  void begin_epoch();
  void share_out_sales();
  void rebuild();

  void pursue(std::int64_t job);
  void answer(std::int64_t job, bool ours);
  void lose(std::int64_t job);
  bool gone(std::int64_t job, const Here& here) const;
  void obey(std::int64_t job);

  void look_and_bid(Instant now);
  bool joins(bool look) const;
  std::size_t could_join(const GlobalQueue::Lot& lot) const;
  void send(const std::vector<Bidder::Message>& messages);
  void bid(std::int64_t job, const Bid& bid);
  void close_auctions(Instant now);
  Instant next_ring() const;

  SiteId self_;
  DispatchRules rules_;
  Site& site_;
  Exchange& exchange_;
  Loop& loop_;
  GlobalQueue queue_;
  OpenRequests requests_;
  HomeJobs home_;
  Bidder bidder_;
  std::map<std::int64_t, Sale> auctions_;  // of jobs that this site sells
  std::map<std::int64_t, Bid> wishes_;     // bids to be made once it is known what became of the one before
  std::map<std::int64_t, Here> here_;
  std::map<std::int64_t, std::string> over_;  // jobs that have ended here and whose records may stand: reports on them
  std::deque<News> news_;
  std::optional<std::int64_t> asking_;  // claim() of this job has not returned yet
  StartAnswer answer_ = StartAnswer::pending;
  Instant renewal_ = kNever;
  Instant next_look_ = kNever;
  Instant next_again_ = kEpoch;  // when bids on jobs that are held may be renewed
  bool load_changed_ = false;
  bool freed_ = false;     // processors have come free at the site since it bid last
  std::int64_t free_ = 0;  // when its load changed last
  bool again_ = false;     // and when there is reason to
};

}  // namespace rota
