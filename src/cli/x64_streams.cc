#include "cli/x64_streams.h"

#include <string>
#include <string_view>

#include "trace/gzip.h"
#include "trace/swf.h"

// The files as they are, between two symbols each.
#define ROTA_EMBED(symbol, path)                                                              \
  __asm__(".section .rodata\n.global " #symbol "\n" #symbol ":\n.incbin \"" path "\"\n.global " #symbol \
          "_end\n" #symbol "_end:\n.byte 0\n.previous\n")
ROTA_EMBED(rota_x64_blades_pf, ROTA_EXAMPLES "/x64-blades-pf.swf.gz");
ROTA_EMBED(rota_x64_blades_pc, ROTA_EXAMPLES "/x64-blades-pc.swf.gz");

extern "C" {
extern const char rota_x64_blades_pf;
extern const char rota_x64_blades_pf_end;
extern const char rota_x64_blades_pc;
extern const char rota_x64_blades_pc_end;
}

namespace rota::cli {

Result<trace::Workload> x64_stream(X64Stream stream) {
  const bool skipping = stream == X64Stream::skipping;
  const std::string_view packed = skipping ? std::string_view(&rota_x64_blades_pf, &rota_x64_blades_pf_end)
                                           : std::string_view(&rota_x64_blades_pc, &rota_x64_blades_pc_end);
  const std::string name = skipping ? "x64-blades-pf" : "x64-blades-pc";
  trace::GzipReader reader(packed, name);
  std::string text;
  while (!reader.done()) {
    if (auto read = reader.append_to(text); !read) return std::unexpected(read.error());
  }
  return trace::parse_swf(text, name);
}

}  // namespace rota::cli
