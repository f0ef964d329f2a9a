// Jobs as docs/api.md has them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "serve/service.h"

namespace rota::api {

enum class Detail : std::uint8_t { listed, explained, whole };

// A job that is known. `explained`: and why it waits; `whole`: all members. `inside`: and what only its user may see.
nlohmann::json job_json(serve::Service& service, JobId id, Detail detail, bool inside);
// One that has left.
nlohmann::json job_json(const serve::Service& service, const store::HistoryRow& row);

// When a job that waits starts at the latest, where that has been planned.
void add_planned_start(serve::Service& service, JobId id, nlohmann::json& json);

// What only its user and operators may see, of either.
void add_inside(serve::Service& service, JobId id, const serve::KeptAbout& kept, nlohmann::json& json);

// Unix seconds, with milliseconds.
double unix_seconds(const serve::Service& service, Instant at);

std::string dumped(const nlohmann::json& json);

}  // namespace rota::api
