#include "api/submission_json.h"

#include <fmt/core.h>
#include <algorithm>
#include <cmath>
#include <concepts>
#include <functional>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "base/json_bytes.h"
#include "base/json_names.h"
#include "base/json_size.h"
#include "base/text.h"
#include "model/job_request.h"
#include "model/job_terms.h"
#include "serve/member_json.h"
#include "serve/request_json.h"

namespace rota::api {
namespace {

using serve::JobChange;
using serve::Json;
using serve::read_value;
using serve::read_wish;
using serve::take_date;
using serve::take_number;
using serve::take_seconds;
using serve::unknown_member;

constexpr std::size_t kMostSubmissions = 100'000;
constexpr std::size_t kDeepest = 8;             // arrays and objects within each other: a batch of submissions has 3
constexpr std::size_t kMostMembers = 100;       // of one object: a submission has half of that at the most
constexpr std::size_t kMostValues = 1'500'000;  // of one body: some 200 MB at the most

Result<void> check_size(std::string_view body) {
  switch (json_size(body, kDeepest, kMostValues)) {
    case JsonSize::too_deep:
      return fail(
          "the request's body is nested more than {} deep, which nothing here needs; send what docs/api.md describes.",
          kDeepest);
    case JsonSize::too_many:
      return fail("the request's body has more than {} values; split it.", grouped(kMostValues));
    case JsonSize::within:
      break;
  }
  return {};
}

Result<Json> parse(const std::string& body) {
  TRY(check_size(body));
  JsonNames<Json> names(kMostMembers);
  Json json = json_from<Json>(body, std::ref(names));
  if (names.too_many())
    return fail(
        "an object in the request's body has more than {} members, which nothing here has; send what docs/api.md "
        "describes.",
        grouped(kMostMembers));
  if (json.is_discarded()) return fail("the request's body is no JSON.");
  if (names.twice())
    return fail("the member {} stands twice in one object, and it is not known which of the two counts; send it once.",
                rota::quoted(*names.twice()));
  return json;
}

template <class T, class Into>
struct Changeable {
  T JobRequest::* wish;
  Into JobChange::* into;
};
template <class T, class Into>
Changeable(T JobRequest::*, Into JobChange::*) -> Changeable<T, Into>;

// Wishes that `update` changes, read as those of a new job; beside these labels, licences and the throttle of an array.
constexpr std::tuple kChangeable{Changeable{&JobRequest::limit, &JobChange::limit},
                                 Changeable{&JobRequest::priority, &JobChange::priority},
                                 Changeable{&JobRequest::partition, &JobChange::partition},
                                 Changeable{&JobRequest::begin, &JobChange::begin},
                                 Changeable{&JobRequest::name, &JobChange::name},
                                 Changeable{&JobRequest::processors, &JobChange::processors},
                                 Changeable{&JobRequest::nodes, &JobChange::nodes},
                                 Changeable{&JobRequest::memory, &JobChange::memory},
                                 Changeable{&JobRequest::tasks, &JobChange::tasks},
                                 Changeable{&JobRequest::tasks_per_node, &JobChange::tasks_per_node}};

// visit(Changeable, name of the wish).
void each_changeable(const auto& visit) {
  const auto named = [&]<class T>(T JobRequest::* member) {
    std::string_view name;
    each_wish([&](const auto& wish) {
      if constexpr (std::same_as<decltype(wish.member), T JobRequest::*>) {
        if (wish.member == member) name = wish.name;
      }
    });
    return name;
  };
  std::apply([&](const auto&... row) { (visit(row, named(row.wish)), ...); }, kChangeable);
}

Result<void> read_update(const std::string& name, const Json& value, std::int64_t unix_start, JobChange& change) {
  if (name == "throttle")
    return take_number(value, change.throttle.emplace(), 0, INT32_MAX) ? Result<void>{}
                                                                       : serve::wrong_member(name, "a whole number");
  JobRequest asked;
  if (name == "licence" || name == "licences" || name == "more_licences") {
    TRY(read_wish(name, value, unix_start, asked));
    if (!change.licences) change.licences.emplace();
    if (name == "licence") change.licences->licence = std::move(asked.licence);
    if (name == "licences") change.licences->licences = asked.licences;
    if (name == "more_licences") change.licences->more_licences = std::move(asked.more_licences);
    return {};
  }
  if (const auto kept = labels(); std::ranges::find(kept, name) != kept.end()) {
    TRY(read_wish(name, value, unix_start, asked));
    change.labels.emplace_back(name, value.get<std::string>());
    return {};
  }
  bool known = false;
  std::vector<std::string_view> names = labels();
  for (const char* other : {"throttle", "licence", "licences", "more_licences", "ids"}) names.emplace_back(other);
  each_changeable([&](const auto&, std::string_view row) {
    known = known || row == name;
    names.push_back(row);
  });
  if (!known) return unknown_member(name, names);
  TRY(read_wish(name, value, unix_start, asked));
  each_changeable([&](const auto& row, std::string_view wish) {
    if (wish == name) change.*row.into = asked.*row.wish;
  });
  return {};
}

}  // namespace

Result<SubmissionRequest> read_submissions(const std::string& body, std::int64_t unix_start) {
  const auto json = TRY(parse(body));
  SubmissionRequest request;
  request.many = json.is_array();
  const std::size_t count = request.many ? json.size() : 1;
  if (count > kMostSubmissions) return fail("one request submits 100,000 jobs at most; split it.");
  for (std::size_t i = 0; i < count; ++i) {
    auto submission = serve::read_request(request.many ? json[i] : json, unix_start);
    if (!submission) {
      if (!request.many) return std::unexpected(submission.error());
      return fail("submission {}: {}", i + 1, submission.error().message);
    }
    request.submissions.push_back(std::move(*submission));
  }
  return request;
}

Result<ChangeRequest> read_change(const std::string& action, const std::string& body, std::int64_t unix_start) {
  using Kind = JobChange::Kind;
  const auto* const kind = std::ranges::find(serve::kJobActions, action, [](const auto& k) { return k.first; });
  if (kind == serve::kJobActions.end()) return fail("there is no action {}.", rota::quoted(action));
  const auto json = TRY(parse(body));
  if (!json.is_object()) return fail("the request's body is a JSON object with `ids`.");
  ChangeRequest request;
  request.change.kind = kind->second;
  for (const auto& [name, value] : json.items()) {
    if (name == "ids") {
      if (!read_value(value, request.ids)) return serve::wrong_member(name, "a text such as 12,14_[1-5]");
    } else if (name == "signal" && kind->second == Kind::cancel) {
      std::string text;
      if (!read_value(value, text)) return serve::wrong_member(name, "the name of a signal");
      const auto signal = TRY(serve::parse_signal(text));
      request.change.kind = Kind::signal;
      request.change.signal = signal;
    } else if (kind->second == Kind::update) {
      TRY(read_update(name, value, unix_start, request.change));
    } else {
      return unknown_member(name, {"ids", "signal"});
    }
  }
  if (request.ids.empty()) return fail("say which jobs are meant: `ids` is missing.");
  return request;
}

Result<serve::ReservationDesk::Wish> read_reservation(const std::string& body, std::int64_t unix_start) {
  const auto json = TRY(parse(body));
  if (!json.is_object()) return fail("the request's body is a JSON object.");
  serve::ReservationDesk::Wish wish;
  std::optional<Instant> end;
  for (const auto& [name, value] : json.items()) {
    if (name == "start") {
      if (!take_date(value, wish.from, unix_start)) return serve::wrong_member(name, "a Unix time");
    } else if (name == "end") {
      if (!take_date(value, end, unix_start)) return serve::wrong_member(name, "a Unix time");
    } else if (name == "duration") {
      if (!read_value(value, wish.duration)) return serve::wrong_member(name, "seconds");
    } else if (name == "nodes") {
      if (!read_value(value, wish.nodes)) return serve::wrong_member(name, "a host list, such as \"n[1-3],n7\"");
    } else if (name == "processors") {
      if (!take_number(value, wish.processors, 1, UINT32_MAX - 1))
        return serve::wrong_member(name, "a whole number from 1 on");
    } else if (name == "name") {
      if (!read_value(value, wish.name)) return serve::wrong_member(name, "a text");
    } else if (name == "users") {
      if (!read_value(value, wish.users)) return serve::wrong_member(name, "names of users, such as \"alice,bob\"");
    } else {
      return unknown_member(name, {"start", "end", "duration", "nodes", "processors", "name", "users"});
    }
  }
  if (end && wish.duration) return fail("`end` and `duration` do not go together: one of them says when it is over.");
  if (!end && !wish.duration) return fail("say when it is over: `end` or `duration` is missing.");
  if (end) wish.until = *end;
  return wish;
}

Result<Mandates::Wish> read_mode_wish(const std::string& body) {
  const auto json = TRY(parse(body));
  if (!json.is_object()) return fail("the request's body is a JSON object.");
  Mandates::Wish wish;
  bool says_mode = false;
  for (const auto& [name, value] : json.items()) {
    if (name == "mode") {
      std::string word;
      const auto& names = names_of(wish.mode);
      const bool text = read_value(value, word);
      const auto found = std::ranges::find(names, word);
      if (!text || found == names.end()) return serve::wrong_member(name, R"("off", "observe", "advise" or "act")");
      wish.mode = static_cast<Mode>(found - names.begin());
      says_mode = true;
    } else if (name == "partitions") {
      if (!value.is_array()) return serve::wrong_member(name, "a list of partitions");
      for (const auto& each : value)
        if (!read_value(each, wish.partitions.emplace_back())) return serve::wrong_member(name, "a list of partitions");
    } else if (name == "rule") {
      if (!read_value(value, wish.rule)) return serve::wrong_member(name, "an order of waiting jobs, such as \"sjf\"");
    } else if (name == "until") {
      if (!take_number(value, wish.until, 1, INT64_MAX)) return serve::wrong_member(name, "a Unix time");
    } else {
      return unknown_member(name, {"mode", "partitions", "rule", "until"});
    }
  }
  if (!says_mode) return fail("say which: `mode` is missing.");
  return wish;
}

Result<TokenRequest> read_token_request(const std::string& body, std::int64_t longest_life) {
  const auto json = TRY(parse(body));
  if (!json.is_object()) return fail("the request's body is a JSON object.");
  TokenRequest request;
  for (const auto& [name, value] : json.items()) {
    if (name == "user") {
      if (!read_value(value, request.user)) return serve::wrong_member(name, "the name of a user");
    } else if (name == "comment") {
      if (!read_value(value, request.comment)) return serve::wrong_member(name, "a text");
    } else if (name == "operator") {
      if (!read_value(value, request.operates)) return serve::wrong_member(name, "true or false");
    } else if (name == "read_only") {
      if (!read_value(value, request.read_only)) return serve::wrong_member(name, "true or false");
    } else if (name == "life") {
      if (!take_number(value, request.life.emplace(), 1, longest_life))
        return serve::wrong_member(name, "a whole number of seconds up to " + std::to_string(longest_life));
    } else {
      return unknown_member(name, {"user", "operator", "read_only", "life", "comment"});
    }
  }
  return request;
}

namespace {

// Clients of containers find these in the answer without a reader of JSON (accel/client/bound_container.cc).
bool is_plain(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c > ' ' && c < 127 && c != '"' && c != '\\'; });
}

