// The one door through which state changes: observers, referee, fold. For the files of Controller only.
#pragma once

#include "control/controller.h"

namespace rota {

template <class Kind>
void Controller::show(const FactRef& fact) {
  for (FactObserver* observer : observers_) {
    if ((observer->wants() & FactKinds::bit<Kind>()) != 0) observer->saw(cluster_, fact);
  }
}

template <class Kind>
void Controller::write(const Kind& what) {
  const Instant at = cluster_.now();
  const std::uint64_t sequence = cluster_.sequence() + 1;
  if ((observed_ & FactKinds::bit<Kind>()) != 0) show<Kind>({at, sequence, &what});
  referee_.saw(cluster_, what);
  cluster_.fold(at, sequence, what);
  referee_.settled(cluster_, what);
}

}  // namespace rota
