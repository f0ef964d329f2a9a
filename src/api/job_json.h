// Jobs as docs/api.md has them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "serve/answers.h"

namespace rota::api {

enum class Detail : std::uint8_t { listed, explained, whole };

// A job that is known. `explained`: and why it waits; `whole`: all members. `inside`: and what only its user may see.
nlohmann::json job_json(const serve::Answers& answers, JobId id, Detail detail, bool inside);
// One that has left.
nlohmann::json job_json(const serve::Answers& answers, const store::HistoryRow& row);

// When a job that waits starts at the latest, where that has been planned.
void add_planned_start(serve::Answers& answers, JobId id, nlohmann::json& json);

// What only its user and operators may see, of either.
void add_inside(const serve::Answers& answers, JobId id, const serve::KeptAbout& kept, nlohmann::json& json);

// Unix seconds, with milliseconds.
double unix_seconds(const serve::Answers& answers, Instant at);

std::string dumped(const nlohmann::json& json);

}  // namespace rota::api
