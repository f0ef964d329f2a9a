// What is kept of a job beside its facts, as the store keeps it.
#include <algorithm>
#include <concepts>
#include <exception>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "base/json_bytes.h"
#include "base/text.h"
#include "serve/submission.h"
#include "store/number_json.h"

namespace rota::serve {
namespace {

constexpr std::string_view kIndex = ",\"index\":";  // cannot stand in a text in JSON, where quotes are escaped

template <class T>
struct Member {
  const char* name;
  T About::* member;
};
template <class T>
Member(const char*, T About::*) -> Member<T>;

// What is as in About{} is not written.
constexpr std::tuple kMembers{Member{"name", &About::name},
                              Member{"user", &About::user},
                              Member{"comment", &About::comment},
                              Member{"folder", &About::folder},
                              Member{"output", &About::output},
                              Member{"error", &About::error},
                              Member{"input", &About::input},
                              Member{"command", &About::command},
                              Member{"after", &About::after},
                              Member{"append", &About::append},
                              Member{"umask", &About::umask},
                              Member{"uid", &About::uid},
                              Member{"gid", &About::gid},
                              Member{"array", &About::array},
                              Member{"warning_signal", &About::warning_signal},
                              Member{"warning_to_script", &About::warning_to_script},
                              Member{"warning_time", &About::warning_time},
                              Member{"kill_wait", &About::kill_wait},
                              Member{"checkpoint", &About::checkpoint},
                              Member{"checkpoint_signal", &About::checkpoint_signal},
                              Member{"checkpoint_time", &About::checkpoint_time},
                              Member{"scripted", &About::scripted},
                              Member{"never", &About::never},
                              Member{"mail", &About::mail},
                              Member{"mail_user", &About::mail_user},
                              Member{"tasks", &About::tasks},
                              Member{"tasks_per_node", &About::tasks_per_node},
                              Member{"exclusive", &About::exclusive},
                              Member{"processors", &About::processors},
                              Member{"nodes", &About::nodes},
                              Member{"submit_folder", &About::submit_folder},
                              Member{"indexes", &About::indexes},
                              Member{"attach", &About::attach},
                              Member{"texts", &About::texts}};

// visit(Member) for each.
void each_member(const auto& visit) {
  std::apply([&](const auto&... member) { (visit(member), ...); }, kMembers);
}

// ---- values to JSON and back

template <class Value>
nlohmann::json json_of(const Value& value) {
  return value;
}
template <class Value>
nlohmann::json json_of(const std::optional<Value>& value) {
  return *value;
}
nlohmann::json json_of(Duration value) { return value.count(); }
nlohmann::json json_of(const About::Indexes& all) { return {all.count, all.least, all.most, all.step}; }
nlohmann::json json_of(const Attach& attach) {
  return {{"socket", attach.socket},           {"user", attach.user}, {"terminal", attach.terminal},
          {"error_apart", attach.error_apart}, {"keep", attach.keep}, {"rows", attach.rows},
          {"columns", attach.columns}};
}

void read(const nlohmann::json& json, auto& into) { json.get_to(into); }

template <std::integral Number>
  requires(!std::same_as<Number, bool>)
void read(const nlohmann::json& json, Number& into) {
  if (!store::whole(json, into)) throw std::out_of_range(json.dump() + " is no whole number that can stand there");
}

template <class Value>
void read(const nlohmann::json& json, std::optional<Value>& into) {
  read(json, into.emplace());
}

void read(const nlohmann::json& json, Duration& into) {
  std::int64_t count = 0;
  read(json, count);
  into = Duration{count};
}

void read(const nlohmann::json& json, About::Indexes& all) {
  std::size_t at = 0;
  for (std::int64_t* one : {&all.count, &all.least, &all.most, &all.step}) read(json.at(at++), *one);
}

void read(const nlohmann::json& json, Attach& into) {
  const auto take = [&](const char* name, auto& member) {
    if (const auto found = json.find(name); found != json.end()) read(*found, member);
  };
  take("socket", into.socket);
  take("user", into.user);
  take("terminal", into.terminal);
  take("error_apart", into.error_apart);
  take("keep", into.keep);
  take("rows", into.rows);
  take("columns", into.columns);
}

}  // namespace

std::string about_text(const About& about, std::int64_t index) {
  static const About kNone;
  nlohmann::json json{{"name", about.name}};  // with_index() adds behind another member
  each_member([&](const auto& row) {
    if (about.*row.member != kNone.*row.member) json[row.name] = json_of(about.*row.member);
  });
  return with_index(json_text(json), index);
}

std::string with_index(std::string_view about, std::int64_t index) {
  std::string text(about);
  if (index < 0) return text;
  text.pop_back();
  text += kIndex;
  text += std::to_string(index);
  text += '}';
  return text;
}

Result<KeptAbout> read_about(const std::string& text) {
  KeptAbout kept;
  About& about = kept.about;
  try {
    const auto json = json_from<nlohmann::json>(text);
    if (json.is_discarded()) return fail("what the database knows of a job is no JSON: {}.", rota::quoted(text));
    each_member([&](const auto& row) {
      if (const auto found = json.find(row.name); found != json.end()) read(*found, about.*row.member);
    });
    if (const auto index = json.find("index"); index != json.end()) read(*index, kept.index);
  } catch (const std::exception& e) {
    return fail("what the database knows of a job cannot be read: {}.", escaped(e.what()));
  }
  return kept;
}

Result<AboutReader::Task> AboutReader::read(std::string_view text) {
  const std::size_t at = std::min(text.rfind(kIndex), text.size());
  const std::string_view digits = text.substr(std::min(text.size(), at + kIndex.size()));
  const auto index = parse_integer(digits.substr(0, digits.size() - (digits.ends_with('}') ? 1 : 0)));
  const std::string_view shared = index ? text.substr(0, at) : text;
  if (about_ && shared == before_) return Task{about_, index.value_or(-1)};
  auto kept = TRY(read_about(std::string(text)));
  before_ = shared;
  about_ = std::make_shared<const About>(std::move(kept.about));
  return Task{about_, kept.index};
}

}  // namespace rota::serve
