#include "model/licence_names.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

namespace rota {
namespace {

using Licences = std::vector<NamedLicences>;

std::string error(std::string_view text) {
  const auto read = parse_named_licences(text);
  return read ? "" : read.error().message;
}

TEST(LicenceNames, are_read_with_and_without_numbers) {
  EXPECT_EQ(parse_named_licences("matlab").value(), (Licences{{"matlab", 1}}));
  EXPECT_EQ(parse_named_licences("matlab:2,simulink").value(), (Licences{{"matlab", 2}, {"simulink", 1}}));
  EXPECT_EQ(parse_named_licences(" a : 3 , b:1 ").value(), (Licences{{"a", 3}, {"b", 1}}));
}

TEST(LicenceNames, are_written_as_they_are_read) {
  const Licences licences{{"matlab", 2}, {"simulink", 1}, {"fluent", 1'000'000}};
  EXPECT_EQ(named_licences_text(licences), "matlab:2,simulink,fluent:1000000");
  EXPECT_EQ(parse_named_licences(named_licences_text(licences)).value(), licences);
  EXPECT_EQ(named_licences_text({}), "");
}

TEST(LicenceNames, say_what_is_wrong) {
  for (const char* text : {"", ",", "a,", ":2", "a:", "a:0", "a:-1", "a:b", "a:1:2", "a:1000001", "a,b:0"}) {
    EXPECT_EQ(
        error(text),
        fmt::format("licences are names, each alone or with how many, such as matlab:4,simulink, not \"{}\".", text));
  }
  EXPECT_EQ(error("a:1,b,a"), "the licence \"a\" is there twice in \"a:1,b,a\".");
  EXPECT_EQ(parse_named_licences("a,b,c,d,e,f,g,h").value().size(), 8U);
  EXPECT_EQ(error("a,b,c,d,e,f,g,h,i"),
            "a job may hold licences of 8 kinds at most, and \"a,b,c,d,e,f,g,h,i\" names more.");
}

}  // namespace
}  // namespace rota
