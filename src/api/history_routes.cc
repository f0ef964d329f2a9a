// /v1/history
#include <fmt/core.h>
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "api/job_json.h"
#include "api/rehearser.h"
#include "api/routes.h"
#include "base/text.h"
#include "serve/selector.h"
#include "serve/state_words.h"
#include "store/sqlite_reader.h"

namespace rota::api {
namespace {

using Json = nlohmann::json;

constexpr std::int64_t kNoNumber = 0;     // of no job
constexpr std::size_t kMostWords = 1000;  // by which a list is filtered, of one sort

// Numbers of jobs that parts of a selector name one by one, known or gone.
Result<std::vector<std::int64_t>> numbers_of(const Ask& ask, const std::vector<serve::SelectorPart>& parts) {
  using Kind = serve::SelectorPart::Kind;
  using serve::kMostNumbers;
  const auto too_many = [] { return fail("so many jobs are not asked for by number; give a window of time."); };
  std::vector<std::int64_t> numbers;
  for (const auto& [from, to] : serve::numbers_of(parts)) {
    if (to - from >= static_cast<std::int64_t>(kMostNumbers - numbers.size())) return too_many();
    for (std::int64_t n = from; n <= to; ++n) numbers.push_back(n);
  }
  std::size_t seen = numbers.size();  // tasks too that are not meant: they were all read
  for (const serve::SelectorPart& part : parts) {
    if ((part.kind != Kind::numbers && part.kind != Kind::tasks) || part.from != part.to) continue;
    const auto tasks = ask.answers().jobs().ended_tasks(part.from);
    seen += tasks.size();
    if (seen > kMostNumbers) return too_many();
    for (const store::HistoryRow& task : tasks) {
      if (part.kind == Kind::numbers || serve::within(part.indexes, task.array_index)) numbers.push_back(task.number);
    }
  }
  std::ranges::sort(numbers);
  numbers.erase(std::ranges::unique(numbers).begin(), numbers.end());
  if (numbers.empty()) numbers.push_back(kNoNumber);
  return numbers;
}

// Has users be called by their names. Each number is looked up, and others wait for that.
Result<void> name_users(const Ask& ask, std::vector<std::string>& users) {
  constexpr std::size_t kMostLookedUp = 10;
  std::map<std::uint32_t, std::string> names;
  for (std::string& user : users) {
    const auto number = serve::user_number(user);
    if (number && !names.contains(*number) && names.size() == kMostLookedUp)
      return fail("at most {} users are asked for by number; call them by their names.", grouped(kMostLookedUp));
    std::string& name = number ? names[*number] : user;
    if (!number || name.empty()) name = serve::user_called(ask.request.caller, user);
    user = name;
  }
  return {};
}

// What a member of the query lists. Each job is compared with them.
Result<std::vector<std::string>> words_of(const Ask& ask, const char* name) {
  std::vector<std::string> words;
  const std::string text = text_of(ask, name).value_or("");
  for (const std::string_view word : split(text, ',')) {
    if (trimmed(word).empty()) continue;
    if (words.size() == kMostWords)
      return fail("`{}` takes {} words at most; ask for the others in a request of their own.", name,
                  grouped(kMostWords));
    words.emplace_back(trimmed(word));
  }
  return words;
}

bool take_instant(const Ask& ask, const char* name, Instant& into) {
  const auto text = text_of(ask, name);
  if (!text) return true;
  const auto number = parse_number(*text);
  if (number && *number > -1e11 && *number < 1e11) {
    into = ask.answers().clock().instant_of(static_cast<std::int64_t>(*number * 1000));
    return true;
  }
  ask.reply->send(problem(400, fmt::format("`{}` takes a Unix time, not {}.", name, rota::quoted(*text))));
  return false;
}

// As answers give it: "END-JOB" of the last job of a page.
bool take_place(const Ask& ask, store::HistoryPlace& into) {
  const auto text = text_of(ask, "after");
  if (!text) return true;
  const auto dash = text->rfind('-');
  const auto end = parse_integer(text->substr(0, dash));
  const auto job = dash == std::string::npos ? Result<std::int64_t>(-1) : parse_integer(text->substr(dash + 1));
  if (end && job && *job >= 0 && *job < UINT32_MAX) {
    into = {Instant{Duration{*end}}, JobId{static_cast<std::uint32_t>(*job)}};
    return true;
  }
  ask.reply->send(
      problem(400, fmt::format("`after` takes the `next` of an earlier answer, not {}.", rota::quoted(*text))));
  return false;
}

bool read_query(const Ask& ask, store::HistoryQuery& query) {
  auto filters = read_list_filters(ask);
  if (!filters) return false;
  query.users = std::move(filters->users);
  query.partitions = std::move(filters->partitions);
  query.names = std::move(filters->names);
  query.states = std::move(filters->states);
  query.limit = kMostListed;
  if (!take_flag(ask, "ran", query.ran) || !take_number(ask, "limit", query.limit)) return false;
  if (!take_place(ask, query.before.emplace())) return false;
  if (!take_instant(ask, "from", query.from) || !take_instant(ask, "until", query.until)) return false;
  query.limit = std::clamp<std::int64_t>(query.limit, 1, kMostListed);
  if (const auto ids = text_of(ask, "ids")) {
    if (auto narrowed = narrow(ask, *ids, query); !narrowed) {
      ask.reply->send(problem(400, narrowed.error().message));
      return false;
    }
  }
  return true;
}

Response sums_response(const Result<std::vector<store::HistorySum>>& sums) {
  if (!sums) return problem(503, sums.error().message);
  Json rows = Json::array();
  for (const store::HistorySum& sum : *sums) {
    rows.push_back({{"key", sum.key},
                    {"jobs", sum.jobs},
                    {"failed", sum.failed},
                    {"processor_seconds", sum.processor_seconds},
                    {"mean_wait", to_seconds(sum.waited)}});
  }
  return {200, "application/json", dumped({{"sums", std::move(rows)}}), {}};
}

Result<std::vector<store::HistorySum>> read_sums(const std::string& path, const store::HistoryQuery& query,
                                                 store::SumBy by) {
  auto reader = TRY(store::SqliteReader::open(path));
  return reader.sums(query, by);
}

// On a thread of its own: a long history takes seconds, in which all others are answered. What others were told before
// counts.
void send_sums(const Ask& ask, const store::HistoryQuery& query, const std::string& by) {
  if (by != "user" && by != "partition" && by != "month")
    return ask.reply->send(problem(400, "`by` takes user, partition or month."));
  const auto kind = by == "user"        ? store::SumBy::user
                    : by == "partition" ? store::SumBy::partition
                                        : store::SumBy::month;
  const std::string path = ask.service.options().state_folder + "/rota.db";
  ask.service.when_durable([&rehearser = ask.rehearser, path, query, kind, caller = ask.request.caller,
                            reply = ask.reply](const Result<void>& durable) {
    if (!durable) return reply->send(problem(503, durable.error().message));
    if (const std::string full = rehearser.full_for(caller); !full.empty()) return reply->send(busy(full));
    rehearser.run(caller.uid, [path, query, kind, reply] {
      const auto response = std::make_shared<Response>(sums_response(read_sums(path, query, kind)));
      return [reply, response] { reply->send(std::move(*response)); };
    });
  });
}

}  // namespace

std::optional<ListFilters> read_list_filters(const Ask& ask) {
  const auto refused = [&](const std::string& why) {
    ask.reply->send(problem(400, why));
    return std::nullopt;
  };
  ListFilters filters;
  for (const auto& [name, into] : {std::pair{"user", &filters.users}, std::pair{"partition", &filters.partitions},
                                   std::pair{"name", &filters.names}, std::pair{"state", &filters.states}}) {
    auto words = words_of(ask, name);
    if (!words) return refused(words.error().message);
    *into = std::move(*words);
  }
  // A name may have commas.
  for (const auto& [name, words] : {std::pair{"user", &filters.users}, std::pair{"partition", &filters.partitions},
                                    std::pair{"name", &filters.names}}) {
    if (words->size() > 1) words->push_back(*text_of(ask, name));
  }
  if (auto named = name_users(ask, filters.users); !named) return refused(named.error().message);
  for (std::string& word : filters.states) {
    const serve::StateWord* const state = serve::state_called(word);
    if (state == nullptr) return refused(serve::no_state(word));
    word = state->name;
  }
  for (auto* const words : {&filters.users, &filters.partitions, &filters.names, &filters.states}) {
    std::ranges::sort(*words);
    words->erase(std::ranges::unique(*words).begin(), words->end());
  }
  return filters;
}

Result<void> narrow(const Ask& ask, const std::string& selector, store::HistoryQuery& query) {
  using Kind = serve::SelectorPart::Kind;
  const auto parts = TRY(ask.answers().jobs().parts_of(ask.request.caller, selector));
  std::map<Kind, std::vector<std::string>> words;
  for (const serve::SelectorPart& part : parts) words[part.kind].push_back(part.word);
  if (auto named = name_users(ask, words[Kind::user]); !named) return named;
  if (words[Kind::user].empty()) words.erase(Kind::user);
  const bool all = words.contains(Kind::all);
  const bool by_number = words.contains(Kind::numbers) || words.contains(Kind::tasks);
  if (by_number && !(all && ask.request.caller.operates)) {
    auto numbers = TRY(numbers_of(ask, parts));
    query.numbers = std::move(numbers);
  }
  words.erase(Kind::all);
  if (all && !ask.request.caller.operates) {
    if (by_number) {
      query.own = ask.request.caller.user;
    } else {
      words[Kind::all] = {ask.request.caller.user};
    }
  }
  for (const auto& [kind, into] :
       {std::pair{Kind::all, &query.users}, std::pair{Kind::user, &query.users}, std::pair{Kind::name, &query.names},
        std::pair{Kind::partition, &query.partitions}, std::pair{Kind::state, &query.states}}) {
    const auto asked = words.find(kind);
    if (asked == words.end()) continue;
    if (into->empty()) {
      *into = asked->second;
      continue;
    }
    std::ranges::sort(asked->second);
    std::erase_if(*into, [&](const std::string& word) { return !std::ranges::binary_search(asked->second, word); });
    if (!into->empty()) continue;
    query.numbers = {kNoNumber};  // nothing suits both
    query.own.clear();
  }
  return {};
}

void answer_history(const Ask& ask) {
  store::HistoryQuery query;
  if (!read_query(ask, query)) return;
  if (const auto by = text_of(ask, "by")) return send_sums(ask, query, *by);
  const auto rows = ask.answers().jobs().history(query);
  if (!rows) return ask.reply->send(problem(503, rows.error().message));
  Json jobs = Json::array();
  for (const store::HistoryRow& row : *rows) jobs.push_back(job_json(ask.answers(), row));
  Json json{{"jobs", std::move(jobs)}};
  if (static_cast<std::int64_t>(rows->size()) == query.limit) {
    const store::HistoryRow& last = rows->back();
    json["next"] = fmt::format("{}-{}", last.end.time_since_epoch().count(), last.job.value);
  }
  ask.reply->send({200, "application/json", dumped(json), {}});
}

}  // namespace rota::api
