// What a service needs of any engine that works in real time, beside what decisions need (Engine, control/ports.h); and
// the faces that such an engine may have or not, each an interface of its own. Answers of an engine are facts, which it
// says to the Intake; what is here is asked, or told, by the thread of the event loop, and never waits but in open().
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "control/mandates.h"
#include "control/ports.h"
#include "control/run_request.h"
#include "model/cluster.h"
#include "model/machine.h"

namespace rota {

// What an engine is to go on with, as the service that opens it has it.
struct Takeover {
  // Commands with keys up to this one were decided by an earlier life of the service, which may have sent them.
  std::uint64_t decided_before = 0;
  // What was told more lately than this is of a later state than the one that is served: a copy was put back.
  std::uint64_t latest_key = UINT64_MAX;
  // The state as it stands, to hold what the engine sees against it. Asked anew each time: the controller may be
  // another one.
  std::function<const View&()> state = {};
};

// How long a piece of a file may take to be read.
inline constexpr std::chrono::seconds kReadPatience{10};

// Reads pieces of the files that jobs write, with the rights of their users.
class OutputReader {
 public:
  struct Wanted {
    JobId job;              // whose file it is
    std::uint32_t uid = 0;  // the user as which it is read where the service is root; else as the service
    std::uint32_t gid = 0;
    std::string user;  // for further groups
    std::string file;
    std::int64_t from = 0;  // the first byte
  };
  struct Piece {
    std::string bytes = {};
    std::int64_t size = 0;  // of the whole file
    int error = 0;  // errno; EINVAL: it is no plain file; ETIMEDOUT: nothing came of it in time (kReadPatience);
                    // EAGAIN: nothing will: the reading process could not begin, or was killed
  };
  using Call = std::function<void(Piece)>;

  virtual ~OutputReader() = default;
  // `call` is called once, later. False, and it never is: too many readings for this job or user have not come to an
  // end, as of files that hang.
  virtual bool begin(const Wanted& wanted, Call call) = 0;
};

// Looks whether jobs can start on a node.
class NodeProbe {
 public:
  virtual ~NodeProbe() = default;
  virtual void look(NodeId node) = 0;  // told as a fact where it is news
};

// Tells of runs what is so at this moment and no fact says.
class RunProbe {
 public:
  virtual ~RunProbe() = default;
  // Whether the job's time is up, and it was told to end and has not ended yet.
  virtual bool ends_at_limit(JobId job) const = 0;
  // Whether the job has been stopped to give way, and its processes still hold what they were started on.
  virtual bool holds_stopped(JobId job) const = 0;
  virtual std::vector<JobId> held_stopped() const = 0;  // all of which that is so
  // The accelerators that the job has now, as their drivers number them.
  virtual std::vector<std::uint32_t> accelerators_of(JobId job) const = 0;
};

// Takes what users and operators wish of jobs that wait, and new jobs, to the resource manager that has the queue,
// where that is not Rota (Capabilities::shared). No wish is a fact: what the manager makes of it comes as facts to the
// Intake, as all that happens there does, and may come a little behind the answer. Whether the asker may wish that is
// for the caller to say; what the manager allows, for the manager.
//
// The asker names each order by a key, which must be unique to it for good. The manager carries out what has one key
// once, however often it is ordered: after an answer that was lost, or by a later life of the service; and while the
// job is known it is answered as it was. Orders about one job go out one after the other, as they were asked for; only
// one that an earlier life has sent may still overtake them.
//
// All calls come from the thread of the event loop, none waits, and each costs O(orders under way) and a message. An
// order is answered once, later, by that thread; not at all if the engine is destroyed before.
class QueueOrders {
 public:
  struct Answer {
    enum class Kind : std::uint8_t {
      done,     // it is so, or was when the manager carried it out
      refused,  // nothing has changed
      unknown,  // the manager has not answered for too long: facts will tell, and the same key may be ordered again
    };
    Kind kind = Kind::done;
    std::string why = {};     // a sentence, where it is not done
    std::int64_t number = 0;  // of a submission that is done: its job's, as people name it; else 0
  };
  using Call = std::function<void(const Answer&)>;

