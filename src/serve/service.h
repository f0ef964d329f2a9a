// The service: a controller on real time, with a store and a live engine, and what people ask of it. Everything that
// changes the state goes through the controller's door; whatever was asked within one turn of the event loop is decided
// and made durable together (group commit). One thread: that of the event loop.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "control/controller.h"
#include "serve/cluster_change.h"
#include "serve/contenders.h"
#include "serve/desk.h"
#include "serve/engine_maker.h"
#include "serve/event_ring.h"
#include "serve/explain.h"
#include "serve/held_accelerators.h"
#include "serve/job_book.h"
#include "serve/job_change.h"
#include "serve/licence_watch.h"
#include "serve/mail.h"
#include "serve/output_pattern.h"
#include "serve/pending_counts.h"
#include "serve/planned_starts.h"
#include "serve/policy_rehearsal.h"
#include "serve/state_room.h"
#include "serve/submission.h"
#include "serve/time_share.h"
#include "serve/what_if.h"
#include "store/payload.h"

namespace rota::serve {

struct ServiceOptions {
  EngineMaker engine;         // makes the one that carries out what is decided
  std::string state_folder;   // made if it is not there; one service at a time
  std::string configuration;  // path of rota.toml; empty: the copy in the state, or else this computer as one node
  std::string policy;         // empty: as last time, or else as the configuration says
  std::string socket;         // told to jobs, as ROTA_SOCKET
  std::string version;
  std::function<void(const std::string&)> say = {};  // a line about what goes on, for the log
  // Called once the configuration is known and the state is this service's, and before anything is done to jobs and
  // nodes: what fails then leaves them alone.
  std::function<Result<void>(const site::ServiceSettings&)> before_acting = {};
};

class Forecaster;
class Namesakes;

// What became of one job to which a caller wanted to do something.
struct ActionResult {
  std::string id;
  bool done = true;
  std::string detail = {};  // why not
};

// Why a job waits: one word that programs compare, and a sentence.
struct PendingReason {
  std::string_view word;
  std::string sentence;
};
enum class Telling : std::uint8_t { word, sentence };

// As a sentence; of one that runs in the present.
std::string grace_text(const store::Grace& grace, bool runs);

class Service final : public JobSink, public FactObserver, public RunSource {
 public:
  // Takes the state over, finds the jobs that run, and goes on. Fails with a sentence.
  static Result<std::unique_ptr<Service>> open(boost::asio::io_context& io, const ServiceOptions& options);
  ~Service() override;

  // ---- what people ask. Each changes the state at once; it is durable, and may be answered, in when_durable().

  // What a client calls a request, so that it is done once if it comes twice.
  struct RequestKey {
    std::string text;    // no line breaks; empty: nothing
    std::string digest;  // of the whole request
  };
  enum class Keyed : std::uint8_t { jobs, reservation };
  // Fails with a sentence where the caller has given the key with another request.
  Result<void> suits(const Caller& caller, const RequestKey& key, Keyed what);
  // New jobs, all or none. Each is known by its id from then on; of an array one id per task. With a key: if the same
  // caller has given it before, the jobs that it stood for.
  std::expected<std::vector<JobId>, NotTaken> submit(const Caller& caller, const std::vector<Submission>& submissions,
                                                     const RequestKey& key);
  // Whether a caller may ask for that at all.
  static Result<void> allowed(const Caller& caller, const Submission& submission);
  // What would become of a submission if it came now; of an array of its first task. Fails where it would not be taken.
  Result<Trial> try_out(const Caller& caller, const Submission& submission);

  // What the caller means by a selector: `last` is the number of what they submitted last, 0 where they never did, and
  // `me` is called by their name.
  Result<std::vector<SelectorPart>> parts_of(const Caller& caller, const std::string& selector);
  // Known jobs that a selector means, by id; for others see not_there(). Fails where it cannot be read.
  Result<std::vector<JobId>> select(const Caller& caller, const std::string& selector);

  using Change = JobChange;
  ActionResult change(const Caller& caller, JobId job, const Change& change);

