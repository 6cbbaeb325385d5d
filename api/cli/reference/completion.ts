/**
 * Completion of commands and options in shells. A script holds the whole command table. Names alone are asked of the
 * instance, by `svc names`, which says nothing where it gets no answer at once.
 */
import type { CommandFacts, Named } from './tree.ts'

/** Shells there is a script for. */
export const SHELLS = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof SHELLS)[number]

/** The script, to be sourced. @param commands as `commandFacts` gives them. */
export function completionScript(shell: Shell, commands: readonly CommandFacts[]): string {
  if (shell === 'bash') return bash(commands)
  return shell === 'zsh' ? zsh(commands) : fish(commands)
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
const words = (list: readonly string[]): string => quoted(list.join(' '))
const flagsOf = ({ options }: CommandFacts, takes?: 'value' | 'file'): string[] =>
  options.filter((option) => takes === undefined || option.takes === takes).flatMap(({ flags }) => flags)

/** Cases that say which words a flag takes, where they are few. @param list as the shell writes words */
const picks = ({ options }: CommandFacts, list: (choices: readonly string[]) => string): string[] =>
  options
    .filter(({ choices }) => choices.length > 0)
    .map(({ flags, choices }) => `        ${flags.join('|')}) picks=${list(choices)} ;;`)

/** Cases that say what a flag names of the instance. */
const asks = ({ options }: CommandFacts): string[] =>
  options.flatMap(({ flags, names }) => (names ? [`        ${flags.join('|')}) asks=${names} ;;`] : []))

/** Those cases as one. */
const cased = (of: string, cases: readonly string[]): string =>
  cases.length === 0 ? '      :' : `      case "${of}" in\n${cases.join('\n')}\n      esac`

/** Cases that walk from a command to the subcommand that the next word names. */
const walk = (commands: readonly CommandFacts[], at: string, end: string): string[] =>
  commands.slice(1).map(({ path }) => `      ${quoted(path)}) ${at}=${quoted(path)} ${end}`)

/** Counts the arguments of a command that are on the line, and keeps what names the daemon, for bash and zsh alike. */
const counted = (rest: string, word: string, takesValue: string): string =>
  `  for word in ${rest}; do
    if [[ $flag == --svcd || $flag == --token || $flag == --data-dir ]]; then to+=($flag ${word}) flag=''
    elif [[ $flag != '' ]]; then flag=''
    elif [[ $word == --svcd=* || $word == --token=* || $word == --data-dir=* ]]; then to+=(${word})
    elif [[ ${takesValue} ]]; then flag=$word
    elif [[ $word != -* ]]; then given=$((given + 1)); fi
  done`

function bash(commands: readonly CommandFacts[]): string {
  const tables = commands.map(
    (command) => `    ${quoted(command.path)})
      commands=${words([...command.children.map(({ name }) => name), ...command.choices])}
      options=${words(flagsOf(command))}
      valued=${words(flagsOf(command, 'value'))}
      filed=${words(flagsOf(command, 'file'))}
      files=${command.takesFile ? 1 : 0} names=${command.names ?? "''"}
${cased('$prev', [...picks(command, words), ...asks(command)])} ;;`,
  )
  return `# Completion of svc for bash. For this shell: source <(svc completion bash)
# For all: svc completion bash > ~/.local/share/bash-completion/completions/svc
_svc() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=svc at=svc i word was flag='' given=0 glued=0
  local commands='' options='' valued='' filed='' picks='' asks='' names='' name files=0
  local -a line=() rest=() to=()
  COMPREPLY=()
  # Bash cuts words at : and =, such as in an address.
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    if [[ $word =~ ^[:=]+$ && \${#line[@]} -gt 0 ]]; then line[\${#line[@]}-1]+=$word glued=1
    elif [[ $glued == 1 ]]; then line[\${#line[@]}-1]+=$word glued=0
    else line+=("$word"); fi
  done
  if [[ $cur == '=' ]]; then cur=''; fi
  if [[ \${#line[@]} -gt 0 ]]; then prev=\${line[\${#line[@]}-1]%=}; fi
  for word in "\${line[@]}"; do
    was=$at
    case "$at $word" in
${walk(commands, 'at', ';;').join('\n')}
    esac
    if [[ $at == "$was" ]]; then rest+=("$word"); else rest=(); fi
  done
  case "$at" in
${tables.join('\n')}
  esac
${counted(`"\${rest[@]}"`, '"$word"', '" $valued $filed " == *" $word "*')}
  if [[ $given -gt 0 ]]; then names=''; fi
  if [[ $picks != '' ]]; then files=0 commands=$picks names=''
  elif [[ $asks != '' ]]; then files=0 commands='' names=$asks
  elif [[ " $valued " == *" $prev "* ]]; then return
  elif [[ " $filed " == *" $prev "* ]]; then files=1 commands='' options='' names=''
  elif [[ $cur == -* ]]; then files=0 commands=$options names=''; fi
  local IFS=$' \\t\\n'
  COMPREPLY=($(compgen -W "$commands" -- "$cur"))
  if [[ $files == 1 ]]; then
    compopt -o filenames 2>/dev/null
    IFS=$'\\n'
    COMPREPLY+=($(compgen -f -- "$cur"))
  fi
  if [[ $names != '' ]]; then
    while IFS= read -r name; do
      if [[ $name == "\${cur//\\\\/}"* ]]; then COMPREPLY+=("$(printf %q "$name")"); fi
    done < <(svc names "$names" "\${to[@]}" 2>/dev/null)
  fi
}
complete -F _svc svc
`
}

function zsh(commands: readonly CommandFacts[]): string {
  const described = (name: string, description: string) =>
    quoted(`${name.replaceAll(':', '\\:')}:${description.replaceAll(':', '\\:')}`)
  const list = (choices: readonly string[]) => `(${choices.map(quoted).join(' ')})`
  const tables = commands.map(
    (command) => `    ${quoted(command.path)})
      commands=(${[...command.children.map(({ name, description }) => described(name, description)), ...command.choices.map(quoted)].join(' ')})
      options=(${command.options.flatMap(({ flags, description }) => flags.map((flag) => described(flag, description))).join(' ')})
      valued=(${flagsOf(command, 'value').join(' ')})
      filed=(${flagsOf(command, 'file').join(' ')})
      files=${command.takesFile ? 1 : 0} named=${command.names ?? "''"}
${cased('$before', [...picks(command, list), ...asks(command)])} ;;`,
  )
  return `#compdef svc
# Completion of svc for zsh. For this shell: source <(svc completion zsh)
# For all: svc completion zsh > "\${fpath[1]}/_svc"
_svc() {
  local at=svc word was flag='' before=\${words[CURRENT-1]} asks='' named=''
  local -a commands options valued filed picks names rest to
  local -i files=0 given=0
  for word in "\${(@)words[2,CURRENT-1]}"; do
    was=$at
    case "$at $word" in
${walk(commands, 'at', ';;').join('\n')}
    esac
    if [[ $at == $was ]]; then rest+=("$word"); else rest=(); fi
  done
  case "$at" in
${tables.join('\n')}
  esac
${counted(`"\${(@)rest}"`, `"\${(Q)word}"`, `-n \${(M)valued:#$word}\${(M)filed:#$word}`)}
  if (( given )); then named=''; fi
  if (( \${#picks} )); then _describe value picks; return; fi
  if [[ -z $asks && \${words[CURRENT]} != -* ]]; then asks=$named; fi
  if [[ -n $asks ]]; then
    names=("\${(@f)$(svc names $asks $to 2>/dev/null)}")
    names=(\${names:#})
    names=("\${(@)names//:/\\\\:}")
    if (( \${#names} )); then _describe name names; fi
    return
  fi
  if (( \${valued[(Ie)$before]} )); then return; fi
  if (( \${filed[(Ie)$before]} )); then _files; return; fi
  if [[ \${words[CURRENT]} == -* ]]; then _describe -o option options; return; fi
  _describe command commands
  if (( files )); then _files; fi
}
if [[ \${funcstack[1]} == _svc ]]; then _svc "$@"; else compdef _svc svc; fi
`
}

function fish(commands: readonly CommandFacts[]): string {
  // In single quotes fish knows two escapes, of a quote and of a backslash.
  const single = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
  const asked = (names: Named) => `(svc names ${names} (__svc_to) 2>/dev/null)`
  const lines = commands.flatMap((command) => {
    const { path, children, options, takesFile } = command
    const here = `complete -c svc -n ${single(`__svc_at "${path}"`)}`
    return [
      ...children.map(({ name, description }) => `${here} -a ${single(name)} -d ${single(description)}`),
      ...command.choices.map((word) => `${here} -a ${single(word)}`),
      ...options.map(({ flags, takes, choices, names, description }) => {
        const called = flags.map((flag) =>
          flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`,
        )
        const taken = names
          ? ` -a ${single(asked(names))}`
          : choices.length === 0
            ? ''
            : ` -a ${single(choices.join(' '))}`
        const value = takes === 'nothing' ? '' : takes === 'file' ? ' -r -F' : ` -x${taken}`
        return `${here} ${called.join(' ')}${value} -d ${single(description)}`
      }),
      ...(takesFile ? [`${here} -F`] : []),
      ...(command.names
        ? [
            `complete -c svc -n ${single(`__svc_first "${path}" ${flagsOf(command, 'value').join(' ')} ${flagsOf(command, 'file').join(' ')}`)} -a ${single(asked(command.names))}`,
          ]
        : []),
    ]
  })
  return `# Completion of svc for fish. For this shell: svc completion fish | source
# For all: svc completion fish > ~/.config/fish/completions/svc.fish
set -g __svc_paths ${commands
    .slice(1)
    .map(({ path }) => single(path))
    .join(' ')}
function __svc_at
    set -l at svc
    for word in (commandline -opc)[2..-1]
        if contains -- "$at $word" $__svc_paths
            set at "$at $word"
        end
    end
    test "$at" = "$argv[1]"
end
# Whether no argument of the command is there yet; behind it, the options that take a value.
function __svc_first
    __svc_at $argv[1]; or return 1
    set -l at svc
    set -l given 0
    set -l flag 0
    for word in (commandline -opc)[2..-1]
        if contains -- "$at $word" $__svc_paths
            set at "$at $word"
            set given 0
        else if test $flag = 1
            set flag 0
        else if contains -- $word $argv[2..-1]
            set flag 1
        else if not string match -q -- '-*' $word
            set given 1
        end
    end
    test $given = 0
end
# What the line says of the daemon.
function __svc_to
    set -l flag
    for word in (commandline -opc)[2..-1]
        if set -q flag[1]
            printf '%s\\n' $flag $word
            set -e flag[1]
        else if contains -- $word --svcd --token --data-dir
            set flag $word
        else if string match -qr -- '^--(svcd|token|data-dir)=' $word
            printf '%s\\n' $word
        end
    end
end
complete -c svc -f
${lines.join('\n')}
`
}
