// The exchange over etcd: requests become transactions that compare the revisions which their senders have seen
// (etcd 3.4; the records and their keys stand in exchange/etcd/records.h), and what happens comes from one watch over
// all records. Requests of one turn of the loop go together, at most 60 in a transaction, in which each is applied or
// refused by itself. One thread, that of the loop.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "control/exchange.h"
#include "control/ports.h"
#include "exchange/etcd/client.h"
#include "exchange/etcd/records.h"

namespace rota {

struct EtcdExchangeOptions {
  etcd::ClientOptions client;
  std::string prefix = "/rota/";                     // all keys begin with it
  std::int64_t unix_start = 0;                       // seconds: when instants of this site begin
  std::function<void(const std::string&)> say = {};  // what happens to the connection, for people
  // What an offered job runs, which goes into a record of its own; empty: nothing beside the offer.
  std::function<std::string(const Offer&)> payload = {};
};

class EtcdExchange final : public Exchange, private Alarm, private etcd::ClientEvents {
 public:
  // Fails with a sentence where the client of etcd cannot be opened. That etcd cannot be reached is no failure: what is
  // asked for then is done, or known to have been in vain, once it can.
  static Result<std::unique_ptr<EtcdExchange>> open(Loop& loop, const EtcdExchangeOptions& options,
                                                    etcd::Client::Post post);
  EtcdExchange(const EtcdExchange&) = delete;
  EtcdExchange& operator=(const EtcdExchange&) = delete;
  ~EtcdExchange() override { loop_.set(*this, kNever); }

  void send(const Request& request) override;
  void watch(SiteId site, Watcher& watcher, Revision seen) override;
  void stop(Watcher& watcher) override;

  // The number of the site of this name, for good: called once, when it is known. Where there is none it takes the one
  // that it is to have, or else a new one. Where etcd cannot be reached that is later.
  void find_number(const std::string& name, SiteId wanted, std::function<void(SiteId)> call);

  // What a job runs that is on offer or settled, as its home has put it: called once; nothing: there is none. Where
  // etcd cannot be reached that is later.
  void read_payload(const Offer& offer, std::function<void(std::optional<std::string>)> call);
  // What is to be known of a site that is alive in that epoch; lost, where etcd cannot be reached. JSON.
  void put_card(SiteId site, Epoch epoch, std::string_view card);

  // What is known of the sites.
  const std::vector<std::string>& names() const { return fold_.names(); }               // by SiteId; some may be empty
  Epoch epoch_of(SiteId site) const { return fold_.epoch_of(site); }                    // 0: it is not alive
  std::int64_t offered_by(SiteId home) const { return fold_.offered_by(home); }         // jobs on offer; O(jobs)
  std::int64_t settled_by(SiteId site) const { return fold_.settled_by(site); }         // and not ended; O(jobs)
  bool reports_on(std::int64_t job) const { return fold_.has_report_on(job); }          // that its home has not noted
  std::vector<std::int64_t> jobs_of(SiteId home) const { return fold_.jobs_of(home); }  // on offer or settled; O(jobs)
  const std::string& card_of(SiteId site) const { return fold_.card_of(site); }         // empty: none
  std::string name_of(SiteId site) const;                  // for people; "number 7": none is known
  const std::string& trouble() const { return trouble_; }  // with the connection; empty: none
  // Every request was answered, and what came of it is known.
  bool quiet() const;

 private:
  struct Listener {
    SiteId site;
    Watcher* watcher;
  };
  struct Reading {
    SiteId home;
    std::int64_t job;
    std::function<void(std::optional<std::string>)> call;
    std::uint64_t asked = 0;  // 0: nothing is under way
  };
  struct Naming {
    std::string name;
    SiteId wanted;
    std::function<void(SiteId)> call;
    std::uint64_t asked = 0;  // 0: nothing is under way
  };

  EtcdExchange(Loop& loop, const EtcdExchangeOptions& options);
  void ring() override;
  void committed(std::uint64_t id, const etcd::BatchAnswer& answer) override;
  void got(std::uint64_t id, etcd::Outcome outcome, std::optional<etcd::Record> record) override;
  void granted(std::uint64_t id, etcd::Outcome outcome, const std::string& why, std::int64_t lease) override;
  void listed(std::int64_t revision, std::vector<etcd::Record> records, bool more) override;
  void changed(std::int64_t revision, const std::vector<etcd::Record>& records) override;
  void connection(const std::string& why) override;

  // What the request is as a transaction, and what must hold for it beyond that its sender is alive; nothing: it can
  // never be applied, for all that is known.
  std::optional<etcd::Step> step_of(const Request& request) const;
  std::optional<etcd::Step> offer_step(const Request& request) const;
  std::optional<etcd::Step> sale_step(const Request& request) const;  // bid, claim, settle
  std::optional<etcd::Step> win_step(const Request& request) const;   // put_back, end
  std::optional<etcd::Step> home_step(const Request& request) const;  // cancel, note
  void forget_job(etcd::Step& step, SiteId home, std::int64_t job) const;
  etcd::Condition lives(SiteId site, Epoch epoch) const;
  void commit(SiteId site, Epoch epoch, std::vector<Request> requests, const std::vector<etcd::Step>& steps);
  void join(const Request& request);
  void renew(const Request& request);
  void refuse(const Request& request, const Token& record = {});
  void tell(const std::vector<Change>& changes);
  Token removed_by(const Change& change);
  void name_sites();
  void ask_for_payloads();
  std::uint32_t number_for(SiteId wanted) const;
  void say(const std::string& sentence);

  Loop& loop_;
  EtcdExchangeOptions options_;
  etcd::RecordFold fold_;
  Revision revision_ = 0;                               // that is known; 0: nothing yet
  Revision answered_ = 0;                               // at which something was done that the watch is to show
  std::vector<etcd::Record> pages_;                     // a listing that is not complete
  std::vector<Request> early_;                          // joins that wait for the first listing
  std::vector<Request> queue_;                          // to be sent at the end of this turn
  std::uint64_t last_id_ = 0;                           // the latest thing asked of the client
  std::map<std::uint64_t, std::vector<Request>> sent_;  // transactions without an answer
  std::map<std::uint64_t, Request> joins_;              // whose lease is being granted
  std::map<std::string, std::int64_t> leases_;          // by token of the join
  std::map<std::tuple<Request::Kind, SiteId, std::int64_t>, Token>
      removals_;  // asked for: a record that goes names no request
  std::vector<Listener> listeners_;
  std::vector<Naming> namings_;
  std::vector<Reading> readings_;
  std::string trouble_;
  std::string said_;                      // last, for people
  std::unique_ptr<etcd::Client> client_;  // goes first: it calls what is above
};

}  // namespace rota
