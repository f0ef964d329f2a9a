#include "serve/sealed.h"

#include <openssl/evp.h>
#include <openssl/rand.h>

#include <memory>

#include "base/check.h"
#include "base/file.h"
#include "base/text.h"
#include "store/sha256.h"

namespace rota::serve {
namespace {

constexpr char kClear = 'c', kSealed = 's';  // which a closed text begins with
constexpr std::size_t kNonce = 12, kTag = 16, kLeastKey = 32;
constexpr std::size_t kMostKey = 4096;

using Context = std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)>;

const unsigned char* bytes_of(std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); }
unsigned char* bytes_of(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }

}  // namespace

Result<Seal> Seal::read(const std::string& path) {
  const std::string text = TRY(read_file(path, kMostKey));
  if (text.size() < kLeastKey)
    return fail("{} has {} bytes, and a secret of a federation has {} or more: head -c 32 /dev/urandom > {}",
                quoted(path), text.size(), kLeastKey, path);
  Seal seal;
  seal.key_ = store::sha256(std::as_bytes(std::span(text)));
  return seal;
}

std::string Seal::close(std::string_view text, std::string_view label) const {
  if (!key_) return std::string(1, kClear).append(text);
  std::string closed(1 + kNonce + text.size() + kTag, kSealed);
  unsigned char* const nonce = bytes_of(closed) + 1;
  unsigned char* const sealed = nonce + kNonce;
  const Context context(EVP_CIPHER_CTX_new(), &EVP_CIPHER_CTX_free);
  const auto* key = reinterpret_cast<const unsigned char*>(key_->data());
  int size = 0;
  const bool done =
      RAND_bytes(nonce, kNonce) == 1 &&
      EVP_EncryptInit_ex(context.get(), EVP_aes_256_gcm(), nullptr, key, nonce) == 1 &&
      EVP_EncryptUpdate(context.get(), nullptr, &size, bytes_of(label), static_cast<int>(label.size())) == 1 &&
      EVP_EncryptUpdate(context.get(), sealed, &size, bytes_of(text), static_cast<int>(text.size())) == 1 &&
      EVP_EncryptFinal_ex(context.get(), sealed + size, &size) == 1 &&
      EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_GET_TAG, kTag, sealed + text.size()) == 1;
  CHECK(done, "a text in memory can be sealed");
  return closed;
}

std::optional<std::string> Seal::open(std::string_view closed, std::string_view label) const {
  if (closed.empty()) return std::nullopt;
  if (!key_) return closed.front() == kClear ? std::optional(std::string(closed.substr(1))) : std::nullopt;
  if (closed.front() != kSealed || closed.size() < 1 + kNonce + kTag) return std::nullopt;
  const std::string_view nonce = closed.substr(1, kNonce);
  const std::string_view sealed = closed.substr(1 + kNonce, closed.size() - 1 - kNonce - kTag);
  std::string tag(closed.substr(closed.size() - kTag));
  std::string text(sealed.size(), '\0');
  const Context context(EVP_CIPHER_CTX_new(), &EVP_CIPHER_CTX_free);
  const auto* key = reinterpret_cast<const unsigned char*>(key_->data());
  int size = 0;
  const bool good =
      EVP_DecryptInit_ex(context.get(), EVP_aes_256_gcm(), nullptr, key, bytes_of(nonce)) == 1 &&
      EVP_DecryptUpdate(context.get(), nullptr, &size, bytes_of(label), static_cast<int>(label.size())) == 1 &&
      EVP_DecryptUpdate(context.get(), bytes_of(text), &size, bytes_of(sealed), static_cast<int>(sealed.size())) == 1 &&
      EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_SET_TAG, kTag, tag.data()) == 1 &&
      EVP_DecryptFinal_ex(context.get(), bytes_of(text) + size, &size) == 1;
  return good ? std::optional(std::move(text)) : std::nullopt;
}

}  // namespace rota::serve
