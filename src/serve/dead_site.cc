#include "serve/dead_site.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <chrono>
#include <optional>
#include <utility>

#include "base/file.h"

namespace rota::serve {
namespace {

constexpr std::chrono::seconds kPatience{20};

}  // namespace

Result<etcd::DeadSite::Done> settle_dead_site(const site::FederationSettings& settings, const OperatorFiles& files,
                                              const std::string& dead, etcd::DeadSite::Wish wish) {
  etcd::ClientOptions options;
  options.endpoints = settings.endpoints;
  const bool own = !files.certificate.empty();
  for (const auto& [path, into] : {std::pair{settings.authority, &options.authority},
                                   std::pair{own ? files.certificate : settings.certificate, &options.certificate},
                                   std::pair{own ? files.key : settings.key, &options.key}}) {
    if (!path.empty()) *into = TRY(read_file(path));
  }
  boost::asio::io_context io;
  std::optional<Result<etcd::DeadSite::Done>> result;
  const auto asked = TRY(etcd::DeadSite::begin(
      options, {settings.prefix, dead, wish}, [&io](auto call) { boost::asio::post(io, std::move(call)); },
      [&](auto done) { result = std::move(done); }));
  const auto work = boost::asio::make_work_guard(io);
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (!result && std::chrono::steady_clock::now() < end) io.run_one_until(end);
  if (result) return std::move(*result);
  return fail("etcd at {} does not answer{}{}", settings.endpoints.front(), asked->trouble().empty() ? "." : ": ",
              asked->trouble());
}

}  // namespace rota::serve
