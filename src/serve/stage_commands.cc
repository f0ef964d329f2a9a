#include "serve/stage_commands.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"

namespace rota::serve {
namespace {

constexpr const char* kScript = R"sh(
set -u
umask 077
as() {  # USER COMMAND...
  if [ -z "$STAGE_ACCOUNT" ]; then shift; "$@"; return; fi
  user=$1; shift
  setpriv --reuid="${user%:*}" --regid="${user#*:}" --init-groups --no-new-privs -- "$@"
}
own() {  # USER [-R] PATH...
  if [ -z "$STAGE_ACCOUNT" ]; then return; fi
  user=$1; shift
  case $1 in
    -R) shift; chown -R -h "$user" "$@" ;;
    *) chown -h "$user" "$@" ;;
  esac
}
copy='
  cd "$STAGE_FOLDER" || exit 1
  IFS="
"
  for path in $STAGE_MUST; do cp -RPp --parents -- "./$path" "$STAGE_INTO" || exit 1; done
  for path in $STAGE_MAY; do
    if [ -e "./$path" ]; then cp -RPp --parents -- "./$path" "$STAGE_INTO" || exit 1; fi
  done'
sum='
  cd "$STAGE_INTO" && chmod -R go-rwx . && find . -type f -print0 | sort -z | xargs -0 -r sha256sum'
