// Keeps a site's requests to the exchange back until the facts that they rest on are durable: what a site has asked for
// it must still know of after a crash. Stands between a dispatcher and the exchange, and between a controller and its
// journal. Where nothing waits to be committed, and where nothing is kept at all, requests leave at once. One thread.
#pragma once

#include <vector>

#include "control/exchange.h"
#include "control/ports.h"

namespace rota {

class Outbox final : public Exchange, public Durable, private Alarm {
 public:
  // nullptr: the site keeps nothing. Both must outlive this.
  Outbox(Exchange& exchange, Durable* journal, Loop& loop) : exchange_(exchange), journal_(journal), loop_(loop) {}
  Outbox(const Outbox&) = delete;
  Outbox& operator=(const Outbox&) = delete;
  ~Outbox() override {
    if (journal_) loop_.set(*this, kNever);
  }

  // A request that must wait asks for a commit in a turn of its own, unless one comes before.
  void send(const Request& request) override;
  void watch(SiteId site, Watcher& watcher, Revision seen) override { exchange_.watch(site, watcher, seen); }
  void stop(Watcher& watcher) override { exchange_.stop(watcher); }

  // A fact has been written to the journal, and waits for its commit.
  void written() { uncommitted_ = journal_ != nullptr; }

  // That of the journal; then what was kept back leaves. After an error nothing leaves any more.
  Result<void> commit() override;
  Result<void> commit_soon() override;

  bool empty() const { return held_.empty(); }

 private:
  void ring() override;

  Exchange& exchange_;
  Durable* journal_;
  Loop& loop_;
  bool uncommitted_ = false;  // a fact was written after the last commit
  std::vector<Request> held_;
};

}  // namespace rota
