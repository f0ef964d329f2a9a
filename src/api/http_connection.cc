#include "api/http_connection.h"

#include <fmt/core.h>
#include <algorithm>
#include <array>
#include <boost/asio/error.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <chrono>
#include <deque>
#include <optional>

#include "base/text.h"

namespace rota::api {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using Code = boost::system::error_code;
using Parser = http::request_parser<http::string_body>;

constexpr std::uint32_t kMostHeader = 64 << 10;
constexpr std::size_t kUsualRequest = 16 << 10;
constexpr std::size_t kPiece = 64 << 10;          // of what is read at once of a large one
constexpr std::size_t kMostBuffered = 128 << 10;  // of a line between the pieces of a body too
constexpr std::chrono::seconds kFarewell{2};      // for the other side to see that this one has closed
constexpr std::chrono::hours kLongestStream{1};   // by a token, which may have been revoked since
constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
constexpr std::string_view kNoToken =
    "who asks over the network says so with a token: a header `Authorization: Bearer TOKEN`. `rota token create` makes "
    "one, on the computer of the service.";

// The token of "Bearer TOKEN"; nothing: it is another text.
std::optional<std::string_view> token_of(std::string_view header) {
  constexpr std::string_view kScheme = "bearer ";
  if (header.size() <= kScheme.size()) return std::nullopt;
  for (std::size_t i = 0; i < kScheme.size(); ++i) {
    const char c = header[i];
    if ((c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c) != kScheme[i]) return std::nullopt;
  }
  return trimmed(header.substr(kScheme.size()));
}

serve::Caller no_caller() { return {UINT32_MAX, UINT32_MAX, {}, false}; }  // 0 would be root

// The status line and the fields of an answer.
std::string head_of(const Response& response, unsigned version, bool keep_alive) {
  const auto status = static_cast<http::status>(response.status);
  const auto reason = http::obsolete_reason(status);
  std::string out = version == 10 ? "HTTP/1.0 " : "HTTP/1.1 ";
  out += fmt::format("{} {}", response.status, std::string(reason.data(), reason.size()));
  out += "\r\nServer: rota\r\nContent-Type: " + response.type;
  for (const auto& [name, value] : response.headers) out += fmt::format("\r\n{}: {}", name, value);
  if (keep_alive && version == 10) out += "\r\nConnection: keep-alive";
  if (!keep_alive && version != 10) out += "\r\nConnection: close";
  const bool never_has_body = status == http::status::no_content || status == http::status::not_modified;
  if (!never_has_body) out += "\r\nContent-Length: " + std::to_string(response.body.size());
  return out + "\r\n\r\n";
}

class HttpConnection final : public Connection, public std::enable_shared_from_this<HttpConnection> {
 public:
  HttpConnection(Connections& all, Peer peer, std::shared_ptr<Wire> wire)
      : wire_(std::move(wire)), all_(all), peer_(std::move(peer)) {}

  void begin() override {
    reading_ = true;
    patience(all_.options.handshake_seconds);
    wire_->agree([self = shared_from_this()](Code error, std::size_t) {
      if (error) {
        self->close();
      } else {
        self->read();
      }
    });
  }

  void stop() override {
    if (reading_ || streaming_) return close();
    const bool begun = !std::exchange(waits_for_turn_, false);
    send(turn_,
         busy(begun ? "the service is stopping before all that was asked is done." : "the service is stopping."));
  }

  void drop() override { close(); }

  void send(std::uint64_t turn, Response response) {
    if (turn != turn_ || answered_) return;
    answered_ = true;
    if (!head_ && response.body.size() > all_.options.most_small) begin_answer(response);
    const bool goes_on = keep_alive_ && !all_.stopping;
    answer_head_ = head_of(response, request_version_, goes_on);
    answer_body_ = head_ ? std::string() : std::move(response.body);  // the head tells of what GET would give
    patience(all_.options.request_seconds);
    wire_->write({asio::buffer(answer_head_), asio::buffer(answer_body_)},
                 [self = shared_from_this(), goes_on](Code error, std::size_t) {
                   if (error) return self->close();
                   std::string().swap(self->answer_body_);  // a connection that asks nothing more keeps no memory
                   self->end_answer();
                   if (goes_on) {
                     self->read();
                   } else {
                     self->finish();
                   }
                 });
  }

