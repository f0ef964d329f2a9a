// What `rota top` shows, as lines of text with colours: made from answers of the service alone.
#pragma once

#include <string>
#include <vector>

#include "cli/live/service.h"
#include "cli/live/terminal.h"

namespace rota::cli {

struct TopView {
  Json status = Json::object();
  Json plan = Json::object();
  Json nodes = Json::array();
  std::string load;       // of this computer; empty: it is not the service's
  std::string chosen;     // the id of the job that keys act on
  std::size_t first = 0;  // row that is shown first
  std::string find;       // what is filtered by
  bool finding = false;   // it is being typed
  std::string asking;     // a question that y answers
  std::string told;       // what became of the last key
  std::string lost;       // why the service does not answer
  std::string page;       // a text that covers the queue: help, or all about a job
  std::size_t page_line = 0;
};

// ", 4 out of service, 8 asleep": the processors of a status that are neither busy nor free; empty: there are none.
std::string unusable_text(const Json& status);

// The jobs in the order of the rows.
std::vector<const Json*> rows_of(const TopView& view);
const Json* chosen_of(const TopView& view);  // nullptr: none
bool is_held(const Json& job);

// How many rows of the queue, or lines of a page, there is room for.
std::size_t room_of(const TopView& view, const Size& size);

// The lines of the page, those that are too long broken.
std::vector<std::string> broken_page(const TopView& view, const Size& size);

// The whole screen, exactly so many lines.
std::string drawn(const TopView& view, const Size& size);

// The first columns of a text, filled up with blanks to that many. What cannot be shown is a question mark.
std::string fitted(const std::string& text, std::size_t columns);

extern const char* const kTopKeys;  // the help's page

}  // namespace rota::cli
