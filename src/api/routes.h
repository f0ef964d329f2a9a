// What the service answers over HTTP: docs/api.md.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "api/http.h"
#include "serve/service.h"

namespace rota::api {

class Tokens;
class Worker;

// What requests are answered from. It must outlive them.
struct Sources {
  serve::Service& service;
  Tokens& tokens;
  Worker& worker;     // reads large bodies
  Worker& rehearser;  // takes seconds at a time
};
Handler routes(const Sources& sources);

// All that is answered: nothing else is. In a path "{id}" stands for one part. docs/openapi.json describes each of
// them.
struct Route {
  std::string_view method;
  std::string_view path;
  void (*answer)(const struct Ask& ask);
};
std::span<const Route> route_table();

// One request to one of them.
struct Ask : Sources {
  const Request& request;
  const std::shared_ptr<Reply>& reply;
  std::vector<std::string_view> path;  // "/v1/jobs/12" is {"v1", "jobs", "12"}
};
void list_jobs(const Ask& ask);
void submit_jobs(const Ask& ask);
void change_jobs(const Ask& ask);
void answer_job(const Ask& ask);
void answer_job_text(const Ask& ask);  // its script, or its environment
void answer_job_output(const Ask& ask);
void explain_job(const Ask& ask);
void answer_nodes(const Ask& ask);
void change_nodes(const Ask& ask);
void answer_partitions(const Ask& ask);
void answer_licences(const Ask& ask);
void answer_reservations(const Ask& ask);
void answer_history(const Ask& ask);
void answer_forecast(const Ask& ask);
void answer_events(const Ask& ask);
void answer_plan(const Ask& ask);
void answer_page(const Ask& ask);
void answer_metrics(const Ask& ask);
void answer_tokens(const Ask& ask);

// Numbers of jobs that a selector names one by one, known or gone; 0 where it names none. Fails where it says more.
Result<std::vector<std::int64_t>> numbers_of(const Ask& ask, const std::string& selector);

// Sends the answer once all that was asked is durable.
void when_durable(const Ask& ask, Response response);
// One or several with commas.
std::vector<std::string> states_of(const Ask& ask);
// A text of the query; nothing where it is not there or empty.
std::optional<std::string> text_of(const Ask& ask, const char* name);
inline constexpr std::int64_t kMostListed = 1000;  // jobs in one answer
// A whole number of the query, where it is there; false after an answer that says what is wrong.
bool take_number(const Ask& ask, const char* name, std::int64_t& into);

}  // namespace rota::api