Result<void> take_member(const std::string& name, const Json& value, serve::AcceleratorCard& card) {
  constexpr std::size_t kLongestWord = 256;
  constexpr std::int64_t kLeastPeriod = 100;  // milliseconds
  constexpr std::int64_t kMostPeriod = 3'600'000;
  constexpr std::size_t kLongestState = 65'536;
  constexpr std::int64_t kMostWeight = 1'000'000'000;
  constexpr int kMostDevice = 1000;
  std::int64_t number = 0;
  if (name == "address" || name == "token" || name == "epoch") {
    std::string& into = name == "address" ? card.address : name == "token" ? card.token : card.epoch;
    if (!read_value(value, into) || into.size() > kLongestWord || !is_plain(into))
      return serve::wrong_member(name, "a text of at most 256 characters of ASCII without blanks, quotes, backslashes");
  } else if (name == "weight") {
    if (!take_number(value, card.weight, 1, kMostWeight))
      return serve::wrong_member(name, "a whole number from 1 to 1000000000");
  } else if (name == "device") {
    if (!take_number(value, card.device, 0, kMostDevice))
      return serve::wrong_member(name, "a whole number from 0 to 1000");
  } else if (name == "period") {
    if (!take_seconds(value, number) || number < kLeastPeriod || number > kMostPeriod)
      return serve::wrong_member(name, "a number of seconds from 0.1 to 3600");
    card.period = Duration{number};
  } else if (name == "state") {
    card.state = json_text(value);
    if (!value.is_object() || card.state.size() > kLongestState)
      return serve::wrong_member(name, "an object of at most 65,536 bytes");
  } else {
    return unknown_member(name, {"device", "address", "token", "epoch", "weight", "period", "state"});
  }
  return {};
}

}  // namespace

