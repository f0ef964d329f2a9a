// Where `rota convert` puts jobs: SWF, with a sidecar where one is wanted, or JSON lines.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <ostream>
#include <string_view>

#include "base/result.h"
#include "log/attribute_table.h"
#include "log/json_lines.h"
#include "log/log_top.h"
#include "log/swf_row.h"
#include "log/swf_writer.h"
#include "log/workload.h"

namespace rota::cli {

// Before the first job come comments of SWF, if there are any, and then top(), once.
class ConvertOutput {
 public:
  ConvertOutput() = default;
  ConvertOutput(const ConvertOutput&) = delete;
  ConvertOutput& operator=(const ConvertOutput&) = delete;
  virtual ~ConvertOutput() = default;

  virtual void comment(std::string_view line) = 0;
  // `top` must outlive this, and may get new names, above those that it has, as jobs come.
  virtual void top(const log::LogTop& top) = 0;
  virtual Result<void> job(const log::SwfRow& row, const log::JobAttributes& attributes) = 0;
};

// Comments are passed on; where there are none, `top` is written. What has no room is counted in the report, unless
// there is a stream for the sidecar (nullptr: none).
std::unique_ptr<ConvertOutput> swf_output(std::ostream& out, std::ostream* sidecar, log::ImportReport& report);
std::unique_ptr<ConvertOutput> json_output(std::ostream& out);
std::unique_ptr<ConvertOutput> batsim_output(std::ostream& out, log::ImportReport& report);  // likewise

}  // namespace rota::cli
