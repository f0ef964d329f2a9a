#include "serve/reservation_desk.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <utility>

#include "base/text.h"
#include "model/never_fits.h"
#include "model/shortage.h"
#include "serve/cluster_change.h"
#include "serve/node_list.h"
#include "serve/reserved.h"

namespace rota::serve {

const Reservation* first_reserved_for(const View& view, const Job& job) {
  if (!view.reserved_in_reach()) return nullptr;
  const Instant now = view.now();
  const Reservation* first = nullptr;
  for (const Reservation& r : view.reservations().all()) {
    if (r.overlaps(now, now + job.expected) && (first == nullptr || r.from < first->from)) first = &r;
  }
  return first;
}
namespace {

constexpr const char* kNote = "reservation ";  // with its id: its maker, its name and its users, a line each

bool alike(const Reservation& a, const Reservation& b) {
  return a.from == b.from && a.until == b.until && a.nodes == b.nodes && a.processors == b.processors;
}

}  // namespace

std::vector<Reservation> ReservationDesk::dated() const {
  std::vector<Reservation> wanted = desk_.file()->configuration->reservations;
  for (Reservation& r : wanted) {
    r.from = desk_.loop().instant_of((r.from - kEpoch).count());
    r.until = desk_.loop().instant_of((r.until - kEpoch).count());
    r.nodes = ids_of(r.nodes, desk_.file()->configuration->machine, *desk_.machine());
  }
  const Instant now = desk_.now();
  std::erase_if(wanted, [&](const Reservation& r) { return r.until <= now; });
  return wanted;
}

// What is left of it beside reservations that stand before it: it is cut where one of them begins or ends.
std::vector<Reservation> ReservationDesk::beside(const Reservation& wanted,
                                                 const std::vector<Reservation>& standing) const {
  std::vector<Instant> cuts{wanted.from, wanted.until};
  for (const Reservation& other : standing) {
    for (const Instant at : {other.from, other.until}) {
      if (wanted.from < at && at < wanted.until) cuts.push_back(at);
    }
  }
  std::ranges::sort(cuts);
  std::vector<Reservation> parts;
  for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
    if (cuts[i] == cuts[i + 1]) continue;
    Reservation part = wanted;
    part.from = cuts[i];
    part.until = cuts[i + 1];
    std::int64_t left = desk_.machine()->processors;
    for (const Reservation& other : standing) {
      if (!other.overlaps(part.from, part.until)) continue;
      left -= other.processors;
      std::erase_if(part.nodes, [&](NodeId n) { return std::ranges::find(other.nodes, n) != other.nodes.end(); });
    }
    part.processors = std::min(part.processors, left);
    if (part.nodes.empty() && part.processors <= 0) continue;
    const bool goes_on = !parts.empty() && parts.back().until == part.from && parts.back().nodes == part.nodes &&
                         parts.back().processors == part.processors;
    if (goes_on) {
      parts.back().until = part.until;
    } else {
      parts.push_back(std::move(part));
    }
  }
  return parts;
}

// One that is no longer in the file is taken back, one that is new there is made. What operators made stays, and the
// file's stand around it.
Result<void> ReservationDesk::keep_the_files() {
  std::vector<Reservation> known = desk_.view().reservations().all();
  std::vector<Reservation> made;
  const auto is_made = [&](const Reservation& r) { return note_of(r.id) != nullptr; };
  std::ranges::copy_if(known, std::back_inserter(made), is_made);
  std::erase_if(known, is_made);
  std::vector<Reservation> wanted;
  const Instant now = desk_.now();
  for (const Reservation& r : dated()) std::ranges::move(beside(r, made), std::back_inserter(wanted));
  std::erase_if(wanted, [&](const Reservation& r) { return r.until <= now; });
  const auto is_among = [](const std::vector<Reservation>& all, const Reservation& r) {
    return std::ranges::any_of(all, [&](const Reservation& each) { return alike(each, r); });
  };
  for (const Reservation& r : known) {
    if (is_among(wanted, r)) continue;
    if (auto done = desk_.controller().record(Unreserved{r.id}); !done) return done;
  }
  for (const Reservation& r : wanted) {
    if (is_among(known, r)) continue;
    const Reserved fact{desk_.view().reservations().next_id(), r.from, r.until, r.nodes, r.processors};
    if (auto done = desk_.controller().record(fact); !done) return done;
  }
  return {};
}

