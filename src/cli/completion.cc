// rota completion SHELL: the script that makes a shell ask `rota __complete` what may stand next.
#include <memory>
#include <string>

#include "cli/command.h"
#include "cli/printed.h"

namespace rota::cli {
namespace {

constexpr const char* kBash =
    R"SCRIPT(# bash completion for rota: source it, or put it into /usr/share/bash-completion/completions/rota
_rota() {
  local -a words=() lines=()
  local i word current typed line
  for ((i = 0; i <= COMP_CWORD; i++)); do # bash takes words apart at "="; put them together again
    word=${COMP_WORDS[i]}
    if ((i > 1)) && [[ $COMP_WORDBREAKS == *=* ]] && [[ $word == =* || ${COMP_WORDS[i - 1]} == = ]]; then
      words[${#words[@]} - 1]+=$word
    else
      words+=("$word")
    fi
  done
  COMPREPLY=()
  current=${words[${#words[@]} - 1]}
  mapfile -t lines < <("${words[0]/#\~/$HOME}" __complete "${words[@]:1}" 2>/dev/null)
  typed= # what readline leaves alone
  [[ $COMP_WORDBREAKS != *=* || $current != *=* ]] || typed=${current%"${current##*=}"}
  case ${lines[0]-} in
    files*) compopt -o default ;; # readline completes files itself
    folders*)
      compopt -o filenames
      mapfile -t COMPREPLY < <(compgen -d -- "${current#"$typed"}")
      ;;
    *)
      [[ ${lines[0]-} != unfinished ]] || compopt -o nospace
      for line in "${lines[@]:1}"; do
        line=${line%%$'\t'*}
        COMPREPLY+=("${line#"$typed"}")
      done
      ;;
  esac
}
complete -F _rota rota
)SCRIPT";

constexpr const char* kZsh = R"SCRIPT(#compdef rota
# zsh completion for rota: put it as _rota into a folder of $fpath, or source it after compinit
_rota() {
  local -a lines found shown
  local kind line
  lines=("${(@f)$("${(Q)words[1]/#\~/$HOME}" __complete "${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
  kind=$lines[1]
  shift lines
  case $kind in
    files*)
      [[ $kind != *= ]] || compset -P '*='
      _files
      ;;
    folders*)
      [[ $kind != *= ]] || compset -P '*='
      _files -/
      ;;
    *)
      for line in $lines; do
        found+=("${line%%$'\t'*}")
        shown+=("${line/$'\t'/  -- }")
      done
      if [[ $kind == unfinished ]]; then
        compadd -S '' -l -d shown -a found
      else
        compadd -l -d shown -a found
      fi
      ;;
  esac
}
if [[ $funcstack[1] == _rota ]]; then
  _rota "$@"
else
  compdef _rota rota
fi
)SCRIPT";

constexpr const char* kFish =
    R"SCRIPT(# fish completion for rota: put it as rota.fish into a folder of $fish_complete_path, or source it
function __rota_complete
    set -l tokens (commandline -opc)
    set -l current (commandline -ct)
    set -l program (string replace -r '^~' $HOME -- $tokens[1])
    set -l lines ($program __complete $tokens[2..-1] "$current" 2>/dev/null)
    set -l before (string replace -r '^[a-z]+ ?' '' -- "$lines[1]")
    set -l path (string sub -s (math (string length -- "$before") + 1) -- "$current")
    switch "$lines[1]"
        case 'files*'
            for found in (__fish_complete_path "$path")
                echo "$before$found"
            end
        case 'folders*'
            for found in (__fish_complete_directories "$path")
                echo "$before$found"
            end
        case '*'
            printf '%s\n' $lines[2..-1]
    end
end
complete -c rota -f -a '(__rota_complete)'
)SCRIPT";

}  // namespace

void add_completion(Command app, Action& action) {
  auto shell = std::make_shared<std::string>();
  Command command = app.add_subcommand("completion", "print what makes a shell complete rota's command lines");
  command.description("It completes commands, options, their values, files, and policies with their knobs.");
  command.add_option("SHELL", *shell, "bash, zsh or fish").required().one_of({"bash", "zsh", "fish"});
  command.footer(
      "Examples:\n"
      "  source <(rota completion bash)\n"
      "  rota completion zsh > ~/.zfunc/_rota\n"
      "  rota completion fish > ~/.config/fish/completions/rota.fish");
  command.callback([&action, shell] {
    action = [shell] { return printed(*shell == "bash" ? kBash : *shell == "zsh" ? kZsh : kFish); };
  });
}

}  // namespace rota::cli
