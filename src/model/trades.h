// What a site has at the exchange of a federation, as its journal shows it: a fold over Offered and Traded, and over
// what becomes here of the jobs that it has taken. A member that starts anew goes on from this (control/member.h). Rows
// go when the exchange needs to hear no more of them. Not thread-safe.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "model/job.h"

namespace rota {

// A job in the global queue: what every site may know of it.
struct Offer {
  JobSpec spec;              // the number is unique among the jobs of the federation
  SiteId home;               // where it was submitted, and is sold while that site lives
  SiteId data;               // where its input lies
  Instant submitted;         // to the global queue
  std::int64_t serial = 0;   // > 0; rises with every job that its home offers
  std::string request = {};  // by names, for sites whose partitions and licences are others; empty: `spec` says it all
};

// The number of a job in the federation: its home, and the serial number there, which is its number among the home's
// own jobs where these are numbered in a row.
constexpr std::int64_t federation_number(SiteId home, std::int64_t serial) {
  constexpr int kSerialBits = 40;
  return (std::int64_t{home.value} << kSerialBits) | serial;
}

// What has become at the exchange of a job for all sites, as this site knows.
enum class Trade : std::uint8_t {
  listed,  // what was offered here is in the global queue
  won,     // the site takes it, or a copy of it
  lost,    // it was this site's to take, and is another's
  over,    // it has ended here: of a row as it is kept; in a journal that follows from the job's end
  closed,  // the exchange knows that it has ended here
};

class Trades {
 public:
  struct Guest {  // a job that the site has taken
    enum class Stage : std::uint8_t { coming, queued, over };
    Offer offer;
    std::int64_t number = 0;  // that it has among the site's jobs
    Stage stage = Stage::coming;
    JobId id = {};  // once it is queued
  };

  bool empty() const { return offered_.empty() && guests_.empty(); }
  std::int64_t last_serial() const { return last_serial_; }                  // that this site gave; 0: none
  const std::map<std::int64_t, Offer>& offered() const { return offered_; }  // not yet listed; by serial number
  const std::map<std::int64_t, Guest>& guests() const { return guests_; }    // by number
  const Guest* with_number(std::int64_t number) const;  // that a guest has at this site; nullptr: no guest has it

  // Why that contradicts what is known, as a sentence.
  std::optional<std::string> objection(const Offer& offer) const;
  std::optional<std::string> objection(const Offer& offer, Trade trade) const;

  void offer(const Offer& offer);
  // number: that a job which is won has at this site; 0: that of the offer.
  void trade(const Offer& offer, Trade trade, std::int64_t number);
  // By the numbers that jobs have at this site.
  void queued(std::int64_t number, JobId id);
  void ended(std::int64_t number, JobId id);
  void put_back_last_serial(std::int64_t serial) { last_serial_ = serial; }

 private:
  Guest* find(std::int64_t number);

  std::map<std::int64_t, Offer> offered_;
  std::map<std::int64_t, Guest> guests_;
  std::map<std::int64_t, std::int64_t> numbers_;  // of guests, where it is another than in the federation; by that here
  std::int64_t last_serial_ = 0;
};

}  // namespace rota
