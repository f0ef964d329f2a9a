#include "api/http_connection.h"

#include <array>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>
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
using Plain = beast::basic_stream<asio::generic::stream_protocol>;
using Tls = asio::ssl::stream<Plain>;

constexpr std::uint32_t kMostHeader = 64 << 10;
constexpr std::size_t kUsualRequest = 16 << 10;
constexpr std::size_t kMostBuffered = 128 << 10;  // of a line between the pieces of a body too
constexpr std::chrono::seconds kFarewell{2};      // for the other side to see that this one has closed
constexpr std::chrono::hours kLongestStream{1};   // by a token, which may have been revoked since
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

serve::Caller nobody() { return {UINT32_MAX, UINT32_MAX, {}, false}; }  // 0 would be root

template <class Stream>
class HttpConnection final : public Connection, public std::enable_shared_from_this<HttpConnection<Stream>> {
 public:
  template <class... Arguments>
  HttpConnection(Connections& all, Peer peer, StreamSocket socket, Arguments&... arguments)
      : stream_(std::move(socket), arguments...), all_(all), peer_(std::move(peer)) {}

  void begin() override {
    if constexpr (std::is_same_v<Stream, Tls>) {
      reading_ = true;
      patience(all_.options.handshake_seconds);
      stream_.async_handshake(asio::ssl::stream_base::server,
                              [self = this->shared_from_this()](Code error) { error ? self->close() : self->read(); });
    } else {
      read();
    }
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
    response_.emplace(static_cast<http::status>(response.status), request_version_);
    response_->set(http::field::server, "rota");
    response_->set(http::field::content_type, response.type);
    for (const auto& [name, value] : response.headers) response_->set(name, value);
    response_->keep_alive(keep_alive_ && !all_.stopping);
    response_->body() = std::move(response.body);
    response_->prepare_payload();
    if (head_) response_->body().clear();  // the header tells of what GET would give
    patience(all_.options.request_seconds);
    http::async_write(stream_, *response_, [self = this->shared_from_this()](Code error, std::size_t) {
      if (error) return self->close();
      const bool goes_on = self->response_->keep_alive();
      self->response_.reset();  // who asks nothing more keeps no memory
      self->end_answer();
      goes_on ? self->read() : self->finish();
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
      lowest().expires_never();
    } else {
      lowest().expires_after(kLongestStream);
    }
    streaming_ = true;
    parser_.reset();  // it stays for long, and there may be thousands
    buffer_ = beast::flat_buffer(kMostBuffered);
    write(turn, "HTTP/1.1 200 OK\r\nServer: rota\r\nContent-Type: " + type +
                    "\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n");
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
  // Of this turn: an answer that comes too late is not taken for that of the next request.
  class ReplyOf final : public Reply {
   public:
    ReplyOf(const std::shared_ptr<HttpConnection>& connection, std::string asker)
        : connection_(connection),
          turn_(connection->turn_),
          turns_(connection->all_.turns),
          executor_(connection->stream_.get_executor()),
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
    void again(std::function<void()> call) override { turns_.take(executor_, asker_, std::move(call)); }
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

  Plain& lowest() { return beast::get_lowest_layer(stream_); }
  void patience(int seconds) { lowest().expires_after(std::chrono::seconds(seconds)); }

  // One deadline for the whole request, however small the pieces in which it comes.
  void read() {
    buffer_.reserve(kUsualRequest);  // else it comes in pieces of 512 bytes
    parser_.emplace();
    parser_->header_limit(kMostHeader);
    parser_->body_limit(UINT64_MAX);  // take_body() looks
    reading_ = true;
    answered_ = head_ = false;
    keep_alive_ = true;
    ++turn_;
    patience(all_.options.request_seconds);
    http::async_read_header(stream_, buffer_, *parser_, [self = this->shared_from_this()](Code error, std::size_t) {
      error ? self->refuse(error) : self->admit();
    });
  }

  // By its header alone: whom nobody knows sends no body.
  void admit() {
    if (closed_) return;
    const auto& header = parser_->get();
    keep_alive_ = header.keep_alive();
    request_version_ = header.version();
    head_ = header.method() == http::verb::head;
    only_reads_ = header.method() == http::verb::get;
    // Who stands between might take another one of two, or another length, than is taken here.
    for (const http::field once : {http::field::host, http::field::authorization, http::field::transfer_encoding}) {
      if (header.count(once) > 1)
        return dismiss(problem(400, "the request has the header " + std::string(http::to_string(once)) + " twice."));
    }
    if (header.count(http::field::transfer_encoding) > 0 && !parser_->chunked())
      return dismiss(problem(400, "of the encodings for transfer only `chunked` is known here."));
    Bearer bearer{peer_.caller.value_or(nobody())};
    // The page is the same for everybody, and asks whoever opens it for a token.
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
      if (!std::exchange(known_, true) && !all_.known(this->shared_from_this(), peer_))
        return dismiss(problem(503, "there are enough connections over the network; close some, or ask again later."));
      bearer = std::move(*found);
    }
    if (bearer.read_only && header.method() != http::verb::get && !head_)
      return dismiss(problem(403, "this token is for reading only."));
    caller_ = std::move(bearer.caller);
    read_only_ = bearer.read_only;
    by_code_ = bearer.by_code;
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
    continue_.emplace(http::status::continue_, request_version_);
    http::async_write(stream_, *continue_, [self = this->shared_from_this()](Code error, std::size_t) {
      error ? self->close() : self->read_body();
    });
  }

  void read_body() {
    http::async_read(stream_, buffer_, *parser_, [self = this->shared_from_this()](Code error, std::size_t) {
      self->reading_ = false;
      error ? self->refuse(error) : self->take();
    });
  }

  // What was no request is told so, as far as that makes sense, and the connection ends.
  void refuse(Code error) {
    if (error == http::error::body_limit)
      return dismiss(problem(413, parser_->content_length()
                                      ? "the request is too large: 16 MiB at most."
                                      : "the request is too large for one that does not say its length: 1 MiB."));
    if (error == http::error::header_limit) return dismiss(problem(431, "the request's header is too large."));
    if (error == beast::error::timeout) return close();
    if (error.category() == make_error_code(http::error::bad_method).category() && error != http::error::end_of_stream)
      return dismiss(problem(400, "this is no HTTP request that makes sense: " + error.message() + "."));
    close();
  }
  void dismiss(Response response) {
    keep_alive_ = reading_ = false;
    send(turn_, std::move(response));
  }

  void take() {
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
    request.by_code = by_code_;
    request.page_port = peer_.page_port;
    const bool sound = take_apart({message.target().data(), message.target().size()}, request);
    request.body = std::move(message.body());
    lowest().expires_never();
    const auto reply = std::make_shared<ReplyOf>(this->shared_from_this(), asker());
    if (!sound) return reply->send(problem(400, "the request's path makes no sense."));
    waits_for_turn_ = true;
    reply->again([self = this->shared_from_this(), request = std::move(request), reply] {
      if (!std::exchange(self->waits_for_turn_, false)) return;  // closed, or told that the service is stopping
      self->all_.handler(request, reply);
    });
  }
  // The user, however they have come; the address of who is not known.
  std::string asker() const { return caller_.uid == nobody().uid ? peer_.key : std::to_string(caller_.uid); }
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
    asio::async_write(stream_, asio::buffer(queue_.front()),
                      [self = this->shared_from_this()](Code error, std::size_t) {
                        if (error || !self->streaming_) return self->close();
                        self->waiting_ -= self->queue_.front().size();
                        self->queue_.pop_front();
                        if (!self->queue_.empty()) return self->write_next();
                        if (const auto out = self->out_) out();  // which may close this
                      });
  }
  // Of a stream: whatever comes is nothing to us, but the end of it is.
  void watch() {
    stream_.async_read_some(asio::buffer(ignored_), [self = this->shared_from_this()](Code error, std::size_t) {
      if (error) return self->close();
      self->watch();
    });
  }

  // Says good-bye. What the other side still sends is taken for a moment: closed at once, the connection would take the
  // answer along.
  void finish() {
    reading_ = true;
    large_ = {};
    lowest().expires_after(kFarewell);
    if constexpr (std::is_same_v<Stream, Tls>) {
      stream_.async_shutdown([self = this->shared_from_this()](Code) { self->drain(); });
    } else {
      drain();
    }
  }
  void drain() {
    Code ignored;
    lowest().socket().shutdown(asio::socket_base::shutdown_send, ignored);
    take_rest();
  }
  void take_rest() {
    buffer_.clear();
    lowest().async_read_some(buffer_.prepare(kMostBuffered / 2),
                             [self = this->shared_from_this()](Code error, std::size_t) {
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
    lowest().close();
    out_ = {};
    if (const auto gone = std::exchange(gone_, {})) gone();
    all_.let_go(this->shared_from_this(), peer_);
  }

  Stream stream_;
  Connections& all_;
  Peer peer_;
  serve::Caller caller_;
  bool known_ = false;      // a token was shown
  bool read_only_ = false;  // of the last one
  bool by_code_ = false;    // the same
  beast::flat_buffer buffer_{kMostBuffered};
  std::optional<http::request_parser<http::string_body>> parser_;
  std::optional<http::response<http::string_body>> response_;
  std::optional<http::response<http::empty_body>> continue_;
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

std::shared_ptr<Connection> plain_connection(StreamSocket socket, Connections& all, Peer peer) {
  return std::make_shared<HttpConnection<Plain>>(all, std::move(peer), std::move(socket));
}

std::shared_ptr<Connection> tls_connection(StreamSocket socket, Connections& all, Peer peer,
                                           std::shared_ptr<asio::ssl::context> context) {
  return std::make_shared<HttpConnection<Tls>>(all, std::move(peer), std::move(socket), *context);
}

}  // namespace rota::api
