// What the service answers over HTTP: docs/api.md.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "api/http.h"
#include "serve/service.h"

namespace rota::process {
class Worker;
}

namespace rota::api {

class PageDoor;
class Rehearser;
class Tokens;

// What requests are answered from. It must outlive them.
struct Sources {
  serve::Service& service;
  Tokens& tokens;
  process::Worker& worker;  // reads large bodies
  Rehearser& rehearser;     // takes seconds at a time
  PageDoor& door;

  serve::Answers& answers() const { return service.answers(); }
};
Handler routes(const Sources& sources);

// All that is answered: nothing else is. In a path "{id}" stands for one part. docs/openapi.json describes each of
// them.
struct Route {
  std::string_view method;
  std::string_view path;
  void (*answer)(const struct Ask& ask);
  std::string_view query = {};  // the members that its query may have, with blanks between them
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
void answer_sites(const Ask& ask);
void answer_accelerators(const Ask& ask);
void answer_accelerator(const Ask& ask);
void change_accelerator(const Ask& ask);
void answer_reservations(const Ask& ask);
void answer_history(const Ask& ask);
void answer_forecast(const Ask& ask);
void answer_shadow(const Ask& ask);
void answer_modes(const Ask& ask);
void set_mode(const Ask& ask);
void answer_events(const Ask& ask);
void answer_plan(const Ask& ask);
void answer_page(const Ask& ask);
void make_page_code(const Ask& ask);
void open_page_session(const Ask& ask);
void answer_metrics(const Ask& ask);
void answer_tokens(const Ask& ask);

// Has a question be only of what a selector means. Fails where that cannot be read, or names too many.
Result<void> narrow(const Ask& ask, const std::string& selector, store::HistoryQuery& query);

// What the client calls this request, if it does.
serve::RequestKey request_key(const Request& request);

// Sends the answer once all that was asked is durable.
void when_durable(const Ask& ask, Response response);
// What lists are filtered by beside a selector, each one or several with commas, in order; none: any.
struct ListFilters {
  std::vector<std::string> users;
  std::vector<std::string> partitions;
  std::vector<std::string> names;
  std::vector<std::string> states;  // in full
};
// Nothing after an answer that says what is wrong.
std::optional<ListFilters> read_list_filters(const Ask& ask);
// A text of the query; nothing where it is not there or empty.
std::optional<std::string> text_of(const Ask& ask, const char* name);
inline constexpr std::int64_t kMostListed = 1000;  // jobs in one answer
// A whole number of the query, where it is there; false after an answer that says what is wrong.
bool take_number(const Ask& ask, const char* name, std::int64_t& into);
// Takes a "yes" or "no" in the same way.
bool take_flag(const Ask& ask, const char* name, bool& into);

}  // namespace rota::api
