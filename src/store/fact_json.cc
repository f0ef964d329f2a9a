#include "store/fact_json.h"

#include <fmt/core.h>

#include <functional>
#include <variant>

#include "base/json_names.h"
#include "store/field_json.h"
#include "store/journal_head.h"

namespace rota::store {
namespace {

// What is written with replaced bytes where a text is no UTF-8.
std::string text_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

// What stands before the fields of every kind.
struct Top {
  Instant at = kEpoch;
  std::uint64_t sequence = 0;
  Duration late{0};
};

// Takes the fields of the kind of this name; what is left of the object are those.
bool read_kind(const std::string& name, const Json& fields, Fact& fact, JsonFields& in) {
  bool read = false;
  AllKinds::for_each([&]<class Kind>(std::type_identity<Kind>) {
    if (Fields<Kind>::name == name) read = in.read_members(fields, fact.what.emplace<Kind>());
  });
  return read;
}

std::unexpected<Error> unknown_kind(const std::string& name) {
  std::vector<std::string_view> names;
  AllKinds::for_each([&]<class Kind>(std::type_identity<Kind>) { names.push_back(Fields<Kind>::name); });
  const std::string_view near = nearest(name, names);
  return fail("There is no kind of fact {}{}", rota::quoted(name),
              near.empty() ? "; docs/journal.md lists them." : fmt::format("; did you mean {}?", near));
}

bool is_kind(const std::string& name) {
  bool found = false;
  AllKinds::for_each([&]<class Kind>(std::type_identity<Kind>) { found = found || Fields<Kind>::name == name; });
  return found;
}

// The member, which is taken out of the object; null: there is none.
Json taken_out(Json& object, const char* name) {
  Json member;
  if (const auto found = object.find(name); found != object.end()) {
    member = std::move(*found);
    object.erase(name);
  }
  return member;
}

}  // namespace
}  // namespace rota::store

namespace rota {

template <>
struct Fields<store::Top> {
  // NOLINTNEXTLINE(readability-identifier-naming): as in all these tables
  static constexpr std::tuple all{Field{"at", &store::Top::at, "when"},
                                  Field{"sequence", &store::Top::sequence, "its number"},
                                  Field{"late", &store::Top::late, "milliseconds after it happened", 8}};
};

}  // namespace rota

namespace rota::store {

Result<Json> parse_json(std::string_view text) {
  JsonNames<Json> names;
  Json json = Json::parse(text, std::ref(names), false);
  if (json.is_discarded()) return fail(rota::quoted(text) + " is not JSON.");
  if (names.twice()) return fail("The field {} is there twice.", rota::quoted(*names.twice()));
  return json;
}

std::string fact_line(const FactRef& fact) {
  Json line = Json::object();
  line["at"] = json_of(fact.at);
  line["sequence"] = fact.sequence;
  if (fact.late > Duration{0}) line["late"] = json_of(fact.late);
  std::visit(
      [&](const auto* what) {
        using Kind = std::remove_cvref_t<decltype(*what)>;
        line["kind"] = Fields<Kind>::name;
        add_members(line, *what, Kind{});
      },
      fact.what);
  return text_of(line);
}

Result<Fact> read_fact_line(std::string_view line) {
  auto json = TRY(parse_json(line));
  if (!json.is_object() || !json.contains("at") || !json.contains("sequence")) {
    return fail(R"(A fact is an object such as {"at":1000,"sequence":7,"kind":"launched","job":3}, not )" +
                rota::quoted(line) + ".");
  }
  JsonFields in;
  Top top;
  Json head = Json::object();
  head["at"] = taken_out(json, "at");
  head["sequence"] = taken_out(json, "sequence");
  if (json.contains("late")) head["late"] = taken_out(json, "late");
  if (!in.read_members(head, top)) return fail(in.error());
  const Json kind = taken_out(json, "kind");
  if (!kind.is_string()) return fail("A fact has a kind, which is a text; here there is none.");
  const auto name = kind.get<std::string>();
  if (!is_kind(name)) return unknown_kind(name);
  Fact fact{top.at, top.sequence, {}, top.late};
  if (!read_kind(name, json, fact, in)) return fail(in.error());
  return fact;
}

std::string head_text(const JournalHead& head) { return text_of(json_of(head)); }

Result<JournalHead> read_head(std::string_view text) {
  auto json = TRY(parse_json(text));
  JsonFields in;
  JournalHead head;
  if (!in.read_members(json, head)) return fail(in.error());
  return head;
}

}  // namespace rota::store
