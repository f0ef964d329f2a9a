// Any bytes as the configuration of a service: settings that can be, or a sentence; and the text of the cluster that is
// kept with the journal describes the same machine when it is read by itself.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/text.h"
#include "site/service_file.h"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer calls it so
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rota;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto read = site::parse_configuration(text, "fuzz.toml");
  if (!read) {
    const std::string& said = read.error().message;
    CHECK(said.starts_with("fuzz.toml") && is_utf8(said), "it says where, in text");
    CHECK(said.ends_with('.') || said.ends_with('?'), "it says why, in a sentence");
    return 0;
  }
  const site::ServiceSettings& settings = read->service;
  CHECK(settings.kill_wait >= Duration{0} && settings.keep_history >= Duration{0}, "times can be");
  CHECK(settings.licence_interval > Duration{0} && settings.licence_timeout > Duration{0},
        "nobody is asked all the time");
  CHECK(settings.most_array >= 1 && settings.most_jobs >= 1, "somebody can submit");
  CHECK(settings.tls_certificate.empty() == settings.tls_key.empty(), "a certificate has its key");
  const auto again = site::parse_configuration(read->text, "kept.toml");
  CHECK(again.has_value(), "what is kept can be read");
  CHECK(again->machine.processors == read->machine.processors && again->machine.name == read->machine.name &&
            again->machine.nodes.size() == read->machine.nodes.size() &&
            again->machine.partitions.size() == read->machine.partitions.size() &&
            again->machine.licences.size() == read->machine.licences.size(),
        "and is the same machine");
  return 0;
}
