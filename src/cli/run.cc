// rota run: a command as a job, with its output on this terminal.
#include <array>
#include <csignal>
#include <memory>
#include <string>

#include "base/text.h"
#include "cli/command.h"
#include "cli/job_state.h"
#include "cli/printed.h"
#include "cli/submission.h"
#include "cli/watch.h"

namespace rota::cli {
namespace {

volatile std::sig_atomic_t caught = 0;  // the last signal
volatile std::sig_atomic_t times = 0;   // how many have come

void note(int signal) {
  caught = signal;
  times = times + 1;
}

void catch_signals() {
  struct sigaction action{};
  action.sa_handler = note;  // without SA_RESTART: a pause ends early
  for (const int signal : {SIGINT, SIGTERM}) ::sigaction(signal, &action, nullptr);
}

struct RunFlags {
  ServiceFlags service;
  Submission submission;
};

// A job that has been submitted, until it has ended.
class Run {
 public:
  Run(const Service& service, std::string id, bool errors_apart)
      : service_(service),
        id_(std::move(id)),
        output_(service, id_, "output"),
        errors_(service, id_, "error"),
        errors_apart_(errors_apart) {}

  Result<int> until_ended() {
    for (Pauses pauses;; pauses.pause()) {
      if (auto going_on = pass_signals_on(); !going_on) return std::unexpected(going_on.error());
      if (times > 1) return left_alone();
      const auto job = service_.get("/v1/jobs/" + percent_encoded(id_));
      if (!job) return std::unexpected(job.error());
      const std::string state = text_of(*job, "state");
      if (state == "PENDING") {
        tell_why(*job);
        continue;
      }
      const bool ended = has_ended(state);
      if (!ended || number_of(*job, "start") > 0) follow();
      if (ended) return tell_end(*job, state);
    }
  }

 private:
  Result<void> pass_signals_on() {
    if (times == 0 || cancelled_) return {};
    cancelled_ = true;
    remark("rota: cancelling job " + id_ + "; once more leaves it to itself.");
    const auto done = service_.post("/v1/jobs/cancel", Json{{"ids", id_}});
    if (!done) return std::unexpected(done.error());
    return {};
  }

  Result<int> left_alone() const {
    remark("rota: job " + id_ + " is left to itself; `rota job " + id_ + "` tells how it goes on.");
    constexpr int kSignals = 128;
    return kSignals + caught;
  }

  void tell_why(const Json& job) {
    const std::string why = text_of(job, "why");
    if (why == told_) return;
    told_ = why;
    remark("rota: job " + id_ + " waits: " + why);
  }

  // Output that cannot be had is told once; the job goes on without it.
  void follow() {
    if (unreadable_) return;
    auto done = output_.copy(stdout);
    if (done && errors_apart_) done = errors_.copy(stderr);
    if (!done) {
      unreadable_ = true;
      remark("rota: " + done.error().message);
    }
  }

  Result<int> tell_end(const Json& job, const std::string& state) const {
    const std::string message = text_of(job, "message");
    if (state != "COMPLETED" && (state != "FAILED" || !message.empty()))
      remark("rota: job " + id_ + " has ended: " + state + (message.empty() ? "." : ": " + message));
    return exit_code_of(job);
  }

  const Service& service_;
  std::string id_;
  JobOutput output_;
  JobOutput errors_;
  bool errors_apart_;
  bool cancelled_ = false;
  bool unreadable_ = false;
  std::string told_;
};

Result<int> run_job(const RunFlags& flags) {
  Submission submission = flags.submission;
  if (submission.words.empty() || submission.words.front() != "--")
    submission.words.insert(submission.words.begin(), "--");
  auto request = request_of(submission);
  if (!request) return std::unexpected(request.error());
  if (request->contains("array"))
    return fail("the output of an array cannot be followed as one; use `rota submit --wait`.");
  const Service service(flags.service);
  catch_signals();
  const auto answer = submit(service, *request);
  if (!answer) return std::unexpected(answer.error());
  return Run(service, text_of(*answer, "id"), request->contains("error")).until_ended();
}

}  // namespace

void add_run(CLI::App& app, Action& action) {
  auto flags = std::make_shared<RunFlags>();
  CLI::App* command = app.add_subcommand("run", "run a command as a job, with its output here");
  command->description(
      command->get_description() +
      "\nSubmits the command, waits for its start, shows what it writes and exits as it does. Its output is in a file "
      "like that of every job; its input is not this terminal's.");
  command->add_option("PROGRAM", flags->submission.words, "a program and its arguments")
      ->type_name("-- PROGRAM [ARG]...")
      ->required();
  flags->submission.declare(*command);
  flags->service.declare(*command);
  command->footer(
      "SIGINT (Ctrl-C) and SIGTERM cancel the job; a second one leaves it to itself. The exit code is the job's own, "
      "128 "
      "and the signal's number where a signal ended it, and 1 where it ended otherwise without one.\n\n"
      "Examples:\n"
      "  rota run -n 4 -t 10m -- make -j4\n"
      "  rota run -o result.txt -- ./solve input.dat");
  command->callback([&action, flags] {
    if (flags->submission.words == std::vector<std::string>{"--"}) throw CLI::RequiredError("PROGRAM");
    action = [flags] { return run_job(*flags); };
  });
}

}  // namespace rota::cli
