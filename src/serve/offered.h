// What a site tells the others of a job: in the offer, the user and what that asks for, by names; in a record of its
// own, which only the site reads that has won the job, what it runs. And as which users those of other sites run jobs
// here. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/trades.h"
#include "serve/submission.h"
#include "site/service_file.h"

namespace rota::serve {

struct Travelling {
  std::string user;            // at its home
  JobRequest request;          // but for what it runs
  bool sealed = false;         // what it runs is
  std::int64_t run_bytes = 0;  // of what it runs, before it is sealed
  std::optional<ArrayTask> task = {};
  // Files come with it, and go back: it runs in a folder of its own at other sites.
  bool has_files() const { return !request.stage_in.empty() || !request.stage_out.empty(); }
};

// Bytes: of an offer, and of what the job runs. etcd takes 1.5 MiB in one request.
inline constexpr std::size_t kMostOffered = std::size_t{64} << 10U, kMostRun = std::size_t{1} << 20U;

std::string offer_text(const Travelling& travelling, std::int64_t unix_start);
Result<Travelling> read_offer(const std::string& text, std::int64_t unix_start);
// The script, the command and the environment (NAME=VALUE, each followed by a zero byte), and back.
std::string run_text(const std::string& script, const std::vector<std::string>& command,
                     const std::string& environment);
bool read_run(std::string_view text, JobRequest& into);

// Stands before that in what a home puts beside an offer, where no other site can write: the offer as it made it.
std::string digest_of(const Offer& offer);

// What of a job's folder goes home when it has ended: what it names, and its output. `request`: as it travels.
std::vector<std::string> paths_home(const JobRequest& request);

// What stands behind `key=` in one of the rows.
std::optional<std::string> row_of(const std::vector<std::string>& rows, const std::string& key);

// What a home asks for in its own books of a job that it cannot run itself: as much, and nothing by name.
JobRequest without_names(JobRequest request);

// Why such a request cannot be offered to other sites, as a sentence.
Result<void> may_travel(const JobRequest& request, const site::FederationSettings& settings);

// Whether a job of that site may come here, for all that the settings say; has_key: this site has a secret.
bool may_come(const Travelling& asks, const std::string& home, bool has_key, const site::FederationSettings& settings);

// What offers say, read once each.
class OfferBook {
 public:
  explicit OfferBook(std::int64_t unix_start) : unix_start_(unix_start) {}
  const Travelling* find(const Offer& offer);  // nullptr: it cannot be read. Until the next call

 private:
  std::int64_t unix_start_;
  struct Row {
    std::string text;
    std::optional<Travelling> travelling;  // nothing: it makes no sense
  };
  std::map<std::int64_t, Row> read_;  // by number
};

// The user of another site as one of this site; nothing: there is none, or the site does not take that user's jobs. A
// service that is not root runs jobs as its own user, and so takes those of that user alone.
std::optional<Caller> user_here(const std::string& site, const std::string& user,
                                const site::FederationSettings& settings);
// The priority that such a user's job has here.
std::int32_t priority_here(const std::string& site, const std::string& user, std::int32_t asked,
                           const site::FederationSettings& settings);
// Whether a list of sites, as jobs have it, names the site.
bool names_site(std::string_view sites, std::string_view name);

}  // namespace rota::serve
