// The service: a controller on real time, with a store and a live engine, and what people ask of it. It opens all its
// parts, hands each what it uses, and owns them; its policy and its configuration can change while it runs. One thread:
// that of the event loop.
#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "serve/accelerator_desk.h"
#include "serve/answers.h"
#include "serve/cluster_change.h"
#include "serve/engine_maker.h"
#include "serve/event_ring.h"
#include "serve/federation_desk.h"
#include "serve/job_desk.h"
#include "serve/job_mail.h"
#include "serve/policy_rehearsal.h"
#include "serve/run_requests.h"

namespace rota::serve {

struct ServiceOptions {
  EngineMaker engine;         // makes the one that carries out what is decided
  std::string state_folder;   // made if it is not there; one service at a time
  std::string configuration;  // path of rota.toml; empty: the copy in the state, or else this computer as one node
  std::string policy;         // empty: as last time, or else as the configuration says
  std::string socket;         // told to jobs, as ROTA_SOCKET
  std::string version;
  // Where the engine watches a cluster that another manager runs. Empty: jobs of this service run on its own.
  struct Watched {
    std::string system;       // its name, which a state keeps for good
    std::string description;  // of the cluster, as a cluster file, for a configuration that describes none
    Duration before{0};       // so long before now a new state begins, for what happened until now
    std::string report = {};  // prints a report of what was since so long ago, "7d", which stands behind it
  } watched = {};
  ServiceLog::Say say = {};           // a line about what goes on, for the log
  std::function<void()> failed = {};  // called when it cannot go on
  // Called once the configuration is known and the state is this service's, and before anything is done to jobs and
  // nodes: what fails then leaves them alone.
  std::function<Result<void>(const site::ServiceSettings&)> before_acting = {};
};

class Service final {
 public:
  // Takes the state over, finds the jobs that run, and goes on. Fails with a sentence.
  static Result<std::unique_ptr<Service>> open(boost::asio::io_context& io, const ServiceOptions& options);
  ~Service();

  // What people ask for. Each changes the state at once; it is durable, and may be answered, in when_durable().
  JobDesk& jobs() { return job_desk_; }
  NodeDesk& nodes() { return nodes_; }
  ReservationDesk& reservations() { return reservations_; }
  AcceleratorDesk& accelerators() { return accelerators_; }
  // What people see.
  Answers& answers() { return answers_; }
  const Answers& answers() const { return answers_; }
  EventRing& events() { return events_; }
  const Operators& operators() const { return configured_.operators; }
  const FederationDesk* federation() const { return federation_.get(); }  // nullptr: the site is alone
  const ServiceOptions& options() const { return options_; }

  bool sends_mail() const { return mail_.sends(); }
  const std::string& policy() const { return desk_.chain().text(); }
  // Another policy decides from now on. Fails with a sentence, and nothing changes, where it cannot.
  Result<void> set_policy(const std::string& text);
  // The cluster is as the configuration's file says by now; jobs go on. Fails as set_policy() does.
  struct Reloaded {
    std::string taken;            // what is new, as half a sentence; empty: nothing that matters to the state
    bool other_settings = false;  // [service] says something else, which only another start takes
  };
  Result<Reloaded> reload();
  // The present queue, to rehearse what that would change of it: rehearse_policies(). Fails where set_policy() would,
  // and where there are too many jobs.
  Result<QueueToRehearse> queue_to_rehearse(const std::string& text) const;

  // See Desk.
  void when_durable(std::function<void(const Result<void>&)> call) { desk_.when_durable(std::move(call)); }
  bool uncommitted() const { return desk_.uncommitted(); }
  const Result<void>& health() const { return desk_.health(); }
  void on_failure(std::function<void()> call) { options_.failed = std::move(call); }
  // Stops taking anything in; what runs goes on. The event loop runs dry.
  void stop();

 private:
  struct State;
  static Result<State> find_state(const ServiceOptions& options);
  Service(boost::asio::io_context& io, const ServiceOptions& options, State state);
  void look_at_configuration();
  Result<void> wire(const Chain& chain);
  Capabilities capabilities() const;
  Result<void> take_over();
  Result<std::optional<ClusterChange>> replay();
  Result<ClusterChange> replay_under_another();
  std::unexpected<Error> not_taken_over(const std::string& why) const;
  std::string shown_file() const;
  Result<void> can_change(const ClusterChange& change) const;
  Result<void> describe_nodes(const ClusterChange& change);
  void stands_as(std::shared_ptr<const Machine> machine, const std::string& taken);
  Result<void> begin_reports();
  void watch_licences() { upkeep_.watch_licences(io_, options_.state_folder + "/licences"); }

  boost::asio::io_context& io_;
  ServiceOptions options_;
  struct Configured {
    site::ServiceSettings settings;
    Operators operators;
  } configured_;
  ServiceLog log_;
  Desk desk_;
  JobBook book_;
  JobLookup jobs_;
  EventRing events_;
  StateRoom room_;
  JobMail mail_;
  JobRecords records_;
  NodeDesk nodes_;
  ReservationDesk reservations_;
  AcceleratorDesk accelerators_;
  RunRequests runs_;
  std::unique_ptr<FederationDesk> federation_;  // nullptr: the site is alone
  Upkeep upkeep_;
  Answers answers_;
  JobDesk job_desk_;
  std::unique_ptr<LiveEngine> engine_;  // goes before the others: it looks at all of them
};

}  // namespace rota::serve
