// A workload of Batsim as it is read, member by member: jobs are handed on one by one, and of profiles what tells a run
// time is kept. Where in the object they stand does not matter.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "log/json_characters.h"

namespace rota::log {

inline constexpr double kMostBatsimSeconds = 1e11;  // some 3,000 years

// As it stands there. Numbers are finite and at most that; a text may be a whole number in the JSON.
struct BatsimJob {
  bool is_object = true;
  std::string id = {}, profile = {};  // empty: not told
  std::optional<double> submit = {}, processors = {}, walltime = {};
  bool tells_walltime = false;
};

struct BatsimProfile {
  std::string type;
  std::optional<double> delay, repeat, times;     // `repeat`, and as an older Batsim calls it
  std::optional<std::vector<std::string>> parts;  // of a sequence; nothing: there is none, or not of names
};

class BatsimEvents final : public nlohmann::json_sax<nlohmann::json> {
 public:
  using Take = std::function<Result<void>(const BatsimJob&)>;

  // An error of `take`, a whole sentence but for the file, ends the reading.
  BatsimEvents(JsonCharacters::Source& source, Take take) : source_(source), take_(std::move(take)) {}

  std::optional<Error> error;  // likewise
  bool any = false;            // there was a list of jobs
  std::optional<double> processors;
  std::map<std::string, BatsimProfile> profiles;

  bool null() override { return value({}, {}); }
  bool boolean(bool /*yes*/) override { return value({}, {}); }
  bool number_integer(number_integer_t number) override {
    return value(std::to_string(number), static_cast<double>(number));
  }
  bool number_unsigned(number_unsigned_t number) override {
    return value(std::to_string(number), static_cast<double>(number));
  }
  bool number_float(number_float_t number, const string_t& /*text*/) override { return value({}, number); }
  bool string(string_t& text) override { return in_sequence() ? add_part(text) : value(text, {}); }
  bool binary(binary_t& /*bytes*/) override { return true; }  // JSON has none
  bool key(string_t& name) override;
  bool start_object(std::size_t /*size*/) override { return enter('{'); }
  bool end_object() override { return leave(); }
  bool start_array(std::size_t /*size*/) override { return enter('['); }
  bool end_array() override { return leave(); }
  bool parse_error(std::size_t at, const std::string& token, const nlohmann::json::exception& what) override;

 private:
  static constexpr std::size_t kFollowed = 5;  // deeper than that nothing is asked

  bool enter(char kind);
  bool leave();
  bool value(const std::string& text, std::optional<double> number);
  bool add_part(const std::string& name);
  bool add_job(const BatsimJob& job);
  bool refuse(std::string sentence);

  // Whether what comes stands in the lists and objects of these kinds and nowhere deeper.
  bool in(std::string_view kinds, std::string_view first_key) const;
  bool in_jobs() const { return in("{[", "jobs"); }
  bool in_job() const { return in("{[{", "jobs"); }
  bool in_profiles() const { return in("{{", "profiles"); }
  bool in_profile() const { return in("{{{", "profiles"); }
  bool in_sequence() const { return in("{{{[", "profiles") && keys_[2] == "seq"; }

  JsonCharacters::Source& source_;
  Take take_;
  std::size_t depth_ = 0;                               // of lists and objects that are open
  std::array<char, kFollowed> kinds_{};                 // of each of them
  std::array<std::string, kFollowed> keys_;             // the last one in each,
  std::array<std::set<std::string>, kFollowed> names_;  // and all of them so far
  BatsimJob job_;
  BatsimProfile profile_;
};

}  // namespace rota::log
