import { oneOf, UsageError, type Terminal } from './terminal.ts'

/** What the Tab key offers, read from the usage text and the commands themselves: neither can forget the other. */
interface Known {
  usage: string
  commands: readonly string[]
  /** The words that a command takes. */
  values: Readonly<Record<string, readonly string[]>>
}

/** The script that a shell loads once. It asks `coinslot completion words …` at each Tab, so it fits every version. */
export function complete(terminal: Terminal, words: readonly string[], known: Known): void {
  if (words[0] === 'words') {
    // Behind `--`, so that what was typed so far is never taken for an option of this command.
    for (const word of candidates(words.slice(words[1] === '--' ? 2 : 1), known)) terminal.print(word)
    return
  }
  const shell = oneOf(words, 'shell (bash, zsh or fish)')
  const script = Object.hasOwn(SCRIPTS, shell) ? SCRIPTS[shell as keyof typeof SCRIPTS] : undefined
  if (script === undefined) throw new UsageError('Name one shell: bash, zsh or fish.')
  terminal.print(script)
}

/** What may follow these whole words. */
function candidates(words: readonly string[], { usage, commands, values }: Known): string[] {
  const typed = words.filter((word) => !word.startsWith('-'))
  const command = commands.find((name) => name.split(' ').every((part, at) => typed[at] === part))
  if (command === undefined) {
    const next = commands
      .map((name) => name.split(' '))
      .filter((parts) => typed.every((word, at) => parts[at] === word))
    return [...new Set(next.flatMap((parts) => parts.slice(typed.length, typed.length + 1)))].sort()
  }
  const line = usage.split('\n').find((each) => `${each} `.startsWith(`  ${command} `)) ?? ''
  const options = [...(line.match(/--[a-z-]+/g) ?? []), '--json'].filter((option) => !words.includes(option))
  return [...(typed.length === command.split(' ').length ? (values[command] ?? []) : []), ...new Set(options)]
}

// Each asks with the words before the cursor; the shell itself keeps those that begin like the word at it.
const SCRIPTS = {
  bash: `_coinslot() {
  local IFS=$'\\n'
  COMPREPLY=($(compgen -W "$(coinslot completion words -- "\${COMP_WORDS[@]:1:COMP_CWORD-1}" 2> /dev/null)" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _coinslot coinslot`,
  zsh: `#compdef coinslot
_coinslot() {
  local -a found
  found=("\${(@f)$(coinslot completion words -- "\${(@)words[2,CURRENT-1]}" 2> /dev/null)}")
  compadd -a found || _files
}
compdef _coinslot coinslot`,
  fish: `complete -c coinslot -e
complete -c coinslot -a '(coinslot completion words -- (commandline -opc)[2..-1] 2> /dev/null)'`,
} as const