  void stream(std::uint64_t turn, const std::string& type, std::function<void()> gone) {
    if (turn != turn_ || answered_) return gone();
    if (head_) {
      send(turn, {200, type, {}, {}});
      return gone();
    }
    answered_ = true;
    gone_ = std::move(gone);
    if (peer_.caller) {
      wire_->wait_for_ever();
    } else {
      wire_->wait_for(kLongestStream);
    }
    streaming_ = true;
    parser_.reset();  // it stays for long, and there may be thousands
    buffer_ = beast::flat_buffer(kMostBuffered);
    write(turn, fmt::format("HTTP/1.1 200 OK\r\nServer: rota\r\nContent-Type: {}\r\nCache-Control: "
                            "no-store\r\nConnection: close\r\n\r\n",
                            type));
    watch();
  }

  bool write(std::uint64_t turn, std::string text) {
    if (turn != turn_ || !streaming_) return false;
    waiting_ += text.size();
    if (waiting_ > all_.options.most_waiting) {
      close();
      return false;
    }
    queue_.push_back(std::move(text));
    if (queue_.size() == 1) write_next();
    return true;
  }

  bool lags() const { return !queue_.empty(); }
  void when_out(std::function<void()> call) { out_ = std::move(call); }

 private:
  // Belongs to one turn: an answer that comes too late is not taken for that of the next request.
  class ReplyOf final : public Reply {
   public:
    ReplyOf(const std::shared_ptr<HttpConnection>& connection, std::string asker)
        : connection_(connection),
          turn_(connection->turn_),
          turns_(connection->all_.turns),
          executor_(connection->wire_->executor()),
          asker_(std::move(asker)) {}
    void send(Response response) override {
      if (const auto to = connection_.lock()) to->send(turn_, std::move(response));
    }
    void stream(const std::string& type, std::function<void()> gone) override {
      if (const auto to = connection_.lock()) return to->stream(turn_, type, std::move(gone));
      gone();
    }
    bool write(std::string text) override {
      const auto to = connection_.lock();
      return to && to->write(turn_, std::move(text));
    }
    bool lags() const override {
      const auto to = connection_.lock();
      return to && to->lags();
    }
    void when_out(std::function<void()> call) override {
      if (const auto to = connection_.lock()) to->when_out(std::move(call));
    }
    void again(std::function<void()> call) override { turns_.enqueue(executor_, asker_, std::move(call)); }
    bool gone() const override {
      const auto to = connection_.lock();
      return !to || to->turn_ != turn_;
    }

   private:
    std::weak_ptr<HttpConnection> connection_;
    std::uint64_t turn_;
    Turns& turns_;
    asio::any_io_executor executor_;
    std::string asker_;  // whose turns they are
  };

  void patience(int seconds) { wire_->wait_for(std::chrono::seconds(seconds)); }

  // One deadline for the whole request, however small the pieces in which it comes.
  void read() {
    parser_.emplace();
    parser_->header_limit(kMostHeader);
    parser_->body_limit(UINT64_MAX);  // take_body() looks
    parser_->eager(false);
    reading_ = true;
    answered_ = head_ = false;
    keep_alive_ = true;
    ++turn_;
    patience(all_.options.request_seconds);
    read_header();
  }

  void read_header() {
    parse_until(&Parser::is_header_done, [](HttpConnection& self) { self.admit(); });
  }

  // Takes in what is there, and more of it as it comes, until the parser says that this part is done.
  void parse_until(bool (Parser::*done)() const, void (*then)(HttpConnection&)) {
    Code error;
    for (std::size_t taken = 1; taken > 0 && !error && buffer_.size() > 0 && !((*parser_).*done)();) {
      taken = parser_->put(buffer_.data(), error);
      buffer_.consume(taken);
    }
    if (((*parser_).*done)()) return then(*this);
    if (error && error != http::error::need_more) return refuse(error);
    const std::size_t room = std::min(kMostBuffered - buffer_.size(), large_ ? kPiece : kUsualRequest);
    if (room == 0) return refuse(http::error::buffer_overflow);
    wire_->read(buffer_.prepare(room), [self = shared_from_this(), done, then](Code ended, std::size_t bytes) {
      self->buffer_.commit(bytes);
      if (ended == asio::error::eof) return self->parse_end(done, then);
      if (ended) {
        self->refuse(ended);
      } else {
        self->parse_until(done, then);
      }
    });
  }

  // The other side has nothing more to send.
  void parse_end(bool (Parser::*done)() const, void (*then)(HttpConnection&)) {
    if (!parser_->got_some()) return refuse(http::error::end_of_stream);
    Code error;
    parser_->put_eof(error);
    if (error) return refuse(error);
    if (((*parser_).*done)()) {
      then(*this);
    } else {
      refuse(http::error::partial_message);
    }
  }

