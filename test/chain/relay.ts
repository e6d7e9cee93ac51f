import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { toHex } from 'viem'

export interface Question {
  id: number
  method: string
  params: unknown[]
}

/** What a relay does with a request: forward it, respond by itself (with any status), or never respond. */
export type Behaviour = (
  questions: readonly Question[],
  isBatch: boolean,
) => { pass: Question[] } | { status: number; body: unknown } | 'hang'

export interface Relay {
  url: string
  /** The methods of each request so far. */
  readonly requests: string[][]
  behave(as: Behaviour): void
  stop(): Promise<void>
}

export const honest: Behaviour = (questions) => ({ pass: [...questions] })

/**
 * A node that has no block after this one. `fresh`: methods that it still answers up to date, like a second node behind
 * the same address.
 */
export function lagging(newest: bigint, fresh: readonly string[] = []): Behaviour {
  const at = `0x${newest.toString(16)}`
  const isNewer = (block: unknown): boolean =>
    block === 'latest' || (typeof block === 'string' && BigInt(block) > newest)
  return (questions) => ({
    pass: questions.map((question) => {
      const { method, params } = question
      if (fresh.includes(method)) return question
      if (method === 'eth_getBlockByNumber' && isNewer(params[0])) return { ...question, params: [at, false] }
      if (method === 'eth_getLogs') {
        const { fromBlock, toBlock, ...rest } = params[0] as Record<string, unknown>
        const within = {
          ...rest,
          fromBlock: isNewer(fromBlock) ? at : fromBlock,
          toBlock: isNewer(toBlock) ? at : toBlock,
        }
        return { ...question, params: [within] }
      }
      if (method !== 'eth_call' || !isNewer(params[1])) return question
      return { ...question, params: [params[0], params[1] === 'latest' ? at : UNKNOWN_BLOCK] }
    }),
  })
}

const UNKNOWN_BLOCK = '0xffffffff'

/** A node that answers every question about state and events as of an older block, and names the newest blocks. */
export function hiding(block: bigint): Behaviour {
  const at = toHex(block)
  return (questions) => ({
    pass: questions.map((question) => {
      const [first] = question.params
      if (question.method === 'eth_call') return { ...question, params: [first, at] }
      if (question.method !== 'eth_getLogs') return question
      return { ...question, params: [{ ...(first as object), fromBlock: at, toBlock: at }] }
    }),
  })
}

/** An RPC between the service and the chain that can be made to misbehave. */
export async function startRelay(target: string, behaviour: Behaviour = honest): Promise<Relay> {
  let current = behaviour
  const requests: string[][] = []
  const server = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      const body = JSON.parse(Buffer.concat(chunks).toString()) as Question | Question[]
      const questions = Array.isArray(body) ? body : [body]
      requests.push(questions.map(({ method }) => method))
      const choice = current(questions, Array.isArray(body))
      if (choice === 'hang') return
      if ('status' in choice) {
        response.writeHead(choice.status, { 'content-type': 'application/json' }).end(JSON.stringify(choice.body))
        return
      }
      const passed = await fetch(target, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(Array.isArray(body) ? choice.pass : choice.pass[0]),
      })
      response.writeHead(passed.status, { 'content-type': 'application/json' }).end(await passed.text())
    })()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    requests,
    behave: (as) => (current = as),
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
