// rota run: a command as a job at this terminal.
#include <fmt/core.h>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <memory>
#include <optional>
#include <string>

#include "base/text.h"
#include "cli/command.h"
#include "cli/live/attached.h"
#include "cli/live/background.h"
#include "cli/live/job_state.h"
#include "cli/live/submission.h"
#include "cli/live/watch.h"
#include "cli/printed.h"
#include "cli/when.h"
#include "process/descriptor.h"

namespace rota::cli {
namespace {

using Event = Attached::Event;

constexpr int kSignals = 128;  // and a signal's number: the exit code of what it ended

struct RunFlags {
  ServiceFlags service;
  Submission submission;
  bool terminal = false;
  bool pipes = false;
  bool keep = false;
};

// How a job ended, where its exit code does not say it; "" where it does.
std::string end_of(const Json& job) {
  const std::string state = text_of(job, "state");
  const int signal = static_cast<int>(std::clamp(number_of(job, "signal"), 0.0, 127.0));
  if (state == "COMPLETED") return "";
  if (state == "TIMEOUT")
    return "was ended at its time limit" +
           (has_number(job, "limit") ? " of " + run_text(number_of(job, "limit")) : std::string());
  if (state == "CANCELLED") return "was cancelled";
  if (state == "NODE_FAIL") return "was lost with its node or its supervisor";
  if (state == "OUT_OF_MEMORY") return "was ended because it took more memory than it had asked for";
  if (signal != 0) {
    const char* const name = ::sigabbrev_np(signal);
    return fmt::format("was ended by signal {}{}", signal, name ? fmt::format(" (SIG{})", name) : std::string());
  }
  return text_of(job, "message").empty() ? "" : "has failed";
}

// A job that has been submitted, until it has ended.
class Run {
 public:
  Run(const Service& service, process::Descriptor listener, std::string id, bool keep)
      : service_(service), listener_(std::move(listener)), id_(std::move(id)), keep_(keep) {
    struct stat file{};
    if (::stat(service.socket().c_str(), &file) == 0) service_uid_ = file.st_uid;
  }

  Result<int> until_ended() {
    while (true) {
      auto code = TRY(started() ? attached() : waited());
      if (code) return *code;
    }
  }

 private:
  using Step = Result<std::optional<int>>;  // the exit code, once it is known

  // The supervisor's connection, if it has come.
  bool started() {
    socket_ = process::accept_from(listener_.get(), service_uid_);
    return static_cast<bool>(socket_);
  }

  // One look at a job that has not come here.
  Step waited() {
    pollfd files[] = {{listener_.get(), POLLIN, 0}, {signals_.file(), POLLIN, 0}};
    const int ready = ::poll(files, 2, pause_);
    if (files[1].revents != 0) {
      while (const auto signal = signals_.next()) {
        if (*signal != SIGWINCH && *signal != SIGCONT) return given_up(*signal);
      }
    }
    if (ready != 0) return std::nullopt;
    constexpr int kLongestPause = 1000;
    pause_ = std::min(pause_ * 3 / 2, kLongestPause);
    const auto job = service_.get("/v1/jobs/" + percent_encoded(id_));
    if (!job) {
      tell_once(fmt::format("{} Job {} is waited for all the same.", job.error().message, id_));
      return std::nullopt;
    }
    const std::string state = text_of(*job, "state");
    if (has_ended(state)) return tell_end(*job);
    if (const std::string waits = why_it_waits(*job); !waits.empty()) tell_once(waits);
    return std::nullopt;
  }

  // A signal while it waits: there is nothing to pass it on to.
  Step given_up(int signal) {
    remark(fmt::format("rota: cancelling job {}.", id_));
    TRY(cancel());
    return kSignals + signal;
  }

  Result<void> cancel() {
    const auto done = service_.post("/v1/jobs/cancel", Json{{"ids", id_}});
    return done ? Result<void>() : std::unexpected(done.error());
  }

