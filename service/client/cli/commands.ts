import { Coinslot, type NewCheckout } from '../coinslot.ts'
import type { RequestOptions } from '../request.ts'
import { complete } from './completion.ts'
import { keyByDevice } from './device.ts'
import { ALL, listen, trigger } from './listen.ts'
import { logs } from './logs.ts'
import { open, OPENED } from './open.ts'
import {
  clientOf,
  inputsOf,
  jsonOf,
  numberOf,
  oneOf,
  parse,
  shown,
  UsageError,
  type Command,
  type Terminal,
} from './terminal.ts'
import { saveLogin } from './settings.ts'

export const USAGE = `Usage: coinslot <command> [--json]

  login [--key csk_…] [--device] [--url http://localhost:4020]
  open [dashboard|docs|errors|<checkout>|<page>]
  logs [--follow] [--limit 20] [--name laptop]
  listen --forward-to localhost:3000/hook [--events payment.completed,…] [--since 1h] [--name laptop]
  trigger payment.completed [--name laptop]
  checkouts create '{"product": {"name": "…"}, …}' [--idempotency-key …]
  checkouts list [--limit 20]
  payments list [--limit 20]
  run <asset> name=text name:=json … [--max-cost 0.05] [--idempotency-key …]
  tools search <words>
  tools call <tool> name=text name:=json … [--max-cost 0.05] [--idempotency-key …]
  pay <url> --max 0.05 [--method POST] [--data '{…}'] [--idempotency-key …]
  completion bash|zsh|fish

COINSLOT_KEY and COINSLOT_URL stand above what login stored.
Exit codes: 0 done, 1 failed, 2 wrong command line, 3 wrong key, 4 insufficient balance, 130 interrupted.`

const login: Command = async (terminal, words) => {
  const options = { key: { type: 'string' }, url: { type: 'string' }, device: { type: 'boolean' } } as const
  const { values } = parse(words, options)
  const url = values.url ?? terminal.settings.url
  const key = values.key ?? (await requestedKey(terminal, url, values.device === true))
  const { userId, environment } = await new Coinslot({ key, baseUrl: url }).request('GET /v1/me')
  saveLogin(terminal.settings, { key, url })
  terminal.print(terminal.json ? JSON.stringify({ userId, environment }) : `Signed in as ${userId} (${environment}).`)
}

/**
 * Another user of the machine can read the words of a command, but not its environment. A program must not wait for a
 * person, so without a terminal the sign-in by code has to be asked for.
 */
async function requestedKey(terminal: Terminal, url: string | undefined, byDevice: boolean): Promise<string> {
  const { environmentKey } = terminal.settings
  if (!byDevice && environmentKey !== null) return environmentKey
  if (!byDevice && !process.stdin.isTTY) {
    throw new UsageError('There is no key. Pass --key, set COINSLOT_KEY, or sign in on a page with --device.')
  }
  if (url === undefined) throw new UsageError('Say which server: --url http://localhost:4020.')
  return await keyByDevice(terminal, url)
}

const createCheckout: Command = async (terminal, words) => {
  const { values, positionals } = parse(words, REPEATABLE)
  const wanted = jsonOf(oneOf(positionals, 'checkout as JSON')) as NewCheckout
  const client = clientOf(terminal)
  const made = await sendOnce(terminal, values, (options) => client.checkouts.create(wanted, options))
  terminal.print(terminal.json ? JSON.stringify(made) : `${made.checkout.id}  ${made.checkout.url}`)
}

const listCheckouts: Command = async (terminal, words) => {
  const { values } = parse(words, LIMIT)
  const { items } = await clientOf(terminal).checkouts.list({ limit: numberOf(values.limit, '--limit') })
  for (const item of items) {
    const { id, status, price, product } = item
    const line = [id, status.padEnd(8), price, shown(product.name)].join('  ')
    terminal.print(terminal.json ? JSON.stringify(item) : line)
  }
}

const listPayments: Command = async (terminal, words) => {
  const { values } = parse(words, LIMIT)
  const { items } = await clientOf(terminal).payments.list({ limit: numberOf(values.limit, '--limit') })
  for (const item of items) {
    const { id, state, amount, name, subject } = item
    const line = [id, state.padEnd(8), amount, shown(name ?? subject)].join('  ')
    terminal.print(terminal.json ? JSON.stringify(item) : line)
  }
}

const REPEATABLE = { 'idempotency-key': { type: 'string' } } as const

/** Interrupted, it may have been done all the same, as when its answer is lost. */
async function sendOnce<Result>(
  { stopped: signal }: Terminal,
  { 'idempotency-key': key }: { 'idempotency-key'?: string | undefined },
  send: (options: RequestOptions) => Promise<Result>,
): Promise<Result> {
  if (key === '') throw new UsageError('--idempotency-key is empty. Pass the key that the failed command printed.')
  return await send({ signal, idempotencyKey: key })
}