void ReservationDesk::put_note(ReservationId id, const Note& note) {
  notes_[id] = note;
  desk_.store().put_setting(kNote + std::to_string(id.value),
                            fmt::format("{}\n{}\n{}", note.by, note.name, note.users));
}

// Where several share nodes, the first one named has them.
Result<void> ReservationDesk::keep_theirs(const std::vector<ManagerReservation>& all) {
  if (all.empty() && notes_.empty()) return {};
  TRY(desk_.chain().keeps_reservations());
  std::vector<std::pair<Reservation, Note>> wanted;
  std::vector<Reservation> standing;
  const Instant now = desk_.now();
  for (const ManagerReservation& theirs : all) {
    if (theirs.until <= now) continue;
    for (Reservation& part : beside({{}, theirs.from, theirs.until, theirs.nodes, 0}, standing)) {
      if (part.until <= now) continue;
      standing.push_back(part);
      wanted.emplace_back(std::move(part), Note{.name = theirs.name, .by = {}, .users = theirs.users});
    }
  }
  const std::vector<Reservation> known = desk_.view().reservations().all();
  for (const Reservation& r : known) {
    const Note* note = note_of(r.id);
    const auto same = std::ranges::find_if(wanted, [&](const auto& each) {
      return note != nullptr && alike(each.first, r) && each.second.name == note->name &&
             each.second.users == note->users;
    });
    if (note == nullptr) continue;
    if (same == wanted.end()) {
      TRY(desk_.record(Unreserved{r.id}));
    } else {
      wanted.erase(same);
    }
  }
  for (const auto& [r, note] : wanted) {
    const Reserved fact{desk_.view().reservations().next_id(), r.from, r.until, r.nodes, 0};
    TRY(desk_.record(fact));
    put_note(fact.id, note);
  }
  forget_notes();
  return {};
}

// Which users made those that are not the configuration's, and whether this policy keeps what there will be.
Result<void> ReservationDesk::read() {
  const auto all = TRY(desk_.store().settings(kNote));
  for (const auto& [id, text] : all) {
    const auto number = parse_integer(id);
    if (!number || *number < 0 || *number >= UINT32_MAX) continue;
    std::vector<std::string_view> lines = split(text, '\n');
    lines.resize(3);  // one of an older service has no users
    notes_[ReservationId{static_cast<std::uint32_t>(*number)}] = {
        .name = std::string(lines[1]), .by = std::string(lines[0]), .users = std::string(lines[2])};
  }
  forget_notes();
  const Instant now = desk_.now();
  const bool some = !dated().empty() || std::ranges::any_of(notes_, [&](const auto& each) {
    return desk_.view().reservations().find(each.first)->until > now;
  });
  return some ? desk_.chain().keeps_reservations() : Result<void>();
}

// Forgets the notes of those that are over.
void ReservationDesk::forget_notes() {
  std::erase_if(notes_, [&](const auto& each) {
    if (desk_.view().reservations().find(each.first) != nullptr) return false;
    desk_.store().put_setting(kNote + std::to_string(each.first.value), "");
    return true;
  });
}

const ReservationDesk::Note* ReservationDesk::note_of(ReservationId id) const {
  const auto found = notes_.find(id);
  return found == notes_.end() ? nullptr : &found->second;
}

const Reservation* ReservationDesk::find(const std::string& which) const {
  for (const Reservation& r : desk_.view().reservations().all()) {
    const Note* note = note_of(r.id);
    if (which == std::to_string(r.id.value) || (note != nullptr && !which.empty() && note->name == which)) return &r;
  }
  return nullptr;
}

std::string ReservationDesk::id_and_name(const Reservation& reserved) const {
  const Note* note = note_of(reserved.id);
  const std::string id = std::to_string(reserved.id.value);
  return note == nullptr || note->name.empty() ? id : fmt::format("{} ({})", id, note->name);
}

Result<void> ReservationDesk::let_run_in(const std::string& which, const Caller& caller, JobSpec& job) const {
  const Reservation* found = find(which);
  if (found == nullptr)
    return fail("there is no reservation {}: it is over or was never made; {}.", rota::quoted(which), all_by_name());
  const Note* note = note_of(found->id);
  if (note == nullptr || note->users.empty())
    return fail(
        "no job runs in reservation {}: it keeps nodes free. One that an operator makes with `rota reserve "
        "--users` is for the jobs of these users.",
        id_and_name(*found));
  if (found->nodes.empty())
    return fail("reservation {} is of processors that are only counted: no job runs in it.", id_and_name(*found));
  const auto users = split(note->users, ',');
  if (std::ranges::find(users, caller.user) == users.end())
    return fail("reservation {} is for jobs of {}; an operator can make one for you.", id_and_name(*found),
                note->users);
  if (!could_hold(*found, job))
    return fail("the job can never run in reservation {}: it needs {}, and that has nodes {}.", id_and_name(*found),
                needs_of(desk_.view(), job), node_list(*desk_.machine(), found->nodes));
  run_within(job, found->id);
  return {};
}

