import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { request } from 'undici'

/** A proxy between the service and its chain that imitates every known fault of providers. */
export interface Rpc {
  url: string
  mood: RpcMood
  /** What is asked about these addresses (without 0x) is answered as of a block, as by a node that got no further. */
  readonly behind: Map<string, bigint>
  /** Becomes honest again; requests that were held get no response. */
  heal(): void
  close(): Promise<void>
}

/** `stale`: responds like a node that is some blocks behind. `loses`: accepts the transaction and never forwards it. */
export type RpcMood = 'honest' | 'hangs' | 'hangs-up' | 'errors' | 'overloaded' | 'slow' | 'stale' | 'loses'
export const RPC_MOODS: readonly RpcMood[] = ['hangs', 'hangs-up', 'errors', 'overloaded', 'slow', 'stale', 'loses']

interface Question {
  id: number
  method: string
  params: unknown[]
}

export async function startRpc(chainUrl: string): Promise<Rpc> {
  const held = new Set<ServerResponse>()
  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = []
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
    incoming.on('end', () => {
      answer(Buffer.concat(chunks), response).catch(() => response.destroy())
    })
    incoming.on('error', () => response.destroy())
  })
  const rpc: Rpc = {
    url: '',
    mood: 'honest',
    behind: new Map(),
    heal() {
      rpc.mood = 'honest'
      for (const response of held) response.destroy()
      held.clear()
    },
    async close() {
      rpc.heal()
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }

  async function answer(body: Buffer, response: ServerResponse): Promise<void> {
    const { mood } = rpc
    const batch = JSON.parse(body.toString()) as Question | Question[]
    const questions = Array.isArray(batch) ? batch : [batch]
    const send = (status: number, json: unknown): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(json))
    }
    const sendAll = (answers: unknown[]): void => send(200, Array.isArray(batch) ? answers : answers[0])
    if (mood === 'hangs') return void held.add(response)
    if (mood === 'hangs-up') return void response.destroy()
    if (mood === 'overloaded') return send(503, { error: 'come back later' })
    if (mood === 'errors') {
      const error = { code: -32_603, message: 'Internal error' }
      return sendAll(questions.map(({ id }) => ({ jsonrpc: '2.0', id, error })))
    }
    if (mood === 'slow') await wait(1_500)
    if (mood === 'loses' && questions.some(({ method }) => method === 'eth_sendRawTransaction')) {
      const error = { code: -32_000, message: 'upstream timed out' }
      return sendAll(questions.map(({ id }) => ({ jsonrpc: '2.0', id, error })))
    }
    const passed = mood === 'stale' ? await Promise.all(questions.map(aged)) : questions.map(late)
    const { statusCode, body: reply } = await forward(Array.isArray(batch) ? passed : passed[0])
    response.writeHead(statusCode, { 'content-type': 'application/json' }).end(await reply.text())
  }

  function late(question: Question): Question {
    const text = JSON.stringify(question.params).toLowerCase()
    const block = [...rpc.behind].find(([address]) => text.includes(address))?.[1]
    if (block === undefined) return question
    const at = `0x${block.toString(16)}`
    if (question.method !== 'eth_getLogs')
      return { ...question, params: question.params.map((each) => (each === 'latest' ? at : each)) }
    const [filter] = question.params as [object]
    return { ...question, params: [{ ...filter, fromBlock: at, toBlock: at }] }
  }

  /** The same request, for some blocks ago. */
  async function aged(question: Question): Promise<Question> {
    if (!question.params.includes('latest')) return question
    const { body } = await forward({ jsonrpc: '2.0', id: 1, method: 'eth_blockNumber', params: [] })
    const { result } = (await body.json()) as { result: string }
    const before = `0x${Math.max(0, Number(result) - BLOCKS_BEHIND).toString(16)}`
    return { ...question, params: question.params.map((each) => (each === 'latest' ? before : each)) }
  }

  const forward = (message: unknown) =>
    request(chainUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(message),
    })

  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  rpc.url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`
  return rpc
}

const BLOCKS_BEHIND = 2
