#include "cli/live/local_engine.h"

#include "engine/local/engine.h"
#include "engine/local/supervisor.h"

namespace rota::cli {

serve::EngineMaker local_engine() {
  return [](const serve::EngineSite& site) {
    return std::make_unique<local::LocalEngine>(
        site.io,
        local::LocalOptions{
            .folder = site.folder, .machine = &site.machine, .spawner = {"/proc/self/exe", "supervise"}},
        site.loop, site.source);
  };
}

int supervise(std::span<char*> arguments) { return local::supervise(arguments); }

}  // namespace rota::cli