bool ReservationDesk::could_hold(const Reservation& reserved, const JobSpec& spec) const {
  return fits_on(*desk_.machine(), spec, reserved.nodes);
}

std::string ReservationDesk::all_by_name() const {
  constexpr std::size_t kMostNamed = 8;
  const std::vector<Reservation>& all = desk_.view().reservations().all();
  if (all.empty()) return "there are none now";
  std::string names;
  for (std::size_t i = 0; i < std::min(all.size(), kMostNamed); ++i) names += (i > 0 ? ", " : "") + id_and_name(all[i]);
  return fmt::format("those there are: {}{}; `rota reservations` lists them", names,
                     all.size() > kMostNamed ? " and others" : "");
}

// The state counts reservations. A caller that is refused one has not received its number, and calls others by names.
std::string ReservationDesk::in_names(std::string objection, const Reserved& to) const {
  const auto numbered = [](ReservationId id) { return "reservation " + std::to_string(id.value); };
  const std::string wanted = numbered(to.id) + " ";
  if (objection.starts_with(wanted)) objection.replace(0, wanted.size(), "the reservation ");
  bool others = objection.find("reserved already") != std::string::npos;
  for (const Reservation& other : desk_.view().reservations().all()) {
    const std::size_t at = objection.find(numbered(other.id) + " ");
    if (at == std::string::npos) continue;
    objection.replace(at, numbered(other.id).size(), "reservation " + id_and_name(other));
    others = true;
    break;  // no objection names several
  }
  if (others) objection += " `rota reservations` lists what is reserved, and when.";
  return objection;
}

Result<void> ReservationDesk::can_reserve(const Wish& wish, Instant from) const {
  constexpr std::size_t kLongestName = 64;
  constexpr Duration kSecond = seconds(1);  // what is said in whole seconds may be of the one that runs
  if (wish.from && *wish.from + kSecond <= desk_.loop().now())
    return fail("the reservation would have begun in the past; give a start that is to come, or none for now.");
  if (from >= wish.until && !wish.duration) return fail("the reservation would end before it begins, or at once.");
  if (!wish.users.empty() && wish.nodes.empty())
    return fail("`users` is for reservations of nodes: where processors are only counted, no job runs in one.");
  if (!wish.users.empty() && wish.name.empty())
    return fail("`users` goes with a `name`: by that jobs ask for the reservation.");
  const auto is_no_name = [](std::string_view user) {
    return user.empty() || user.find_first_of(" \t\n") != std::string_view::npos;
  };
  if (!wish.users.empty() && std::ranges::any_of(split(wish.users, ','), is_no_name))
    return fail("`users` is a list of names with commas between them, as alice,bob.");
  if (wish.name.empty()) return {};
  const bool plain = wish.name.front() != '-' && std::ranges::all_of(wish.name, [](unsigned char c) {
                       return (c < 0x80 && std::isalnum(c) != 0) || c == '_' || c == '-' || c == '.';
                     });
  if (!plain || wish.name.size() > kLongestName || parse_integer(wish.name))
    return fail(
        "a reservation's name has up to 64 letters, digits, \"_\", \"-\" and \".\", begins with no \"-\" and is no "
        "number; {} is none.",
        rota::quoted(wish.name));
  if (find(wish.name) == nullptr) return {};
  return fail("there is a reservation {} already; give another name, or end that one.", rota::quoted(wish.name));
}

Result<std::optional<ReservationId>> ReservationDesk::reserved_as(const std::string& key, std::uint32_t uid) {
  const auto known = TRY(desk_.store().key(kKeyOfReservation + key, uid));
  if (!known) return std::nullopt;
  const ReservationId id{known->value};
  if (desk_.view().reservations().find(id) != nullptr) return std::optional(id);
  return fail(
      "the reservation that this `Idempotency-Key` stands for is over, or was ended; give another key to make another "
      "one.");
}