  // Nodes by host list; "all". Operators only.
  struct NodeWish {
    Health health = Health::up;
    std::string reason;
    std::string by;  // the user who wants it; empty: the service itself
  };
  struct Emptied {
    std::vector<JobId> again, ended;  // what ran on nodes that are taken down starts over, or may not and is ended
  };
  Result<Emptied> set_health(const std::string& nodes, const NodeWish& wish);
  struct Switched {
    std::vector<NodeId> ordered;
    std::vector<NodeId> already;  // so, or on their way
  };
  // Fails if one of them cannot be, and if all are so already: then nothing is changed.
  Result<Switched> set_power(const std::string& nodes, bool on);
  // Fit for use, but asleep, and the policy wakes no node: only an operator can.
  std::vector<NodeId> left_asleep() const;
  bool left_asleep(NodeId node) const;
  // Sent to sleep by a former policy, which the present one wakes.
  std::vector<NodeId> woken_after_policy() const;

  // Nodes, or processors where they are counted, are kept free for a time, beside what the configuration reserves.
  // Operators only.
  struct ReservationWish {
    std::optional<Instant> from = {};  // without: now
    Instant until = kNever;
    std::optional<Duration> duration = {};  // says it in place of `until`
    std::string nodes;                      // a host list; "all"
    std::int64_t processors = 0;
    std::string name;  // for people; may be empty
  };
  // With a key: if the same caller has given it before, what it stood for then; fails where that is over.
  Result<ReservationId> reserve(const Caller& caller, const ReservationWish& wish, const RequestKey& key);
  Result<void> unreserve(ReservationId id);
  const Reservation* reservation(const std::string& which) const;  // by name or id; nullptr: there is none
  // Which there are, and the command that tells of them: half a sentence.
  std::string reservations_there() const;
  struct ReservationNote {
    std::string name;
    std::string by;
  };
  const ReservationNote* note_of(ReservationId id) const;  // nullptr: the configuration reserves it
  // Jobs that run on it and may do so, by their limits, when it has begun.
  std::vector<JobId> running_into(const Reservation& reserved) const;

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

  Desk& desk() { return desk_; }
  const Desk& desk() const { return desk_; }
  void when_durable(std::function<void(const Result<void>&)> call) { desk_.when_durable(std::move(call)); }
  bool uncommitted() const { return desk_.uncommitted(); }

  // ---- what people see

  const View& view() const { return desk_.view(); }
  const Controller& controller() const { return desk_.controller(); }
  const Machine& machine() const { return *desk_.machine(); }  // in this turn: reload() makes another one
  const std::shared_ptr<const Machine>& machine_as_it_is() const { return desk_.machine(); }
  const JobBook& book() const { return book_; }
  const RealLoop& loop() const { return desk_.loop(); }
  Instant now() const { return desk_.now(); }
  store::SqliteStore& store() { return desk_.store(); }
  EventRing& events() { return events_; }
  const std::string& policy() const { return desk_.chain().text(); }
  const site::ServiceSettings& settings() const { return settings_; }
  bool sends_mail() const { return mail_ != nullptr; }
  const ServiceOptions& options() const { return options_; }
  std::vector<std::string> warnings() const;
  // What asks the licence server; nullptr: nothing does.
  const LicenceWatch* licence_watch() const { return licence_watch_.get(); }
  std::string node_reason(NodeId node) const;
  std::string node_by(NodeId node) const;  // the user who took it out of use; empty: it is in use, or the service did
  std::string nodes_of(JobId job) const;   // where it runs, as a host list
  // It has come to its limit and is not let go on: it was told to end.
  bool ends_at_limit(const Job& job) const;
  std::string_view state_of(const Job& job) const;            // as Slurm calls it
  PendingReason reason_of(JobId job, Telling telling) const;  // Telling::word: without its sentence, and cheap
  // What is kept of a known job or, from the history, of one that has left; nothing: there is none.
  Result<std::optional<KeptAbout>> about(JobId job);
  // The row of a job that has left, as long as the history goes back; nothing: there is none.
  Result<std::optional<store::HistoryRow>> history_of(JobId job) const;
  Result<std::optional<store::HistoryRow>> history_of_number(std::int64_t number) const;
  // The job with this number, known or gone.
  Result<std::optional<JobId>> job_of(std::int64_t number) const;
  std::int64_t number_of(JobId job) const;  // known or gone; 0: no longer known
  // "12" or "12_3", of a job known or gone.
  std::string shown(JobId job) const;
  // The number of the job or of the array that the caller has submitted last, known or gone; 0: none.
  std::int64_t number_of_last(const Caller& caller) const;
  // A task of an array, known or gone.
  std::optional<JobId> task_of(std::int64_t array, std::int64_t index);
  // What a selector names one by one and is not known now. Fails where too many that have ended would have to be looked
  // at.
  Result<std::vector<Absent>> not_there(const Caller& caller, const std::string& selector);
  // Tasks of an array that have left, by index, up to this one and maybe some behind it.
  std::vector<store::HistoryRow> ended_tasks(std::int64_t array, std::int64_t last = UINT32_MAX) const;
  Explanation explain(JobId id);
  // Which jobs run, or wait before a job, for a time that cannot be told: "job 1 has no time limit; ...". Empty: none
  // does. `id`: invalid for a job that is not there yet.
  std::string endless_before(const JobSpec& spec, JobId id) const;
  // How a job that runs, or has just ended, was let go on beyond its limit until then; nothing: it was not.
  store::Grace grace_of(JobId id, const Job& job, Instant until) const;
  // When jobs that wait would start if this policy decided now, in the order of the present one, as far as it says.
  std::vector<std::pair<JobId, Instant>> starts_by(const std::string& policy) const;
  PlannedStarts& planned_starts() { return planned_starts_; }
  PendingCounts& pending_counts() { return pending_counts_; }
  Forecaster& forecaster() { return *forecaster_; }  // rehearses what may come
  void later(std::function<void()> call, std::chrono::steady_clock::duration after = {}) {
    desk_.loop().later(std::move(call), after);
  }
  // The file that a stream of a job's output goes to, patterns filled in.
  std::string output_path(JobId job, const KeptAbout& kept, bool error, std::int32_t restarts,
                          const std::string& nodes) const;
  HeldAccelerators accelerators_of(JobId job) const;
  OutputReader* output_reader() { return engine_->output_reader(); }  // nullptr: files of jobs are read elsewhere
  bool may_see_inside(const Caller& caller, std::uint32_t owner) const {
    return caller.operates || caller.uid == owner;
  }
  bool operates(std::uint32_t uid) const;
  std::int64_t unix_milliseconds(Instant at) const { return desk_.loop().unix_milliseconds(at); }
  Instant instant_of(std::int64_t unix_milliseconds) const { return desk_.loop().instant_of(unix_milliseconds); }

