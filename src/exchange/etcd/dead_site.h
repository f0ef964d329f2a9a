// What an operator does about a site that is dead for good. Its jobs are forfeited: those of other homes that it has
// settled go on offer again, and a site that returns after that gives them up (control/exchange.h). Jobs that were
// submitted there stay its own. Each job goes in one step, if the site is still dead and the job still its own then;
// begun again after a failure it does what is left. Once nothing of the site is left, it can be removed: its card goes,
// by which the others list it; its number and name stay, so that no other site takes them. Not part of the exchange: it
// needs the right to write the records of the dead site. One thread.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "exchange/etcd/client.h"
#include "exchange/etcd/records.h"

namespace rota::etcd {

class DeadSite final : private ClientEvents {
 public:
  enum class Wish : std::uint8_t { forfeit, remove };
  struct Asked {
    std::string prefix;  // of all keys in etcd
    std::string site;    // the dead one's name
    Wish wish = Wish::forfeit;
  };
  struct Done {
    std::size_t jobs = 0;  // that are on offer again
    std::size_t kept = 0;  // that were submitted at the site, and stay its own
  };
  using Call = std::function<void(Result<Done>)>;

  // Calls once, later, on the thread of `post`. Where etcd does not answer that is when it does; trouble() says why.
  // Fails with a sentence where the client of etcd cannot be opened.
  static Result<std::unique_ptr<DeadSite>> begin(const ClientOptions& options, const Asked& asked, Client::Post post,
                                                 Call call);
  DeadSite(const DeadSite&) = delete;
  DeadSite& operator=(const DeadSite&) = delete;
  const std::string& trouble() const { return trouble_; }  // with the connection; empty: none

 private:
  DeadSite(const Asked& asked, Call call)
      : fold_(asked.prefix, 0), dead_(asked.site), wish_(asked.wish), call_(std::move(call)) {}
  void listed(std::int64_t revision, std::vector<Record> records, bool more) override;
  void committed(std::uint64_t request, const BatchAnswer& answer) override;
  void granted(std::uint64_t, Outcome, const std::string&, std::int64_t) override {}
  void got(std::uint64_t, Outcome, std::optional<Record>) override {}
  void changed(std::int64_t, const std::vector<Record>&) override {}
  void connection(const std::string& why) override { trouble_ = why; }

  void plan();
  Result<void> plan_forfeit(SiteId site);
  Result<void> plan_removal(SiteId site);
  void commit_next();
  void end(Result<Done> result);

  RecordFold fold_;
  std::string dead_;
  Wish wish_;
  Call call_;  // empty: it was called
  std::vector<Record> pages_;
  std::vector<Step> steps_;  // that are left, the next ones last
  std::size_t sent_ = 0;     // of these, from the end
  Done done_;
  std::string trouble_;
  std::unique_ptr<Client> client_;  // goes first: it calls what is above
};

}  // namespace rota::etcd