Result<ReservationId> ReservationDesk::reserve(const Caller& caller, const Wish& wish, const RequestKey& key) {
  TRY(carries_out(desk_, "reservations"));
  if (!key.text.empty()) {
    const auto before = TRY(reserved_as(key.text, caller.uid));
    if (before) return *before;
  }
  const Instant now = desk_.now();
  const Instant from = std::max(wish.from.value_or(now), now);
  forget_notes();
  TRY(can_reserve(wish, from));
  Reserved fact{desk_.view().reservations().next_id(), from, wish.duration ? from + *wish.duration : wish.until, {}, 0};
  fact.processors = wish.processors;
  if (!wish.nodes.empty()) {
    if (desk_.machine()->nodes.empty())
      return fail("here processors are only counted, and there are no nodes to name; say how many processors.");
    fact.nodes = TRY(nodes_named(*desk_.machine(), wish.nodes));
  }
  if (auto done = record_asked(fact); !done) return fail(in_names(done.error().message, fact));
  put_note(fact.id, {.name = wish.name, .by = caller.user, .users = wish.users});
  if (!key.text.empty())
    desk_.store().put_key(kKeyOfReservation + key.text, caller.uid, JobId{fact.id.value}, desk_.view().now(),
                          key.digest);
  return fact.id;
}

Result<void> ReservationDesk::unreserve(ReservationId id) {
  TRY(carries_out(desk_, "reservations"));
  if (note_of(id) == nullptr)
    return fail(
        "reservation {} is the configuration's: take it out of the file, and start the service again; jobs go on "
        "meanwhile.",
        id.value);
  if (auto done = record_asked(Unreserved{id}); !done) return done;
  forget_notes();
  return keep_the_files();  // the file's may have stood around it
}

Result<void> ReservationDesk::record_asked(const Observed& fact) {
  const ServiceLog::Asked asked(desk_.log());
  return desk_.record(fact);
}

// Counted processors that are reserved at one time while it lasts. They rise only where one begins.
std::int64_t ReservationDesk::most_reserved(const Reservation& during) const {
  const Reservations& all = desk_.view().reservations();
  std::int64_t most = all.processors_at(during.from);
  for (const Reservation& other : all.all()) {
    if (during.holds_at(other.from)) most = std::max(most, all.processors_at(other.from));
  }
  return most;
}

std::vector<JobId> ReservationDesk::running_into(const Reservation& reserved) const {
  std::vector<JobId> jobs;
  std::int64_t processors = 0;
  const bool begun = reserved.from <= desk_.view().now();
  desk_.view().running().for_each([&](const RunningEntry& entry) {
    const Job& job = desk_.view().job(entry.job);
    const auto on_it = [&](const Share& share) {
      return std::ranges::find(reserved.nodes, share.node) != reserved.nodes.end();
    };
    const bool there = reserved.nodes.empty() || std::ranges::any_of(desk_.view().placement(entry.job).shares, on_it);
    const bool lasts = begun || job.suspended() || job.limit_end() > reserved.from;
    if (!there || !lasts) return true;
    jobs.push_back(entry.job);
    processors += job.spec.processors;
    return true;
  });
  if (reserved.nodes.empty() && processors + most_reserved(reserved) <= desk_.machine()->processors) jobs.clear();
  std::ranges::sort(jobs);
  return jobs;
}

// What is reserved for a time in which the job would still run; nullptr: nothing, or something else is in its way as
// well.
const Reservation* ReservationDesk::before(JobId id, const Job& job) const {
  if (desk_.view().free() < job.spec.processors) return nullptr;
  const Reservation* first = first_reserved_for(desk_.view(), job);
  if (first == nullptr) return nullptr;
  const WaitingEntry* head = desk_.view().waiting().head();
  const bool by_itself = first->nodes.empty() && desk_.view().free() - first->processors < job.spec.processors;
  return by_itself || (head != nullptr && head->job == id) ? first : nullptr;
}

std::string ReservationDesk::text_of(const Reservation& reserved) const {
  std::string what = amount(reserved.processors, "processor");
  if (!reserved.nodes.empty())
    what = (reserved.nodes.size() == 1 ? "Node " : "Nodes ") + node_list(*desk_.machine(), reserved.nodes);
  const bool one = reserved.nodes.empty() ? reserved.processors == 1 : reserved.nodes.size() == 1;
  what += one ? " is reserved " : " are reserved ";
  const std::string until = desk_.loop().date_of(reserved.until);
  if (reserved.from <= desk_.view().now()) return fmt::format("{}until {}.", what, until);
  return fmt::format("{}from {} to {}, before it would be over.", what, desk_.loop().date_of(reserved.from), until);
}

}  // namespace rota::serve