  // Stops taking anything in; what runs goes on. The event loop runs dry.
  void stop();
  const Result<void>& health() const { return desk_.health(); }
  void on_failure(std::function<void()> call) { failed_ = std::move(call); }

  // ---- ports
  void job_gone(JobId id, const Job& job) override;
  void saw(const View& before, const FactRef& fact) override;
  Result<RunRequest> run_of(const Command& start) override;
  void note_of_job(JobId job, std::string sentence) override;
  void warn_of_job(JobId job, const std::string& sentence) override;
  void note_of_node(NodeId node, std::string sentence, const std::string& output) override;

 private:
  struct Ended {
    JobId job;
    std::uint32_t dispatch;
  };

  struct State;
  static Result<State> find_state(const ServiceOptions& options);
  Service(boost::asio::io_context& io, ServiceOptions options, State state);
  void look_at_configuration();
  void wire();
  void all_is_durable();
  Result<void> take_over();
  Result<std::optional<ClusterChange>> replay();
  Result<ClusterChange> replay_under_another();
  std::unexpected<Error> not_taken_over(const std::string& why) const;
  std::string shown_file() const;
  Result<void> can_change(const ClusterChange& change) const;
  Result<void> describe_nodes(const ClusterChange& change);
  void stands_as(std::shared_ptr<const Machine> machine, const std::string& taken);
  Result<void> read_book();
  // Beginnings of names under which the store keeps, with the job's id behind them:
  static constexpr const char* kMessage = "message ";      // what was said of it last
  static constexpr const char* kSuspended = "suspended ";  // by older versions: the dispatch that stands still
  static constexpr const char* kReleased = "released ";    // when
  static constexpr const char* kRanOn =
      "ran on ";  // where its latest dispatch that is over ran, if it was to wait again
  static constexpr const char* kGrace = "grace ";  // why it may run beyond its limit
  // And of nodes, with the node's name behind them:
  static constexpr const char* kNodeReason = "node ";          // why it is out of use
  static constexpr const char* kNodeBy = "node by ";           // the user who took it out of use
  static constexpr const char* kReservation = "reservation ";  // with its id: its maker and, on a line, its name
  void keep(const char* what, JobId job, const std::string& text);
  Result<void> read_of_jobs(const char* what, const std::function<bool(JobId, JobEntry&, std::string&)>& take);
  Result<void> read_wishes();
  std::vector<JobId> named_one_by_one(const std::vector<SelectorPart>& parts) const;
  std::size_t add_absent_tasks(const SelectorPart& part, std::vector<Absent>& absent) const;
  Result<std::optional<store::HistoryRow>> first_row(const store::HistoryQuery& query) const;
  bool has_ended(std::int64_t number) const;
  void compact_if_long();
  void let_go();
  void forget_old();
  void let_ended_go(std::uint32_t uid, std::optional<JobId> behind);

