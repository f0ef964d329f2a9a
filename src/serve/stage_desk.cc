#include "serve/stage_desk.h"

#include <fmt/core.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include "base/file.h"
#include "base/text.h"
#include "serve/member_json.h"

namespace rota::serve {
namespace {

namespace fs = std::filesystem;

constexpr Duration kClearAgain = seconds(15);
constexpr Duration kSetUp = seconds(1);  // what a transfer takes beside its bytes
constexpr int kMostDoublings = 3;        // how often the two seconds until the next try double
constexpr double kNewest = 0.3;          // how much the latest transfer counts
constexpr double kBytesOfMegabyte = 1e6, kMillisecondsOfSecond = 1000;

Duration until_again(int tries) { return seconds(2LL << std::min(tries, kMostDoublings)); }

std::vector<std::string> folders_in(const std::string& path) {
  std::vector<std::string> names;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(path, none)) names.push_back(entry.path().filename());
  return names;
}

// Where a site's files are, as its card says, if the settings do not. No site leads this one to its own files.
std::string address_of(const SiteCard* card, const std::string& name, const site::FederationSettings& settings) {
  std::string address = row_of(settings.addresses, name).value_or(card == nullptr ? "" : card->address);
  std::error_code none;
  const std::string real = fs::weakly_canonical(address, none), own = fs::weakly_canonical(settings.data, none);
  return address.starts_with('/') && (real + '/').starts_with(own + '/') ? "" : address;
}

std::string number_name(std::int64_t serial) { return std::to_string(serial); }
std::string home_name(std::int64_t serial) { return "back-" + std::to_string(serial); }

}  // namespace

StageDesk::StageDesk(const Uses& uses, Calls calls, StageCommands commands)
    : uses_(uses), calls_(std::move(calls)), commands_(std::move(commands)) {}

Result<std::unique_ptr<StageDesk>> StageDesk::open(const Uses& uses, Calls calls) {
  const site::FederationSettings& settings = uses.settings;
  std::optional<StageUser> account;
  if (::geteuid() == 0) {
    const passwd* user = settings.account.empty() ? ::getpwuid(0) : ::getpwnam(settings.account.c_str());
    if (user == nullptr)
      return fail("`account` in [federation] names {}, and there is no such user.", rota::quoted(settings.account));
    account = StageUser{user->pw_uid, user->pw_gid};
  }
  return std::unique_ptr<StageDesk>(
      new StageDesk(uses, std::move(calls), StageCommands(settings.data, account, settings.fetch)));
}

void StageDesk::later(std::function<void()> call, Duration after) {
  uses_.loop.later(
      [stands = stands_, call = std::move(call)] {
        if (*stands) call();
      },
      std::chrono::milliseconds(after.count()));
}

// One command about each thing at a time; what another life of the service has begun is ended by begin().
void StageDesk::run(const std::string& key, StageCommands::Command command,
                    std::function<void(const process::SiteCommand::End&)> call) {
  if (running_.contains(key))  // one thing is done to a folder at a time
    return later([this, key, command = std::move(command),
                  call = std::move(call)]() mutable { run(key, std::move(command), std::move(call)); },
                 kSetUp);
  std::string file = key;
  std::ranges::replace(file, '/', '+');
  command.record = uses_.settings.data + "/run-" + file;
  running_[key] = std::make_unique<process::SiteCommand>(
      uses_.io, command, [this, key, call = std::move(call)](const process::SiteCommand::End& end) {
        const auto done = std::move(running_.at(key));  // lives until the call returns
        running_.erase(key);
        call(end);
      });
}

void StageDesk::begin() {
  if (uses_.settings.data.empty()) return;
  for (const std::string& name : folders_in(uses_.settings.data)) {
    if (name.starts_with("run-")) process::SiteCommand::end_left_over(uses_.settings.data + '/' + name);
  }
  run("prepare", commands_.prepare(), [this](const process::SiteCommand::End& end) {
    if (!end.done) uses_.log.warn("federation: the folder `data` cannot be used: it " + end.why);
    later([this] { clear(); }, kSetUp);
  });
}

