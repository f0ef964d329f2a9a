// The one door through which state changes: observers, referee, fold. For the files of Controller only.
#pragma once

#include "control/controller.h"

namespace rota {

template <class Kind>
void Controller::write(const Kind& what) {
  const Instant at = cluster_.now();
  const std::uint64_t sequence = cluster_.sequence() + 1;
  for (FactObserver* observer : observers_) observer->saw(cluster_, {at, sequence, &what});
  referee_.saw(cluster_, what);
  cluster_.fold(at, sequence, what);
  referee_.settled(cluster_, what);
}

}  // namespace rota
