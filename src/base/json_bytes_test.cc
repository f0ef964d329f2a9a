#include "base/json_bytes.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace rota {
namespace {

using Json = nlohmann::json;

TEST(JsonBytes, CrossAsPythonWritesThem) {
  EXPECT_EQ(json_text(Json{{"a", "x\xFF\x80"}}), R"({"a":"x\udcff\udc80"})");
  EXPECT_EQ(json_from<Json>(R"({"a":["x\uDCFF\udc80","\ud83d\ude00"]})"),
            (Json{{"a", {"x\xFF\x80", "\xF0\x9F\x98\x80"}}}));
  EXPECT_EQ(json_from<Json>(R"(["\udcc3\udca9"])")[0], "\xC3\xA9");  // bytes that are text together
}

TEST(JsonBytes, ComeBackAsTheyWere) {
  for (const std::string& text :
       {std::string("\xEF\xBF\xBF\xFF"), std::string("\xEF\xBF\xBF"), std::string("\\udc80 \xC3"),
        std::string("\xED\xB2\x80"), std::string("\"\\\n\x01\x7F"), std::string()}) {
    EXPECT_EQ(json_from<Json>(json_text(Json(text))), Json(text)) << text;
    EXPECT_EQ(json_from<Json>(json_text(Json{{"a", {text, "\xFE", 1}}}, 2)), (Json{{"a", {text, "\xFE", 1}}})) << text;
  }
}

TEST(JsonBytes, WhatIsNoJsonStaysNone) {
  for (const char* text : {R"(["\ud800"])", R"(["\udc7f"])", R"(["\udd00\udc80")", R"(["\udc8"])", "[\"\xFF\"]", ""})
    EXPECT_TRUE(json_from<Json>(text).is_discarded()) << text;
}

}  // namespace
}  // namespace rota
