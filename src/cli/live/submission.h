// What `rota submit` and `rota run` send: a script or a command, what is asked for it, and whence.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/command_line.h"
#include "cli/live/service.h"
#include "cli/live/submit_options.h"

namespace rota::cli {

struct Submission {
  SubmitValues values;             // of the command line
  std::vector<std::string> words;  // "--" and a command, or a script and its arguments; not empty without `wrap`
  std::string wrap;                // shell text in place of both
  bool anyway = false;             // also where a script asks for what Rota has not, and needs it

  void declare(Command command);  // the options of a job; `words` is each command's own
};

// The JSON of POST /v1/jobs. What was not taken from a script is told on standard error; what it needs and Rota has not
// is an error, unless it is to be submitted anyway.
Result<Json> request_of(const Submission& submission);

// A key under which a request can be sent again without a second job, or reservation, coming of it.
std::string fresh_key();

// Submits, and gives the service's answer with its ids.
Result<Json> submit(const Service& service, const Json& request);

}  // namespace rota::cli
