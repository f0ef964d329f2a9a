// The page of a live service: one file that asks the service for everything it shows (report/live/). It shares words,
// colours and the picture of jobs with the report.
#pragma once

#include <string>

namespace rota::report {

struct LivePage {
  std::string html;
  std::string style;   // what stands in its one <style>, to the byte: for a server that allows just that
  std::string script;  // and in its one <script>
};

// The same at every call.
LivePage live_page();

}  // namespace rota::report