get='
  if [ -n "$STAGE_FETCH" ]; then
    ROTA_FROM=$STAGE_ADDRESS ROTA_NAME=$STAGE_NAME ROTA_TO=$STAGE_INTO /bin/sh -c "$STAGE_FETCH" || exit 1
  else
    case $STAGE_ADDRESS in *:|*/) from=$STAGE_ADDRESS$STAGE_NAME/ ;; *) from=$STAGE_ADDRESS/$STAGE_NAME/ ;; esac
    rsync -rltp $STAGE_AGAIN --no-devices --no-specials --safe-links --partial --delete --timeout=60 \
      --include=/files/*** --include=/sums --include=/failed --exclude=* \
      --chmod=Du=rwx,Dgo=,Fgo=,Fu-s -- "$from" "$STAGE_INTO/" || exit 1
  fi
  cd "$STAGE_INTO" && rm -rf job job.new || exit 1
  if [ -e failed ]; then head -c 500 failed; exit 9; fi
  [ -e sums ] && cd files || { echo "what was fetched is not whole"; exit 1; }
  if grep -qavE "^\\\\?[0-9a-f]{64}  \./" ../sums || grep -qa "/\.\./" ../sums; then
    echo "the sums name files elsewhere"; exit 1
  fi
  if [ -s ../sums ]; then timeout 3600 sha256sum --quiet --strict -c ../sums; else [ -z "$(find . -type f | head -n 1)" ]; fi'
home='
  cd "$STAGE_INTO" || exit 1
  IFS="
"
  for path in $STAGE_MAY; do
    into=$STAGE_FOLDER/$path
    if [ -d "./$path" ] && [ ! -h "./$path" ]; then  # also where the folder there is a link to one
      mkdir -p -- "$into" && cp -RP --preserve=timestamps -- "./$path/." "$into/" || exit 1
    elif [ -e "./$path" ] || [ -h "./$path" ]; then
      into=$(dirname -- "$into")
      mkdir -p -- "$into" && cp -P --preserve=timestamps -- "./$path" "$into/" || exit 1
    fi
  done'
case $STAGE_ACTION in
  prepare)
    mkdir -p "$STAGE_DATA/in" "$STAGE_DATA/out" && chmod 711 "$STAGE_DATA" "$STAGE_DATA/in" "$STAGE_DATA/out" ;;
  give)
    whole=$STAGE_DATA/out/$STAGE_NAME
    STAGE_PART=$whole.part STAGE_INTO=$whole.part/files
    export STAGE_PART STAGE_INTO
    rm -rf "$STAGE_PART" "$whole"
    mkdir "$STAGE_PART" && chmod 711 "$STAGE_PART" && mkdir "$STAGE_INTO" && own "$STAGE_USER" "$STAGE_INTO" || exit 1
    # Only `files` is ever the user's, who could lead a write beside it elsewhere.
    if why=$(as "$STAGE_USER" /bin/sh -c "$copy" 2>&1); then
      own "$STAGE_ACCOUNT" -R "$STAGE_INTO" && as "$STAGE_ACCOUNT" /bin/sh -c "$sum" >"$STAGE_PART/sums" || exit 1
    else
      rm -rf "$STAGE_INTO"
      printf '%s\n' "$why" | tail -n 3 | head -c 500 >"$STAGE_PART/failed"
    fi
    chmod 700 "$STAGE_PART" && own "$STAGE_ACCOUNT" -R "$STAGE_PART" && mv -T "$STAGE_PART" "$whole" ;;
  fetch)
    STAGE_INTO=$STAGE_DATA/in/$STAGE_TO
    export STAGE_INTO
    mkdir -p "$STAGE_INTO" && own "$STAGE_ACCOUNT" -R "$STAGE_INTO" && as "$STAGE_ACCOUNT" /bin/sh -c "$get" ;;
  hand_over)
    into=$STAGE_DATA/in/$STAGE_NAME
    own 0:0 "$into" && chmod 711 "$into" && rm -rf "$into/job" "$into/job.new" && own "$STAGE_USER" -R "$into/files" &&
      printf '%s\n' "$STAGE_JOB" >"$into/job.new" && mv "$into/job.new" "$into/job" ;;
  bring_home)
    from=$STAGE_DATA/in/$STAGE_NAME
    own 0:0 "$from" && chmod 711 "$from" && own "$STAGE_USER" -R "$from/files" || exit 1
    STAGE_INTO=$from/files
    export STAGE_INTO
    if why=$(as "$STAGE_USER" /bin/sh -c "$home" 2>&1); then exit 0; fi
    kept=$STAGE_DATA/in/kept-$STAGE_NAME
    rm -rf "$kept" && mv -T "$from" "$kept"
    printf '%s\n' "$why" | tail -n 3 | head -c 500
    exit 1 ;;
  remove)
    rm -rf -- "${STAGE_DATA:?}/$STAGE_NAME" ;;
esac
)sh";

constexpr Duration kLongestMove = seconds(7 * 86'400);  // a transfer that stands still ends by itself, after a minute

std::string word_of(const std::optional<StageUser>& user) {
  return user ? fmt::format("{}:{}", user->uid, user->gid) : std::string();
}

std::string lines_of(const std::vector<std::string>& paths) {
  std::string lines;
  for (const std::string& path : paths) lines += path + '\n';
  return lines;
}

}  // namespace

std::string StageCommands::path(std::string_view part, std::string_view name) const {
  return fmt::format("{}/{}/{}", data_, part, name);
}

StageCommands::Command StageCommands::command(const char* action, std::vector<std::string> variables) const {
  variables.push_back(std::string("STAGE_ACTION=") + action);
  variables.push_back("STAGE_DATA=" + data_);
  variables.push_back("STAGE_ACCOUNT=" + word_of(account_));
  return {.text = kScript, .variables = std::move(variables), .timeout = kLongestMove};
}

StageCommands::Command StageCommands::prepare() const { return command("prepare", {}); }

StageCommands::Command StageCommands::give(const std::string& name, const StageUser& user, const std::string& folder,
                                           const std::vector<std::string>& must,
                                           const std::vector<std::string>& may) const {
  return command("give", {"STAGE_NAME=" + name, "STAGE_USER=" + word_of(user), "STAGE_FOLDER=" + folder,
                          "STAGE_MUST=" + lines_of(must), "STAGE_MAY=" + lines_of(may)});
}

StageCommands::Command StageCommands::fetch(const std::string& address, const std::string& name, const std::string& to,
                                            bool again) const {
  return command("fetch", {"STAGE_ADDRESS=" + address, "STAGE_NAME=" + name, "STAGE_TO=" + to, "STAGE_FETCH=" + fetch_,
                           std::string("STAGE_AGAIN=") + (again ? "--checksum" : "")});
}

StageCommands::Command StageCommands::hand_over(const std::string& name, const StageUser& user,
                                                const std::string& job) const {
  return command("hand_over", {"STAGE_NAME=" + name, "STAGE_USER=" + word_of(user), "STAGE_JOB=" + job});
}

StageCommands::Command StageCommands::bring_home(const std::string& name, const StageUser& user,
                                                 const std::string& folder, const std::vector<std::string>& may) const {
  return command("bring_home", {"STAGE_NAME=" + name, "STAGE_USER=" + word_of(user), "STAGE_FOLDER=" + folder,
                                "STAGE_MAY=" + lines_of(may)});
}

StageCommands::Command StageCommands::remove(std::string_view part, std::string_view name) const {
  return command("remove", {fmt::format("STAGE_NAME={}/{}", part, name)});
}

Result<std::vector<std::string>> stage_paths(std::string_view wish, std::string_view paths) {
  std::vector<std::string> all;
  if (paths.empty()) return all;
  for (const std::string_view path : split(paths, ',')) {
    const auto parts = split(path, '/');
    const bool within = !path.empty() && !path.starts_with('/') && std::ranges::find(parts, "..") == parts.end();
    const bool plain = std::ranges::none_of(path, [](char c) { return static_cast<unsigned char>(c) < ' '; });
    if (!within || !plain)
      return fail("`{}` names paths within the job's folder, with commas between them, and not {}.", wish,
                  rota::quoted(path));
    all.emplace_back(path);
  }
  return all;
}

}  // namespace rota::serve
