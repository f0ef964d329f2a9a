#include "log/json_batsim_events.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "log/wrong_json.h"

namespace rota::log {
namespace {

constexpr std::size_t kDeepest = 64;
constexpr int kOutOfRange = 406;  // the parser's number for it

std::optional<double> sound(std::optional<double> number) {
  return number && std::isfinite(*number) && std::abs(*number) <= kMostBatsimSeconds ? number : std::nullopt;
}

}  // namespace

bool BatsimEvents::in(std::string_view kinds, std::string_view first_key) const {
  return depth_ == kinds.size() && std::ranges::equal(kinds, std::string_view(kinds_.data(), depth_)) &&
         keys_[0] == first_key;
}

bool BatsimEvents::refuse(std::string sentence) {
  error = Error{std::move(sentence)};
  return false;
}

bool BatsimEvents::key(string_t& name) {
  if (depth_ > kFollowed) return true;
  if (!names_[depth_ - 1].insert(name).second)
    return refuse(fmt::format(
        ": {} stands twice in one object of its JSON, and it is not known which of the two counts. Mend the file.",
        rota::quoted(name)));
  keys_[depth_ - 1] = std::move(name);
  return true;
}

bool BatsimEvents::enter(char kind) {
  if (depth_ == kDeepest)
    return refuse(fmt::format(
        ": more than {} lists and objects stand inside each other, which no workload of Batsim has.", kDeepest));
  if (in_jobs()) job_ = {.is_object = kind == '{'};
  if (in_job() && keys_[2] == "walltime") job_.tells_walltime = true;
  if (in_profiles()) profile_ = {};
  const bool sequence = in_profile() && keys_[2] == "seq";
  if (sequence || in_sequence()) profile_.parts.reset();
  if (sequence && kind == '[') profile_.parts.emplace();
  if (depth_ < kFollowed) {
    kinds_[depth_] = kind;
    names_[depth_].clear();
  }
  ++depth_;
  any = any || in_jobs();
  return true;
}

bool BatsimEvents::leave() {
  --depth_;
  if (in_jobs()) return add_job(job_);
  if (in_profiles() && kinds_[2] == '{') profiles[keys_[1]] = std::exchange(profile_, {});
  return true;
}

bool BatsimEvents::add_job(const BatsimJob& job) {
  auto taken = take_(job);
  return taken || refuse(std::move(taken.error().message));
}

bool BatsimEvents::add_part(const std::string& name) {
  if (profile_.parts) profile_.parts->push_back(name);
  return true;
}

bool BatsimEvents::value(const std::string& text, std::optional<double> number) {
  number = sound(number);
  const std::string& name = keys_[2];
  if (in_jobs()) return add_job({.is_object = false});
  if (in_job()) {
    if (name == "id") job_.id = text;
    if (name == "profile") job_.profile = text;
    if (name == "subtime") job_.submit = number;
    if (name == "res") job_.processors = number;
    if (name == "walltime") job_.walltime = number, job_.tells_walltime = true;
  } else if (in_profile()) {
    if (name == "type") profile_.type = text;
    if (name == "delay") profile_.delay = number;
    if (name == "repeat") profile_.repeat = number;
    if (name == "nb") profile_.times = number;
    if (name == "seq") profile_.parts.reset();
  } else if (in_sequence()) {
    profile_.parts.reset();  // it is no name
  } else if (in("{", "nb_res")) {
    processors = number;
  }
  return true;
}

bool BatsimEvents::parse_error(std::size_t at, const std::string& /*token*/, const nlohmann::json::exception& what) {
  if (what.id == kOutOfRange) return refuse(": a number in it is too large. Mend the file.");
  return refuse(wrong_json(source_, at));
}

}  // namespace rota::log
