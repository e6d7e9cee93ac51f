#!/usr/bin/env node
import { readFileSync } from 'node:fs'
import { CoinslotError } from '../errors.ts'
import { COMMANDS, USAGE } from './commands.ts'
import { clean, UsageError, type Terminal } from './terminal.ts'
import { readSettings } from './settings.ts'

/** The documented exit codes: 2 is a wrong command line, 3 a wrong key, 4 too little money, 1 everything else. */
function codeOf(error: unknown): number {
  if (error instanceof UsageError) return 2
  if (!(error instanceof CoinslotError)) return 1
  return error.status === 401 ? 3 : error.status === 402 ? 4 : 1
}

function sentenceOf(error: unknown, command: string | undefined): string {
  if (error instanceof CoinslotError) {
    // The sentence of a single field says it already.
    const more = Object.entries(error.details).filter(([name, fault]) => error.message !== `${name}: ${fault}`)
    const details = more.map(([name, fault]) => `\n  ${name} ${fault}`)
    const help = error.docUrl === null ? '' : `\nHelp: ${error.docUrl}`
    const repeat = isRepeatable(error, command)
      ? `\nIt may have been done. To do and pay it once, repeat the same command with --idempotency-key ${error.idempotencyKey}`
      : ''
    return `${error.message}${details.join('')}${help}${repeat}`
  }
  return error instanceof Error ? error.message : String(error)
}

/** Whether it may have been done, and the command takes the key that would do it once. */
function isRepeatable(
  error: unknown,
  command: string | undefined,
): error is CoinslotError & { idempotencyKey: string } {
  if (!(error instanceof CoinslotError) || error.idempotencyKey === null) return false
  return usageOf(command).includes('--idempotency-key')
}

const HELP: ReadonlySet<string> = new Set(['--help', '-h'])

/** The lines of one command, or all of them. */
function usageOf(name: string | undefined): string {
  const lines = USAGE.split('\n').filter((line) => name !== undefined && line.startsWith(`  ${name} `))
  return lines.length === 0 ? USAGE : lines.map((line) => `Usage: coinslot ${line.trim()}`).join('\n')
}

function versionOf(manifest: URL): string {
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version
}

function unknownCommand(word: string): string {
  const longer = Object.keys(COMMANDS).filter((each) => each.startsWith(`${word} `))
  return longer.length === 0 ? `There is no command ${word}.` : `Write one of: ${longer.join(', ')}.`
}

async function main(): Promise<number> {
  const words = process.argv.slice(2)
  const json = words.includes('--json')
  const stopped = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopped.abort())
  const terminal: Terminal = {
    json,
    settings: readSettings(process.env),
    stopped: stopped.signal,
    print: (text) => process.stdout.write(`${process.stdout.isTTY ? clean(text) : text}\n`),
    pass: (bytes) => process.stdout.write(process.stdout.isTTY ? `${clean(new TextDecoder().decode(bytes))}\n` : bytes),
    note: (text) => process.stderr.write(`${clean(text)}\n`),
  }
  const rest = words.filter((word) => word !== '--json')
  // The longest name first: `tools call` before `tools`.
  const name = [rest.slice(0, 2).join(' '), rest[0] ?? ''].find((each) => Object.hasOwn(COMMANDS, each))
  try {
    if (rest.length === 0 || rest[0] === 'help' || HELP.has(rest[0] ?? '') || HELP.has(rest.at(-1) ?? '')) {
      terminal.print(usageOf(name))
      return 0
    }
    if (name === undefined && rest[0] === '--version') {
      terminal.print(versionOf(new URL('../../package.json', import.meta.url)))
      return 0
    }
    if (name === undefined) throw new UsageError(`${unknownCommand(rest[0] ?? '')} See coinslot help.`)
    await COMMANDS[name]?.(terminal, rest.slice(name.split(' ').length))
    return 0
  } catch (error) {
    const isInterrupted = stopped.signal.aborted
    if (isInterrupted && !isRepeatable(error, name)) return 130
    if (json && error instanceof CoinslotError) {
      const { code, docUrl, idempotencyKey } = error
      const repeat = idempotencyKey === null ? {} : { idempotencyKey }
      terminal.note(JSON.stringify({ error: error.message, ...error.body, code, docUrl, ...repeat }))
    } else terminal.note(sentenceOf(error, name))
    return isInterrupted ? 130 : codeOf(error)
  }
}

process.exitCode = await main()