  // What is to be changed of a job; the rest stays as it is. All of it or nothing: an order with a term that the
  // manager cannot change is refused.
  struct Terms {
    std::optional<Duration> limit = {};
    std::optional<std::int32_t> priority = {};
    std::optional<PartitionId> partition = {};
    std::optional<Instant> begin = {};
    std::optional<std::uint32_t> processors = {};  // in all
    std::optional<std::uint32_t> nodes = {};       // 0: any spread will do
    std::optional<std::int64_t> memory = {};       // bytes on each node; 0: none asked
    std::optional<std::vector<LicenceUse>> licences = {};
    std::optional<std::string> name = {};
  };
  // One job, not an array.
  struct Request {
    JobSpec spec;  // its number and its time of submission are the manager's to give
    std::string name = {};
    Instant begin = kEpoch;  // not before; kEpoch: at any time
    Bars held = kNoBars;     // kHeldByUser or kHeldByOperator: until it is released
    RunRequest run = {};
  };

  virtual ~QueueOrders() = default;
  // kHeldByUser or kHeldByOperator, as are those that are released.
  virtual void hold(JobId job, Bars by, const std::string& key, Call call) = 0;
  virtual void release(JobId job, Bars from, const std::string& key, Call call) = 0;
  virtual void amend(JobId job, const Terms& terms, const std::string& key, Call call) = 0;
  // Also where it has begun to run by the time that the order arrives.
  virtual void cancel(JobId job, const std::string& key, Call call) = 0;
  // The job is told of by the Intake like any other, and has the number that is answered.
  virtual void submit(const Request& request, const std::string& key, Call call) = 0;
};

// How an engine has read the manager that it watches, in this life of the service.
struct Readings {
  std::int64_t done = 0, failed = 0;
  std::int64_t calls = 0;        // of the manager's commands
  std::int64_t unread_rows = 0;  // of jobs that made no sense
  std::int64_t refused = 0;      // facts that contradicted the state
  Duration latest{0};            // from the first command of the latest reading to the end of its last
};

class LiveEngine : public Engine {
 public:
  // Once, before anything else, and the only call that may wait: finds what there is, and says of it again what is for
  // people. Fails with a sentence. The intake, and what is taken over, must outlive the engine.
  virtual Result<void> open(Intake& intake, const Takeover& from) = 0;
  // The end of this dispatch, as it was told, is durable: it will not be asked about again. kAnyDispatch: the job has
  // left for good, and nothing may remain of it.
  virtual void settled(JobId job, std::uint32_t dispatch) = 0;
  // To all processes of the job, if it runs. Fails with a sentence where jobs take no signals.
  virtual Result<void> signal(JobId job, int number) = 0;
  // What is lacking, as sentences for people; known after open().
  virtual std::vector<std::string> warnings() const = 0;
  // Good, or why nothing can be told or done just now, as a sentence; commands are kept or come again.
  virtual Result<void> health() const { return {}; }

  // What users are to do in place of a wish ("cancel", "hold", ...) where this engine only watches a cluster that
  // another manager runs, as a sentence; empty: wishes are carried out.
  virtual std::string instead_of(std::string_view /*wish*/) const { return {}; }

  // Nothing: it watches no manager.
  virtual std::optional<Readings> readings() const { return std::nullopt; }

  // The service has described nodes anew: those that the engine plays are these from now on. The machine must outlive
  // the engine, or be replaced so before. An engine that is the authority over its nodes says of changes as facts.
  virtual void describe(const Machine& /*machine*/) {}

  // nullptr: it has none. They live as long as the engine.
  virtual OutputReader* output_reader() { return nullptr; }
  virtual NodeProbe* node_probe() { return nullptr; }
  virtual const RunProbe* run_probe() const { return nullptr; }
  virtual Mandates* mandates() { return nullptr; }         // where the cluster is another manager's
  virtual QueueOrders* queue_orders() { return nullptr; }  // where the queue is Rota's own: what is wished is recorded
};

}  // namespace rota
