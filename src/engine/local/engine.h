// Real processes on this machine: the LiveEngine of a service that runs jobs itself. Each job has a supervisor, a
// process of its own that outlives the service (supervisor.h); this class sends them their orders and receives what
// became of these. It says everything to the Intake from the event loop, and decides once for all that came in at a
// turn. Nothing here waits for anything but open(). One thread: that of the io_context.
//
// What it keeps is a folder with a record for each dispatch that may still be asked about (docs/local-engine.md). The
// record is the claim by which a dispatch is started once, however often and by whichever life of the service.
#pragma once

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/min_heap.h"
#include "control/live_engine.h"
#include "control/run_request.h"
#include "engine/local/cgroups.h"
#include "engine/local/file_readings.h"
#include "engine/local/found_runs.h"
#include "engine/local/node_switch.h"
#include "engine/local/places.h"
#include "engine/local/reports.h"
#include "engine/local/run_entry.h"
#include "engine/local/run_folder.h"
#include "engine/local/spares.h"
#include "engine/local/spawner_link.h"
#include "model/machine.h"
#include "process/clock.h"
#include "process/descriptor.h"

namespace rota::local {

struct LocalOptions {
  std::string
      folder;  // of its own; made if it is not there. Users whose jobs have scripts must be able to pass through
  const Machine* machine = nullptr;  // all of whose nodes this machine plays. Must outlive the engine
  std::vector<std::string> spawner = {"/proc/self/exe", "supervise"};  // the program that calls supervise()
  bool cgroups = true;                                                 // are used where they can be
  bool pins = true;                                                    // jobs to cores
  Duration launch_wait = seconds(60);     // for a job's folder, input and output to be opened, and its program executed
  Duration retry_wait = seconds(10);      // until what is left of a job is looked for again, where that failed
  std::string boot = process::boot_id();  // of this start of the system
};

class LocalEngine final : public LiveEngine, public RunProbe, public Alarm {
 public:
  LocalEngine(boost::asio::io_context& io, LocalOptions options, Loop& loop, RunSource& source);
  LocalEngine(const LocalEngine&) = delete;
  LocalEngine& operator=(const LocalEngine&) = delete;
  ~LocalEngine() override;  // jobs go on

  // Waits until no earlier spawner can begin anything any more. Fails if the folder cannot be used.
  Result<void> open(Intake& intake, const Takeover& from) override;
  Capabilities capabilities() const override;
  void dispatch(const Command& command) override;
  Observation observe() const override;
  void ring() override;

  void settled(JobId job, std::uint32_t dispatch) override;
  Result<void> signal(JobId job, int number) override;  // while it is stopped by one its limit does not run
  std::vector<std::string> warnings() const override { return warnings_; }
  void describe(const Machine& machine) override;
  OutputReader* output_reader() override { return &readings_; }
  NodeProbe* node_probe() override { return &switch_; }
  const RunProbe* run_probe() const override { return this; }

  bool holds_stopped(JobId job) const override;
  std::vector<JobId> held_stopped() const override;
  std::vector<std::uint32_t> accelerators_of(JobId job) const override;
  bool ends_at_limit(JobId job) const override;  // its supervisor has said so

  pid_t spawner() const { return spawner_.pid(); }

 private:
  struct Waiting {
    Command command;
    Instant since;
  };
  struct Reminder {
    Instant at;
    JobId job;
    std::uint32_t dispatch;
    bool tries = false;  // once more to end what is left; else it may be overdue
    bool operator>(const Reminder& o) const { return at > o.at; }
  };

  // engine_found.cc
  Result<void> take_over_runs();
  void take_over_run(JobId job, FoundRun& found);
  void remove_left_cgroups() const;
  Result<void> write_boot();

  bool read_again(RunEntry& entry) const;
  void look(JobId job, RunEntry& entry);
  void try_later(JobId job, RunEntry& entry);
  bool speak_to(JobId job, RunEntry& entry);
  std::unique_ptr<RunLink> link_to_crowded(JobId job);
  void end_before_it_begins(JobId job, RunEntry& entry);
  void no_supervisor_left(JobId job, RunEntry& entry);
  void bury(JobId job, RunEntry& entry);
  void cannot_be_ended(JobId job, const std::string& sentence);

  // engine_turns.cc
  void adjust(const Command& command);
  void stop_moved(const RunEntry& entry);
  void migrate(const Command& command);
  bool moves_on(JobId job, RunEntry& entry);
  void begin_elsewhere(JobId job, RunEntry& entry);
  bool must_wait(const Command& command);
  Command begins_later(Command command, Instant since) const;
  void start_those_that_waited();
  void go_on(RunEntry& entry, const Command& command);
  void go_on_where_free();
  Instant limit_end_in_turn(const Command& command) const;
  std::vector<std::uint32_t> devices_of_stopped() const;
  void ended_while_it_stood(JobId job, RunEntry& entry);
  void end_in_turn(RunEntry& entry, const Command& command);

  void start(const Command& command);
  void launch(const Command& command);
  bool comes_too_late(const Command& command, const RunRequest& run) const;
  void order(const Command& command, RunRequest run, std::uint32_t move = 0);
  void end_early(const Command& command);
  void never_began(const Command& command);
  void expect(const Command& command);
  void answer_again(JobId job, const RunEntry& entry);
  std::unique_ptr<RunLink> link_to(JobId job, process::Descriptor socket);
  RunLink::Hear hearing_of(JobId job);
  void hear(JobId job, const RunRecord* record);
  void launched(JobId job, RunEntry& entry);
  void over(JobId job, RunEntry& entry);
  void ended(JobId job, RunEntry& entry);
  void could_not_launch(JobId job, RunEntry& entry, const std::string& why);
  void leave_place(RunEntry& entry);
  void drop(JobId job);
  void remind(JobId job, const RunEntry& entry);
  void ring_at(const Reminder& reminder);
  void report(JobId job, const Observed& what, Instant happened = kNever);
  void report_end(JobId job, const RunEntry& entry);
  Instant ended_at(const RunRecord& record) const;  // kNever: just now, or nothing says when
  void deliver(std::vector<Report> reports);

  std::int64_t on_boot_clock(Instant at) const;
  bool is_of_earlier_life(const Command& command) const { return command.key <= from_.decided_before; }
  Instant since(const Command& command) const;
  Tell tell(Tell::Kind kind, const Command& command) const;

  boost::asio::io_context& io_;
  LocalOptions options_;
  Loop& loop_;
  RunSource& source_;
  Intake* intake_ = nullptr;
  Takeover from_;
  RunFolder folder_;
  CgroupBases cgroups_;
  Places places_;
  SpawnerLink spawner_;
  FileReadings readings_{io_, spawner_};
  NodeSwitch switch_;
  Spares spares_{io_};
  std::map<JobId, RunEntry> runs_;
  std::vector<Waiting> waiting_;  // about nodes that others have yet to leave
  MinHeap<Reminder> reminders_;
  std::uint32_t epoch_ = 0;
  Reports reports_{io_, [this](std::vector<Report> reports) { deliver(std::move(reports)); }};
  std::vector<std::string> warnings_;
};

}  // namespace rota::local
