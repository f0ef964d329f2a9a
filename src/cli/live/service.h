// A service of Rota as the commands ask it: JSON in, JSON out, as docs/api.md says. An answer that is a refusal becomes
// an error with the sentence that the service gave.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/command_line.h"
#include "cli/live/service_client.h"

namespace rota::cli {

using Json = nlohmann::ordered_json;

// What every command that speaks to a service takes.
struct ServiceFlags {
  AddressFlags address;
  bool json = false;

  void declare(Command command);
  void declare_json(Command command);
};

class Service {
 public:
  explicit Service(const ServiceFlags& flags) : client_(service_address(flags.address)) {}

  Result<Json> get(const std::string& target) const;
  Result<Json> post(const std::string& target, const Json& body, const std::string& key = "") const;
  Result<Json> put(const std::string& target, const Json& body) const;
  Result<Json> remove(const std::string& target) const;
  Result<HttpAnswer> text(const std::string& target) const;  // what is no JSON

  // All rows of a list that comes in pages: the member `name` of each, as far as `most`. `unknown`, if given: takes the
  // ids in the question that no job has.
  Result<Json> rows(const std::string& path, std::map<std::string, std::string> query, const std::string& name,
                    std::size_t most = SIZE_MAX, Json* unknown = nullptr) const;

  void follow() const { client_.follow(); }
  bool remote() const { return client_.remote(); }
  std::string socket() const { return client_.socket(); }
  std::string shown() const { return client_.shown(); }

 private:
  Result<Json> json(const HttpRequest& request) const;
  ServiceClient client_;
};

// Members of an answer, read without trust: what is not there or of another kind is empty.
std::string text_of(const Json& object, const char* name);
double number_of(const Json& object, const char* name, double otherwise = 0);
bool has_number(const Json& object, const char* name);
bool flag_of(const Json& object, const char* name);
const Json& list_of(const Json& object, const char* name);
std::string words_of(const Json& object, const char* name, const char* between = ",");  // a list of texts as one

// JSON as the commands print it.
std::string shown_json(const Json& json);

// "/v1/jobs?a=b&c=d"
std::string target_of(const std::string& path, const std::map<std::string, std::string>& query);

}  // namespace rota::cli