std::string StageDesk::folder_of(const Offer& offer) const {
  return fmt::format("{}-{}", uses_.exchange.name_of(offer.home), offer.serial);
}

// ---- how long it takes

double StageDesk::rate(SiteId from, SiteId to) const {
  if (to == uses_.self) {
    if (const auto measured = measured_.find(from); measured != measured_.end()) return measured->second;
  }
  std::int64_t least = uses_.settings.bandwidth;
  for (const SiteId site : {from, to}) {
    if (const SiteCard* card = uses_.cards.find(site)) least = std::min(least, card->bandwidth);
  }
  return static_cast<double>(least) * kBytesOfMegabyte / kMillisecondsOfSecond;
}

Duration StageDesk::haul(const Offer& offer, SiteId to) const {
  const Travelling* travelling = uses_.offers.find(offer);
  if (travelling == nullptr || travelling->request.stage_in.empty() || to == offer.data) return Duration{0};
  const double time = static_cast<double>(travelling->request.stage_bytes) / rate(offer.data, to);
  return kSetUp + Duration{std::llround(std::min(time, static_cast<double>(kLongest.count() / 2)))};
}

Duration StageDesk::longest_haul(const Offer& offer) const {
  Duration longest{0};
  for (std::uint32_t s = 0; s < uses_.exchange.names().size(); ++s) longest = std::max(longest, haul(offer, SiteId{s}));
  return longest;
}

std::vector<Coming> StageDesk::coming() const {
  std::vector<Coming> all;
  for (const auto& [job, in] : coming_) {
    const Travelling* asks = uses_.offers.find(in.offer);
    if (asks == nullptr) continue;
    all.push_back(
        {in.since + haul(in.offer, uses_.self), asks->request.processors, asks->request.limit.value_or(kLongest)});
  }
  std::ranges::stable_sort(all, {}, &Coming::at);
  return all;
}

// ---- a job that comes here

void StageDesk::bring(const Offer& offer) {
  const std::int64_t job = offer.spec.number;
  coming_[job] = {offer, uses_.loop.now()};
  if (offer.home == uses_.self) {  // all of it is here
    return later(
        [this, job] {
          coming_.erase(job);
          calls_.arrived(job);
        },
        Duration{0});
  }
  uses_.exchange.read_payload(offer, [this, job, stands = stands_](std::optional<std::string> run) {
    const auto in = coming_.find(job);
    if (!*stands || in == coming_.end()) return;
    in->second.run = std::move(run);
    if (!in->second.run) in->second.never = "what it runs is not in etcd any more";
    const Travelling* travelling = uses_.offers.find(in->second.offer);
    const bool fetches = in->second.run && travelling != nullptr && travelling->has_files();
    if (!fetches) return calls_.arrived(job);
    fetch_files(job);
  });
}

// What is on its way is not waited for.
void StageDesk::leave(std::int64_t job) {
  const auto left = coming_.extract(job);
  if (left) running_.erase("in/" + folder_of(left.mapped().offer));
}

void StageDesk::fetch_files(std::int64_t job) {
  const auto in = coming_.find(job);
  if (in == coming_.end()) return;
  const Offer& offer = in->second.offer;
  const std::string name = folder_of(offer);
  if (fs::exists(commands_.path("in", name) + "/job")) return calls_.arrived(job);
  const std::string home = uses_.exchange.name_of(offer.data);
  const std::string address = address_of(uses_.cards.find(offer.data), home, uses_.settings);
  if (address.empty()) {
    in->second.trouble = home + " does not say where its files are";
    return later([this, job] { fetch_files(job); }, until_again(in->second.tries++));
  }
  const Instant began = uses_.loop.now();
  run("in/" + name, commands_.fetch(address, number_name(offer.serial), name, in->second.tries > 0),
      [this, job, began](const process::SiteCommand::End& end) { fetched(job, end, began); });
}

