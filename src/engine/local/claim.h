// Who begins a run: whoever makes its record, and nobody else ever.
#pragma once

#include <optional>
#include <string>

#include "engine/local/record.h"
#include "process/descriptor.h"

namespace rota::local {

struct Claim {
  process::Descriptor record;
  process::Descriptor listener;
};

// `folder`: that of the engine. Nothing: it is not to be begun here; `connection` is told why, unless it was begun
// before: then the service looks at what has become of it; or unless the other end is closed.
std::optional<Claim> claim_run(int folder, const Order& order, const process::Descriptor& connection);

// By who carries it out, before anything is begun: holds the record (record_holder.h). False: meanwhile the other end
// was closed, and nothing is left of the claim. Who closes it first, and then looks who holds the record, finds nobody,
// or one who can be killed; and nobody whom it has not found begins it.
bool keep_claim(int folder, const Order& order, const Claim& claim, const process::Descriptor& connection);

// It could not be begun after all, as errno says.
void give_up_claim(int folder, const Order& order, const process::Descriptor& connection);

// Nobody will ask for it any more.
void remove_run(int folder, const std::string& name);

}  // namespace rota::local
