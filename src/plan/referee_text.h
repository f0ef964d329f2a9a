// How the referee calls a job and an instant in what it says of a breach.
#pragma once

#include <string>

#include "model/cluster.h"

namespace rota {

inline std::string name(const View& view, JobId id) { return "job " + std::to_string(view.job(id).spec.number); }

inline std::string when(Instant at) {
  return at == kNever ? "never" : std::to_string(at.time_since_epoch().count() / 1000) + " s";
}

}  // namespace rota