  // By its header alone: a peer that is not known sends no body.
  void admit() {
    if (closed_) return;
    const auto& header = parser_->get();
    keep_alive_ = header.keep_alive();
    request_version_ = header.version();
    head_ = header.method() == http::verb::head;
    only_reads_ = header.method() == http::verb::get;
    // A proxy in between might take another one of two, or another length, than is taken here.
    for (const http::field once : {http::field::host, http::field::authorization, http::field::transfer_encoding}) {
      if (header.count(once) > 1)
        return dismiss(
            problem(400, fmt::format("the request has the header {} twice.", std::string(http::to_string(once)))));
    }
    if (header.count(http::field::transfer_encoding) > 0 && !parser_->chunked())
      return dismiss(problem(400, "of the encodings for transfer only `chunked` is known here."));
    Bearer bearer{peer_.caller.value_or(no_caller())};
    // The page is the same for all users, and asks the one that opens it for a token.
    const bool page = header.target() == "/" && (header.method() == http::verb::get || head_);
    if (!peer_.caller && page && (parser_->chunked() || parser_->content_length().value_or(0) > 0))
      return dismiss(problem(400, "the page at / takes no body; send none."));
    if (!peer_.caller && !page) {
      const auto said = header[http::field::authorization];
      const auto token = token_of({said.data(), said.size()});
      auto found = token && all_.bearer_of ? all_.bearer_of(*token) : std::nullopt;
      if (!found) {
        Response refusal = problem(401, token ? "this token is not known, or not any more." : std::string(kNoToken));
        refusal.headers.emplace_back("WWW-Authenticate", "Bearer");
        return dismiss(std::move(refusal));
      }
      if (!std::exchange(known_, true) && !all_.known(shared_from_this(), peer_, found->caller.uid))
        return dismiss(problem(
            503,
            "there are enough connections of this user, or of all, over the network; close some, or ask again later."));
      bearer = std::move(*found);
    }
    if (bearer.read_only && header.method() != http::verb::get && !head_)
      return dismiss(problem(403, "this token is for reading only."));
    caller_ = std::move(bearer.caller);
    read_only_ = bearer.read_only;
    page_key_ = bearer.page_key;
    take_body();
  }

  void take_body() {
    const auto length = parser_->content_length();  // nothing: it comes in pieces, or there is none
    if (length && *length > all_.options.most_body) return refuse(http::error::body_limit);
    if (!length) {
      parser_->body_limit(all_.options.most_small);
    } else if (*length > all_.options.most_small) {
      large_ = all_.begin_large(asker(), caller_.operates);
      if (!large_) return dismiss(busy("enough large requests are under way; ask again in a moment."));
    }
    if (parser_->is_done() || !beast::iequals(parser_->get()[http::field::expect], "100-continue")) return read_body();
    wire_->write({asio::buffer(kContinue), {}}, [self = shared_from_this()](Code error, std::size_t) {
      if (error) {
        self->close();
      } else {
        self->read_body();
      }
    });
  }

  void read_body() {
    parser_->eager(true);
    parse_until(&Parser::is_done, [](HttpConnection& self) {
      self.reading_ = false;
      self.carry_out();
    });
  }

  // What was no request is told so, as far as that makes sense, and the connection ends.
  void refuse(Code error) {
    if (error == http::error::body_limit)
      return dismiss(problem(413, parser_->content_length()
                                      ? "the request is too large: 16 MiB at most."
                                      : "the request is too large for one that does not say its length: 1 MiB."));
    if (error == http::error::header_limit) return dismiss(problem(431, "the request's header is too large."));
    if (error.category() == make_error_code(http::error::bad_method).category() && error != http::error::end_of_stream)
      return dismiss(problem(400, fmt::format("this is no HTTP request that makes sense: {}.", error.message())));
    close();
  }
  void dismiss(Response response) {
    keep_alive_ = reading_ = false;
    send(turn_, std::move(response));
  }

