#include "report/html_text.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <ostream>
#include <sstream>

#include "base/text.h"

namespace rota::report {
namespace {

TEST(HtmlText, LeavesNoCharacterThatMeansSomethingToABrowser) {
  EXPECT_EQ(html_text("<a href=\"x\" title='y'>&"), "&lt;a href=&quot;x&quot; title=&#39;y&#39;&gt;&amp;");
  EXPECT_EQ(html_text("plain – Grüße"), "plain – Grüße");
}

TEST(HtmlText, ReplacesWhatIsNotUtf8) {
  EXPECT_EQ(html_text("a\xff"
                      "b"),
            "a\xef\xbf\xbd"
            "b");
  EXPECT_EQ(html_text("\xc3"), "\xef\xbf\xbd") << "cut short";
  EXPECT_EQ(html_text("\xc0\xbc"), "\xef\xbf\xbd\xef\xbf\xbd") << "an overlong <";
  EXPECT_EQ(html_text(std::string_view("a\0b", 3)),
            "a\xef\xbf\xbd"
            "b");
}

RC_GTEST_PROP(HtmlText, IsSafeForAnyBytes, (const std::string& bytes)) {
  const std::string text = html_text(bytes);
  RC_ASSERT(text.find_first_of("<>\"'") == std::string::npos);
  RC_ASSERT(is_utf8(text));
}

TEST(ScriptJson, CannotEndItsElement) {
  EXPECT_EQ(script_json(R"({"name":"</script><!--"})"), R"({"name":"\u003c/script>\u003c!--"})");
}

TEST(Fill, PutsEachPartInItsPlace) {
  std::ostringstream out;
  fill(out, "a {{x}} b {{y}}{{x}}.",
       {{"x", [](std::ostream& o) { o << "1{{y}}"; }}, {"y", [](std::ostream& o) { o << 2; }}});
  EXPECT_EQ(out.str(), "a 1{{y}} b 21{{y}}.") << "and does not look into what it put there";
}

}  // namespace
}  // namespace rota::report
