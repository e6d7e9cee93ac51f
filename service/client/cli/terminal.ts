import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { parseArgs, type ParseArgsConfig } from 'node:util'
import { Coinslot } from '../coinslot.ts'
import type { Settings } from './settings.ts'

/** What a command can see and say. */
export interface Terminal {
  /** One JSON value per line, for programs. */
  json: boolean
  settings: Settings
  stopped: AbortSignal
  /** A line. */
  print(text: string): void
  /** What another server answered: its very bytes, unless a person reads them. */
  pass(bytes: Uint8Array): void
  /** Not part of the result: it does not go into a pipe. */
  note(text: string): void
}

export type Command = (terminal: Terminal, words: readonly string[]) => Promise<void>

/** The command line is wrong. */
export class UsageError extends Error {}

export function clientOf({ settings: { key, url, keyIsFor } }: Terminal): Coinslot {
  if (key === null && keyIsFor !== null) {
    const server = url ?? 'this server'
    throw new UsageError(
      `The stored key is for ${keyIsFor}, so it is not sent to ${server}. Run coinslot login --url ${server}, or set COINSLOT_KEY.`,
    )
  }
  if (key === null) throw new UsageError('There is no key for this server. Run coinslot login, or set COINSLOT_KEY.')
  return new Coinslot({ key, baseUrl: url })
}

/** The options of a command, and the words that are no option. */
export function parse<const Options extends NonNullable<ParseArgsConfig['options']>>(
  words: readonly string[],
  options: Options,
): Parsed<Options> {
  try {
    return parseArgs({ args: [...words], options, allowPositionals: true, strict: true })
  } catch (error) {
    throw new UsageError(`${(error as Error).message}. See coinslot help.`)
  }
}

type Parsed<Options extends NonNullable<ParseArgsConfig['options']>> = ReturnType<
  typeof parseArgs<{ args: string[]; options: Options; allowPositionals: true; strict: true }>
>

/** `name=text` and `name:=json`, as the inputs of a run or a call. */
export function inputsOf(words: readonly string[]): Record<string, unknown> {
  const inputs: Record<string, unknown> = {}
  for (const word of words) {
    const equals = word.indexOf('=')
    if (equals < 1) throw new UsageError(`${word} is no input. Write name=text, or name:=json.`)
    const isJson = word[equals - 1] === ':'
    const value = word.slice(equals + 1)
    inputs[word.slice(0, isJson ? equals - 1 : equals)] = isJson ? jsonOf(value) : value
  }
  return inputs
}

export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new UsageError(`${text} is no JSON. Check its quotes.`)
  }
}

export function numberOf(text: string, name: string): number {
  const value = Number(text)
  if (text.trim() === '' || !Number.isFinite(value)) throw new UsageError(`${name} must be a number, such as 0.05.`)
  return value
}

export function oneOf(words: readonly string[], name: string): string {
  const [first, ...more] = words
  if (first === undefined || more.length > 0) throw new UsageError(`Name one ${name}. See coinslot help.`)
  return first
}

/**
 * What came from outside must not move the cursor, recolour the terminal or turn the direction of a line. Everything that
 * a terminal shows goes through it; a pipe or a file gets what came.
 */
export function clean(text: string): string {
  // oxlint-disable-next-line no-control-regex -- these are what must not be printed
  return text.replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, '\ufffd')
}

/** A field of a line: what came from outside must not begin a line of its own either. */
export function shown(text: string): string {
  return clean(text).replaceAll(/\s/g, ' ')
}

/** False where no browser could be started. */
export async function openPage(address: string): Promise<boolean> {
  // A server that names a file or a program must not have it opened.
  if (!URL.canParse(address) || !/^https?:$/.test(new URL(address).protocol)) return false
  const [command = '', ...words] = STARTED_BY[process.platform] ?? ['xdg-open']
  const child = spawn(command, [...words, address], { stdio: 'ignore', detached: true })
  try {
    await once(child, 'spawn')
  } catch {
    return false
  }
  child.unref()
  return true
}

const STARTED_BY: Readonly<Partial<Record<NodeJS.Platform, readonly string[]>>> = {
  darwin: ['open'],
  // Not `start`, which gives the address to a shell.
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
}
