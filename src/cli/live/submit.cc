// rota submit: a script or a command becomes a job.
#include <fmt/core.h>

#include <unistd.h>

#include <memory>
#include <string>

#include "cli/command.h"
#include "cli/live/background.h"
#include "cli/live/job_state.h"
#include "cli/live/submission.h"
#include "cli/live/watch.h"
#include "cli/printed.h"
#include "cli/when.h"

namespace rota::cli {
namespace {

struct SubmitFlags {
  ServiceFlags service;
  Submission submission;
  bool wait = false;
  bool test_only = false;
  bool parsable = false;
};

std::string tried_text(const Json& answer) {
  const std::string head = "Nothing was submitted. The job could run";
  const std::string why = text_of(answer, "why");
  const std::string tail = (why.empty() ? "" : " " + why) + "\n";
  const std::string starts = "; as things stand it would start at ";
  if (has_number(answer, "expected_start"))
    return fmt::format("{}{}{}.{}", head, starts, time_text(number_of(answer, "expected_start")), tail);
  if (has_number(answer, "at_the_latest"))
    return fmt::format("{}{}{} at the latest.{}", head, starts, time_text(number_of(answer, "at_the_latest")), tail);
  const std::string unknown = text_of(answer, "start_unknown");
  return fmt::format("{}; when, is not known{}.{}", head, unknown.empty() ? "" : ": " + unknown, tail);
}

Result<int> submit_job(const SubmitFlags& flags) {
  auto request = TRY(request_of(flags.submission));
  if (flags.test_only) {
    request["dry_run"] = true;
  } else
    TRY(have_service(flags.service.address));
  const Service service(flags.service);
  const auto answer = TRY(submit(service, request));
  const std::string id = text_of(answer, "id");
  const std::string said = flags.service.json ? shown_json(answer)
                           : flags.test_only  ? tried_text(answer)
                           : flags.parsable   ? id + "\n"
                                              : fmt::format("Submitted job {}\n", id);
  const bool waits = flags.wait && !flags.test_only;
  if (!waits || !flags.service.json) {
    if (auto told = printed(said); !told || !waits) return told;
  }
  std::vector<std::string> ids;
  for (const Json& job : list_of(answer, "jobs")) ids.push_back(job.is_string() ? job.get<std::string>() : "");
  const auto ended = ended_jobs(service, ids);
  if (!ended && flags.service.json) {  // it was submitted all the same
    if (auto told = printed(said); !told) return told;
  }
  if (!ended) return std::unexpected(ended.error());
  if (flags.service.json) {
    Json whole = answer;
    whole["ended"] = *ended;
    return printed(shown_json(whole), worst_exit_code(*ended));
  }
  tell_what_was_said(service, *ended);
  return worst_exit_code(*ended);
}

}  // namespace

void add_submit(Command app, Action& action) {
  auto flags = std::make_shared<SubmitFlags>();
  Command command = app.add_subcommand("submit", "submit a script or a command as a job");
  command.description(
      "The job begins in this folder, with this environment. Where no service runs and none is named, one is started "
      "for a user who is not root, unless ROTA_START=no. A script may ask for itself: lines that begin with "
      "#ROTA "
      "at its top have the same options, and #SBATCH lines are read as Slurm reads them. The command line goes before "
      "both.");
  command.add_rest("SCRIPT", "SCRIPT [ARG]... or -- PROGRAM [ARG]...", flags->submission.words,
                   "a script with its arguments (-, or nothing where no terminal is: standard input), or a command");
  flags->submission.declare(command);
  command.add_option("--wrap", flags->submission.wrap, "a line of shell in place of a script").type_name("TEXT");
  command.add_flag("-W,--wait", flags->wait, "wait until the job has ended, and exit as it did");
  command.add_flag("--test-only", flags->test_only,
                   "submit nothing: say whether it could run, and when it would start");
  command.add_flag("--parsable", flags->parsable, "print the id alone");
  flags->service.declare_json(command);
  command.footer(
      "With --wait the exit code is the job's own, 128 and the signal's number where a signal ended it, and 1 where it "
      "ended otherwise without one or can never start, since a job before it failed; of an array the largest. With "
      "--json too, "
      "what is printed comes once all have ended, and tells in `ended` how.\n\n"
      "Examples:\n"
      "  rota submit -n 8 -t 2h -p batch model.sh input.nc\n"
      "  rota submit --name sweep --array 1-100%10 -- ./point --index\n"
      "  rota submit --wait --wrap 'make && make check'\n"
      "  rota submit --dependency afterok:12 collect.sh");
  command.callback([&action, flags] {
    auto& words = flags->submission.words;
    if (words.empty() && flags->submission.wrap.empty() && ::isatty(STDIN_FILENO) == 0) words = {"-"};
    if (flags->submission.wrap.empty() && (words.empty() || (words.size() == 1 && words.front() == "--")))
      throw UsageError{"SCRIPT", true};
    action = [flags] { return submit_job(*flags); };
  });
}

}  // namespace rota::cli
