// How long users say that their jobs will run: rules that make a requested time from a run time. Never below the run
// time.
#pragma once

#include <string>

#include "base/random.h"
#include "generate/knob.h"

namespace rota::generate {

struct Estimates {
  // none:   no estimates at all, the file's field 9 is -1.
  // exact:  the run time.
  // factor: run time x U(1, factor), to the next whole second (the f-model of Mu'alem and Feitelson, TPDS 12(6) 2001).
  // modal:  run time / U(0, 1), then up to the next of 20 popular round times (5, 10, 15, 20, 30, 45 min; 1, 1.5, 2, 3,
  // 4,
  //         5, 6, 8, 10, 12, 15, 18, 24, 36 h), at most `most`: after Tsafrir, Etsion and Feitelson, "Modeling user
  //         runtime estimates", JSSPP 2005, much simplified: flat accuracy, few distinct values, many jobs at the
  //         maximum.
  std::string rule = "none";
  double factor = 5.0;
  Duration most = seconds(129'600);  // a job that runs longer asks for its run time in whole hours

  bool any() const { return rule != "none"; }
};

void add_knobs(Knobs& knobs, Estimates& estimates);

// The requested time of a job; draws from `random` only where the rule is a matter of chance.
Duration estimate(const Estimates& estimates, Duration run, Random& random);

}  // namespace rota::generate
