// What jobs of a federation need with them, and what they leave: brings a job's script and files to this site before it
// is submitted here (the member's carrier), lets other sites fetch those of this site's jobs, and brings home what they
// have left elsewhere. Files move by commands (serve/stage_commands.h), which are begun again until they have done it.
// One thread.
#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "control/member_ports.h"
#include "exchange/etcd/exchange.h"
#include "process/site_command.h"
#include "serve/offered.h"
#include "serve/real_loop.h"
#include "serve/sealed.h"
#include "serve/service_log.h"
#include "serve/site_card.h"
#include "serve/stage_commands.h"

namespace rota::serve {

class StageDesk final : public Carrier {
 public:
  struct Uses {
    boost::asio::io_context& io;
    RealLoop& loop;
    ServiceLog& log;
    EtcdExchange& exchange;
    OfferBook& offers;
    const SiteCards& cards;
    const site::FederationSettings& settings;
    const Seal& seal;
    SiteId self;
  };
  enum class Guest : std::uint8_t {
    none,  // it is not here, or its home has what it left
    here,  // it is coming, waits or runs
    over,  // it has ended here
  };
  struct Calls {
    std::function<void(std::int64_t)> arrived;  // that job can be submitted here: equip()
    std::function<Guest(std::int64_t)> guest;   // where a job of the federation is, by number
    std::function<bool(std::int64_t)> is_away;  // whether this home's job waits for other sites, or is at one
  };

  struct Homebound {
    std::int64_t serial = 0;  // the job's, at this home
    SiteId from = {};
    StageUser user = {};
    std::string folder = {};                            // at home
    std::vector<std::string> paths = {};                // in it: what may come
    std::function<void(const std::string&)> call = {};  // with why it cannot be done, or with nothing
  };

  // Fails with a sentence where the account of the settings is none.
  static Result<std::unique_ptr<StageDesk>> open(const Uses& uses, Calls calls);
  ~StageDesk() override { *stands_ = false; }

  // After a start: goes on with what an earlier life had begun, and clears away what is not needed any more.
  void begin();

  // Ends the commands that run; the next start begins them again.
  void stop() {
    *stands_ = false;
    running_.clear();
  }

  // ---- a job that comes here

  Duration haul(const Offer& offer, SiteId to) const override;
  Duration longest_haul(const Offer& offer) const override;
  void bring(const Offer& offer) override;
  void leave(std::int64_t job) override;
  std::vector<Coming> coming() const override;
  // Fills in what has come with the job. Fails with a sentence where it cannot run with that.
  Result<void> equip(const Offer& offer, JobRequest& request);
  // It has ended here: what it left goes to where its home can fetch it. False: nothing does.
  bool give_back(const Offer& offer) { return give_back(folder_of(offer)); }

  // ---- a job of this home

  // What it needs can be fetched from here. `request`: as submitted.
  void give(std::int64_t serial, const StageUser& user, const JobRequest& request);
  bool gives(std::int64_t serial) const;  // that can be fetched, or cannot be made
  // Brings what it has left at a site.
  void bring_home(const Homebound& what) { fetch_home(what, 0); }

  std::string trouble_with(std::int64_t job) const;  // why a job has not come yet, as a sentence; empty: none

 private:
  struct Incoming {
    Offer offer;
    Instant since;
    std::optional<std::string> run = {};  // what it runs, as it lies in etcd
    std::string never = {};               // why it cannot run here
    std::string trouble = {};             // what went wrong last
    int tries = 0;
  };

  StageDesk(const Uses& uses, Calls calls, StageCommands commands);
  void run(const std::string& key, StageCommands::Command command,
           std::function<void(const process::SiteCommand::End&)> call);
  void fetch_files(std::int64_t job);
  void fetched(std::int64_t job, const process::SiteCommand::End& end, Instant began);
  void fetch_home(const Homebound& what, int tries);
  bool give_back(const std::string& name);
  void clear();
  void clear(std::string_view part, const std::string& name);
  std::string folder_of(const Offer& offer) const;  // in/ and out/
  std::optional<std::int64_t> number_in(const std::string& name) const;
  double rate(SiteId from, SiteId to) const;  // bytes a millisecond
  void later(std::function<void()> call, Duration after);

  Uses uses_;
  Calls calls_;
  StageCommands commands_;
  std::map<std::int64_t, Incoming> coming_;
  std::map<std::string, std::unique_ptr<process::SiteCommand>> running_;  // by what they are about
  std::map<SiteId, double> measured_;                                     // bytes a millisecond, from there
  std::shared_ptr<bool> stands_ = std::make_shared<bool>(true);
};

}  // namespace rota::serve
