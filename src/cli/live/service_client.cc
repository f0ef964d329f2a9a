#include "cli/live/service_client.h"

#include <fmt/core.h>
#include <openssl/ssl.h>
#include <sys/un.h>

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <chrono>
#include <expected>
#include <optional>
#include <thread>

#include "base/file.h"
#include "base/letters.h"
#include "base/text.h"
#include "cli/live/own_place.h"
#include "cli/printed.h"

namespace rota::cli {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using boost::system::error_code;
namespace ssl = asio::ssl;
using Local = asio::local::stream_protocol;
using Tcp = asio::ip::tcp;

constexpr std::chrono::seconds kRestart{3};      // in which a service that is started again is back
constexpr std::chrono::milliseconds kPause{50};  // between two looks whether it is
constexpr std::chrono::milliseconds kMoment{500};
constexpr std::chrono::hours kAway{1};           // in which one is waited for to follow its jobs
constexpr std::chrono::seconds kBusy{10};        // in which one that says "ask again in a moment" is asked again
constexpr std::uint64_t kLargest = 256U << 20U;  // bytes of an answer

struct Lost {  // why there is no answer
  enum class Why : std::uint8_t {
    missing,  // there is no socket
    refused,  // there is one, or a computer, and no answer: as when a service is just being started again
    broken,   // in the middle: the service may have the request
    other,
  };
  std::string sentence;
  Why why = Why::other;
};
using Answer = std::expected<HttpAnswer, Lost>;

std::string not_reached(const ServiceAddress& address, const error_code& why) {
  const char* other = address.remote() ? "--url or ROTA_URL." : "--socket or ROTA_SOCKET.";
  if (why == boost::system::errc::permission_denied)
    return fmt::format("The socket {} may not be used by you; ask the user who runs the service.", address.shown());
  const bool no_service =
      why == boost::system::errc::no_such_file_or_directory || why == boost::system::errc::connection_refused;
  if (no_service && is_usual_socket(address.socket))
    return fmt::format("No service answers at {}{}", address.shown(), how_to_start(own_place()));
  if (no_service)
    return fmt::format("No service answers at {}; start one with `rota serve`, or name another with {}",
                       address.shown(), other);
  return fmt::format("Cannot reach a service at {}: {}. Name another {}{}", address.shown(), why.message(),
                     address.remote() ? "one with " : "socket with ", other);
}

// What to try where a service that may speak TLS was asked without.
std::string with_tls(const ServiceAddress& address) {
  if (!address.remote() || address.tls) return "";
  return fmt::format("if it speaks TLS, name it as https{}; else ",
                     address.shown().substr(std::string_view("http").size()));
}

std::string not_answered(const ServiceAddress& address, const error_code& why) {
  const std::string head = "The service at " + address.shown();
  if (why == http::error::end_of_stream || why == http::error::partial_message || why == ssl::error::stream_truncated ||
      why == boost::system::errc::connection_reset || why == boost::system::errc::broken_pipe)
    return fmt::format("{} broke off before it had answered; {}ask it again, or look at its log.", head,
                       with_tls(address));
  if (why == http::error::body_limit) return head + " answered with more than 256 MiB; ask for less at once.";
  if (why.category() == http::make_error_code(http::error::bad_version).category())
    return fmt::format("{} does not speak HTTP ({}); {}name Rota's {}", head, why.message(), with_tls(address),
                       address.remote() ? "address with --url or ROTA_URL." : "socket with --socket or ROTA_SOCKET.");
  return fmt::format("{} cannot be read from: {}. Ask it again, or look at its log.", head, why.message());
}

Lost silent(const ServiceAddress& address, std::chrono::seconds patience) {
  return {fmt::format("The service at {} has not answered within {} s; see whether it is stopped, or ask again later.",
                      address.shown(), patience.count()),
          Lost::Why::other};
}

http::request<http::string_body> message(const ServiceAddress& address, const HttpRequest& request) {
  http::request<http::string_body> out{http::string_to_verb(request.verb), request.target, 11};
  out.set(http::field::host, address.remote() ? address.shown().substr(address.shown().find("//") + 2) : "rota");
  if (address.remote()) out.set(http::field::authorization, "Bearer " + address.token);
  out.set(http::field::user_agent, "rota/" ROTA_VERSION);
  out.set(http::field::connection, "close");
  if (!request.body.empty()) out.set(http::field::content_type, "application/json");
  if (!request.key.empty()) out.set("Idempotency-Key", request.key);
  out.body() = request.body;
  out.prepare_payload();
  return out;
}

// It has too much to do just now.
bool asks_again(const HttpAnswer& answer) { return answer.status == 503 && answer.headers.contains("retry-after"); }

HttpAnswer answer_of(http::response<http::string_body> response) {
  HttpAnswer out;
  out.status = response.result_int();
  for (const auto& field : response) {
    out.headers[lower(std::string(field.name_string()))] = std::string(field.value());
  }
  out.type = out.headers["content-type"];
  out.body = std::move(response.body());
  return out;
}

// One try, step by step.
class Try {
 public:
  Try(const ServiceAddress& address, const HttpRequest& request, std::chrono::seconds patience)
      : address_(address), request_(request), patience_(patience) {}

