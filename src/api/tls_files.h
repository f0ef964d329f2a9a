// The certificate and the key by which a service shows on TCP that it is the one that is meant.
#pragma once

#include <boost/asio/ssl/context.hpp>
#include <memory>
#include <string>

#include "base/result.h"

namespace rota::api {

// TLS 1.2 and later, by a certificate (with its chain) and a key in PEM files. When the files are replaced, which
// certificates want every few months, the next connection has the new ones; files that make no sense change nothing.
class TlsFiles {
 public:
  // Fails with a sentence: files that cannot be read, that do not belong together, a key that any user may read.
  static Result<std::unique_ptr<TlsFiles>> open(const std::string& certificate, const std::string& key);

  std::shared_ptr<boost::asio::ssl::context> context();

 private:
  TlsFiles(std::string certificate, std::string key) : certificate_(std::move(certificate)), key_(std::move(key)) {}
  Result<void> read();
  std::string state() const;  // of the files; another one when they were replaced

  std::string certificate_;
  std::string key_;
  std::string state_;
  std::shared_ptr<boost::asio::ssl::context> context_;
};

}  // namespace rota::api
