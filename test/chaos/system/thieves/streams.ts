import { request } from 'undici'
import { setTimeout as wait } from 'node:timers/promises'
import { call } from '../call.ts'
import type { Robbery } from './book.ts'

/** Opens a stream of the older MCP with a key, has the key revoked, and continues to spend through the stream. */
export async function spendRevoked({ world, book }: Robbery): Promise<void> {
  const { goods, thief, topology } = world
  const created = await call(topology.origin, thief.key, 'POST', '/v1/keys', { name: 'stream' }).catch(() => null)
  if (created === null) return
  const secret = String(created.secret)
  const path = `/tools/mcp?key=${secret}`
  const ending = new AbortController()
  try {
    const stream = await request(topology.origin + path, {
      headers: { accept: 'text/event-stream' },
      signal: AbortSignal.any([ending.signal, AbortSignal.timeout(20_000)]),
    })
    const chunks = stream.body[Symbol.asyncIterator]()
    const first = String((await chunks.next()).value ?? '')
    const endpoint = /data: (\S+)/.exec(first)?.[1]
    if (endpoint === undefined) return
    const callTool = (name: string, theft = book.begin('stream', name, null)) => {
      const body = {
        ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
        params: { name: 'call_tool', arguments: { slug: goods.tool, input: { act: name } } },
      }
      return book.send(theft, { method: 'POST', path: endpoint, body })
    }
    const hello = { protocolVersion: '2024-11-05', capabilities: {}, clientInfo: { name: 'old', version: '1' } }
    for (const message of [
      { jsonrpc: '2.0', id: 0, method: 'initialize', params: hello },
      { jsonrpc: '2.0', method: 'notifications/initialized' },
    ]) {
      await book.send(book.begin('stuff', book.nextName('stuff'), null), {
        method: 'POST',
        path: endpoint,
        body: message,
      })
    }
    const deleted = await request(`${topology.origin}/v1/keys/${String(created.key.id)}`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${thief.key}` },
    })
    await deleted.body.dump()
    // Only a client that got the confirmation of the revocation may rely on it.
    if (deleted.statusCode >= 300) return
    await Promise.all([callTool(book.nextName('stream')), callTool(book.nextName('stream'))])
    await wait(1_000)
  } catch {
    // A process that held the stream went away.
  } finally {
    ending.abort()
  }
}
