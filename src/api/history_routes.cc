// /v1/history
#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "api/job_json.h"
#include "api/routes.h"
#include "api/worker.h"
#include "base/text.h"
#include "serve/selector.h"
#include "store/sqlite_reader.h"

namespace rota::api {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMostNumbers = 100'000;

bool take_instant(const Ask& ask, const char* name, Instant& into) {
  const auto text = text_of(ask, name);
  if (!text) return true;
  const auto number = parse_number(*text);
  if (number && *number > -1e11 && *number < 1e11) {
    into = ask.service.instant_of(static_cast<std::int64_t>(*number * 1000));
    return true;
  }
  ask.reply->send(problem(400, "`" + std::string(name) + "` takes a Unix time, not " + rota::quoted(*text) + "."));
  return false;
}

bool read_query(const Ask& ask, store::HistoryQuery& query) {
  query.user = text_of(ask, "user");
  query.partition = text_of(ask, "partition");
  query.name = text_of(ask, "name");
  query.states = states_of(ask);
  query.ran = text_of(ask, "ran").value_or("") == "yes";
  query.limit = kMostListed;
  if (!take_number(ask, "limit", query.limit) || !take_number(ask, "after", query.before_number)) return false;
  if (!take_instant(ask, "from", query.from) || !take_instant(ask, "until", query.until)) return false;
  query.limit = std::clamp<std::int64_t>(query.limit, 1, kMostListed);
  if (const auto ids = text_of(ask, "ids")) {
    auto numbers = numbers_of(ask, *ids);
    if (!numbers) {
      ask.reply->send(problem(400, numbers.error().message));
      return false;
    }
    query.numbers = std::move(*numbers);
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
  auto reader = store::SqliteReader::open(path);
  if (!reader) return std::unexpected(reader.error());
  return reader->sums(query, by);
}

// On a thread of its own: a long history takes seconds, in which everybody else is answered. What others were told
// before counts.
void send_sums(const Ask& ask, const store::HistoryQuery& query, const std::string& by) {
  constexpr std::size_t kMostUnderWay = 16;
  if (by != "user" && by != "partition" && by != "month")
    return ask.reply->send(problem(400, "`by` takes user, partition or month."));
  if (ask.rehearser.under_way() >= kMostUnderWay)
    return ask.reply->send(problem(503, "many sums are being made already; ask again in a moment."));
  const auto kind = by == "user"        ? store::SumBy::user
                    : by == "partition" ? store::SumBy::partition
                                        : store::SumBy::month;
  const std::string path = ask.service.options().state_folder + "/rota.db";
  ask.service.when_durable(
      [&worker = ask.rehearser, path, query, kind, reply = ask.reply](const Result<void>& durable) {
        if (!durable) return reply->send(problem(503, durable.error().message));
        worker.run([path, query, kind, reply] {
          const auto response = std::make_shared<Response>(sums_response(read_sums(path, query, kind)));
          return [reply, response] { reply->send(std::move(*response)); };
        });
      });
}

}  // namespace

std::vector<std::string> states_of(const Ask& ask) {
  std::vector<std::string> states;
  const std::string text = text_of(ask, "state").value_or("");
  for (const std::string_view state : split(text, ',')) {
    if (!state.empty()) states.emplace_back(state);
  }
  return states;
}

Result<std::vector<std::int64_t>> numbers_of(const Ask& ask, const std::string& selector) {
  using Kind = serve::SelectorPart::Kind;
  const auto parts = serve::parse_selector(selector);
  if (!parts) return std::unexpected(parts.error());
  const auto too_many = [] { return fail("so many jobs are not asked for by number; give a window of time."); };
  std::vector<std::int64_t> numbers;
  for (const auto& [from, to] : serve::numbers_of(*parts)) {
    if (to - from >= static_cast<std::int64_t>(kMostNumbers - numbers.size())) return too_many();
    for (std::int64_t n = from; n <= to; ++n) numbers.push_back(n);
  }
  std::size_t seen = numbers.size();  // tasks too that are not meant: they were all read
  for (const serve::SelectorPart& part : *parts) {
    if (part.kind == Kind::last) {
      const JobId last = ask.service.latest_of(ask.request.caller);
      if (last.valid()) numbers.push_back(serve::number_of(last));
      continue;
    }
    if (part.kind != Kind::numbers && part.kind != Kind::tasks)
      return fail("the history is asked for by ids as 12,14_[1-5],20-25, or with user=, name=, partition= or state=.");
    if (part.from != part.to) continue;
    const auto tasks = ask.service.ended_tasks(part.from);
    seen += tasks.size();
    if (seen > kMostNumbers) return too_many();
    for (const store::HistoryRow& task : tasks) {
      if (part.kind == Kind::numbers || serve::within(part.indexes, task.array_index)) numbers.push_back(task.number);
    }
  }
  std::ranges::sort(numbers);
  numbers.erase(std::ranges::unique(numbers).begin(), numbers.end());
  if (numbers.empty()) numbers.push_back(0);  // none
  return numbers;
}

void answer_history(const Ask& ask) {
  store::HistoryQuery query;
  if (!read_query(ask, query)) return;
  if (const auto by = text_of(ask, "by")) return send_sums(ask, query, *by);
  const auto rows = ask.service.store().history(query);
  if (!rows) return ask.reply->send(problem(503, rows.error().message));
  Json jobs = Json::array();
  for (const store::HistoryRow& row : *rows) jobs.push_back(job_json(ask.service, row));
  Json json{{"jobs", std::move(jobs)}};
  if (static_cast<std::int64_t>(rows->size()) == query.limit) json["next"] = std::to_string(rows->back().number);
  ask.reply->send({200, "application/json", dumped(json), {}});
}

}  // namespace rota::api