  // From its start to its end, or until it is to be queued again or goes on elsewhere.
  Step attached() {
    Attached here;
    if (auto opened = here.open(std::move(socket_)); !opened) {
      tell_once(opened.error().message);
      return std::nullopt;
    }
    if (!told_.empty()) here.say(fmt::format("rota: job {} has started.", id_));
    while (true) {
      switch (here.copy(signals_)) {
        case Event::told:
          tell_news(here);
          break;
        case Event::again:
          here.say(fmt::format("rota: job {} was interrupted; once more within a second cancels it.", id_));
          break;
        case Event::help:
          here.say(
              fmt::format("rota: at the beginning of a line, ~. cancels job {}, ~~ is a tilde, ~? says this.", id_));
          break;
        case Event::cancel:
          here.say(fmt::format("rota: cancelling job {}.", id_));
          if (const auto done = cancel(); !done) return hung_up(here, done.error().message);
          here.hang_up_soon();
          break;
        case Event::hung_up:
          return kSignals + SIGHUP;
        case Event::over:
          tell_asked(here);
          return over(here.news());
      }
    }
  }

  // Without a service the job can still be ended: by leaving it.
  Step hung_up(const Attached& here, const std::string& why) {
    here.say(fmt::format("rota: {}{}", why,
                         keep_ ? fmt::format(" Job {} goes on.", id_) : fmt::format(" Job {} is hung up on.", id_)));
    return kSignals + SIGHUP;
  }

  void tell_news(const Attached& here) {
    const AttachNews& news = here.news();
    const auto say = [&](const std::string& what) { here.say(fmt::format("rota: job {} {}", id_, what)); };
    if (news.phase == RunPhase::suspended) say("is suspended.");
    if (news.phase == RunPhase::runs && before_.phase == RunPhase::suspended) say("goes on.");
    if (news.phase == RunPhase::runs) tell_asked(here);
    before_ = news;
  }

  // Why it is to end. That it has ended may be heard at the same time.
  void tell_asked(const Attached& here) {
    const Asked asked = here.news().asked;
    if (before_.asked == asked) return;
    if (asked == Asked::limit)
      here.say(fmt::format("rota: job {} has reached its time limit and is being ended.", id_));
    if (asked == Asked::cancel) here.say(fmt::format("rota: job {} is being cancelled.", id_));
  }

  // Its processes are gone. How that counts the service says, once it has heard of it; without a service the
  // supervisor's word holds.
  Step over(const AttachNews& news) {
    before_ = {};
    told_.clear();
    if (news.asked == Asked::requeue || news.asked == Asked::vacate) {
      remark(fmt::format("rota: job {} was stopped and is queued again; what it read of its input is gone.", id_));
      pause_ = kFirstPause;
      return std::nullopt;
    }
    if (news.asked == Asked::move) {
      remark(
          fmt::format("rota: job {} moves to another node and goes on there; what it read of its input is gone.", id_));
      pause_ = kFirstPause;
      return std::nullopt;
    }
    constexpr int kLooks = 40;
    for (int look = 0, pause = 5; look < kLooks; ++look) {
      const auto job = service_.get("/v1/jobs/" + percent_encoded(id_));
      if (job && has_ended(text_of(*job, "state"))) return tell_end(*job);
      if (job && text_of(*job, "state") == "PENDING") return std::nullopt;  // queued again: its supervisor was killed
      constexpr int kLongest = 250;
      pause = std::min(pause * 3 / 2, kLongest);
      ::poll(nullptr, 0, pause);
    }
    remark(fmt::format("rota: the service does not say how job {} ended; `rota job {}` will tell once it answers.", id_,
                       id_));
    if (news.phase != RunPhase::ended) return kFailed;
    return WIFSIGNALED(news.status) ? kSignals + WTERMSIG(news.status) : WEXITSTATUS(news.status);
  }

  void tell_once(const std::string& sentence) {
    if (sentence == told_) return;
    told_ = sentence;
    remark("rota: " + sentence);
  }

  int tell_end(const Json& job) const {
    const std::string how = end_of(job);
    const std::string message = text_of(job, "message");
    if (!how.empty()) remark(fmt::format("rota: job {} {}{}", id_, how, message.empty() ? "." : ": " + message));
    return exit_code_of(job);
  }

  static constexpr int kFirstPause = 100;  // milliseconds: a job that starts at once is not said to wait