void StageDesk::fetched(std::int64_t job, const process::SiteCommand::End& end, Instant began) {
  const auto in = coming_.find(job);
  if (in == coming_.end()) return;
  const Offer& offer = in->second.offer;
  const Travelling* travelling = uses_.offers.find(offer);
  const auto user = travelling == nullptr
                        ? std::nullopt
                        : user_here(uses_.exchange.name_of(offer.home), travelling->user, uses_.settings);
  if (end.code == StageCommands::kNeverMade) in->second.never = "its input could not be brought: " + end.output;
  if (!user) in->second.never = "its user is none of this site any more";
  if (!in->second.never.empty()) return calls_.arrived(job);
  if (!end.done) {
    in->second.trouble = fmt::format("fetching its input from {} {}", uses_.exchange.name_of(offer.data), end.why);
    return later([this, job] { fetch_files(job); }, until_again(in->second.tries++));
  }
  const auto took = static_cast<double>(std::max<std::int64_t>((uses_.loop.now() - began - kSetUp).count(), 1));
  if (const auto bytes = static_cast<double>(travelling->request.stage_bytes); bytes > kBytesOfMegabyte) {
    double& known = measured_.try_emplace(offer.data, bytes / took).first->second;
    known += kNewest * (bytes / took - known);
  }
  const std::string left = Json{{"uid", user->uid}, {"gid", user->gid}, {"back", paths_home(travelling->request)}}.dump(
      -1, ' ', true, Json::error_handler_t::replace);
  run("in/" + folder_of(offer), commands_.hand_over(folder_of(offer), {user->uid, user->gid}, left),
      [this, job](const process::SiteCommand::End& handed) {
        const auto at = coming_.find(job);
        if (at == coming_.end()) return;
        if (handed.done) return calls_.arrived(job);
        at->second.trouble = "handing its input to its user " + handed.why;
        later([this, job] { fetch_files(job); }, until_again(at->second.tries++));
      });
}

Result<void> StageDesk::equip(const Offer& offer, JobRequest& request) {
  const auto came = coming_.extract(offer.spec.number);
  if (!came || !came.mapped().run) return fail("{}.", came ? came.mapped().never : "what it runs has not come");
  if (!came.mapped().never.empty()) return fail("{}.", came.mapped().never);
  const auto run = uses_.seal.open(*came.mapped().run, std::to_string(offer.spec.number));
  if (!run) return fail("what it runs was sealed with another `secret` than that of this site.");
  const std::string digest = digest_of(offer);
  if (!run->starts_with(digest)) return fail("its home has not offered it as it stands on offer.");
  if (!read_run(std::string_view(*run).substr(digest.size()), request)) return fail("what it runs cannot be read.");
  if (!request.stage_in.empty() || !request.stage_out.empty()) {
    request.folder = commands_.path("in", folder_of(offer)) + "/files";
    request.submit_folder.clear();
  }
  request.stage_in.clear();
  request.stage_out.clear();
  return {};
}

std::string StageDesk::trouble_with(std::int64_t job) const {
  const auto in = coming_.find(job);
  return in == coming_.end() || in->second.trouble.empty() ? "" : in->second.trouble + ".";
}

bool StageDesk::give_back(const std::string& name) {
  const auto text = read_file(commands_.path("in", name) + "/job");
  const Json job = text ? Json::parse(*text, nullptr, false) : Json();
  StageUser user;
  std::vector<std::string> back;
  const bool good = job.is_object() && job.contains("uid") && take_number(job["uid"], user.uid, 0, UINT32_MAX) &&
                    job.contains("gid") && take_number(job["gid"], user.gid, 0, UINT32_MAX) && job.contains("back") &&
                    read_value(job["back"], back);
  if (!good) return false;
  run("out/" + name, commands_.give(name, user, commands_.path("in", name) + "/files", {}, back),
      [this, name](const process::SiteCommand::End& end) {
        if (end.done) return;
        uses_.log.warn(fmt::format("federation: what job {} has left cannot be given back yet: it {}", name, end.why));
        later([this, name] { static_cast<void>(give_back(name)); }, until_again(kMostDoublings));
      });
  return true;
}

