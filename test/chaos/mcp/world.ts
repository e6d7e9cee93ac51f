import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { Hex } from '../../../service/chain/model.ts'
import { ROLES } from '../../../service/config.ts'
import { openDatabase, type Database } from '../../../service/database/client.ts'
import type { TestChain } from '../../harness/chain.ts'
import { Stranger, type ReceivedRequest } from '../../harness/stranger.ts'
import { hasRedis } from '../../queue/redis.ts'
import { startTopology, type Topology } from '../../system/topology.ts'
import { documentOf } from '../../tools/document.ts'
import { call } from '../system/call.ts'

/** Four whole processes behind one address that sends each request to the next of them, and what they sell. */
export interface World {
  topology: Topology
  chain: TestChain
  database: Database
  stranger: Provider
  /** The key of the account that calls tools. */
  key: string
  /** MCP addresses: of all tools, and of a checkout that answers at once and one that waits for its workflow. */
  addresses: { tools: string; checkouts: readonly [immediately: string, lastNode: string] }
  /** An operator's command, on the same database. */
  command(file: string, ...words: string[]): Promise<string>
  close(): Promise<void>
}

export const PROCESSES = 4
/** Of a tool that only reads, of one that writes, and of a checkout. In micro-dollars. */
export const PRICES = { read: 10_000n, write: 10_000n, checkout: 20_000n } as const
/** The checkouts' name as a tool. */
export const CHECKOUT_TOOL = 'a-report'
/** A call with this in its name takes longer than its client waits before it is given a task. */
export const SLOW = '-slow-'

export async function openWorld(): Promise<World> {
  const topology = await startTopology({
    processes: [{ roles: ROLES, count: PROCESSES }],
    database: 'server',
    // Without Redis, cancels reach only the process that a request happens to reach.
    redis: hasRedis(),
    chain: true,
    mining: 1,
    settings: SETTINGS,
  })
  const { chain } = topology
  if (chain === null) throw new Error('there is no chain')
  const folder = mkdtempSync(path.join(tmpdir(), 'coinslot-mcp-chaos-'))
  const database = openDatabase({ url: topology.database?.url ?? '', poolMax: 2 })
  const stranger = await new Provider().listen()
  const command = async (file: string, ...words: string[]): Promise<string> => {
    const node = [`service/dist/cli/${file}.js`, ...words]
    const env = { PATH: process.env['PATH'] ?? '', ...topology.settings, DATA_DIR: folder }
    return (await promisify(execFile)(process.execPath, node, { env })).stdout.trim()
  }
  const post = (at: string, body: unknown) => call(topology.origin, KEY, 'POST', at, body)

  await post('/v1/wallet/deposit', { amount: 1_000 })
  for (const [slug, document] of [['reads', READS] as const, ['writes', WRITES] as const]) {
    const file = path.join(folder, `${slug}.json`)
    writeFileSync(file, JSON.stringify(document))
    await command('tools', 'import', file, '--provider', slug, '--price', '0.01', '--server', stranger.origin)
  }
  const recipient: Hex = '0x00000000000000000000000000000000000000c1'
  const sell = async (responseMode: string): Promise<string> => {
    const { checkout } = await post('/v1/checkouts', {
      ...{ callbackUrl: `${stranger.origin}/hook`, product: { name: 'A report' }, price: 0.02, recipient },
      ...{ network: 'base-sepolia', lifetime: 'persistent', responseMode },
      source: { instanceId: 'chaos', workflowId: responseMode, nodeId: 'trigger' },
      fields: [{ name: 'say', label: 'Say', type: 'text', required: true }],
    })
    return `${topology.origin}/p/${String(checkout.id)}/mcp`
  }
  const checkouts = [await sell('immediately'), await sell('lastNode')] as const
  // Each process reads the shared catalogue itself, a moment after it has changed.
  for (const { url } of topology.processes) {
    for (const slug of ['reads-read', 'writes-write']) {
      while ((await fetch(`${url}/tools/${slug}`)).status !== 200) await wait(100)
    }
  }
  return {
    topology,
    chain,
    database,
    stranger,
    key: KEY,
    addresses: { tools: `${topology.origin}/tools/mcp?view=all`, checkouts },
    command,
    async close() {
      await stranger.close()
      await database.close()
      await topology.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** The server behind the tools and the workflow behind the checkouts: answers with the name that it was asked for. */
export class Provider extends Stranger {
  /** Calls of the tool that writes: for each name, the different calls that asked for it. */
  readonly writes = new Map<string, Set<string>>()
  /** Runs of the workflow: for each name, the different deliveries that asked for it. */
  readonly runs = new Map<string, Set<string>>()
  slowMs = 1_500

  protected async answer({ path: at, query, headers, body }: ReceivedRequest, response: ServerResponse): Promise<void> {
    // The workflow is asked with an empty body whether it is there.
    const json = body === '' ? {} : (JSON.parse(body) as { say?: string; input?: { say: string } })
    const name = query.get('say') ?? json.say ?? json.input?.say ?? ''
    if (at === '/write') note(this.writes, name, headers['idempotency-key'])
    if (at === '/hook' && name !== '') note(this.runs, name, headers['webhook-id'])
    if (name.includes(SLOW)) await wait(this.slowMs)
    if (!response.destroyed) {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ said: name }))
    }
  }
}

function note(book: Map<string, Set<string>>, name: string, id: string | string[] | undefined): void {
  const known = book.get(name) ?? new Set()
  book.set(name, known.add(String(id)))
}

const KEY = `csk_test_${'m'.repeat(43)}`

const SETTINGS = {
  DEMO_API_KEY: KEY,
  ALLOW_HOSTS: '127.0.0.1',
  ...Object.fromEntries(['API', 'PAY', 'TOOLS', 'VERIFY', 'SETTLE'].map((of) => [`RATE_${of}_PER_MINUTE`, '0'])),
  ...Object.fromEntries(['', 'PAYER_', 'RECIPIENT_'].map((of) => [`GAS_BUDGET_PER_${of}DAY`, '0'])),
  QUOTA_CONNECTIONS_PER_ADDRESS: '0',
  TOOL_CALLS_AT_ONCE: '0',
  TOOL_PROVIDER_AT_ONCE: '1000',
  SETTLE_CONFIRMATIONS: '1',
  SETTLE_WAIT_MS: '5000',
  // So that what a dead process held is given back within seconds.
  TOOL_TIMEOUT_MS: '3000',
  MCP_TASK_AFTER_MS: '300',
}

const READS = {
  openapi: '3.1.0',
  info: { title: 'Reads', version: '1' },
  paths: {
    '/read': {
      get: {
        operationId: 'read',
        summary: 'Look it up',
        parameters: [{ name: 'say', in: 'query', required: true, schema: { type: 'string' } }],
        responses: { 200: { description: 'Done', content: { 'application/json': { schema: { type: 'object' } } } } },
      },
    },
  },
}
const WRITES = documentOf({ path: '/write', operationId: 'write', summary: 'Write it down', field: 'say' })
