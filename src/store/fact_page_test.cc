#include "store/fact_page.h"

#include <gtest/gtest.h>

#include "base/page_test.h"

namespace rota::store {
namespace {

TEST(JournalPage, has_every_fact_and_field) { expect_in_page("journal.md", "facts", fact_page()); }

TEST(JournalPage, has_every_field_of_the_head) { expect_in_page("journal.md", "head", head_page()); }

}  // namespace
}  // namespace rota::store
