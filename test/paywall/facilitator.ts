import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * A facilitator of a third party: it forwards requests to an honest one, and changes the responses according to its
 * mode.
 */
export interface StrangeFacilitator {
  url: string
  /** The honest one behind it. */
  behind: string
  mood: Mood
  settled: number
  /** How many requests it got. */
  requests: number
  close(): Promise<void>
}

export type Mood =
  | 'honest'
  /** Settles, and never responds. */
  | 'settles-and-hangs'
  | 'settles-and-502'
  | 'settles-and-denies'
  /** Claims success, with an invented hash. */
  | 'invents'
  /** Returns the success of another payment. */
  | 'repeats'
  /** Claims that every payment is valid and settled, and does nothing. */
  | 'approves-all'
  | 'denies'
  | 'hangs'
  | 'garbage'

export async function startStrangeFacilitator(): Promise<StrangeFacilitator> {
  let last: unknown = null
  const held = new Set<ServerResponse>()
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      // The honest one may have stopped by the time of a request.
      answer(request.url ?? '', Buffer.concat(chunks), response).catch(() => response.destroy())
    })
  })
  const strange: StrangeFacilitator = {
    url: '',
    behind: '',
    mood: 'honest',
    settled: 0,
    requests: 0,
    async close() {
      for (const response of held) response.destroy()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }

  async function answer(path: string, body: Buffer, response: ServerResponse): Promise<void> {
    const { mood } = strange
    strange.requests += 1
    const respond = (status: number, body: unknown): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    }
    if (mood === 'hangs') return void held.add(response)
    if (mood === 'garbage') return void response.writeHead(200).end('<html>hello</html>')
    if (mood === 'approves-all' && path === '/verify') return respond(200, { isValid: true, payer: null })
    if (path === '/settle') {
      const hash = `0x${'ab'.repeat(32)}`
      if (mood === 'invents' || mood === 'approves-all') return respond(200, { success: true, transaction: hash })
      if (mood === 'denies') return respond(200, { success: false, errorReason: 'insufficient_funds', transaction: '' })
      if (mood === 'repeats' && last !== null) return respond(200, last)
    }
    const forwarded = await fetch(strange.behind + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    })
    const settlement = (await forwarded.json()) as { success?: boolean }
    if (path !== '/settle') return respond(forwarded.status, settlement)
    if (settlement.success === true) {
      strange.settled += 1
      last = settlement
    }
    if (mood === 'settles-and-hangs') return void held.add(response)
    if (mood === 'settles-and-502') return void response.writeHead(502).end('Bad Gateway')
    if (mood === 'settles-and-denies') return respond(200, { success: false, errorReason: 'insufficient_funds' })
    respond(forwarded.status, settlement)
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  strange.url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`
  return strange
}
