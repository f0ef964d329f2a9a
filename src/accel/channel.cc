#include "accel/channel.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "accel/wire.h"

namespace rota::accel {
namespace {

constexpr std::string_view kIdentity = "rota accel";  // of the key, in clear
constexpr const char* kCipher = "TLS_AES_128_GCM_SHA256";
constexpr std::array<unsigned char, 2> kCipherNumber{0x13, 0x01};
constexpr std::size_t kRecord = SSL3_RT_MAX_PLAIN_LENGTH;
constexpr std::size_t kReadAhead = std::size_t{64} << 10U;  // some records by one call of the system

long control_bio(BIO* /*bio*/, int command, long /*number*/, void* /*pointer*/) {
  return command == BIO_CTRL_FLUSH ? 1 : 0;
}

// The key as OpenSSL takes it: a session that both sides would have had before.
SSL_SESSION* session_of(SSL* tls) {
  const auto* key = static_cast<const std::string*>(SSL_CTX_get_app_data(SSL_get_SSL_CTX(tls)));
  SSL_SESSION* session = SSL_SESSION_new();
  if (session == nullptr) return nullptr;
  const auto* bytes = reinterpret_cast<const unsigned char*>(key->data());
  if (SSL_SESSION_set1_master_key(session, bytes, key->size()) == 1 &&
      SSL_SESSION_set_cipher(session, SSL_CIPHER_find(tls, kCipherNumber.data())) == 1 &&
      SSL_SESSION_set_protocol_version(session, TLS1_3_VERSION) == 1)
    return session;
  SSL_SESSION_free(session);
  return nullptr;
}

int show_key(SSL* tls, const EVP_MD* /*digest*/, const unsigned char** name, std::size_t* size, SSL_SESSION** session) {
  *name = reinterpret_cast<const unsigned char*>(kIdentity.data());
  *size = kIdentity.size();
  *session = session_of(tls);
  return *session != nullptr ? 1 : 0;
}

// Without a session the handshake goes on towards a certificate, of which a container has none, and fails there.
int find_key(SSL* tls, const unsigned char* name, std::size_t size, SSL_SESSION** session) {
  const bool ours = std::string_view(reinterpret_cast<const char*>(name), size) == kIdentity;
  *session = ours ? session_of(tls) : nullptr;
  return 1;
}

bool is_unix(int socket) {
  int domain = 0;
  socklen_t size = sizeof domain;
  return ::getsockopt(socket, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 && domain == AF_UNIX;
}

union FileMessage {  // aligned as the system wants it
  cmsghdr header;
  std::array<char, CMSG_SPACE(sizeof(int))> bytes;
};

}  // namespace

// OpenSSL's own BIO of sockets writes without MSG_NOSIGNAL, and a library does not change the signals of its program.
// With MSG_MORE records go out as segments of some size, which costs the other side fewer turns.
int Channel::write_bio(BIO* bio, const char* bytes, int size) {
  BIO_clear_retry_flags(bio);
  const auto* channel = static_cast<const Channel*>(BIO_get_data(bio));
  const int flags = MSG_NOSIGNAL | MSG_DONTWAIT | (channel->more_follows_ ? MSG_MORE : 0);
  const ssize_t sent = ::send(channel->socket(), bytes, static_cast<std::size_t>(size), flags);
  if (sent < 0 && (errno == EAGAIN || errno == EINTR)) BIO_set_retry_write(bio);
  return static_cast<int>(sent);
}

int Channel::read_bio(BIO* bio, char* bytes, int size) {
  BIO_clear_retry_flags(bio);
  const int socket = static_cast<const Channel*>(BIO_get_data(bio))->socket();
  const ssize_t got = ::recv(socket, bytes, static_cast<std::size_t>(size), MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) BIO_set_retry_read(bio);
  return static_cast<int>(got);
}

const BIO_METHOD* Channel::bio_method() {
  static const BIO_METHOD* const method = [] {
    BIO_METHOD* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "rota accel");
    BIO_meth_set_write(made, &write_bio);
    BIO_meth_set_read(made, &read_bio);
    BIO_meth_set_ctrl(made, &control_bio);
    return made;
  }();
  return method;
}

TlsKey::TlsKey(const std::string& token, Side side) : key_(32, '\0') {
  // A program's exit does not take OpenSSL away from a client's thread.
  OPENSSL_init_ssl(OPENSSL_INIT_NO_ATEXIT, nullptr);
  const std::string text = "rota accel 1 " + token;
  EVP_Digest(text.data(), text.size(), reinterpret_cast<unsigned char*>(key_.data()), nullptr, EVP_sha256(), nullptr);
  context_ = SSL_CTX_new(side == Side::container ? TLS_server_method() : TLS_client_method());
  if (context_ == nullptr) return;
  SSL_CTX_set_app_data(context_, &key_);
  SSL_CTX_set_min_proto_version(context_, TLS1_3_VERSION);
  SSL_CTX_set_ciphersuites(context_, kCipher);
  SSL_CTX_set1_groups_list(context_, "X25519");
  SSL_CTX_set_session_cache_mode(context_, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(context_, 0);
  SSL_CTX_set_mode(context_, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_read_ahead(context_, 1);
  SSL_CTX_set_default_read_buffer_len(context_, kReadAhead);
  if (side == Side::container) SSL_CTX_set_psk_find_session_callback(context_, &find_key);
  if (side == Side::client) {
    SSL_CTX_set_psk_use_session_callback(context_, &show_key);
    SSL_CTX_set_verify(context_, SSL_VERIFY_PEER, nullptr);  // no certificate stands for a container
  }
}

TlsKey::~TlsKey() { SSL_CTX_free(context_); }

Channel::Channel(process::Descriptor socket, TlsKeyPtr key)
    : socket_(std::move(socket)), key_(std::move(key)), in_clear_(key_ == nullptr), on_node_(is_unix(socket_.get())) {
  if (!key_ || key_->context_ == nullptr) return;
  tls_ = SSL_new(key_->context_);
  BIO* const bio = BIO_new(bio_method());
  if (tls_ == nullptr || bio == nullptr) return;
  BIO_set_data(bio, this);
  BIO_set_init(bio, 1);
  SSL_set_bio(tls_, bio, bio);
  if (SSL_is_server(tls_) == 1) {
    SSL_set_accept_state(tls_);
  } else {
    SSL_set_connect_state(tls_);
  }
}

Channel::~Channel() { SSL_free(tls_); }

bool Channel::begins_in_clear() {
  // As a frame does, and no record of TLS.
  constexpr char kFirst = static_cast<char>(kMagic & 0xffU);
  char first = 0;
  if (!key_ || SSL_in_before(tls_) == 0) return false;
  if (::recv(socket(), &first, 1, MSG_PEEK | MSG_DONTWAIT) != 1 || first != kFirst) return false;
  in_clear_ = true;
  return true;
}

Channel::Flow Channel::receive(std::span<std::byte> into, std::size_t& count) {
  count = 0;
  if (in_clear_) {
    const ssize_t got =
        accepts_files_ ? receive_with_file(into) : ::recv(socket(), into.data(), into.size(), MSG_DONTWAIT);
    if (got == 0) return Flow::ended;
    if (got < 0) return errno == EAGAIN || errno == EINTR ? Flow::waits : Flow::ended;
    count = static_cast<std::size_t>(got);
    return Flow::moved;
  }
  if (tls_ == nullptr) return Flow::ended;
  const std::lock_guard lock(mutex_);
  ERR_clear_error();
  return after(SSL_read_ex(tls_, into.data(), into.size(), &count));
}

// There is room for one file: the system drops others that come with it.
ssize_t Channel::receive_with_file(std::span<std::byte> into) {
  iovec piece{into.data(), into.size()};
  FileMessage with{};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = &with;
  message.msg_controllen = sizeof with;
  const ssize_t got = ::recvmsg(socket(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  const cmsghdr* header = got > 0 ? CMSG_FIRSTHDR(&message) : nullptr;
  if (header != nullptr && header->cmsg_type == SCM_RIGHTS && header->cmsg_len == CMSG_LEN(sizeof(int))) {
    int file = -1;
    std::memcpy(&file, CMSG_DATA(header), sizeof file);
    file_.reset(file);
  }
  return got;
}

Channel::Flow Channel::send(std::span<const std::byte> first, std::span<const std::byte> second, std::size_t& count) {
  count = 0;
  if (!in_clear_) {
    if (tls_ == nullptr) return Flow::ended;
    Flow flow = send_secretly(first, !second.empty(), count);
    if (flow == Flow::moved) flow = send_secretly(second, false, count);
    return flow == Flow::waits && count > 0 ? Flow::moved : flow;
  }
  std::array<iovec, 2> pieces{
      {{const_cast<std::byte*>(first.data()), first.size()}, {const_cast<std::byte*>(second.data()), second.size()}}};
  msghdr message{};
  message.msg_iov = pieces.data();
  message.msg_iovlen = pieces.size();
  FileMessage with{};
  const int file = attached_ < 0 ? -1 : attached_.exchange(-1);
  if (file >= 0) {
    with.header = {.cmsg_len = CMSG_LEN(sizeof file), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
    std::memcpy(CMSG_DATA(&with.header), &file, sizeof file);
    message.msg_control = &with;
    message.msg_controllen = sizeof with;
  }
  const ssize_t sent = ::sendmsg(socket(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent < 0 && file >= 0) attached_ = file;
  if (sent < 0) return errno == EAGAIN || errno == EINTR ? Flow::waits : Flow::ended;
  count = static_cast<std::size_t>(sent);
  return Flow::moved;
}

Channel::Flow Channel::send_secretly(std::span<const std::byte> bytes, bool more_follows, std::size_t& count) {
  for (std::size_t at = 0; at < bytes.size();) {
    std::size_t sent = 0;
    const std::lock_guard lock(mutex_);  // for one record: the other thread has its turn
    ERR_clear_error();
    more_follows_ = more_follows || bytes.size() - at > kRecord;
    const Flow flow = after(SSL_write_ex(tls_, bytes.data() + at, bytes.size() - at, &sent));
    more_follows_ = false;
    if (flow != Flow::moved) return flow;
    at += sent;
    count += sent;
  }
  return Flow::moved;
}

Channel::Flow Channel::after(int result) {
  const int error = SSL_get_error(tls_, result);
  const bool waits = error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE;
  if (waits || result == 1) must_receive_first_ = error == SSL_ERROR_WANT_READ && SSL_is_init_finished(tls_) == 0;
  if (waits) return Flow::waits;
  if (result == 1) return SSL_session_reused(tls_) == 1 ? Flow::moved : Flow::ended;  // by the key, that is
  // The second is what OpenSSL 3.0 says of a key that is another one, the first what RFC 8446 has for it.
  const int reason = ERR_GET_REASON(ERR_peek_error());
  token_is_refused_ = reason == SSL_R_TLSV1_ALERT_DECRYPT_ERROR || reason == SSL_R_SSLV3_ALERT_ILLEGAL_PARAMETER;
  return Flow::ended;
}

}  // namespace rota::accel
