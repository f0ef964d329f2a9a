#include "api/job_output.h"

#include <fmt/core.h>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "api/job_json.h"
#include "base/file.h"
#include "base/text.h"

namespace rota::api {
namespace {

// Its files have been opened.
bool has_begun(const Job& job) { return job.start != kNever && !job.starting; }

// How a job has ended that did not end well, as a sentence with a blank before it.
std::string end_of(const nlohmann::json& job) {
  const std::string state = job.value("state", ""), message = job.value("message", "");
  if (message.empty()) return "";
  return fmt::format(" It has ended as {}: {}", state, message);
}

Response answer(const std::string& shown, const std::string& path, OutputReader::Piece piece, bool over,
                const std::string& end) {
  const std::string output = fmt::format("the output of job {}, {}, ", shown, shown_path(path));
  if (piece.error == ETIMEDOUT)
    return problem(
        503, fmt::format("{}could not be read in {} seconds: its file system does not answer. Ask again later.", output,
                         kReadPatience.count()));
  if (piece.error == EAGAIN) return busy(output + "could not be read just now; ask again.");
  if (piece.error == ENOENT && !over) piece.error = 0;  // it has not begun yet
  if (piece.error != 0) {
    return problem(404, fmt::format("{}cannot be read: {}.{}", output,
                                    piece.error == EINVAL ? "it is no plain file" : std::strerror(piece.error), end));
  }
  return {200,
          "application/octet-stream",
          std::move(piece.bytes),
          {{"Rota-Size", std::to_string(piece.size)}, {"Rota-Ended", over ? "yes" : "no"}}};
}

}  // namespace

void send_output(const Ask& ask, JobId id) {
  const serve::Answers& answers = ask.answers();
  const auto known = answers.known(id);
  nlohmann::json job = nlohmann::json::object();
  if (known) {
    job = job_json(answers, id, Detail::listed, true);
  } else if (const auto row = answers.jobs().history_of(id); row && *row) {
    job = job_json(answers, **row);
    if (!(*row)->reason.empty()) job["message"] = (*row)->reason;
  }
  const std::string shown = job.value("id", std::string(ask.path[2]));
  const auto kept = answers.jobs().about(id);
  if (!kept) return ask.reply->send(problem(503, kept.error().message));
  if (!*kept) return ask.reply->send(problem(404, fmt::format("where job {} wrote to is not known any more.", shown)));
  if (!ask.request.caller.may_see_inside((*kept)->about.uid)) {
    return ask.reply->send(problem(403, fmt::format("job {} is {}'s; only its user or an operator may see its output.",
                                                    shown, (*kept)->about.user)));
  }
  std::int64_t from = 0;
  if (!take_number(ask, "from", from)) return;
  const std::string stream = text_of(ask, "stream").value_or("output");
  const bool error = stream == "error";
  if (!error && stream != "output")
    return ask.reply->send(problem(400, fmt::format("`stream` takes output or error, not {}.", rota::quoted(stream))));
  const bool over = !known || known->job.gone();
  if (!over && !has_begun(known->job))  // what may be in the file is not its own
    return ask.reply->send({200, "application/octet-stream", "", {{"Rota-Size", "0"}, {"Rota-Ended", "no"}}});
  add_inside(answers, id, **kept, job);
  if (over && !job.contains("start") && !job.contains("restarts"))
    return ask.reply->send(
        problem(404, fmt::format("job {} has ended as {} without ever running, so it has no output.{}", shown,
                                 job.value("state", ""), end_of(job))));
  if (!job.contains(error && job.contains("error") ? "error" : "output"))
    return ask.reply->send(
        problem(404, fmt::format("job {} writes to the terminal of who runs it, and to no file.", shown)));
  const std::string path = error && job.contains("error") ? job["error"] : job["output"];
  OutputReader* reader = answers.output_reader();
  if (reader == nullptr)
    return ask.reply->send(
        problem(404, fmt::format("the files of job {} are not on this computer; read {} where the job has run.", shown,
                                 shown_path(path))));
  const bool begun =
      reader->begin({id, (*kept)->about.uid, (*kept)->about.gid, (*kept)->about.user, path, from},
                    [path, over, shown, end = over ? end_of(job) : "", reply = ask.reply](OutputReader::Piece piece) {
                      reply->send(answer(shown, path, std::move(piece), over, end));
                    });
  if (!begun)
    ask.reply->send(busy(fmt::format(
        "the output of job {}, or of other jobs of its user, is being read by too many already; ask again in a moment.",
        shown)));
}

}  // namespace rota::api
