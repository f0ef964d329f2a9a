#include "cli/live/job_filter.h"

#include <fmt/core.h>

#include <pwd.h>

#include <algorithm>
#include <string_view>

#include "base/text.h"
#include "cli/live/job_state.h"
#include "cli/printed.h"
#include "serve/state_words.h"

namespace rota::cli {
bool tell_unknown(const Service& service, const std::map<std::string, std::string>& asked) {
  bool known = true;
  const auto tell = [&](const std::string& sentence) {
    remark("rota: " + sentence);
    known = false;
  };
  for (const std::string_view part : split(asked.at("user"), ',')) {
    const std::string user(trimmed(part));
    const bool is_name = !user.empty() && user != kCallingUser && !parse_integer(user);
    if (is_name && !service.remote() && ::getpwnam(user.c_str()) == nullptr)
      tell(fmt::format("this computer knows no user {}.", rota::quoted(user)));
  }
  if (asked.at("partition").empty()) return known;
  const auto answer = service.get("/v1/partitions");
  if (!answer) return known;
  for (const std::string_view part : split(asked.at("partition"), ',')) {
    const auto is = [&](const Json& row) { return text_of(row, "name") == trimmed(part); };
    if (!trimmed(part).empty() && std::ranges::none_of(list_of(*answer, "partitions"), is))
      tell(fmt::format("there is no partition {}; `rota partitions` lists them.", rota::quoted(trimmed(part))));
  }
  return known;
}

void tell_none_meets(std::int64_t without, const std::string& of_what, const std::string& more) {
  if (without > 0)
    remark(fmt::format("rota: no job meets the filter; without it there {}{} {}.{}", without == 1 ? "is " : "are ",
                       grouped(without), of_what, more));
}

bool tell_unknown_ids(const Json& unknown) {
  for (const Json& id : unknown) {
    if (id.is_string()) remark(fmt::format("rota: there is no job {}.", id.get<std::string>()));
  }
  return unknown.empty();
}

Result<bool> all_known(const Service& service, const std::string& selector) {
  const auto is_id = [](std::string_view part) { return trimmed(part).find_first_of("0123456789") == 0; };
  if (std::ranges::none_of(split(selector, ','), is_id)) return true;
  const auto answer = TRY(service.get(target_of("/v1/jobs", {{"ids", selector}, {"limit", "1"}})));
  return tell_unknown_ids(list_of(answer, "unknown"));
}

void JobFilter::declare(Command command, const std::string& which, const std::string& states) {
  command.add_option("JOB", jobs, kSelectorHelp);
  command.add_option("-u,--user", user, "only of this user, or of several with commas").type_name("NAME");
  command.add_flag("--me", me, "only your own");
  command
      .add_option("-t,--state,--states", state,
                  fmt::format("only in this state, as {}, or in several with commas", states))
      .type_name("STATE");
  command.add_option("-p,--partition", partition, "only in this partition, or in several with commas")
      .type_name("NAME");
  command.add_option("--name", name, "only of this name, or of several with commas").type_name("NAME");
  command.add_option("-n,--limit", most, fmt::format("at most so many, {}; 0: all", which))
      .check([](const std::string& text) {
        constexpr std::int64_t kMost = 1'000'000'000;
        const auto n = parse_integer(text);
        if (n && *n >= 0 && *n <= kMost) return std::string();
        return fmt::format("it takes a whole number from 0 to {}, not {}; --name finds jobs by their name",
                           grouped(kMost), rota::quoted(text));
      })
      .type_name("N")
      .default_str(most > 0 ? std::to_string(most) : "");
}

bool JobFilter::narrows() const {
  return me || !(jobs.empty() && user.empty() && state.empty() && partition.empty() && name.empty());
}

Result<std::map<std::string, std::string>> JobFilter::query() const {
  std::map<std::string, std::string> out{
      {"user", me ? kCallingUser : user}, {"partition", partition}, {"name", name}, {"ids", joined(jobs)}};
  constexpr std::string_view kState = "state=";
  for (const std::string_view part : split(out["ids"], ',')) {
    const std::string_view word = trimmed(part);
    if (word.starts_with(kState) && has_ended(std::string(word.substr(kState.size())))) out["ended"] = "yes";
  }
  if (state.empty()) return out;
  for (const std::string_view each : split(state, ',')) {
    if (each == "all" || each == "ALL") {
      out["state"].clear();
      out["ended"] = "yes";
      return out;
    }
    const std::string full = state_named(std::string(trimmed(each)));
    if (full.empty()) return fail(serve::no_state(trimmed(each)));
    out["state"] += (out["state"].empty() ? "" : ",") + full;
    if (has_ended(full)) out["ended"] = "yes";
  }
  return out;
}

Result<JobFilter::Asked> JobFilter::ask(const Service& service, const std::map<std::string, std::string>& more) const {
  auto question = TRY(query());
  question.insert(more.begin(), more.end());
  Json unknown = Json::array();
  auto all = TRY(service.rows("/v1/jobs", question, "jobs", SIZE_MAX, &unknown));
  for (const std::string_view part : split(question["ids"], ',')) {  // "user=ada" says what --user ada says
    const std::string_view word = trimmed(part);
    for (const char* sort : {"user", "partition"}) {
      const std::string before = std::string(sort) + "=";
      if (word.starts_with(before)) question[sort] += "," + std::string(word.substr(before.size()));
    }
  }
  const bool words_known = !all.empty() || tell_unknown(service, question);
  return Asked{std::move(all), tell_unknown_ids(unknown) && words_known};
}

std::string joined(const std::vector<std::string>& selectors) {
  std::string out;
  for (const std::string& each : selectors) out += (out.empty() ? "" : ",") + each;
  return out;
}

}  // namespace rota::cli
