// The tables of docs/journal.md that come from the table of facts (model/fact_fields.h).
#pragma once

#include <string>

namespace rota::store {

// Every kind of fact with its number, origin, meaning and fields, and then the parts that facts are made of; Markdown.
std::string fact_page();

// What a journal says before its first fact.
std::string head_page();

}  // namespace rota::store
