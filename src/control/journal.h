// Keeps every fact of a controller in a store: an observer of the door, and what makes its facts durable.
#pragma once

#include "control/ports.h"
#include "control/store.h"

namespace rota {

class Journal : public FactObserver, public Durable {
 public:
  explicit Journal(Store& store) : store_(store) {}  // it must outlive this

  void fact_recorded(const View& /*before*/, const FactRef& fact) override { store_.append(fact); }
  Result<void> commit() override { return store_.commit(); }

 private:
  Store& store_;
};

}  // namespace rota
