#include "serve/service_log.h"

namespace rota::serve {

void ServiceLog::warn(std::string sentence) {
  constexpr std::size_t kMostWarnings = 100;
  warnings_.push_back(std::move(sentence));
  if (warnings_.size() > kMostWarnings) warnings_.erase(warnings_.begin());
}

void ServiceLog::refused(const View& /*view*/, const Error& why) {
  if (asked_) return void(++refused_requests_);
  last_refusal_ = why.message;
  warn(why.message);
}

}  // namespace rota::serve
