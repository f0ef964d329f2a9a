// What the service answers over HTTP: docs/api.md.
#pragma once

#include <memory>
#include <optional>

#include "api/http.h"
#include "serve/service.h"

namespace rota::api {

// The service must outlive it.
Handler routes(serve::Service& service);

// Groups of them, each true where the request was its own.
struct Ask {
  serve::Service& service;
  const Request& request;
  const std::shared_ptr<Reply>& reply;
  std::vector<std::string_view> path;  // "/v1/jobs/12" is {"v1", "jobs", "12"}
};
void answer_jobs(const Ask& ask);
void answer_nodes(const Ask& ask);
void answer_history(const Ask& ask);
void answer_forecast(const Ask& ask);
void answer_status(const Ask& ask);
void answer_events(const Ask& ask);
void answer_metrics(const Ask& ask);

// Numbers of jobs that a selector names one by one, known or gone; 0 where it names none. Fails where it says more.
Result<std::vector<std::int64_t>> numbers_of(const Ask& ask, const std::string& selector);

// Sends the answer once all that was asked is durable.
void when_durable(const Ask& ask, Response response);
// What is asked for is not there.
void nothing_there(const Ask& ask);
// False after an answer that says so where the method is another.
bool only_get(const Ask& ask);
// A text of the query; nothing where it is not there or empty.
std::optional<std::string> text_of(const Ask& ask, const char* name);
inline constexpr std::int64_t kMostListed = 1000;  // jobs in one answer
// A whole number of the query, or `otherwise`; false after an answer that says what is wrong.
bool take_number(const Ask& ask, const char* name, std::int64_t& into);

}  // namespace rota::api
