#!/usr/bin/env node
import { CoinslotError } from '../errors.ts'
import { COMMANDS, USAGE } from './commands.ts'
import { UsageError, type Terminal } from './terminal.ts'
import { readSettings } from './settings.ts'

/** The documented exit codes: 2 is a wrong command line, 3 a wrong key, 4 too little money, 1 everything else. */
function codeOf(error: unknown): number {
  if (error instanceof UsageError) return 2
  if (!(error instanceof CoinslotError)) return 1
  return error.status === 401 ? 3 : error.status === 402 ? 4 : 1
}

function sentenceOf(error: unknown): string {
  if (error instanceof CoinslotError) {
    const details = Object.entries(error.details).map(([name, fault]) => `\n  ${name} ${fault}`)
    return `${error.message}${details.join('')}`
  }
  return error instanceof Error ? error.message : String(error)
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
    print: (text) => process.stdout.write(`${text}\n`),
    note: (text) => process.stderr.write(`${text}\n`),
  }
  const rest = words.filter((word) => word !== '--json')
  // The longest name first: `tools call` before `tools`.
  const name = [rest.slice(0, 2).join(' '), rest[0] ?? ''].find((each) => Object.hasOwn(COMMANDS, each))
  try {
    if (name === undefined) {
      if (rest.length === 0 || ['help', '--help', '-h'].includes(rest[0] ?? '')) {
        terminal.print(USAGE)
        return 0
      }
      throw new UsageError(`There is no command ${rest[0] ?? ''}. See coinslot help.`)
    }
    await COMMANDS[name]?.(terminal, rest.slice(name.split(' ').length))
    return 0
  } catch (error) {
    if (stopped.signal.aborted) return 130
    if (json && error instanceof CoinslotError) {
      terminal.note(JSON.stringify({ error: error.message, ...error.body, code: error.code }))
    } else terminal.note(sentenceOf(error))
    return codeOf(error)
  }
}

process.exitCode = await main()
