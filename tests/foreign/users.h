// Users and operators that put their wishes to Rota, on a cluster that is somebody else's: they hold, release, amend,
// cancel and submit by QueueOrders, and ask again under the same key where no answer came, or though one did. What they
// were answered must be what the cluster has.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/random.h"
#include "control/live_engine.h"
#include "foreign/other_cluster.h"
#include "foreign/world.h"

namespace rota::foreign {

class Users {
 public:
  Users(std::uint64_t seed, Tally& tally) : chance_(seed ^ 0x05e5U), seed_(seed), tally_(tally) {}

  void act(QueueOrders& orders, const View& view);
  void lose_answers() { ++life_; }  // the engine is gone
  // An order of this life of the engine that has no answer yet, as a sentence; empty: none.
  std::string waiting() const;
  // What the cluster has that was not answered so, or the other way round.
  std::optional<std::string> breach(const OtherCluster& cluster);

 private:
  // As the cluster is to be told.
  struct Asked {
    JobId job;
    ClientOrder order;
    std::int64_t open = 0;   // so often asked by this life of the engine, and not answered
    std::uint64_t life = 0;  // by which it was asked last
    std::optional<QueueOrders::Answer> answer = {};
  };

  void ask_again(QueueOrders& orders, const View& view);
  ClientOrder any_order(const View& view, JobId& job);
  Wish any_wish();
  void ask(QueueOrders& orders, const View& view, Asked& asked);
  void answered(const std::string& key, std::uint64_t life, const QueueOrders::Answer& answer);
  std::optional<std::string> breach(const Asked& asked, const OtherCluster& cluster);
  void break_off(const std::string& why) {
    if (!breach_) breach_ = why;
  }

  Random chance_;
  std::uint64_t seed_;
  Tally& tally_;
  std::uint64_t life_ = 0;
  std::map<std::string, Asked> asked_;  // by key
  std::optional<std::string> breach_;
};

}  // namespace rota::foreign