const LIMIT = { limit: { type: 'string', default: '20' } } as const

const run: Command = async (terminal, words) => {
  const { values, positionals } = parse(words, { 'max-cost': { type: 'string' }, ...REPEATABLE })
  const [rdaSlug, ...inputs] = positionals
  if (rdaSlug === undefined) throw new UsageError('Name the asset to run. See coinslot help.')
  const wanted = { rdaSlug, inputs: inputsOf(inputs), ...boundOf(values['max-cost']) }
  const client = clientOf(terminal)
  const result = await sendOnce(terminal, values, (options) => client.runs.create(wanted, options))
  terminal.print(terminal.json ? JSON.stringify(result) : result.output)
  terminal.note(`${result.runId}: ${String(result.cost)} USDC`)
}

function boundOf(most: string | undefined): { maxCost?: number } {
  return most === undefined ? {} : { maxCost: numberOf(most, '--max-cost') }
}

const searchTools: Command = async (terminal, words) => {
  const { values, positionals } = parse(words, LIMIT)
  const limit = numberOf(values.limit, '--limit')
  for (const tool of await clientOf(terminal).tools.search(positionals.join(' '), { limit })) {
    terminal.print(terminal.json ? JSON.stringify(tool) : `${tool.slug}  ${String(tool.price)}  ${shown(tool.name)}`)
  }
}

const callTool: Command = async (terminal, words) => {
  const { values, positionals } = parse(words, { 'max-cost': { type: 'string' }, ...REPEATABLE })
  const [slug, ...inputs] = positionals
  if (slug === undefined) throw new UsageError('Name the tool to call. See coinslot help.')
  const client = clientOf(terminal)
  const input = inputsOf(inputs)
  const bound = boundOf(values['max-cost'])
  const result = await sendOnce(terminal, values, (options) => client.tools.call(slug, input, { ...options, ...bound }))
  terminal.print(JSON.stringify(terminal.json ? result : result.output))
  terminal.note(`${result.callId}: ${String(result.cost)} USDC`)
}

const pay: Command = async (terminal, words) => {
  const options = { max: { type: 'string' }, method: { type: 'string' }, data: { type: 'string' } } as const
  const { values, positionals } = parse(words, { ...options, ...REPEATABLE })
  if (values.max === undefined) throw new UsageError('Say what it may cost at most: --max 0.05.')
  const client = clientOf(terminal)
  const address = oneOf(positionals, 'address')
  const wanted = {
    maxAmount: numberOf(values.max, '--max'),
    method: methodOf(values.method ?? (values.data === undefined ? 'GET' : 'POST')),
    ...(values.data === undefined ? {} : { body: values.data, headers: { 'content-type': 'application/json' } }),
  }
  const response = await sendOnce(terminal, values, (options) => client.fetch(address, { ...wanted, ...options }))
  const payment = response.headers.get('coinslot-payment')
  const paymentStatus = response.headers.get('coinslot-payment-status')
  const bytes = new Uint8Array(await response.arrayBuffer())
  const { status } = response
  const body = (): string => new TextDecoder().decode(bytes)
  if (terminal.json) terminal.print(JSON.stringify({ status, payment, paymentStatus, body: body() }))
  else terminal.pass(bytes)
  terminal.note(payment === null ? 'Nothing was paid.' : sentenceOn(payment, paymentStatus))
  if (!response.ok) throw new Error(`The address answered ${String(response.status)}.`)
}

function sentenceOn(payment: string, status: string | null): string {
  if (status === 'settled') return `Paid: ${payment}`
  if (status === 'returned') return `Payment ${payment} was returned. Nothing was paid.`
  return `Payment ${payment} is pending. If the seller does not take it, the money comes back.`
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

function methodOf(text: string): (typeof METHODS)[number] {
  const method = METHODS.find((each) => each === text.toUpperCase())
  if (method === undefined) throw new UsageError(`--method must be one of ${METHODS.join(', ')}.`)
  return method
}

const completion: Command = (terminal, words) => {
  const values = { trigger: ALL, open: OPENED, completion: ['bash', 'fish', 'zsh'] }
  complete(terminal, words, { usage: USAGE, commands: Object.keys(COMMANDS), values })
  return Promise.resolve()
}

export const COMMANDS: Readonly<Record<string, Command>> = {
  completion,
  login,
  open,
  logs,
  listen,
  trigger,
  run,
  pay,
  'checkouts create': createCheckout,
  'checkouts list': listCheckouts,
  'payments list': listPayments,
  'tools search': searchTools,
  'tools call': callTool,
}