Result<serve::AcceleratorCard> read_accelerator_card(const std::string& body) {
  const auto json = TRY(parse(body));
  if (!json.is_object()) return fail("the request's body is a JSON object.");
  serve::AcceleratorCard card;
  for (const auto& [name, value] : json.items()) TRY(take_member(name, value, card));
  for (const auto& [name, text] : {std::pair{"address", &card.address}, {"epoch", &card.epoch}})
    if (text->empty()) return fail("a container has `{}`; send it.", name);
  if (card.state.empty()) card.state = "{}";
  return card;
}

Result<bool> read_operator_wish(const std::string& body) {
  const auto json = TRY(parse(body));
  if (!json.is_object()) return fail("the request's body is a JSON object.");
  bool operates = false;
  for (const auto& [name, value] : json.items()) {
    if (name != "operator") return unknown_member(name, {"operator"});
    if (!read_value(value, operates)) return serve::wrong_member(name, "true or false");
  }
  return operates;
}

Result<std::map<std::string, std::string>> read_texts(const std::string& body,
                                                      const std::vector<std::string_view>& names) {
  const auto json = TRY(parse(body));
  if (!json.is_object()) return fail("the request's body is a JSON object.");
  std::map<std::string, std::string> texts;
  for (const auto& [name, value] : json.items()) {
    if (std::ranges::find(names, name) == names.end()) return unknown_member(name, names);
    if (!read_value(value, texts[name]))
      return serve::wrong_member(name, fmt::format("a text of {} bytes at most", grouped(kLongestText)));
  }
  return texts;
}

}  // namespace rota::api