// ---- a job of this home

void StageDesk::give(std::int64_t serial, const StageUser& user, const JobRequest& request) {
  const auto paths = stage_paths("stage_in", request.stage_in);
  run("out/" + number_name(serial),
      commands_.give(number_name(serial), user, request.folder, paths.value_or(std::vector<std::string>()), {}),
      [this, serial, user, request](const process::SiteCommand::End& end) {
        if (end.done || !calls_.is_away(serial)) return;
        uses_.log.warn(fmt::format("federation: the input of job {} cannot be given out yet: it {}", serial, end.why));
        later([this, serial, user, request] { give(serial, user, request); }, until_again(kMostDoublings));
      });
}

bool StageDesk::gives(std::int64_t serial) const { return fs::exists(commands_.path("out", number_name(serial))); }

void StageDesk::fetch_home(const Homebound& what, int tries) {
  const std::string name = home_name(what.serial), key = "in/" + name;
  const std::string address =
      address_of(uses_.cards.find(what.from), uses_.exchange.name_of(what.from), uses_.settings);
  const auto again = [this, what, tries] {
    later([this, what, tries] { fetch_home(what, tries + 1); }, until_again(tries));
  };
  if (running_.contains(key)) return;
  if (address.empty()) return again();
  const std::string left = fmt::format("{}-{}", uses_.exchange.name_of(uses_.self), what.serial);
  run(key, commands_.fetch(address, left, name, tries > 0),
      [this, key, name, what, again](const process::SiteCommand::End& end) {
        if (end.code == StageCommands::kNeverMade) return what.call(end.output);
        if (!end.done) return again();
        run(key, commands_.bring_home(name, what.user, what.folder, what.paths),
            [this, name, call = what.call](const process::SiteCommand::End& copied) {
              if (copied.done) return call("");
              call(fmt::format("copying it into the job's folder {}; it lies in {}/files", copied.why,
                               commands_.path("in", "kept-" + name)));
            });
      });
}

// ---- what is not needed any more

std::optional<std::int64_t> StageDesk::number_in(const std::string& name) const {
  const std::size_t dash = name.rfind('-');
  if (dash == std::string::npos) return std::nullopt;
  const auto& names = uses_.exchange.names();
  const auto home = std::ranges::find(names, name.substr(0, dash));
  const auto serial = parse_integer(name.substr(dash + 1));
  if (home == names.end() || !serial) return std::nullopt;
  return federation_number(SiteId{static_cast<std::uint32_t>(home - names.begin())}, *serial);
}

void StageDesk::clear() {
  if (!uses_.exchange.names().empty()) {  // else it is not known yet what is going on
    for (const char* part : {"in", "out"}) {
      for (const std::string& name : folders_in(uses_.settings.data + '/' + part)) clear(part, name);
    }
  }
  later([this] { clear(); }, kClearAgain);
}

void StageDesk::clear(std::string_view part, const std::string& name) {
  if (name.starts_with("kept-")) return;
  const std::string whole = name.ends_with(".part") ? name.substr(0, name.size() - 5) : name;
  const std::string key = fmt::format("{}/{}", part, whole);
  if (running_.contains(key)) return;
  bool needed = false;
  if (const auto serial = parse_integer(whole.starts_with("back-") ? whole.substr(5) : whole)) {
    needed = calls_.is_away(*serial);
  } else if (const auto number = number_in(whole)) {
    const Guest guest = calls_.guest(*number);
    needed = guest != Guest::none;
    if (guest == Guest::over && part == "in" && !fs::exists(commands_.path("out", whole)))
      static_cast<void>(give_back(whole));
  }
  if (!needed || name != whole) run(key, commands_.remove(part, name), [](const process::SiteCommand::End&) {});
}

}  // namespace rota::serve