  // What all tasks of an array share, made once.
  struct Kept {
    std::shared_ptr<const About> about;
    std::string text;  // the same, without an index
    store::Payload payload;
    JobId first = {};  // that has it; invalid: none yet
  };
  // One task of an array, or a whole job.
  struct Task {
    std::int64_t index = -1;
    const JobTerms* terms = nullptr;  // of its own; nullptr: none
    Bars holds = kNoBars;
    std::uint32_t awaits = 0;
  };
  Result<JobId> submit_one(Kept& kept, JobSpec spec, const Task& task);
  Result<void> has_room_on_disk(const Caller& caller, std::uint64_t bytes);
  Result<void> has_room_to_run(const Command& start, const RunRequest& run, std::uint32_t uid);
  Result<Prepared> prepared_of(const Caller& caller, const Submission& submission) const;
  Result<void> submit_all_of(const Caller& caller, const Submission& submission, Prepared prepared,
                             Namesakes& namesakes, std::vector<JobId>& jobs);
  Result<std::vector<JobId>> submitted_as(JobId first, const std::string& key, std::uint32_t uid);
  Result<void> find_awaited(const Submission& submission, Prepared& prepared) const;
  // What a change of its size makes of a job that waits.
  struct Sized {
    JobSpec spec;  // with its new partition, processors, nodes and memory
    About about;
  };
  Result<void> changed(const Caller& caller, JobId job, const Change& change);
  Result<void> cancel(JobId job);
  Result<std::vector<NodeId>> nodes_named(const std::string& list) const;
  Result<void> put_health(NodeId node, const NodeWish& wish);
  Emptied empty_nodes(const std::vector<NodeId>& nodes);
  std::string sentence_of_down(NodeId node) const;
  void leave_if_down(JobId job);
  Result<void> power_changed(const PowerChanged& what);
  void say_if_on_for_want_of_commands(const View& before, const PowerChanged& what) const;
  Result<void> release(const Caller& caller, JobId job);
  Result<void> can_be_told(JobId job) const;
  Result<void> control(const Caller& caller, JobId job, const Change& change);
  Result<void> has_time_left(JobId job) const;
  Result<void> suspend(const Caller& caller, JobId job, bool stops);
  Result<void> change_limit(const Caller& caller, JobId job, const Change& change);
  Result<void> change_running(const Caller& caller, JobId job, const Change& change);
  Result<void> change_throttle(JobId job, std::uint32_t most);
  Result<void> has_throttle(JobId job) const;
  Result<Sized> sized(JobId job, const Change& change) const;
  Result<void> amend(const Caller& caller, JobId job, const Change& asked);
  Result<void> change_terms(const Caller& caller, JobId job, const Change& change, const JobSpec& wanted);
  Result<void> change_licences(JobId job, const LicencesAsked& asked);
  Result<void> change_facts(const Caller& caller, JobId job, const Change& change, const JobSpec& wanted);
  void reword(JobId job, const About& about);
  std::vector<std::string> environment_of(const Command& start, const KeptAbout& kept, bool slurms) const;
  std::vector<std::uint32_t> processors_by_node(JobId job) const;  // one number on a machine without nodes: all
  void say_as_slurm(JobId id, const KeptAbout& kept, std::uint32_t tasks, std::vector<std::string>& all) const;
  std::string node_file_of(JobId id, std::uint32_t tasks) const;
  void say_as_pbs(JobId id, const KeptAbout& kept, std::vector<std::string>& all) const;
  PatternWords pattern_words(JobId job, const KeptAbout& kept, const std::string& nodes, std::int32_t restarts) const;
  PendingReason reason_of_barred(JobId id, const Job& job, Telling telling) const;
  std::string awaited_text(const std::vector<Dependency>& after, bool any = false) const;
  const Reservation* reserved_before(JobId id, const Job& job) const;  // nullptr: nothing that keeps it from starting
  std::string text_of(const Reservation& reserved) const;
  PendingReason reason_of_waiting(JobId id, const Job& job, Telling telling) const;
  PendingReason reason_among_others(JobId id, const Job& job, Telling telling) const;
  bool holds_stopped(JobId job) const;          // its processes are there, after it was suspended to give way
  bool lacks_nodes(const JobSpec& spec) const;  // too many of those that it could use are out of use
  std::string nodes_lacking(const JobSpec& spec) const;
  std::string asleep_beside(const JobSpec& spec) const;
  bool lacks_licence(const JobSpec& spec) const;
  bool competes(const JobSpec& spec) const { return !lacks_licence(spec) && !lacks_nodes(spec); }  // for nodes
  std::string licence_lacking(const JobSpec& spec) const;
  template <class Kind>
  void saw_kind(const View& before, const Kind& what);
  Result<void> suspend_as_before();
  std::vector<Reservation> beside(const Reservation& wanted, const std::vector<Reservation>& standing) const;
  Result<void> keep_reservations();
  std::int64_t most_reserved(const Reservation& during) const;
  Result<void> record_asked(const Observed& fact);
  Result<void> read_reservations();
  void forget_reservations();
  std::vector<Reservation> reservations_wanted() const;
  Result<void> can_reserve(const ReservationWish& wish, Instant from) const;
  std::string id_and_name(const Reservation& reserved) const;
  std::string in_names(std::string objection, const Reserved& to) const;
  Result<std::optional<ReservationId>> reserved_as(const std::string& key, std::uint32_t uid);
  Result<std::vector<NodeId>> nodes_to_reserve(const std::string& list) const;
  static void note_terms(const View& before, JobId job, JobEntry& entry);
  void note_grace(JobId id, std::string why);
  void forget_grace(JobId id, JobEntry& entry);
  static JobEntry::Grace read_grace(const std::string& text);
  std::string why_extended(const Extended& fact) const;
  void note_stop(const View& before, const Stopped& fact);
  std::string why_in_grace(const Job& job) const;
  store::RareRequest rarely_asked(const JobSpec& spec, const JobEntry* entry) const;
  store::HistoryRow history_row(JobId id, const Job& job, const JobEntry* entry) const;
  Result<void> compact();
  // To try a policy on a copy of the state, in the order of the present one.
  struct Planned {
    ClusterOptions options;
    Chain chain;
  };
  Planned planned(const std::string& policy) const;
  void add_ahead(JobId id, Explanation& to) const;
  void add_reservation(const Job& job, Explanation& to) const;
  void try_remedies(JobId id, Explanation& to) const;
  std::string why_it_lasts(JobId id, const Job& job) const;
  std::string late_before(const JobSpec& spec) const;
  std::string start_unknown(const JobSpec& spec, JobId id, Instant start) const;
  LateEnds late_ends() const;
  Trial start_of_new(const JobSpec& spec) const;
  void open_mail();
  void post(const About& about, const std::string& job, const char* type, const std::string& what);
  void send_letters();
  static bool told_of_tasks(const About& about);
  void mail_of_start(JobId id);
  void mail_of_requeue(JobId id, bool was_stopped);
  void mail_of_end(const store::HistoryRow& row, const About& about);
  void watch_licences();
  void count_none_elsewhere();
  void counted(const std::vector<LicenceCount>& counts);

