// Rota beside a Slurm cluster, as a plain user that only reads. Every so often it asks Slurm for nodes and jobs, holds
// them against the state (mirror.h), and reports what differs. It carries out no command: jobs that Slurm has are not
// ours, so that none is ever sent. Nothing of Slurm's depends on it. Only where an operator has set a mode to `act`
// does it write, and that is what order_writer.h says.
#pragma once

#include <boost/asio/io_context.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "control/live_engine.h"
#include "control/manager_jobs.h"
#include "engine/slurm/mirror.h"
#include "engine/slurm/order_writer.h"
#include "engine/slurm/reader.h"

namespace rota::slurm {

struct SlurmOptions {
  Duration poll = seconds(30);
  Duration gap = seconds(1);  // between two commands
  std::string history = {};   // from when on a new state takes in what has ended, as sacct -S takes it; empty: nothing
  WriterOptions writer = {};  // of what is written, where a mode is set to act
  Duration reckons = seconds(300);  // Slurm reckons use and priorities anew so often
  std::string warning = {};         // what this user cannot see, as a sentence; empty: it sees all
};

class SlurmEngine final : public LiveEngine, private Alarm {
 public:
  struct Site {
    boost::asio::io_context& io;
    Loop& loop;
    ManagerJobs& jobs;
    std::function<Instant(std::int64_t unix_milliseconds)> instant_of;
  };
  SlurmEngine(const Site& site, SlurmOptions options);
  ~SlurmEngine() override;

  Result<void> open(Intake& intake, const Takeover& from) override;
  Capabilities capabilities() const override;
  void dispatch(const Command& command) override;
  Observation observe() const override { return {.complete = false, .jobs = {}, .nodes = {}}; }
  void settled(JobId /*job*/, std::uint32_t /*dispatch*/) override {}  // Slurm forgets by itself
  Result<void> signal(JobId job, int number) override;
  std::vector<std::string> warnings() const override;
  Result<void> health() const override;
  std::string instead_of(std::string_view wish) const override;
  Mandates* mandates() override { return &writer_; }
  std::optional<Readings> readings() const override;

 private:
  void ring() override;  // asks for nodes, reservations, jobs, and what has become of those that are listed no more
  void ask_history();
  void take_past();
  void ask_nodes();
  void ask_reservations();
  void ask_use();
  void ask_jobs();
  void take_jobs(const std::string& text, const std::string& mark, Instant asked);
  void ask_throttles(std::vector<std::int64_t> arrays, std::function<void()> then);
  void ask_missing(std::vector<std::string> missing, Instant asked);
  void end_survey(Instant asked);
  void fail_survey(const std::string& why);

  Site site_;
  SlurmOptions options_;
  Reader reader_;
  OrderWriter writer_;
  Intake* intake_ = nullptr;
  std::optional<Mirror> mirror_;
  bool wants_history_ = false;
  // Jobs that had ended before: taken in some at a time, so that the service answers meanwhile.
  struct Past {
    std::string text;  // which the rows look at
    std::vector<JobRow> rows = {};
    std::size_t taken = 0;
  };
  std::unique_ptr<Past> past_;
  Instant opened_ = kEpoch;
  Instant answered_ = kEpoch;  // when all was last read
  Instant asks_use_ = kEpoch;  // what users have used: not before
  std::string failure_;        // why it was not since; empty: it was
  Instant began_ = kEpoch;     // the reading that goes on
  Readings readings_;
};

}  // namespace rota::slurm
