// The order of Rota's for jobs that Slurm starts. After each survey it works out which site factors would put the
// waiting jobs of a partition into the wanted order (site_factors.h), and where the mode is `act` writes those that
// differ, by `scontrol update`. What is to be written is logged first, and every command looks for its grant
// (mandate_folder.h): if the service ends at any moment, `rota undo` knows what to take back. One thread: that of the
// io_context.
#pragma once

#include <boost/asio/io_context.hpp>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "control/manager_jobs.h"
#include "control/mandates.h"
#include "control/ports.h"
#include "engine/slurm/job_rows.h"
#include "engine/slurm/mandate_folder.h"
#include "engine/slurm/reader.h"
#include "engine/slurm/site_factors.h"
#include "model/machine.h"

namespace rota::slurm {

struct WriterOptions {
  std::string folder = {};       // of modes and the log
  std::string take_back = {};    // the command that takes back what no mandate covers, for /bin/sh
  Duration gap = seconds(1);     // between two commands that read
  Duration write_gap{200};       // and two that write
  Duration round = seconds(30);  // so long a round may write: then all is looked at anew
};

class OrderWriter final : public Mandates, private Alarm {
 public:
  struct Uses {
    boost::asio::io_context& io;
    Loop& loop;
    ManagerJobs& jobs;
    std::function<const Machine&()> machine;
  };
  OrderWriter(Uses uses, WriterOptions options);
  ~OrderWriter() override;

  // Reads what an earlier life left. Fails with a sentence.
  Result<void> open();
  void listed(const std::vector<JobRow>& rows);  // all that Slurm has now
  void surveyed();                               // and the state has it, too: a round begins
  void beat() const { folder_.beat(); }          // the service lives, also where Slurm does not answer
  // What an operator ought to know, as a sentence; empty: nothing.
  std::string trouble() const;

  void set(Wish wish, Call call) override;
  Report report() const override;

 private:
  enum class Step : std::uint8_t { idle, reading, writing, taking_back };
  struct Write {
    std::string partition;
    std::string grant;
    std::uint32_t by = 0;
    std::int64_t job = 0;
    std::int64_t from = 0, to = 0;
    std::string why = {};
  };

  void ring() override;  // the next command that writes
  Result<void> look_at_folder();
  bool acts() const;
  bool owes_take_back(std::int64_t now) const;
  void begin_take_back();
  Result<void> plan(const std::string& text);
  void plan_for(const Mandate& mandate, const std::vector<ManagerTurn>& order, const std::vector<PriorityRow>& rows);
  void say_places(const std::vector<PriorityRow>& rows);
  static LogLine line_of(LogEvent event, const Write& write, std::string why);
  Result<void> log_and_write();
  void wrote(const std::vector<Write>& writes, int code, const std::string& output);
  void end_round();
  void count_failure(const Write& write, const std::string& why);
  Result<void> fall(const std::string& why);
  std::string wrong_in(const Wish& wish) const;
  void check_rights();
  void check_level(const std::string& user);
  void answer(const Result<void>& result);
  Result<void> apply(const Wish& wish);

  Uses use_;
  WriterOptions options_;
  MandateFolder folder_;
  Reader reader_, asking_;
  Step step_ = Step::idle;
  std::vector<Mandate> modes_;
  Written written_;
  std::int64_t log_end_ = 0;                      // that it was read, or written, up to
  std::map<std::int64_t, std::int64_t> records_;  // Slurm's number of the record, by that of the job
  std::set<std::int64_t> known_;                  // records that it lists, also of what has ended a while ago
  std::vector<Advice> advice_;
  std::map<std::int64_t, std::int64_t> advised_;  // factors by record, of those that advise or act
  std::vector<Write> planned_;
  std::deque<Write> queue_;
  std::unique_ptr<process::SiteCommand> command_;
  std::deque<Instant> failures_;
  struct Wished {
    Wish wish;
    Call call;
    bool may = false;  // all has been asked
  };
  std::unique_ptr<Wished> wished_;
  struct Shown {
    std::int64_t looked = 0, written = 0;
    std::string trouble = {};
  } shown_;
};

}  // namespace rota::slurm
