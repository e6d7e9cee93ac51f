import { setTimeout as wait } from 'node:timers/promises'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { TestAccount } from '../../harness/chain.ts'
import { payFor, sendMcp, type Json } from '../../harness/mcp.ts'
import { post, statelessClient, type Message } from '../../tools/mcp-client.ts'
import type { Chance } from '../system/chance.ts'
import { newToken } from '../token.ts'
import type { PRICES } from './world.ts'
import { CHECKOUT_TOOL, SLOW, type World } from './world.ts'

/** One call of a tool with an API key. Outside a session its client names it, and repeats it until it is answered. */
export interface KeyedCall {
  name: string
  kind: 'session' | 'stateless' | 'task'
  /** The operation, where the client learnt it: by an event's id, or as a task. */
  operation: string | null
  /** The result, or a sentence of the service that there is none; null when the connection broke. */
  final: { result: Json } | { refused: string } | null
  /** It was charged and its client got no result. */
  chargedUnseen: boolean
}

/** One thing that a guest buys with one authorization: the same message is repeated until it is answered. */
export interface Purchase {
  name: string
  product: keyof typeof PRICES
  payer: TestAccount
  final: Json | null
  last: unknown
}

export interface Load {
  calls: KeyedCall[]
  purchases: Purchase[]
  /** What no client should see, such as a session that is gone. */
  problems: string[]
  /** Begins nothing more, and waits until each client has its answers. */
  end(withinMs: number): Promise<void>
}

export const START = 1_000_000n
/** A client whose call has no answer by then was forgotten. */
const PATIENCE_MS = 60_000
/** Of each kind with a key. Guests wait for blocks, so there are more of them. */
const CLIENTS = 3
const GUESTS = 12

