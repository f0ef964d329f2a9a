// A site's requests to the exchange of which it does not know yet what became of them. Each is sent again, the same
// with the same token, until the site's view of the queue shows that it can no longer be applied: it was applied, or
// something else came first. At most one of a kind is out for a job. Not thread-safe.
#pragma once

#include <map>
#include <utility>

#include "control/global_queue.h"
#include "control/ports.h"

namespace rota {

class OpenRequests {
 public:
  // At most one request is out, for each job, about each of these: which site may have it, the site's own bid, the
  // site's next offer, its joining.
  enum class About : std::uint8_t { job, bid, offer, site };

  OpenRequests(SiteId self, Duration patience, Exchange& exchange, Loop& loop)
      : self_(self), patience_(patience), exchange_(exchange), loop_(loop) {}

  // The life of the site's process: higher than that of every earlier one, so that tokens are its own.
  void begin(std::uint32_t life) { life_ = life; }

  // Nothing else is out about that. Its sender and its token are filled in.
  void send(Request request);
  // A claim on a job that is not claimed, for a winner that is alive; none while this site is not.
  void claim(const GlobalQueue& queue, const GlobalQueue::Lot& lot, SiteId winner, std::string auction = {});
  // That of the site, begun in this life of its process; 0: it is not alive, for all that it knows, or an earlier life
  // is.
  Epoch epoch(const GlobalQueue& queue) const;
  bool out(About about, std::int64_t job = 0) const { return open_.contains({about, job}); }
  // Drops what the queue shows to be over; true if there was any. About one job, or about any.
  bool conclude(const GlobalQueue& queue, std::int64_t job);
  bool conclude_all(const GlobalQueue& queue);
  void resend();         // those that are due
  Instant next() const;  // when the first is; kNever: none is out
  bool empty() const { return open_.empty(); }
  Token token() { return {self_, life_, ++tokens_}; }  // for a request whose outcome is not waited for

  static About about(Request::Kind kind);

 private:
  struct Open {
    Request request;
    Instant again;  // when it is sent again
  };

  SiteId self_;
  std::uint32_t life_ = 0;
  Duration patience_;
  Exchange& exchange_;
  Loop& loop_;
  std::uint64_t tokens_ = 0;
  std::map<std::pair<About, std::int64_t>, Open> open_;
};

}  // namespace rota
