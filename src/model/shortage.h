// What a job asks for, and what of that lacks just now, in words.
#pragma once

#include <functional>
#include <string>

#include "model/cluster.h"

namespace rota {

// "2 nodes with a", "a node with a", "nodes n[1-2]": how many there are to be stands where they are not named.
std::string wished_nodes(const NodeWish& wish, const Machine& machine, std::uint32_t nodes);
// "8 processors on 2 nodes with 2 GiB of memory and 1 accelerator on each node in partition main and 1 licence of
// matlab". nullptr: processors are counted.
std::string asked_text(const Machine* machine, const JobSpec& spec);

// What it needs of nodes alone: "4 whole nodes", "16 processors".
std::string needs_of(const View& view, const JobSpec& spec);

// Whether it finds room now, whatever other jobs wait for that.
bool has_room_now(const View& view, const JobSpec& spec);

// What is free of that, and what else lacks where that is enough: "12 are free now in partition main, but no node has 2
// GiB of memory free". Later on: "12 were free ...".
enum class Tense : std::uint8_t { present, past };
std::string shortage(const View& view, const JobSpec& spec, bool room, Tense tense = Tense::present);

// A sentence for each kind of which there are too few, with the jobs that hold it, as shown(JobId) calls them.
using ShownJob = std::function<std::string(JobId)>;
std::string licence_shortage(const View& view, const JobSpec& spec, const ShownJob& shown);
std::string licence_holders(const View& view, LicenceId licence, const ShownJob& shown);

// What keeps a waiting job from starting, to be told later on: "1 licence of matlab (0 were free)", "4 whole nodes (3
// were free in partition main)". Empty: nothing but the claims of others, or processors are counted.
std::string lacking(const View& view, const JobSpec& spec);

}  // namespace rota
