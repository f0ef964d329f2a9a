// A socket between a client and a container: in clear, or by TLS 1.3 with a key that both make of one token (PSK, with
// an exchange of X25519 for each connection). The token itself never crosses the wire, both sides have shown that they
// have it before a byte of either counts, and what was recorded cannot be read by a token that is known later. Never
// waits: the handshake goes on with each receive() and send(). One thread receives, one sends.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>

#include "process/descriptor.h"

struct bio_method_st;
struct bio_st;
struct ssl_ctx_st;
struct ssl_st;

namespace rota::accel {

enum class Side : std::uint8_t { container, client };

// What a side needs for TLS. Any thread.
class TlsKey {
 public:
  TlsKey(const std::string& token, Side side);
  TlsKey(const TlsKey&) = delete;
  TlsKey& operator=(const TlsKey&) = delete;
  ~TlsKey();

 private:
  friend class Channel;
  std::string key_;
  ssl_ctx_st* context_;
};
using TlsKeyPtr = std::shared_ptr<const TlsKey>;

class Channel {
 public:
  // `key`: null for a socket in clear.
  explicit Channel(process::Descriptor socket, TlsKeyPtr key = nullptr);
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;
  ~Channel();

  enum class Flow : std::uint8_t {
    moved,  // `count` bytes, at least one
    waits,  // until the socket can be read, or written to
    ended,  // the other side has hung up, or is not the one that it should be
  };
  int socket() const { return socket_.get(); }
  Flow receive(std::span<std::byte> into, std::size_t& count);
  // `first` before `second`; what has not moved is to come first in the next call, and no less of it.
  Flow send(std::span<const std::byte> first, std::span<const std::byte> second, std::size_t& count);
  // The handshake needs bytes of the other side before anything can be sent.
  bool must_receive_first() const { return must_receive_first_; }

  bool is_secret() const { return !in_clear_; }
  bool is_on_node() const { return on_node_; }  // a Unix socket
  // Over a Unix socket: an open file that goes along with the next send(), once; it must stay open until then.
  void attach(int file) { attached_ = file; }
  // From now on files are received. take_file(): the last one that came, none: none did.
  void accept_files() { accepts_files_ = on_node_; }
  process::Descriptor take_file() { return std::exchange(file_, {}); }

  // At a container, before the first receive(): the client has begun in clear. From then on the channel is in clear,
  // for a sentence that says so.
  bool begins_in_clear();
  // At a client: the container has another token.
  bool token_is_refused() const { return token_is_refused_; }

 private:
  ssize_t receive_with_file(std::span<std::byte> into);
  Flow send_secretly(std::span<const std::byte> bytes, bool more_follows, std::size_t& count);
  Flow after(int result);

  static int write_bio(bio_st* bio, const char* bytes, int size);
  static int read_bio(bio_st* bio, char* bytes, int size);
  static const bio_method_st* bio_method();

  const process::Descriptor socket_;
  const TlsKeyPtr key_;
  bool in_clear_;
  const bool on_node_;
  std::atomic<int> attached_ = -1;
  bool accepts_files_ = false;
  process::Descriptor file_;  // received
  std::mutex mutex_;          // of tls_, which reads when it writes and the other way round
  ssl_st* tls_ = nullptr;
  bool more_follows_ = false;  // another record, at once
  std::atomic<bool> must_receive_first_ = false;
  std::atomic<bool> token_is_refused_ = false;
};

}  // namespace rota::accel
