#include "report/plot.h"

#include <gtest/gtest.h>

#include <sstream>

#include "report/study_page.h"

namespace rota::report {
namespace {

std::size_t count(const std::string& text, const std::string& word) {
  std::size_t n = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++n;
  return n;
}

TEST(Plot, draws_a_path_and_a_mark_for_each_point_of_a_line) {
  const std::string svg =
      svg_of({"LU", "GPUs", "speed-up", {{"node", {{2, 4.44}, {3, 4.44}, {4, 8.87}}}, {"late", {}}}});
  EXPECT_EQ(count(svg, "<circle"), 3U);
  EXPECT_EQ(count(svg, "node: 8.87 at 4"), 1U);
  EXPECT_EQ(count(svg, "fill=\"none\""), 2U);
}

TEST(Plot, axes_begin_at_zero_and_end_on_a_round_number) {
  const std::string svg = svg_of({"t", "x", "y", {{"a", {{0.1, 17}, {1.0, 23}}}}});
  for (const char* tick : {">0<", ">0.2<", ">1<", ">5<", ">25<"}) EXPECT_GE(count(svg, tick), 1U) << tick << svg;
  EXPECT_EQ(count(svg, ">30<"), 0U);
}

TEST(Plot, what_is_below_zero_has_room) {
  const std::string svg = svg_of({"t", "x", "y", {{"a", {{0, -3}, {1, 2}}}}});
  EXPECT_GE(count(svg, ">-3<"), 1U);
}

TEST(Plot, without_a_point_it_is_an_empty_frame) { EXPECT_EQ(count(svg_of({"t", "x", "y", {}}), "<circle"), 0U); }

TEST(Plot, text_from_outside_is_escaped) {
  EXPECT_EQ(count(svg_of({"<b>", "\"x\"", "y", {{"<script>", {{0, 1}}}}}), "<script>"), 0U);
}

TEST(StudyPage, says_how_many_figures_are_where_they_should_be) {
  std::ostringstream out;
  const std::vector<StudySection> sections{{"binding",
                                            "accelerators",
                                            "a table <here>\n",
                                            "speed-up",
                                            {{"two", 2, 1, 3}, {"three", 3, 1, 2}},
                                            {{"t", "x", "y", {}}}}};
  write_study_page(out, sections, {.title = "Studies", .version = "1", .command = "rota reproduce binding"});
  const std::string page = out.str();
  EXPECT_EQ(count(page, "1 of 2 figures are not where they should be."), 1U);
  EXPECT_EQ(count(page, "<strong>missed</strong>"), 1U);
  EXPECT_EQ(count(page, "<svg"), 1U);
  EXPECT_EQ(count(page, "a table &lt;here&gt;"), 1U);
  for (const char* word : {" src=", "<link", "@import", "url(", "{{", "<script"})
    EXPECT_EQ(count(page, word), 0U) << word;
}

}  // namespace
}  // namespace rota::report
