#include "cli/story.h"

#include <map>
#include <vector>

#include "base/text.h"
#include "cli/journals.h"
#include "cli/kept_state.h"
#include "model/fact.h"
#include "report/readable.h"
#include "report/start_reason.h"

namespace rota::cli {
namespace {

constexpr std::size_t kMostListed = 20;  // of those that passed it, and of moves of its promise

// Hears of all facts of a journal in order and keeps what concerns one job.
class Story {
 public:
  Story(std::int64_t number, const JournalSetting& setting) : number_(number), setting_(setting) {}

  void hear(const Fact& fact) {
    at_ = fact.at;
    std::visit([this](const auto& what) { saw(what); }, fact.what);
  }

  bool found() const { return job_.valid(); }

  std::string text() {
    if (passed_ > kMostListed)
      say("and " + grouped(static_cast<std::int64_t>(passed_ - kMostListed)) + " more passed it");
    if (moves_ > kMostListed)
      say("its promise was moved " + grouped(static_cast<std::int64_t>(moves_)) + " times in all");
    std::string text;
    for (const std::string& line : lines_) text += line + "\n";
    return text + conclusion();
  }

 private:
  struct Known {
    std::int64_t number = 0;
    std::uint32_t processors = 0;
    Duration limit{0};
    std::uint32_t arrival = 0;
  };

  std::string when(Instant at) const { return report::readable(at, setting_.unix_start); }
  void say(const std::string& what) { lines_.push_back(when(at_) + "  " + what); }
  static std::string asks(const Known& its) {
    return amount(its.processors, "processor") + (its.limit >= kLongest
                                                      ? std::string(" without a time limit")
                                                      : " for at most " + report::readable(its.limit));
  }

  // Facts that say nothing of single jobs, and those of which nothing is told here.
  template <class Other>
  void saw(const Other&) {}

  void saw(const Submitted& fact) {
    const Known known{fact.spec.number, fact.spec.processors, fact.spec.limit, arrivals_++};
    jobs_[fact.job] = known;
    if (fact.spec.number != number_ || found()) return;
    job_ = fact.job;
    waits_ = true;
    say("submitted: it asks for " + asks(known) + (fact.bars == kNoBars ? "" : "; it may not start yet"));
  }
  void saw(const Rejected& fact) {
    if (fact.spec.number != number_ || found()) return;
    job_ = fact.job;
    say("rejected: it can never run here");
  }
  void saw(const Held& fact) { tell(fact.job, "held"); }
  void saw(const Released& fact) { tell(fact.job, "released"); }
  void saw(const Eligible& fact) { tell(fact.job, "nothing keeps it from being queued any more"); }
  void saw(const Amended& fact) { tell(fact.job, "its terms were changed"); }
  void saw(const LicencesChanged& fact) { tell(fact.job, "its licences were changed"); }
  void saw(const CancelAsked& fact) { tell(fact.job, "somebody asked for it to be cancelled"); }
  void saw(const Cancelled& fact) { ends(fact.job, "cancelled"); }
  void saw(const LaunchFailed& fact) { back(fact.job, "could not be launched"); }
  void saw(const Requeued& fact) { back(fact.job, "killed, and queued again"); }
  void saw(const Vacated& fact) { back(fact.job, "has given way, and is queued again"); }
  void saw(const Preempted& fact) {
    const auto other = jobs_.find(fact.beneficiary);
    tell(fact.job, "told to give way" + (other == jobs_.end() ? std::string()
                                                              : " to job " + std::to_string(other->second.number) +
                                                                    ", which has a higher priority"));
  }
  void saw(const Extended& fact) { tell(fact.job, "its time was up, and it was let go on: that harms nobody"); }
  void saw(const Migrated& fact) { tell(fact.job, "moved to other nodes"); }
  void saw(const Finished& fact) {
    ends(fact.job, fact.outcome == Outcome::timed_out ? "stopped at its limit" : "ended");
  }