  Answer answer() {
    if (!address_.remote()) {
      Local::socket socket(context_);
      socket.connect(Local::endpoint(address_.socket), wrong_);
      return wrong_ ? lost_before() : talk(socket);
    }
    Tcp::socket socket(context_);
    TRY(connect(socket));
    return address_.tls ? talk_secretly(socket) : talk(socket);
  }

 private:
  // Runs what was begun, but no longer than patience lasts; false: it did not end. wrong_ says how it did.
  template <class Begin>
  bool ended(Begin begin) {
    bool over = false;
    begin([this, &over](error_code code, auto&&...) {
      wrong_ = code;
      over = true;
    });
    context_.restart();
    context_.run_for(patience_);
    return over;
  }

  Answer lost_before() const {
    const bool missing = wrong_ == boost::system::errc::no_such_file_or_directory;
    const bool refused = wrong_ == boost::system::errc::connection_refused;
    return std::unexpected(Lost{not_reached(address_, wrong_), missing   ? Lost::Why::missing
                                                               : refused ? Lost::Why::refused
                                                                         : Lost::Why::other});
  }

  std::expected<void, Lost> connect(Tcp::socket& socket) {
    Tcp::resolver resolver(context_);
    Tcp::resolver::results_type found;
    const bool looked = ended([&](auto done) {
      resolver.async_resolve(address_.host, address_.port,
                             [&found, done](error_code code, const Tcp::resolver::results_type& results) mutable {
                               found = results;
                               done(code);
                             });
    });
    if (!looked) return std::unexpected(silent(address_, patience_));
    if (wrong_) return std::unexpected(lost_before().error());
    if (!ended([&](auto done) { asio::async_connect(socket, found, done); }))
      return std::unexpected(silent(address_, patience_));
    if (wrong_) return std::unexpected(lost_before().error());
    return {};
  }

  // The certificate has to be of the computer that was named, by an authority that is trusted.
  Answer talk_secretly(Tcp::socket& socket) {
    ssl::context trust(ssl::context::tls_client);
    ::SSL_CTX_set_min_proto_version(trust.native_handle(), TLS1_2_VERSION);
    trust.set_verify_mode(ssl::verify_peer);
    trust.set_default_verify_paths(wrong_);
    if (!address_.ca_file.empty()) trust.load_verify_file(address_.ca_file, wrong_);
    if (wrong_ && !address_.ca_file.empty())
      return std::unexpected(
          Lost{fmt::format("The certificates in {} cannot be used: {}. --ca-file and ROTA_CA_FILE take a PEM file.",
                           shown_path(address_.ca_file), wrong_.message())});
    ssl::stream<Tcp::socket&> stream(socket, trust);
    const std::string& host = address_.host;
    const bool number = !asio::ip::make_address(host, wrong_).is_unspecified() && !wrong_;
    if (number) {
      ::X509_VERIFY_PARAM_set1_ip_asc(::SSL_get0_param(stream.native_handle()), host.c_str());
    } else {
      ::SSL_set1_host(stream.native_handle(), host.c_str());
      ::SSL_ctrl(stream.native_handle(), SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
                 const_cast<char*>(host.c_str()));
    }
    if (!ended([&](auto done) { stream.async_handshake(ssl::stream_base::client, done); }))
      return std::unexpected(silent(address_, patience_));
    if (!wrong_) return talk(stream);
    const long doubt = ::SSL_get_verify_result(stream.native_handle());
    if (doubt == X509_V_OK)
      return std::unexpected(Lost{
          fmt::format("The service at {} agrees on no TLS: {}. See whether it speaks TLS there, and look at its log.",
                      address_.shown(), wrong_.message())});
    return std::unexpected(
        Lost{fmt::format("The service at {} shows a certificate that is not trusted here ({}); name who signed it with "
                         "--ca-file or ROTA_CA_FILE, and the service as its certificate does.",
                         address_.shown(), ::X509_verify_cert_error_string(doubt))});
  }

