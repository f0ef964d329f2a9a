// For tests, after gtest/gtest.h: parts of a page in docs/ that are made from a table in the code.
#pragma once

#include <fmt/core.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

namespace rota {

// The page must hold `text` between `begin` and `end`. Where it does not, the test fails; run with ROTA_WRITE_DOCS=1 it
// first writes the page anew.
inline void expect_between(const std::string& page, const std::string& begin, const std::string& end,
                           const std::string& text) {
  const std::string path = ROTA_SOURCE_DIR "/docs/" + page;
  std::ifstream in(path);
  std::string now((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const std::size_t from = now.find(begin);
  ASSERT_NE(from, std::string::npos) << path << " has no line " << begin;
  const std::size_t start = from + begin.size();
  const std::size_t stop = now.find(end, start);
  ASSERT_NE(stop, std::string::npos) << path << " has no end behind " << begin;
  if (std::getenv("ROTA_WRITE_DOCS") != nullptr) {  // NOLINT(concurrency-mt-unsafe): tests do not set it
    now.replace(start, stop - start, text);
    std::ofstream(path) << now;
    return;
  }
  EXPECT_EQ(now.substr(start, stop - start), text)
      << "Run this test with ROTA_WRITE_DOCS=1 to write " << path << " anew.";
}

// Likewise between the lines "<!-- from the code: NAME -->" and "<!-- end -->".
inline void expect_in_page(const std::string& page, const std::string& name, const std::string& text) {
  expect_between(page, fmt::format("<!-- from the code: {} -->\n", name), "<!-- end -->\n", text);
}

}  // namespace rota
