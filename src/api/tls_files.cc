#include "api/tls_files.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "base/file.h"

namespace rota::api {

namespace ssl = boost::asio::ssl;
using Code = boost::system::error_code;

Result<std::unique_ptr<TlsFiles>> TlsFiles::open(const std::string& certificate, const std::string& key) {
  std::unique_ptr<TlsFiles> files(new TlsFiles(certificate, key));
  TRY(files->read());
  return files;
}

std::string TlsFiles::state() const {
  std::string text;
  for (const std::string* path : {&certificate_, &key_}) {
    struct stat file{};
    if (::stat(path->c_str(), &file) != 0) return "";
    for (const auto number :
         {static_cast<std::int64_t>(file.st_ino), static_cast<std::int64_t>(file.st_size),
          static_cast<std::int64_t>(file.st_mtim.tv_sec), static_cast<std::int64_t>(file.st_mtim.tv_nsec)})
      text += std::to_string(number) + " ";
  }
  return text;
}

Result<void> TlsFiles::read() {
  struct stat key{};
  if (::stat(key_.c_str(), &key) != 0)
    return fail("the key of TLS, {}, cannot be read: {}. `tls_key` in [service] names it.", shown_path(key_),
                std::strerror(errno));
  if ((key.st_mode & (S_IROTH | S_IWOTH)) != 0)
    return fail("the key of TLS, {}, is open to everybody; close it with `chmod 600`.", shown_path(key_));
  std::string before = state();
  auto context = std::make_shared<ssl::context>(ssl::context::tls_server);
  Code error;
  context->set_options(ssl::context::default_workarounds | ssl::context::no_sslv2 | ssl::context::no_sslv3 |
                           ssl::context::no_tlsv1 | ssl::context::no_tlsv1_1 | ssl::context::single_dh_use,
                       error);
  if (!error) context->use_certificate_chain_file(certificate_, error);
  if (error)
    return fail(
        "the certificate of TLS, {}, cannot be used: {}. It is a PEM file with the server's certificate first and its "
        "chain behind.",
        shown_path(certificate_), error.message());
  context->use_private_key_file(key_, ssl::context::pem, error);
  if (error)
    return fail(
        "the key of TLS, {}, cannot be used with the certificate {}: {}. It is the PEM file that belongs to it.",
        shown_path(key_), shown_path(certificate_), error.message());
  context_ = std::move(context);
  state_ = std::move(before);
  return {};
}

std::shared_ptr<ssl::context> TlsFiles::context() {
  if (state() != state_) static_cast<void>(read());  // what cannot be used yet may be half of what comes
  return context_;
}

}  // namespace rota::api
