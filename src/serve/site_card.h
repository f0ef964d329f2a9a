// What a site lets the others know of itself: what it has, how loaded it is, and where its files can be fetched. Others
// reckon with it which sites may bid on a job; whether one can run it the site alone knows. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "exchange/etcd/exchange.h"
#include "model/cluster.h"
#include "model/job_request.h"
#include "model/machine.h"
#include "site/service_file.h"

namespace rota::serve {

struct SiteCard {
  std::int64_t nodes = 0;
  std::int64_t processors = 0;
  std::vector<std::string> partitions;
  std::vector<std::string> accelerators;  // types
  std::vector<std::string> licences;      // names
  std::int64_t used = 0;                  // processors, of jobs that run
  std::int64_t asked = 0;                 // processors, of jobs that wait
  std::string address;                    // where its files are, as rsync takes it; empty: it has none
  std::int64_t bandwidth = 0;             // MB/s
  // When jobs of other homes that run there started, in Unix milliseconds, by home and serial number.
  std::map<std::string, std::map<std::int64_t, std::int64_t>> started = {};

  bool operator==(const SiteCard&) const = default;
};

SiteCard card_of(const Machine& machine, const View& view, const site::FederationSettings& settings);
std::string card_text(const SiteCard& card);                    // JSON
std::optional<SiteCard> read_card(const std::string& text);     // nothing: it makes no sense
bool may_run(const SiteCard& card, const JobRequest& request);  // for all that the card says

// The cards of all sites, each read once as it stands.
class SiteCards {
 public:
  explicit SiteCards(const EtcdExchange& exchange) : exchange_(exchange) {}
  const SiteCard* find(SiteId site) const;  // nullptr: none that can be read. Until the next call

 private:
  const EtcdExchange& exchange_;
  mutable std::map<SiteId, std::pair<std::string, std::optional<SiteCard>>> read_;  // with the text of each
};

}  // namespace rota::serve
