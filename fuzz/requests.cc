// Any bytes as what a client may send: never a crash, and an error is a sentence. The first byte chooses how they are
// read.
#include <cstdint>
#include <string>

#include "api/http.h"
#include "api/submission_json.h"
#include "base/check.h"
#include "base/text.h"
#include "serve/after_text.h"
#include "serve/output_pattern.h"
#include "serve/selector.h"
#include "serve/submission.h"

namespace {

template <class T>
void look_at(const rota::Result<T>& read) {
  if (read) return;
  const std::string& said = read.error().message;
  CHECK(rota::is_utf8(said) && (said.ends_with(".") || said.ends_with("?")), "a sentence");
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer calls it so
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rota;
  if (size == 0) return 0;
  const std::string text(data + 1, data + size);
  api::Request request;
  switch (data[0] % 16) {
    case 0:
      look_at(api::read_submissions(text, 1'795'996'800));
      break;
    case 1:
      look_at(api::read_change("update", text, 0));
      break;
    case 2:
      look_at(api::read_change("cancel", text, 0));
      break;
    case 3:
      look_at(serve::parse_selector(text));
      break;
    case 4:
      look_at(serve::parse_array(text, 1000));
      look_at(serve::parse_signal(text));
      break;
    case 5:
      CHECK(!api::take_apart(text, request) || request.path.starts_with('/'), "a path");
      break;
    case 6:
      look_at(serve::read_about(text));
      break;
    case 8:
      look_at(serve::parse_after({text.substr(0, text.find('\n')), text.substr(text.find('\n') + 1)}));
      break;
    default:
      CHECK(serve::fill_in("%x", {0, 0, 0, text, "", "", 0}).find('/') == std::string::npos, "one file name");
      serve::fill_in(text, {1, 2, 3, "n", "u", "h", 4});
  }
  return 0;
}