  void saw(const Promised& fact) {
    if (fact.job != job_ || !waits_) return;
    if (fact.start == kNever) {
      say("its promise was withdrawn");
    } else if (promise_ == kNever) {
      first_promise_ = first_promise_ == kNever ? fact.start : first_promise_;
      say("promised a start at " + when(fact.start));
    } else if (fact.start != promise_) {
      const bool later = fact.start > promise_;
      const Duration by = later ? fact.start - promise_ : promise_ - fact.start;
      if (++moves_ <= kMostListed)
        say("promise moved to " + when(fact.start) + ", " + report::readable(by) + (later ? " later" : " earlier"));
    }
    promise_ = fact.start;
  }

  void saw(const Started& fact) {
    if (fact.job == job_) {
      waits_ = false;
      started_ = at_;
      say("started" + nodes_of(fact) + ": " + reason_of(fact));
      return;
    }
    const auto other = jobs_.find(fact.job);
    if (!waits_ || other == jobs_.end()) return;
    if (other->second.arrival < jobs_.at(job_).arrival && !fact.backfilled) return;  // it was before it anyway
    if (++passed_ <= kMostListed)
      say("job " + std::to_string(other->second.number) + " passed it (" + asks(other->second) +
          "): " + reason_of(fact));
  }

  void tell(JobId job, const std::string& what) {
    if (job == job_) say(what);
  }
  void back(JobId job, const std::string& what) {
    tell(job, what);
    if (job == job_) waits_ = true;
  }
  void ends(JobId job, const std::string& what) {
    tell(job, what);
    if (job == job_) {
      waits_ = false;
    } else {
      jobs_.erase(job);
    }
  }

  std::string reason_of(const Started& fact) const {
    const Reason& why = fact.reason;
    StartNote note{.started = true, .rule = why.rule, .promise = why.promise, .free = why.free, .needed = why.needed};
    if (const auto other = jobs_.find(why.promised); other != jobs_.end()) note.promised = other->second.number;
    return report::start_reason(note, setting_.unix_start);
  }

  std::string nodes_of(const Started& fact) const {
    if (!setting_.machine || fact.where.shares.empty()) return "";
    std::string names;
    for (const Share& share : fact.where.shares) names += " " + setting_.machine->nodes[share.node.value].name;
    return " on" + names;
  }

  // Whether who passed it did it any harm, by what it was promised first.
  std::string conclusion() const {
    if (started_ == kNever || first_promise_ == kNever) return "";
    if (started_ > first_promise_) {
      return "It started " + report::readable(started_ - first_promise_) +
             " later than it was promised at first: a promise holds as long as jobs ahead of it keep to what is "
             "expected of "
             "them and nobody with a higher priority comes.\n";
    }
    const std::string when_it_started = started_ == first_promise_ ? "when it was promised at first"
                                                                   : report::readable(first_promise_ - started_) +
                                                                         " earlier than it was promised at first";
    return "It started " + when_it_started + (passed_ > 0 ? ": those that passed it did it no harm.\n" : ".\n");
  }

  std::int64_t number_;
  const JournalSetting& setting_;
  std::map<JobId, Known> jobs_;
  std::vector<std::string> lines_;
  JobId job_;
  Instant at_ = kEpoch;
  Instant promise_ = kNever;
  Instant first_promise_ = kNever;
  Instant started_ = kNever;
  std::uint32_t arrivals_ = 0;
  std::size_t passed_ = 0;
  std::size_t moves_ = 0;
  bool waits_ = false;
};

}  // namespace

Result<std::string> story_of(std::int64_t job, const std::string& path) {
  const std::string file = is_state(path) ? database_of(path) : path;
  auto journal = KeptJournal::open(file);
  if (!journal) return std::unexpected(journal.error());
  const auto setting = setting_of(journal->head(), path);
  if (!setting) return std::unexpected(setting.error());
  Story story(job, *setting);
  const auto heard = journal->visit([&](const Fact& fact) -> Result<void> {
    story.hear(fact);
    return {};
  });
  if (!heard) return std::unexpected(heard.error());
  if (!story.found())
    return fail(path + ": there is no job " + std::to_string(job) +
                " in it; a service keeps what happened to a job only for "
                "some time, and `rota history` what became of it.");
  return story.text();
}

}  // namespace rota::cli
