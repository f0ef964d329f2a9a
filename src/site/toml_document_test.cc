#include "site/toml_document.h"

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

namespace rota::site {
namespace {

std::string complaint(std::string_view text) {
  const auto document = parse_toml(text, "a.toml");
  return document ? "taken" : document.error().message;
}

TEST(TomlDocument, is_plain_data_with_lines) {
  const auto document = parse_toml(
      "name = \"kea\"\n\n[[nodes]]\nn = 3\nsure = true\n[[nodes]]\nlist = [1.5, 'b', {c = 1979-05-27}]\n", "a.toml");
  ASSERT_TRUE(document) << document.error().message;
  ASSERT_EQ(document->members.size(), 2U);
  EXPECT_EQ(document->find("name")->text, "kea");
  EXPECT_EQ(document->find("nobody"), nullptr);
  const TomlValue& nodes = *document->find("nodes");
  ASSERT_EQ(nodes.kind, TomlValue::Kind::list);
  ASSERT_EQ(nodes.items.size(), 2U);
  EXPECT_EQ(nodes.items[0].line, 3U);
  EXPECT_EQ(nodes.items[0].members[0].name, "n");
  EXPECT_EQ(nodes.items[0].members[0].value.whole, 3);
  EXPECT_TRUE(nodes.items[0].find("sure")->yes);
  const TomlValue& list = *nodes.items[1].find("list");
  EXPECT_EQ(list.line, 7U);
  EXPECT_EQ(list.items[0].shown(), "1.5");
  EXPECT_EQ(list.items[1].shown(), "\"b\"");
  EXPECT_EQ(list.items[2].shown(), "a table");
  EXPECT_EQ(list.items[2].find("c")->shown(), "a date or time of day");
  EXPECT_EQ(list.shown(), "a list");
}

TEST(TomlDocument, has_its_members_as_they_stand_in_the_file) {
  const auto document = parse_toml("z = 1\na = 2\nm.x = 3\nb = {y = 1, c = 2}", "a.toml");
  ASSERT_TRUE(document);
  std::string names;
  for (const TomlMember& member : document->members) names += member.name;
  EXPECT_EQ(names, "zamb");
  EXPECT_EQ(document->find("b")->members[0].name, "y");
}

TEST(TomlDocument, says_in_which_line_it_is_not_toml) {
  EXPECT_EQ(complaint(" \n"), "a.toml is empty: there is nothing in it to be read.");
  EXPECT_EQ(complaint(std::string_view("a = 1\n\0", 7)), "a.toml:2: this is binary, not text in TOML.");
  EXPECT_EQ(complaint("# caf\xe9"), "a.toml:1: \"# caf\\xe9\" is not UTF-8 text. Save the file as UTF-8.");
  EXPECT_EQ(
      complaint(std::string_view("\xff\xfe"
                                 "a\0",
                                 4)),
      "a.toml is text in UTF-16, as PowerShell and some editors on Windows save it; `iconv -f UTF-16 -t UTF-8 OLD > "
      "NEW` converts it.");
  EXPECT_EQ(complaint("a = 1\na = 2").substr(0, 34), "a.toml:2: this is not valid TOML: ");
  EXPECT_EQ(complaint("a = 99999999999999999999").substr(0, 34), "a.toml:1: this is not valid TOML: ");
  EXPECT_EQ(complaint("a = 'b").substr(0, 34), "a.toml:1: this is not valid TOML: ");
  EXPECT_EQ(complaint("a = 1\n°b = 1"),
            "a.toml:2: this is not valid TOML: a character beyond ASCII stands outside quotes.");
}

TEST(TomlDocument, survives_what_the_library_would_not) {
  EXPECT_EQ(complaint("a = 1\nb = 2\nc = 1979-05-27T:07:32:00Z\nd = 3\n"),
            "a.toml:3: this is not valid TOML: a number, date or time is not written as TOML has it.");
  EXPECT_EQ(complaint("a = 1\nb = \"\\uE0FF\""),
            "a.toml:2: an escape such as \\uE0FF stands for no character here. Write the character itself.");
  std::string deep;
  for (int i = 0; i < 2000; ++i) deep += "a.";
  EXPECT_EQ(complaint(fmt::format("[{}b]\nb{}c = {{{}d = 1}}", deep, deep.substr(1), deep)).substr(0, 34),
            "a.toml:2: there are more than 2,00");
  EXPECT_EQ(complaint(fmt::format("[{}b]\n{}c = 1", deep, deep)),
            "a.toml:1: tables are nested more than 100 deep here.");
  EXPECT_EQ(complaint(std::string(10'000, '[')).substr(0, 9), "a.toml:1:");
  EXPECT_EQ(complaint("a = " + std::string(100'000, '[')).substr(0, 9), "a.toml:1:");
  EXPECT_EQ(complaint("a = " + std::string(100'000, '{')).substr(0, 9), "a.toml:1:");
}

// In UTF-8; of two or three bytes.
std::string encoded(std::uint32_t character) {
  const auto tail = [](std::uint32_t bits) { return static_cast<char>(0x80U | (bits & 0x3FU)); };
  if (character < 0x800) return {static_cast<char>(0xC0U | (character >> 6U)), tail(character)};
  return {static_cast<char>(0xE0U | (character >> 12U)), tail(character >> 6U), tail(character)};
}

RC_GTEST_PROP(TomlDocument, gives_back_any_character_in_quotes, ()) {
  const auto characters =
      *rc::gen::container<std::vector<std::uint32_t>>(rc::gen::inRange<std::uint32_t>(0xA0, 0xD800));
  std::string text;
  for (const std::uint32_t character : characters) text += encoded(character);
  std::string document = fmt::format("\xEF\xBB\xBF# {}\n", text);  // byte order mark
  document += fmt::format("'{}' = '{}'", text, text);
  const auto read = parse_toml(document, "a.toml");
  RC_ASSERT(read.has_value());
  RC_ASSERT(read->members[0].name == text);
  RC_ASSERT(read->members[0].value.text == text);
}

}  // namespace
}  // namespace rota::site
