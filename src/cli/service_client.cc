#include "cli/service_client.h"

#include <sys/un.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <chrono>
#include <cstdlib>
#include <optional>

#include "base/file.h"
#include "base/text.h"

namespace rota::cli {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using boost::system::error_code;
using Socket = asio::local::stream_protocol::socket;

constexpr std::chrono::seconds kPatience{120};         // of one request; a service that is stopped does not hold us up
constexpr std::uint64_t kLargest = 256U << 20U;        // bytes of an answer
constexpr std::string_view kRunPath = "/rota/socket";  // below the folder for what runs

struct Lost {  // why there is no answer
  std::string sentence;
  bool sent = false;  // the service may have the request
};

// Runs what was begun, but no longer than patience lasts; false: it did not end.
template <class Begin>
bool ended_in_time(asio::io_context& context, Begin begin) {
  bool ended = false;
  begin([&ended](auto&&...) { ended = true; });
  context.restart();
  context.run_for(kPatience);
  return ended;
}

std::string shown(const std::string& socket) { return shown_path(socket); }

std::string not_reached(const std::string& socket, const error_code& why) {
  if (why == boost::system::errc::permission_denied)
    return "The socket " + shown(socket) + " may not be used by you; ask who runs the service.";
  if (why == boost::system::errc::no_such_file_or_directory || why == boost::system::errc::connection_refused)
    return "No service answers at " + shown(socket) +
           "; start one with `rota serve`, or name another with --socket or ROTA_SOCKET.";
  return "Cannot reach a service at " + shown(socket) + ": " + why.message() +
         ". Name another socket with --socket or ROTA_SOCKET.";
}

std::string not_answered(const std::string& socket, const error_code& why) {
  const std::string head = "The service at " + shown(socket);
  if (why == http::error::end_of_stream || why == http::error::partial_message ||
      why == boost::system::errc::connection_reset || why == boost::system::errc::broken_pipe)
    return head + " broke off before it had answered; ask it again, or look at its log.";
  if (why == http::error::body_limit) return head + " answered with more than 256 MiB; ask for less at once.";
  if (why.category() == http::make_error_code(http::error::bad_version).category())
    return head + " does not speak HTTP (" + why.message() + "); name Rota's socket with --socket or ROTA_SOCKET.";
  return head + " cannot be read from: " + why.message() + ". Ask it again, or look at its log.";
}

http::request<http::string_body> message(const HttpRequest& request) {
  http::request<http::string_body> out{http::string_to_verb(request.verb), request.target, 11};
  out.set(http::field::host, "rota");
  out.set(http::field::user_agent, "rota/" ROTA_VERSION);
  out.set(http::field::connection, "close");
  if (!request.body.empty()) out.set(http::field::content_type, "application/json");
  if (!request.key.empty()) out.set("Idempotency-Key", request.key);
  out.body() = request.body;
  out.prepare_payload();
  return out;
}

HttpAnswer answer_of(http::response<http::string_body> response) {
  HttpAnswer out;
  out.status = response.result_int();
  for (const auto& field : response) {
    std::string name(field.name_string());
    for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    out.headers[name] = std::string(field.value());
  }
  out.type = out.headers["content-type"];
  out.body = std::move(response.body());
  return out;
}

std::expected<HttpAnswer, Lost> tried(const std::string& socket, const HttpRequest& request) {
  asio::io_context context;
  Socket connection(context);
  error_code wrong;
  connection.connect(asio::local::stream_protocol::endpoint(socket), wrong);
  if (wrong) return std::unexpected(Lost{not_reached(socket, wrong), false});
  const Lost silent{"The service at " + shown(socket) + " has not answered within " +
                        std::to_string(kPatience.count()) + " s; see whether it is stopped, or ask again later.",
                    false};
  const auto out = message(request);
  if (!ended_in_time(context, [&](auto done) {
        http::async_write(connection, out, [&wrong, done](error_code code, std::size_t) {
          wrong = code;
          done();
        });
      }))
    return std::unexpected(silent);
  // A service that refuses what is too large answers before it has read everything: what it said is read all the same.
  const error_code unsent = wrong;
  beast::flat_buffer buffer;
  http::response_parser<http::string_body> parser;
  parser.body_limit(kLargest);
  if (!ended_in_time(context, [&](auto done) {
        http::async_read(connection, buffer, parser, [&wrong, done](error_code code, std::size_t) {
          wrong = code;
          done();
        });
      }))
    return std::unexpected(silent);
  if (wrong) return std::unexpected(Lost{not_answered(socket, unsent ? unsent : wrong), true});
  return answer_of(parser.release());
}

}  // namespace

std::string socket_path(const std::string& given) {
  if (!given.empty()) return given;
  if (const char* named = std::getenv("ROTA_SOCKET"); named != nullptr && *named != '\0') return named;
  const char* folder = std::getenv("XDG_RUNTIME_DIR");
  const bool own = ::geteuid() != 0 && folder != nullptr && *folder != '\0';
  return std::string(own ? folder : "/run") + std::string(kRunPath);
}

Result<HttpAnswer> ServiceClient::exchange(const HttpRequest& request) const {
  if (socket_.size() >= sizeof(sockaddr_un{}.sun_path))
    return fail("The path of the socket, " + shown(socket_) + ", has " + std::to_string(socket_.size()) +
                " bytes; a socket's has " + std::to_string(sizeof(sockaddr_un{}.sun_path) - 1) +
                " at most. Name a shorter one with --socket or ROTA_SOCKET.");
  auto answer = tried(socket_, request);
  const bool repeatable = request.verb == "GET" || !request.key.empty();
  if (!answer && answer.error().sent && repeatable) answer = tried(socket_, request);
  if (!answer) return fail(answer.error().sentence);
  return std::move(*answer);
}

std::string percent_encoded(const std::string& text) {
  constexpr std::string_view kPlain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~,";
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (kPlain.find(c) != std::string_view::npos) {
      out += c;
    } else {
      out += {'%', kDigits[byte >> 4U], kDigits[byte & 15U]};
    }
  }
  return out;
}

}  // namespace rota::cli
