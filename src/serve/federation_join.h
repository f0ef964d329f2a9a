// What a service needs to be a site of a federation, as its configuration and its policy have it: how it reaches etcd,
// the number that it has there, and the rules by which it sells and bids.
#pragma once

#include "control/member.h"
#include "exchange/etcd/exchange.h"
#include "policy/chain.h"
#include "serve/desk.h"
#include "site/service_file.h"

namespace rota::serve {

MemberRules member_rules(const Chain& chain, const Desk& desk, const site::FederationSettings& settings);

// Fails with a sentence where a file of the settings cannot be read.
Result<EtcdExchangeOptions> etcd_options(Desk& desk, const site::FederationSettings& settings);

// The number is kept with the state; the first time it is asked of etcd, which may take up to 15 s. Fails with a
// sentence where etcd cannot be asked then, or where the state is another site's.
Result<SiteId> number_of_site(Desk& desk, const site::FederationSettings& settings, const EtcdExchangeOptions& options);

}  // namespace rota::serve