  const Service& service_;
  process::Descriptor listener_;
  std::string id_;
  bool keep_;
  uid_t service_uid_ = ::geteuid();  // the service's user
  CaughtSignals signals_;
  process::Descriptor socket_;
  AttachNews before_;
  std::string told_;
  int pause_ = kFirstPause;
};

// With the name at which its supervisor finds this process.
Result<Json> attach_member(const RunFlags& flags, const Json& request, const std::string& name) {
  const bool files = request.contains("input") || request.contains("output");
  const Attach here = attach_here(!flags.pipes && !files);
  if (flags.terminal && !here.terminal)
    return fail(files ? "--pty is for a job whose input and output are this terminal; leave -i and -o out."
                      : "--pty is for a terminal, and input and output here are none; leave it out.");
  return Json{{"socket", name},     {"terminal", here.terminal}, {"error_apart", here.error_apart},
              {"keep", flags.keep}, {"rows", here.rows},         {"columns", here.columns}};
}

Result<int> run_job(const RunFlags& flags) {
  Submission submission = flags.submission;
  if (submission.words.empty() || submission.words.front() != "--")
    submission.words.insert(submission.words.begin(), "--");
  auto request = TRY(request_of(submission));
  TRY(have_service(flags.service.address));
  const Service service(flags.service);
  if (service.remote())
    return fail(
        "a job can be attached only on the computer of the service, and {} is asked over the network; use `rota submit "
        "--wait`.",
        service.shown());
  const std::string name = process::unguessable_name();
  process::Descriptor listener = process::listen_at(name);
  if (!listener) return fail("A job cannot be waited for here: {}.", std::strerror(errno));
  auto attach = TRY(attach_member(flags, request, name));
  request["attach"] = std::move(attach);
  const auto answer = TRY(submit(service, request));
  return Run(service, std::move(listener), text_of(answer, "id"), flags.keep).until_ended();
}

// As `rota submit` has them, but for what makes no sense at a terminal.
void declare_options(Command command, SubmitValues& values) {
  for (SubmitOption option : submit_options()) {
    if (option.key == "array") continue;
    if (option.key == "name") option.meaning = "name; without: the command's";
    if (option.key == "output")
      option.meaning = "a file in place of this output; %j stands for the id; with --keep, without: rota-%j.out";
    if (option.key == "error") option.meaning = "a file for its errors; without: where output goes";
    if (option.key == "input") option.meaning = "a file in place of this input";
    Option declared = declare_submit_option(command, values, option);
    if (!option.value.empty()) declared.take_last();
  }
}

}  // namespace

void add_run(Command app, Action& action) {
  auto flags = std::make_shared<RunFlags>();
  Command command = app.add_subcommand("run", "run a command as a job, at this terminal");
  command.description(
      "Submits the command, waits for its start, and is its input and output then: a terminal where "
      "this is one, else pipes. Exits as the job does.");
  command.add_rest("PROGRAM", "-- PROGRAM [ARG]...", flags->submission.words, "a program and its arguments");
  declare_options(command, flags->submission.values);
  command.add_flag("--pty", flags->terminal, "insist on a terminal for the job; without: where this is one");
  command.add_flag("--pipes", flags->pipes, "give the job pipes, even where this is a terminal").excludes("--pty");
  command.add_flag("--keep", flags->keep,
                   "let the job go on if this command is killed or its terminal is closed; what it writes then goes "
                   "to its output file");
  flags->service.declare(command);
  command.footer(
      "At a terminal all keys are the job's, Ctrl-C as well; at the beginning of a line ~. cancels it, and ~? tells "
      "more. Without one, SIGINT, SIGTERM, SIGQUIT, SIGUSR1 and SIGUSR2 are passed on to it, and a second SIGINT "
      "within "
      "a second cancels it. While it waits any of them cancels it. With -i or -o the job has files in place of its "
      "input, or its output and errors.\n\n"
      "The exit code is the job's own, 128 and the signal's number where a signal ended it, and 1 where it ended "
      "otherwise without one.\n\n"
      "Examples:\n"
      "  rota run -n 4 -t 10m -- make -j4\n"
      "  rota run -n 2 -t 8h -- bash\n"
      "  zcat input.gz | rota run -- ./solve > result.txt");
  command.callback([&action, flags] {
    const auto& words = flags->submission.words;
    if (words.empty() || (words.size() == 1 && words.front() == "--")) throw UsageError{"PROGRAM", true};
    action = [flags] { return run_job(*flags); };
  });
}

}  // namespace rota::cli
