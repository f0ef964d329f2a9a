// What operators read of a service: lines of its log, warnings, and what the state refused. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "control/controller.h"

namespace rota::serve {

class ServiceLog final : public FactObserver {
 public:
  using Say = std::function<void(const std::string&)>;

  explicit ServiceLog(Say say) : say_(std::move(say)) {}

  // A line about what goes on.
  void say(const std::string& line) const {
    if (say_) say_(line);
  }
  // The latest hundred stay.
  void warn(std::string sentence);
  const std::vector<std::string>& warnings() const { return warnings_; }

  // While one of these lives, a caller has asked for what is recorded, and receives the refusal as the answer.
  class Asked {
   public:
    explicit Asked(ServiceLog& log) : log_(log) { log_.asked_ = true; }
    Asked(const Asked&) = delete;
    Asked& operator=(const Asked&) = delete;
    ~Asked() { log_.asked_ = false; }

   private:
    ServiceLog& log_;
  };

  // What users and operators asked for and the state did not allow.
  std::int64_t refused_requests() const { return refused_requests_; }
  // What the engine, or the passing of time, reported that contradicts the state: a sign of a defect.
  std::int64_t refusals(const Controller& present) const { return before_ + present.refusals() - refused_requests_; }
  // The last of these, or why a plan was refused, whichever came later; empty: neither.
  const std::string& last_refusal() const { return last_refusal_; }
  // Another controller takes the place of this one, and the count goes on.
  void carry_over(const Controller& before) { before_ += before.refusals(); }

  std::uint64_t wants() const override { return 0; }
  void fact_recorded(const View& /*before*/, const FactRef& /*fact*/) override {}
  void refused(const View& view, const Error& why) override;

 private:
  Say say_;
  std::vector<std::string> warnings_;
  bool asked_ = false;
  std::int64_t refused_requests_ = 0;
  std::int64_t before_ = 0;  // refusals of both sorts, that former controllers counted
  std::string last_refusal_;
};

}  // namespace rota::serve
