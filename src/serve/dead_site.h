// `rota sites forfeit` and `remove`: asks etcd, which is in the settings of a site, for what exchange/etcd/dead_site.h
// does, and waits.
#pragma once

#include <string>

#include "exchange/etcd/dead_site.h"
#include "site/service_file.h"

namespace rota::serve {

// PEM files; empty: those of the site.
struct OperatorFiles {
  std::string certificate, key;
};

// Takes 20 s where etcd does not answer, and then fails with a sentence.
Result<etcd::DeadSite::Done> settle_dead_site(const site::FederationSettings& settings, const OperatorFiles& files,
                                              const std::string& dead, etcd::DeadSite::Wish wish);

}  // namespace rota::serve
