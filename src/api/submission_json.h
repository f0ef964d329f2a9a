// What people send in JSON: submissions and changes.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "control/mandates.h"
#include "serve/accelerator_desk.h"
#include "serve/job_change.h"
#include "serve/reservation_desk.h"

namespace rota::api {

struct SubmissionRequest {
  std::vector<JobRequest> submissions;
  bool many = false;  // they came as an array
};

// Fails with a sentence that names the member. `unix_start`: of instant 0.
Result<SubmissionRequest> read_submissions(const std::string& body, std::int64_t unix_start);

struct ChangeRequest {
  std::string ids;
  serve::JobChange change;
};
Result<ChangeRequest> read_change(const std::string& action, const std::string& body, std::int64_t unix_start);

// `by` is not in it.
Result<serve::ReservationDesk::Wish> read_reservation(const std::string& body, std::int64_t unix_start);

struct TokenRequest {
  std::string user;  // empty: the user that asks
  bool operates = false;
  bool read_only = false;
  std::optional<std::int64_t> life = {};  // seconds
  std::string comment;
};
Result<TokenRequest> read_token_request(const std::string& body, std::int64_t longest_life);

// What an accelerator container says of itself.
Result<serve::AcceleratorCard> read_accelerator_card(const std::string& body);

// Whether an operator's rights are asked for, as of an address of the page.
Result<bool> read_operator_wish(const std::string& body);

// A mode that an operator sets; `mechanism` and `by` are not in it.
Result<Mandates::Wish> read_mode_wish(const std::string& body);

// Members of a flat object that are texts, each of which may be there and no others.
Result<std::map<std::string, std::string>> read_texts(const std::string& body,
                                                      const std::vector<std::string_view>& names);

}  // namespace rota::api
