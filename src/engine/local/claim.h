// Which process begins a run: the one that makes its record, and never another.
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

// The supervisor calls this before it begins anything: holds the record (record_holder.h). False: meanwhile the other
// end was closed, and nothing is left of the claim. A service that closes it first, and then looks which process holds
// the record, finds none, or one that it can kill; and no process that it has not found begins the run.
bool keep_claim(int folder, const Order& order, const Claim& claim, const process::Descriptor& connection);

// It could not be begun after all, as errno says.
void give_up_claim(int folder, const Order& order, const process::Descriptor& connection);

// Removes the files of a run that no service will ask for any more.
void remove_run(int folder, const std::string& name);

}  // namespace rota::local
