// Any bytes as a script with directives: never a crash, errors are sentences, and what is asked for becomes JSON or is
// refused.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/json_bytes.h"
#include "base/text.h"
#include "cli/live/directives.h"
#include "cli/live/submit_request.h"
#include "cli/when.h"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer calls it so
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rota;
  const std::string text(data, data + size);
  const auto found = cli::read_directives(text, "job.sh");
  if (!found) {
    const std::string& said = found.error().message;
    CHECK(is_utf8(said) && said.starts_with("line ") && (said.ends_with(".") || said.ends_with("?")), "a sentence");
    return 0;
  }
  for (const std::string& remark : found->remarks) CHECK(is_utf8(remark) && remark.ends_with("."), "a sentence");
  const cli::Surroundings here{.folder = "/", .environment = {"A=1"}, .now = 1'795'996'800, .umask = 18};
  std::vector<std::string> remarks;
  const auto request = cli::job_request(found->values, here, remarks);
  CHECK(request ? !json_text(*request).empty() : is_utf8(request.error().message), "JSON, or a sentence");
  if (const auto when = cli::parse_when(text, here.now)) CHECK(*when >= 0, "a time that can be");
  return 0;
}