  template <class Stream>
  Answer talk(Stream& stream) {
    const auto out = message(address_, request_);
    if (!ended([&](auto done) { http::async_write(stream, out, done); }))
      return std::unexpected(silent(address_, patience_));
    // A service that refuses what is too large answers before it has read everything: what it said is read all the
    // same.
    const error_code unsent = wrong_;
    beast::flat_buffer buffer;
    http::response_parser<http::string_body> parser;
    parser.body_limit(kLargest);
    if (!ended([&](auto done) { http::async_read(stream, buffer, parser, done); }))
      return std::unexpected(silent(address_, patience_));
    if (wrong_) return std::unexpected(Lost{not_answered(address_, unsent ? unsent : wrong_), Lost::Why::broken});
    return answer_of(parser.release());
  }

  const ServiceAddress& address_;
  const HttpRequest& request_;
  const std::chrono::seconds patience_;
  asio::io_context context_;
  error_code wrong_;
};

}  // namespace

Result<HttpAnswer> ServiceClient::exchange(const HttpRequest& request) const {
  if (!address_) return std::unexpected(address_.error());
  const std::string& path = address_->socket;
  if (path.size() >= sizeof(sockaddr_un{}.sun_path))
    return fail(
        "The path of the socket, {}, has {} bytes; a socket's has {} at most. Name a shorter one with --socket or "
        "ROTA_SOCKET.",
        shown_path(path), path.size(), sizeof(sockaddr_un{}.sun_path) - 1);
  using Clock = std::chrono::steady_clock;
  const bool repeatable = request.verb == "GET" || !request.key.empty();
  const Clock::time_point patient_until = Clock::now() + kBusy;
  bool sent = false, told = false;  // sent: the service may have done what is asked
  const auto given_up = [&](const std::string& sentence) {
    if (!sent || request.verb == "GET") return fail(sentence);
    return fail(
        "The service at {} broke off before it had answered. It may have done what was asked all the same: look with "
        "`rota queue` and `rota history` before you ask again.",
        address_->shown());
  };
  std::optional<Clock::time_point> until;
  for (;;) {
    auto answer = Try(*address_, request, patience_).answer();
    if (answer && repeatable && asks_again(*answer) && Clock::now() < patient_until) {
      std::this_thread::sleep_for(kMoment);
      continue;
    }
    answered_ = answered_ || answer.has_value();
    if (answer) return std::move(*answer);
    const Lost::Why why = answer.error().why;
    const bool waits = follows_ && answered_;
    const bool first_break = why == Lost::Why::broken && !sent;
    sent = sent || why == Lost::Why::broken;
    const bool again = why == Lost::Why::broken && repeatable;
    const bool absent = why == Lost::Why::refused || (why == Lost::Why::missing && (sent || waits));
    if (!again && !absent) return given_up(answer.error().sentence);
    if (first_break) continue;
    if (!until) until = Clock::now() + kRestart;
    if (Clock::now() > *until) {
      if (!waits || told) return given_up(answer.error().sentence);
      told = true;
      remark(fmt::format("rota: The service at {} is away; waiting for it.", address_->shown()));
      until = Clock::now() + kAway;
    }
    std::this_thread::sleep_for(kPause);
  }
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
