#include "store/fact_page.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <string>

#include "base/file.h"
#include "base/page_test.h"
#include "model/fields.h"

namespace rota::store {
namespace {

TEST(JournalPage, has_every_fact_and_field) { expect_in_page("journal.md", "facts", fact_page()); }

TEST(JournalPage, has_every_field_of_the_head) { expect_in_page("journal.md", "head", head_page()); }

TEST(JournalPage, names_the_version) {
  const auto page = read_file(ROTA_SOURCE_DIR "/docs/journal.md");
  ASSERT_TRUE(page) << page.error().message;
  EXPECT_NE(page->find(fmt::format("This is version {}.", kJournalVersion)), std::string::npos);
}

}  // namespace
}  // namespace rota::store
