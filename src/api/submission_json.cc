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
#include "store/number_json.h"

namespace rota::api {
namespace {

using Json = nlohmann::json;
using serve::JobChange;

constexpr std::size_t kMostSubmissions = 100'000;
constexpr std::size_t kMostTexts = 100'000;
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

std::unexpected<Error> wrong(const std::string& name, const std::string& takes) {
  return fail("`{}` takes {}.", name, takes);
}

// Readers of one member each: false where the value is of another type or out of range.
bool take(const Json& json, std::string& into) {
  if (!json.is_string()) return false;
  into = json.get<std::string>();
  return into.size() <= std::size_t{kLongestText} && into.find('\0') == std::string::npos;
}

bool take_script(const Json& json, std::string& into) {
  if (!json.is_string()) return false;
  into = json.get<std::string>();
  return into.find('\0') == std::string::npos;
}

bool take(const Json& json, bool& into) {
  if (json.is_boolean()) into = json.get<bool>();
  return json.is_boolean();
}

template <class Number>
bool take_number(const Json& json, Number& into, std::int64_t least, std::int64_t most) {
  std::int64_t number = 0;
  if (!store::whole(json, number) || number < least || number > most) return false;
  into = static_cast<Number>(number);
  return true;
}

bool take(const Json& json, std::vector<std::string>& into) {
  if (!json.is_array()) return false;
  if (json.size() > kMostTexts) return false;
  for (const Json& item : json) {
    if (!item.is_string()) return false;
    into.push_back(item.get<std::string>());
    if (into.back().find('\0') != std::string::npos) return false;
  }
  return true;
}

// Seconds, whole or not, as milliseconds.
bool take_seconds(const Json& json, std::int64_t& into) {
  if (!json.is_number()) return false;
  const double number = json.get<double>();
  if (!std::isfinite(number) || std::abs(number) > 1e11) return false;
  into = std::llround(number * 1000);
  return true;
}

bool take(const Json& json, std::optional<Duration>& into) {
  std::int64_t milliseconds = 0;
  if (!take_seconds(json, milliseconds) || milliseconds < 0) return false;
  into = Duration{milliseconds};
  return true;
}

bool take(const Json& json, Duration& into) {
  std::optional<Duration> time;
  if (!take(json, time)) return false;
  into = *time;
  return true;
}

// A Unix time, however long ago.
bool take_date(const Json& json, std::optional<Instant>& into, std::int64_t unix_start) {
  std::int64_t milliseconds = 0;
  if (!take_seconds(json, milliseconds)) return false;
  into = Instant{Duration{milliseconds - unix_start * 1000}};
  return true;
}

bool take(const Json& json, std::optional<Instant>& into, std::int64_t unix_start) {
  if (!take_date(json, into, unix_start)) return false;
  into = std::max(kEpoch, *into);
  return true;
}

// The process that waits at a terminal for the job.
bool take(const Json& json, Attach& into) {
  constexpr std::size_t kLongestSocket = 100;
  if (!json.is_object()) return false;
  for (const auto& [name, value] : json.items()) {
    const bool taken = name == "socket"        ? take(value, into.socket)
                       : name == "terminal"    ? take(value, into.terminal)
                       : name == "error_apart" ? take(value, into.error_apart)
                       : name == "keep"        ? take(value, into.keep)
                       : name == "rows"        ? take_number(value, into.rows, 0, UINT16_MAX)
                       : name == "columns"     ? take_number(value, into.columns, 0, UINT16_MAX)
                                               : false;
    if (!taken) return false;
  }
  return !into.socket.empty() && into.socket.size() <= kLongestSocket;
}

// Reads the member of a request that a row of the table describes, as its type says.
template <class T>
bool take_wish(const Json& json, const Wish<T>& wish, std::int64_t unix_start, JobRequest& into) {
  T& member = into.*wish.member;
  if constexpr (std::same_as<T, std::string>) {
    return wish.most > 0 ? take(json, member) : take_script(json, member);
  } else if constexpr (std::same_as<T, std::optional<Instant>>) {
    return take(json, member, unix_start);
  } else if constexpr (std::same_as<T, std::optional<bool>>) {
    return take(json, member.emplace());
  } else if constexpr (std::integral<T> && !std::same_as<T, bool>) {
    return take_number(json, member, wish.least, wish.most);
  } else {
    return take(json, member);
  }
}

std::unexpected<Error> unknown_member(const std::string& name, const std::vector<std::string_view>& names) {
  const std::string_view near = nearest(name, names);
  return fail("there is no member {}{}", rota::quoted(name),
              near.empty() ? std::string(".") : fmt::format("; did you mean `{}`?", near));
}

Result<void> read_wish(const std::string& name, const Json& json, std::int64_t unix_start, JobRequest& into) {
  bool known = false;
  Result<void> taken;
  each_wish([&](const auto& wish) {
    if (known || wish.name != name) return;
    known = true;
    const bool texts = std::string_view(wish.takes).starts_with("an array");
    if (texts && json.is_array() && json.size() > kMostTexts)
      taken = fail("`{}` has more than {} texts; send fewer.", name, grouped(kMostTexts));
    else if (!take_wish(json, wish, unix_start, into))
      taken = wrong(name, std::string(wish.takes));
  });
  if (known) return taken;
  std::vector<std::string_view> names;
  each_wish([&](const auto& wish) { names.push_back(wish.name); });
  return unknown_member(name, names);
}

Result<JobRequest> read_submission(const Json& json, std::int64_t unix_start) {
  if (!json.is_object()) return fail("a submission is a JSON object.");
  JobRequest submission;
  for (const auto& [name, value] : json.items()) TRY(read_wish(name, value, unix_start, submission));
  return submission;
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
    return take_number(value, change.throttle.emplace(), 0, INT32_MAX) ? Result<void>{} : wrong(name, "a whole number");
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
    auto submission = read_submission(request.many ? json[i] : json, unix_start);
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
  static constexpr std::array<std::pair<std::string_view, Kind>, 7> kKinds{{{"cancel", Kind::cancel},
                                                                            {"hold", Kind::hold},
                                                                            {"release", Kind::release},
                                                                            {"requeue", Kind::requeue},
                                                                            {"suspend", Kind::suspend},
                                                                            {"resume", Kind::resume},
                                                                            {"update", Kind::update}}};
  const auto kind = std::ranges::find(kKinds, action, [](const auto& k) { return k.first; });
  if (kind == kKinds.end()) return fail("there is no action {}.", rota::quoted(action));
  const auto json = TRY(parse(body));
  if (!json.is_object()) return fail("the request's body is a JSON object with `ids`.");
  ChangeRequest request;
  request.change.kind = kind->second;
  for (const auto& [name, value] : json.items()) {
    if (name == "ids") {
      if (!take(value, request.ids)) return wrong(name, "a text such as 12,14_[1-5]");
    } else if (name == "signal" && kind->second == Kind::cancel) {
      std::string text;
      if (!take(value, text)) return wrong(name, "the name of a signal");
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
      if (!take_date(value, wish.from, unix_start)) return wrong(name, "a Unix time");
    } else if (name == "end") {
      if (!take_date(value, end, unix_start)) return wrong(name, "a Unix time");
    } else if (name == "duration") {
      if (!take(value, wish.duration)) return wrong(name, "seconds");
    } else if (name == "nodes") {
      if (!take(value, wish.nodes)) return wrong(name, "a host list, such as \"n[1-3],n7\"");
    } else if (name == "processors") {
      if (!take_number(value, wish.processors, 1, UINT32_MAX - 1)) return wrong(name, "a whole number from 1 on");
    } else if (name == "name") {
      if (!take(value, wish.name)) return wrong(name, "a text");
    } else {
      return unknown_member(name, {"start", "end", "duration", "nodes", "processors", "name"});
    }
  }
  if (end && wish.duration) return fail("`end` and `duration` do not go together: one of them says when it is over.");
  if (!end && !wish.duration) return fail("say when it is over: `end` or `duration` is missing.");
  if (end) wish.until = *end;
  return wish;
}

Result<TokenRequest> read_token_request(const std::string& body, std::int64_t longest_life) {
  const auto json = TRY(parse(body));
  if (!json.is_object()) return fail("the request's body is a JSON object.");
  TokenRequest request;
  for (const auto& [name, value] : json.items()) {
    if (name == "user") {
      if (!take(value, request.user)) return wrong(name, "the name of a user");
    } else if (name == "comment") {
      if (!take(value, request.comment)) return wrong(name, "a text");
    } else if (name == "operator") {
      if (!take(value, request.operates)) return wrong(name, "true or false");
    } else if (name == "read_only") {
      if (!take(value, request.read_only)) return wrong(name, "true or false");
    } else if (name == "life") {
      if (!take_number(value, request.life.emplace(), 1, longest_life))
        return wrong(name, "a whole number of seconds up to " + std::to_string(longest_life));
    } else {
      return unknown_member(name, {"user", "operator", "read_only", "life", "comment"});
    }
  }
  return request;
}

Result<bool> read_operator_wish(const std::string& body) {
  const auto json = TRY(parse(body));
  if (!json.is_object()) return fail("the request's body is a JSON object.");
  bool operates = false;
  for (const auto& [name, value] : json.items()) {
    if (name != "operator") return unknown_member(name, {"operator"});
    if (!take(value, operates)) return wrong(name, "true or false");
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
    if (!take(value, texts[name])) return wrong(name, fmt::format("a text of {} bytes at most", grouped(kLongestText)));
  }
  return texts;
}

}  // namespace rota::api
