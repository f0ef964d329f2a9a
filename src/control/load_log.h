// The loads that a power rule saw, look by look: an observer of facts, for reports.
#pragma once

#include <cstdint>
#include <vector>

#include "control/ports.h"
#include "model/load_reading.h"

namespace rota {

class LoadLog final : public FactObserver {
 public:
  explicit LoadLog(Instant from) : from_(from) {}  // what was before does not count
  std::uint64_t wants() const override { return FactKinds::bit<PowerReviewed>(); }
  void fact_recorded(const View&, const FactRef& fact) override;
  std::vector<LoadLook> take_all() { return std::move(looks_); }

 private:
  Instant from_;
  std::vector<LoadLook> looks_;
};

}  // namespace rota