  boost::asio::io_context& io_;
  ServiceOptions options_;
  site::ServiceSettings settings_;
  ServiceLog log_;
  Desk desk_;
  std::unique_ptr<LicenceWatch> licence_watch_;
  std::unique_ptr<MailRoom> mail_;  // nullptr: this service sends none
  StateRoom room_;
  std::vector<Mail> letters_;     // of what is not durable yet
  std::set<std::int64_t> begun_;  // arrays whose first start was told, or was before
  JobBook book_;
  EventRing events_;
  PlannedStarts planned_starts_;
  PendingCounts pending_counts_;
  TimeShare trials_{1.0, 0.25};  // of what would let jobs start sooner
  mutable Contenders contenders_;
  std::map<NodeId, std::string> node_reasons_;
  std::map<NodeId, std::string> node_by_;
  std::map<NodeId, std::string> node_troubles_;                 // what went wrong when they were switched last
  std::map<ReservationId, ReservationNote> reservation_notes_;  // of those that operators made
  std::vector<std::uint32_t> operators_;
  std::vector<Ended> ended_;        // since the last commit, and jobs
  std::vector<JobId> left_;         // that have left for good
  Instant forgets_at_ = kEpoch;     // when to look again for what was kept long enough
  std::uint64_t compacted_at_ = 0;  // sequence number
  boost::asio::steady_timer tells_on_;
  std::function<void()> failed_;
  std::unique_ptr<Forecaster> forecaster_;
  std::unique_ptr<LiveEngine> engine_;  // goes first: it looks at all others
};

}  // namespace rota::serve
