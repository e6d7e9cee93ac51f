import { McpError } from '@modelcontextprotocol/sdk/types.js'
import { createToolServers } from '../../service/mcp-client/servers.ts'
import { outboundClient } from '../../service/outbound/client.ts'
import type { OutboundRequest } from '../../service/outbound/model.ts'
import { failureOf } from '../../service/tools/service/calls/reach.ts'
import { mcpStranger, type Stranger } from './mcp-stranger.ts'

const OK = { kind: 'text', value: 'ok' }

describe('Calls in sessions of an external MCP server', () => {
  let stranger: Stranger
  const outbound = outboundClient({ policy: { allowPrivate: true, allowHosts: [] } })
  const servers = createToolServers({
    open: (request) => outbound.open(request),
    limits: { totalMs: 60_000 },
    version: '1',
  })

  beforeAll(async () => {
    stranger = await mcpStranger([{ name: 'add', inputSchema: { type: 'object' } }])
  })
  afterAll(async () => {
    await servers.close()
    await outbound.close()
    await stranger.close()
  })

  const call = (tool: string, key: string, caller = 'one') =>
    servers.call({
      ...{ server: stranger.url, caller, tool, input: {}, headers: { authorization: key } },
      ...{ onProgress: () => undefined, signal: new AbortController().signal },
    })

  /** A call that the server works on until it is released. */
  async function underWay(key: string): Promise<{ release: () => void; answer: Promise<unknown> }> {
    let release = (): void => undefined
    const released = new Promise<void>((resolve) => (release = resolve))
    const arrived = new Promise<void>((resolve) => {
      stranger.answer = async (tool) => {
        if (tool === 'slow') {
          resolve()
          await released
        }
        return { content: [{ type: 'text', text: 'ok' }] }
      }
    })
    const answer = call('slow', key)
    // It is awaited later, and may fail before.
    answer.catch(() => undefined)
    await arrived
    return { release, answer }
  }

  test('get their answers when the server fails at the call of another one', async () => {
    const { release, answer } = await underWay('shared')
    stranger.instead = (response) => response.writeHead(500).end('out of order')
    await expect(call('add', 'shared')).rejects.toMatchObject({ code: 'upstream_error' })
    for (let turn = 0; turn < 5; turn++) expect(await call('add', 'shared')).toEqual(OK)
    release()
    expect(await answer).toEqual(OK)
  })

  test('get their answers when others open more sessions than are stored', async () => {
    const { release, answer } = await underWay('first')
    for (let other = 0; other < 201; other++) expect(await call('add', `other ${String(other)}`)).toEqual(OK)
    release()
    expect(await answer).toEqual(OK)
  })

  test('are served again after the server has once refused to open a session', async () => {
    stranger.instead = (response) =>
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end('{"jsonrpc":"2.0","id":0,"error":{"code":-32603,"message":"Too busy"}}')
    await expect(call('add', 'refused')).rejects.toMatchObject({ code: 'upstream_error' })
    expect(await call('add', 'refused')).toEqual(OK)
  })

  test.each([
    ['does not answer in time', 'upstream_timeout', 100],
    ['hangs up', 'upstream_error', 60_000],
  ] as const)('count against the server where it %s', async (what, code, totalMs) => {
    const open = (request: OutboundRequest) => outbound.open(request)
    const own = createToolServers({ open, limits: { totalMs }, version: '1' })
    stranger.answer = () => {
      if (what === 'hangs up') void own.close()
      return new Promise(() => undefined)
    }
    const about = { server: stranger.url, caller: 'one', tool: 'slow', input: {}, headers: {} }
    const ended = own.call({ ...about, onProgress: () => undefined, signal: new AbortController().signal })
    const error: unknown = await ended.catch((one: unknown) => one)
    expect(failureOf(error)).toMatchObject({ failure: { code }, fault: 'upstream' })
    await own.close()
  })

  test('count against the caller where the server refuses what it was sent', async () => {
    stranger.answer = () => Promise.reject(new McpError(-32_602, 'city is missing'))
    const error: unknown = await call('add', 'wrong').catch((one: unknown) => one)
    expect(failureOf(error)).toMatchObject({ failure: { code: 'upstream_error' }, fault: 'caller' })
    stranger.answer = () => Promise.resolve({ content: [{ type: 'text', text: 'ok' }] })
  })

  test('share a session with the same account only, whatever its key', async () => {
    const opened = async (caller: string): Promise<number> => {
      const before = stranger.sessions
      await call('add', 'same', caller)
      return stranger.sessions - before
    }
    expect([await opened('one'), await opened('one'), await opened('other'), await opened('one')]).toEqual([1, 0, 1, 0])
  })
})
