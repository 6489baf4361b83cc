import { Argument, type Command } from 'commander'
import { exampleText } from './format.ts'
import { type Io, printLine } from './io.ts'

/** The words that can follow a command, by its path: `''`, `key`, `key create`. */
type Words = ReadonlyMap<string, readonly string[]>

function wordsOf(command: Command, path = ''): [string, readonly string[]][] {
  const verbs = command.commands.map((one) => one.name())
  const flags = command.options.filter((one) => !one.hidden).flatMap(({ long }) => long ?? [])
  const below = command.commands.flatMap((one) => wordsOf(one, `${path} ${one.name()}`.trim()))
  return [[path, [...verbs, ...flags, '--help']], ...below]
}

/** Commands and flags contain no character that a shell treats specially. */
const cases = (words: Words, line: (path: string, candidates: string) => string): string =>
  [...words].map(([path, candidates]) => line(path, candidates.join(' '))).join('\n')

const posixCases = (words: Words): string =>
  cases(words, (path, candidates) => `    '${path}') echo '${candidates}' ;;`)

/** Follows the words before the cursor from command to command; flags and their values change nothing. */
const bash = (words: Words): string => `# bash completion for jeton
_jeton_words() {
  case "$1" in
${posixCases(words)}
  esac
}
_jeton() {
  local at='' word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in -*) continue ;; esac
    case " $(_jeton_words "$at") " in *" $word "*) at="\${at:+$at }$word" ;; esac
  done
  COMPREPLY=($(compgen -W "$(_jeton_words "$at")" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -F _jeton jeton`

const zsh = (words: Words): string => `#compdef jeton
_jeton_words() {
  case "$1" in
${posixCases(words)}
  esac
}
_jeton() {
  local at='' word
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$word" in -*) continue ;; esac
    case " $(_jeton_words "$at") " in *" $word "*) at="\${at:+$at }$word" ;; esac
  done
  compadd -- \${=$(_jeton_words "$at")}
}
compdef _jeton jeton`

const fish = (words: Words): string => `# fish completion for jeton
function __jeton_words
    switch "$argv[1]"
${cases(words, (path, candidates) => `        case '${path}'\n            string split ' ' '${candidates}'`)}
    end
end
function __jeton_complete
    set -l at ''
    for word in (commandline -opc)[2..-1]
        if not string match -q -- '-*' $word; and contains -- $word (__jeton_words $at)
            set at (string trim -- "$at $word")
        end
    end
    __jeton_words $at
end
complete -c jeton -f -a '(__jeton_complete)'`

const SCRIPTS: Readonly<Record<string, (words: Words) => string>> = { bash, zsh, fish }

export function addCompletion(program: Command, io: Io): void {
  program
    .command('completion')
    .summary('print a completion script for your shell')
    .description(
      'Prints a script that completes commands and flags. It is made for this version, so print it again after an upgrade.',
    )
    .addArgument(new Argument('<shell>', 'the shell').choices(Object.keys(SCRIPTS)))
    .addHelpText(
      'after',
      exampleText([
        'eval "$(jeton completion bash)"   # in ~/.bashrc',
        'eval "$(jeton completion zsh)"   # in ~/.zshrc, after compinit',
        'jeton completion fish > ~/.config/fish/completions/jeton.fish',
      ]),
    )
    .action((shell: string) => printLine(io, SCRIPTS[shell]!(new Map(wordsOf(program)))))
}
