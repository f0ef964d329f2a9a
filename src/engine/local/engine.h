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
#include "engine/local/node_switch.h"
#include "engine/local/places.h"
#include "engine/local/record.h"
#include "engine/local/run_link.h"
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
  // Which process looks after a run.
  enum class Keeper : std::uint8_t {
    supervisor,
    burial,   // the supervisor was killed, and the process at the link ends what is left
    unclear,  // no supervisor is there, and what is left could not be ended just now: it is tried again
  };
  // The latest dispatch of a job, from its command on until its end is settled.
  struct Entry {
    std::string name;  // of its record; empty: none was made
    std::string left;  // the same where it was before it moved, for as long as that may be there
    std::uint32_t dispatch = kAnyDispatch;
    std::uint64_t key = 0;  // of the latest command about it
    RunRecord record;       // as last heard
    std::unique_ptr<RunLink> link;
    Keeper keeper = Keeper::supervisor;
    Instant next_try = kNever;     // unclear: when it is tried again
    process::Descriptor greeting;  // while open() waits for its answer
    Place place;
    Instant expected_end = kNever;
    Instant since = kNever;               // since when this dispatch counts as running here; kNever: of an earlier life
    Asked asked = Asked::nothing;         // by a command, and not carried out yet
    bool suspends = false;                // the same
    std::uint64_t stands = 0;             // key of the command by which it stands still; 0: it goes on
    bool ours = false;                    // this life of the service ordered it, and so made its supervisor
    bool moving = false;                  // is leaving a place that counts as free already
    bool launched = false;                // told so, of this dispatch
    bool leaves = false;                  // the job has left for good: nothing is to be told
    bool end_reported = false;            // it was told how the job ended
    std::optional<DispatchEnd> end = {};  // of this dispatch; of a suspended one it has Vacated
    std::optional<Command> goes_on = {};  // once the accelerators that its stopped processes know are free
    std::optional<Command> next = {};     // about its next dispatch, once nothing is left of this one

    bool holds_stopped() const { return end && record.phase == RunPhase::suspended; }
  };
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
  struct News {
    JobId job;
    Observed what;
    Instant happened;
  };

  // engine_open.cc
  Result<void> prepare_folder();
  Result<void> write_boot();
  Result<void> find_runs();
  Result<void> can_open_more() const;
  Result<void> find_run(const std::string& name, std::vector<Entry>& into);
  Result<void> connect_to_found(std::vector<Entry>& found) const;
  void keep_latest(Entry& found);
  void greet_all();
  void leave_out_withdrawn();
  void disown_later();
  void remove_left_cgroups() const;
  void forget(Entry& entry);
  void tell_again() const;

  // engine_lost.cc
  bool read_again(Entry& entry) const;
  void look(JobId job, Entry& entry);
  void try_later(JobId job, Entry& entry);
  bool cannot_be_read(const Entry& entry) const;
  process::Reached reach(const Entry& entry) const;
  bool speak_to(JobId job, Entry& entry);
  void end_before_it_begins(JobId job, Entry& entry);
  void no_supervisor_left(JobId job, Entry& entry);
  void bury(JobId job, Entry& entry);
  void cannot_be_ended(JobId job, const std::string& sentence);
  void bury_now(const std::vector<Entry*>& entries);

  // engine_adjust.cc
  void adjust(const Command& command);
  void stop_moved(const Entry& entry);

  // engine_move.cc
  void migrate(const Command& command);
  bool moves_on(JobId job, Entry& entry);
  void begin_elsewhere(JobId job, Entry& entry);
  bool must_wait(const Command& command);
  Command begins_later(Command command, Instant since) const;
  void start_those_that_waited();

  // engine_suspended.cc
  void next_turn(Entry& entry, const Command& command);
  void go_on(Entry& entry, const Command& command);
  void go_on_where_free();
  Instant limit_end_in_turn(const Command& command) const;
  std::vector<std::uint32_t> devices_of_stopped() const;
  void ended_while_it_stood(JobId job, Entry& entry);
  void end_in_turn(Entry& entry, const Command& command);

  void start(const Command& command);
  void launch(const Command& command);
  bool comes_too_late(const Command& command, const RunRequest& run) const;
  void order(const Command& command, RunRequest run, std::uint32_t move = 0);
  void end_early(const Command& command);
  void never_began(const Command& command);
  void expect(const Command& command);
  void answer_again(JobId job, const Entry& entry);
  void watch(JobId job, Entry& entry, process::Descriptor socket);
  RunLink::Hear hearing_of(JobId job);
  void hear(JobId job, const RunRecord* record);
  void launched(JobId job, Entry& entry);
  void over(JobId job, Entry& entry);
  void ended(JobId job, Entry& entry);
  void could_not_launch(JobId job, Entry& entry, const std::string& why);
  void leave_place(Entry& entry);
  void drop(JobId job);
  void remind(JobId job, const Entry& entry);
  void ring_at(const Reminder& reminder);
  void report(JobId job, const Observed& what, Instant happened = kNever);
  void report_end(JobId job, const Entry& entry);
  Instant ended_at(const RunRecord& record) const;  // kNever: just now, or nothing says when
  void flush();

  std::int64_t on_boot_clock(Instant at) const;
  bool is_of_earlier_life(const Command& command) const { return command.key <= from_.decided_before; }
  Instant since(const Command& command) const;
  static void tell_keeper(const Entry& entry, const Tell& what);
  Tell tell(Tell::Kind kind, const Command& command) const;

  boost::asio::io_context& io_;
  LocalOptions options_;
  Loop& loop_;
  RunSource& source_;
  Intake* intake_ = nullptr;
  Takeover from_;
  process::Descriptor folder_;
  CgroupBases cgroups_;
  Places places_;
  SpawnerLink spawner_;
  FileReadings readings_{io_, spawner_};
  NodeSwitch switch_;
  Spares spares_{io_};
  std::map<JobId, Entry> runs_;
  std::vector<Waiting> waiting_;  // about nodes that others have yet to leave
  MinHeap<Reminder> reminders_;
  std::uint32_t epoch_ = 0;
  bool rebooted_ = false;      // since the life before
  bool boot_written_ = false;  // which stays unwritten until all that was lost with the system is settled
  std::vector<News> news_;
  bool flushes_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // for what is posted
  std::vector<std::string> warnings_;
};

// How one dispatch was over, by its record.
DispatchEnd end_of(const RunRecord& record);
JobUse use_of(const RunRecord& record);

}  // namespace rota::local