/** Clients of both lines of the protocol, with a key and as guests. */
export async function startLoad(world: World, chance: Chance): Promise<Load> {
  const { addresses, key, chain } = world
  const calls: KeyedCall[] = []
  const purchases: Purchase[] = []
  const problems: string[] = []
  let ended = false
  let until = Infinity
  let count = 0

  const nameOf = (kind: string, own: Chance): string => `${kind}${own.whole(1, 3) === 1 ? SLOW : '-'}${String(++count)}`

  /** What breaks where a process dies; all else is a fault of the service. */
  function isCut(error: unknown): boolean {
    const { message, status } = error as { message: string; status?: number }
    if (status === 502 || status === 503 || CUT.test(message)) return true
    problems.push(`a client was answered: ${message.slice(0, 300)}`)
    return false
  }

  /** A session begins before the first process dies, and is used to the end. */
  async function inSession(own: Chance): Promise<void> {
    const client = new Client({ name: 'chaos', version: '1' })
    const transport = new StreamableHTTPClientTransport(new URL(addresses.tools), {
      requestInit: { headers: { authorization: `Bearer ${key}` } },
      reconnectionOptions: { ...PATIENT, maxRetries: 1_000 },
    })
    await client.connect(transport)
    const session = transport.sessionId
    await repeatedly(async () => {
      const call = begin('session', own)
      const options = {
        timeout: PATIENCE_MS,
        onresumptiontoken(token: string) {
          call.operation ??= (JSON.parse(Buffer.from(token, 'base64url').toString()) as [string])[0]
        },
      }
      try {
        call.final = toFinal(await client.callTool(toolOf(call.name, own), options))
      } catch (error) {
        const { message, code } = error as { message: string; code?: unknown }
        if (code === -32_000) call.final = { refused: message }
        else if (isCut(error) && call.operation !== null) problems.push(`${call.name} was not resumed: ${message}`)
      }
    }, own)
    if (transport.sessionId !== session || session === undefined) problems.push('a session changed its name')
    await client.close()
  }

  async function stateless(own: Chance): Promise<void> {
    const client = await statelessClient(addresses.tools, key)
    await repeatedly(async () => {
      const call = begin('stateless', own)
      const tool = toolOf(call.name, own)
      const _meta = { 'coinslot/idempotency-key': call.name }
      const byHeader = { method: 'tools/call', params: tool, headers: { 'idempotency-key': call.name } }
      const send = async (): Promise<Json> => {
        const inMeta = own.whole(1, 2) === 1
        if (inMeta) return await client.callTool({ ...tool, _meta }, { timeout: PATIENCE_MS })
        return await sent(byHeader)
      }
      while (call.final === null && Date.now() < until) {
        const result = await attempt(send)
        if (result === null) await wait(200)
        else call.final = toFinal(result)
      }
    }, own)
    await client.close()
  }

  async function withTasks(own: Chance): Promise<void> {
    await repeatedly(async () => {
      const call = begin('task', own)
      const message = { method: 'tools/call', params: toolOf(call.name, own), capabilities: TASKS }
      const named = { ...message, headers: { 'idempotency-key': call.name } }
      let begun: Json | null = null
      while (begun === null && Date.now() < until) begun = (await attempt(() => sent(named))) ?? (await wait(200, null))
      if (begun === null) return
      if (begun['resultType'] !== 'task') {
        call.final = toFinal(begun)
        return
      }
      call.operation = String(begun['taskId'])
      const cancels = own.whole(1, 6) === 1
      for (const deadline = Date.now() + PATIENCE_MS; call.final === null; await wait(200)) {
        if (cancels) await attempt(() => send('tasks/cancel', { taskId: call.operation }))
        const task = await attempt(() => send('tasks/get', { taskId: call.operation }))
        if (task !== null && task['status'] !== 'working') call.final = ofTask(task)
        if (Date.now() < deadline) continue
        problems.push(`${call.name} has no end: ${JSON.stringify(task)}`)
        return
      }
    }, own)
  }

  async function send(method: string, params: Json): Promise<Json> {
    return await sent({ method, params, capabilities: TASKS })
  }

  async function sent(message: Message): Promise<Json> {
    const { status, body } = await post(addresses.tools, key, message)
    if (body.result !== undefined) return body.result as Json
    throw Object.assign(new Error(JSON.stringify(body)), { status })
  }

  async function asGuest(own: Chance): Promise<void> {
    await repeatedly(async () => {
      const product = own.of(['read', 'write', 'checkout'] as const)
      const name = nameOf(`guest-${product}`, own)
      const tool = { read: 'reads-read', write: 'writes-write', checkout: CHECKOUT_TOOL }[product]
      const address = product === 'checkout' ? own.of(addresses.checkouts) : addresses.tools
      const params = { name: tool, arguments: { say: name } }
      const isOld = own.whole(1, 2) === 1
      const send = async (_meta: Json): Promise<Json> => {
        const message = { method: 'tools/call', params: { ...params, _meta } }
        const answer: object = isOld ? await sendMcp(address, message) : (await post(address, null, message)).body
        if (!isResult(answer)) throw Object.assign(new Error(JSON.stringify(answer)), answer)
        return answer.result
      }
      const payer = await chain.payer(START)
      let terms: Json | null = null
      while (terms === null && !ended) terms = (await attempt(() => send({}))) ?? (await wait(100, null))
      if (terms === null) return
      const payment = await payFor(chain, payer, terms)
      const purchase: Purchase = { name, product, payer, final: null, last: null }
      purchases.push(purchase)
      const meta = { 'x402/payment': payment, 'coinslot/payment': { paymentToken: newToken() } }
      while (purchase.final === null && Date.now() < until) {
        const result = await attempt(() => send(meta))
        purchase.last = result ?? purchase.last
        if (result !== null && result['isError'] !== true) purchase.final = result
        else await wait(200)
      }
    }, own)
  }

  /** Null where the process died. */
  async function attempt(send: () => Promise<Json>): Promise<Json | null> {
    try {
      return await send()
    } catch (error) {
      isCut(error)
      return null
    }
  }

  function begin(kind: KeyedCall['kind'], own: Chance): KeyedCall {
    const call: KeyedCall = { name: nameOf(kind, own), kind, operation: null, final: null, chargedUnseen: false }
    calls.push(call)
    return call
  }

  async function repeatedly(work: () => Promise<void>, own: Chance): Promise<void> {
    while (!ended) {
      await work()
      await wait(own.whole(20, 200))
    }
  }

  const clients = [inSession, stateless, withTasks, asGuest].flatMap((client) =>
    Array.from({ length: client === asGuest ? GUESTS : CLIENTS }, (_, place) =>
      client(chance.apart(`${client.name} ${String(place)}`)),
    ),
  )
  // Everybody is connected before the first process dies.
  while (calls.filter(({ final }) => final !== null).length < 4 * CLIENTS) await Promise.race([wait(50), ...clients])
  return {
    calls,
    purchases,
    problems,
    async end(withinMs) {
      ended = true
      until = Date.now() + withinMs
      await Promise.all(clients)
    },
  }
}

function toolOf(name: string, own: Chance) {
  return { name: own.whole(1, 2) === 1 ? 'reads-read' : 'writes-write', arguments: { say: name } }
}

function toFinal(result: Json): NonNullable<KeyedCall['final']> {
  return result['isError'] === true ? { refused: JSON.stringify(result['structuredContent']) } : { result }
}

function ofTask({ status, result, error }: Json): NonNullable<KeyedCall['final']> {
  return status === 'completed' ? toFinal(result as Json) : { refused: `${String(status)} ${JSON.stringify(error)}` }
}

function isResult(answer: object): answer is { result: Json } {
  return 'result' in answer
}

/** Words of undici and of the proxy when a process is gone. */
const CUT = /fetch failed|terminated|socket|aborted|ECONNRE|The process went away|Nobody serves this now/i
export const TASKS = { extensions: { 'io.modelcontextprotocol/tasks': {} } }
const PATIENT = { initialReconnectionDelay: 200, maxReconnectionDelay: 1_000, reconnectionDelayGrowFactor: 1.5 }