  void carry_out() {
    auto message = parser_->release();
    Request request;
    request.large = std::exchange(large_, {});
    request.method = head_ ? "GET" : std::string(message.method_string());
    request.idempotency_key = std::string(message["Idempotency-Key"]);
    request.last_event_id = std::string(message["Last-Event-ID"]);
    request.host = std::string(message["Host"]);
    request.origin = std::string(message["Origin"]);
    request.fetch_site = std::string(message["Sec-Fetch-Site"]);
    request.caller = caller_;
    request.by_token = !peer_.caller;
    request.read_only = read_only_;
    request.page_key = page_key_;
    if (page_key_ == PageKey::code) {
      const auto shown = message[http::field::authorization];
      request.code = std::string(token_of({shown.data(), shown.size()}).value_or(""));
    }
    request.page_port = peer_.page_port;
    const bool sound = take_apart({message.target().data(), message.target().size()}, request);
    request.body = std::move(message.body());
    wire_->wait_for_ever();
    const auto reply = std::make_shared<ReplyOf>(shared_from_this(), asker());
    if (!sound) return reply->send(problem(400, "the request's path makes no sense."));
    waits_for_turn_ = true;
    reply->again([self = shared_from_this(), request = std::move(request), reply] {
      if (!std::exchange(self->waits_for_turn_, false)) return;  // closed, or told that the service is stopping
      self->all_.handler(request, reply);
    });
  }
  // The user, by whichever way; the address of a peer that is not known.
  std::string asker() const { return caller_.uid == no_caller().uid ? peer_.key : std::to_string(caller_.uid); }
  // What tells of a change that was made goes out in any case.
  void begin_answer(Response& response) {
    if (all_.begin_answer(peer_.key, response.body.size(), !only_reads_)) {
      answer_bytes_ = response.body.size();
    } else {
      response = busy("enough large answers are on their way; read them, or ask again in a moment.");
    }
  }
  void end_answer() {
    if (answer_bytes_ > 0) all_.end_answer(peer_.key, std::exchange(answer_bytes_, 0));
  }

  void write_next() {
    wire_->write({asio::buffer(queue_.front()), {}}, [self = shared_from_this()](Code error, std::size_t) {
      if (error || !self->streaming_) return self->close();
      self->waiting_ -= self->queue_.front().size();
      self->queue_.pop_front();
      if (!self->queue_.empty()) return self->write_next();
      if (const auto out = self->out_) out();  // which may close this
    });
  }
  // For a stream: what the other side sends is ignored, but its end counts.
  void watch() {
    wire_->read(asio::buffer(ignored_), [self = shared_from_this()](Code error, std::size_t) {
      if (error) return self->close();
      self->watch();
    });
  }

  // Says good-bye. What the other side still sends is taken for a moment: closed at once, the connection would take the
  // answer along.
  void finish() {
    reading_ = true;
    large_ = {};
    wire_->wait_for(kFarewell);
    wire_->end([self = shared_from_this()](Code, std::size_t) { self->take_rest(); });
  }
  void take_rest() {
    buffer_.clear();
    wire_->read_rest(buffer_.prepare(kMostBuffered / 2), [self = shared_from_this()](Code error, std::size_t) {
      if (error) return self->close();
      self->take_rest();
    });
  }

  void close() {
    if (closed_) return;
    closed_ = true;
    streaming_ = waits_for_turn_ = false;
    ++turn_;
    large_ = {};
    end_answer();
    wire_->close();
    out_ = {};
    if (const auto gone = std::exchange(gone_, {})) gone();
    all_.let_go(shared_from_this(), peer_);
  }

  std::shared_ptr<Wire> wire_;
  Connections& all_;
  Peer peer_;
  serve::Caller caller_;
  bool known_ = false;                // a token was shown
  bool read_only_ = false;            // of the last one
  PageKey page_key_ = PageKey::none;  // the same
  beast::flat_buffer buffer_{kMostBuffered};
  std::optional<Parser> parser_;
  std::string answer_head_, answer_body_;  // while they are on their way
  std::deque<std::string> queue_;
  std::size_t waiting_ = 0;
  std::size_t answer_bytes_ = 0;       // of a large one that is on its way
  std::shared_ptr<const void> large_;  // while a large body is being read
  std::array<char, 512> ignored_{};
  std::function<void()> gone_;
  std::function<void()> out_;
  std::uint64_t turn_ = 0;
  unsigned request_version_ = 11;
  bool keep_alive_ = true;
  bool head_ = false;
  bool only_reads_ = false;
  bool reading_ = false;  // or going: nothing is lost by closing it
  bool answered_ = false;
  bool streaming_ = false;
  bool waits_for_turn_ = false;  // the request, of which nothing has been done
  bool closed_ = false;
};

}  // namespace

std::shared_ptr<Connection> http_connection(std::shared_ptr<Wire> wire, Connections& all, Peer peer) {
  return std::make_shared<HttpConnection>(all, std::move(peer), std::move(wire));
}

}  // namespace rota::api
