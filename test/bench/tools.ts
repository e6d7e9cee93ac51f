import { execFileSync, fork, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Agent, request } from 'undici'
import { openDatabase } from '../../service/database/client.ts'
import { startEmbedded } from '../../service/database/embedded/database.ts'
import { documentOf } from '../tools/document.ts'
import { recorded } from './flame/picture.ts'
import { measured, medianOf, untilThere, type Figures } from './kit/measure.ts'

/*
 * What the proxy adds to a call: the same local upstream called directly, through nginx where there is one, and through
 * the service with a charge for each call, by REST and by both lines of MCP, in turns in one run. Everything shares this machine's cores: the caller, the
 * upstream, the service and its database, which flushes every commit.
 */

const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 5)
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 3)
const [TURNS, TURN_SECONDS] = [40, 0.7]
const AT_ONCE = (process.env['BENCH_AT_ONCE'] ?? '1,16,64').split(',').map(Number)
const [UPSTREAM, NGINX, SERVICE] = [4964, 4965, 4966]
const KEY = `csk_test_${'t'.repeat(43)}`
const BODY = JSON.stringify({ title: 'A note' })

const DOCUMENT = documentOf({ path: '/notes', operationId: 'createNote', summary: 'Write a note down', field: 'title' })

/** The same tool of a provider whose calls are made in the caller's own account. */
const CONNECTED = {
  ...DOCUMENT,
  components: { securitySchemes: { account: { type: 'http', scheme: 'bearer' } } },
  security: [{ account: [] }],
}

const TOOL = 'bench-create-note'
const [CHARGED, CONNECTION] = ['here, charged', 'here, with a connection']
/** A call in the protocol's last version with sessions, and in the first without. */
const MCP = [
  { name: 'MCP 2025-11-25', more: { 'mcp-protocol-version': '2025-11-25' }, meta: {} },
  {
    name: 'MCP 2026-07-28',
    more: { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': TOOL },
    meta: {
      _meta: {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientCapabilities': {},
        'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
      },
    },
  },
]

interface Way {
  name: string
  url: string
  headers: Record<string, string>
  body: string
}

const folder = mkdtempSync(path.join(tmpdir(), 'coinslot-bench-'))
const database = await startEmbedded({ dataDir: path.join(folder, 'database') })
const children: ChildProcess[] = []
const agent = new Agent({ connections: 64, pipelining: 1 })
try {
  const upstream = fork('test/bench/tools/upstream.mjs', [String(UPSTREAM)], { execArgv: [] })
  children.push(upstream)
  await once(upstream, 'message')
  const nginx = startNginx()
  if (nginx !== null) children.push(nginx)
  await startService()
  const json = { 'content-type': 'application/json' }
  const ways: Way[] = [
    { name: 'directly', url: `http://127.0.0.1:${String(UPSTREAM)}/notes`, headers: json, body: BODY },
    ...(nginx === null
      ? []
      : [{ name: 'nginx', url: `http://127.0.0.1:${String(NGINX)}/notes`, headers: json, body: BODY }]),
    {
      name: CHARGED,
      url: `http://127.0.0.1:${String(SERVICE)}/tools/bench-create-note`,
      headers: { ...json, authorization: `Bearer ${KEY}` },
      body: BODY,
    },
    {
      name: CONNECTION,
      url: `http://127.0.0.1:${String(SERVICE)}/tools/connected-create-note`,
      headers: { ...json, authorization: `Bearer ${KEY}` },
      body: BODY,
    },
    ...MCP.map(({ name, more, meta }) => ({
      name,
      url: `http://127.0.0.1:${String(SERVICE)}/tools/mcp`,
      headers: { ...json, ...more, accept: 'application/json, text/event-stream', authorization: `Bearer ${KEY}` },
      body: JSON.stringify({
        ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
        params: { name: TOOL, arguments: { title: 'A note' }, ...meta },
      }),
    })),
  ]
  for (const way of ways) await measure(way, 16, 2)
  await table(ways)
  await connected(ways)
  await audit()
} finally {
  await agent.close()
  for (const child of children.reverse()) {
    const exited = once(child, 'exit')
    child.kill('SIGTERM')
    await exited
  }
  await database.stop()
  rmSync(folder, { recursive: true, force: true })
}

async function table(ways: readonly Way[]): Promise<void> {
  console.log(
    '| calls | at once | a second | p50 ms | p99 ms | added p50 ms |\n| --- | ---: | ---: | ---: | ---: | ---: |',
  )
  for (const atOnce of AT_ONCE) {
    const rounds = new Map(ways.map((way) => [way, [] as Figures[]]))
    for (let round = 0; round < ROUNDS; round++) {
      for (const way of ways) rounds.get(way)?.push(await measure(way, atOnce, SECONDS))
    }
    const medians = ways.map((way) => ({ way, ...medianOf(rounds.get(way) ?? []) }))
    const bare = medians[0]?.p50 ?? 0
    for (const { way, rate, p50, p99 } of medians) {
      const added = way === ways[0] ? '' : (p50 - bare).toFixed(2)
      console.log(
        `| ${way.name} | ${String(atOnce)} | ${rate.toFixed(0)} | ${p50.toFixed(2)} | ${p99.toFixed(2)} | ${added} |`,
      )
    }
  }
}

/** In short turns, because what else this machine does changes from second to second: the median of their ratios. */
async function connected(ways: readonly Way[]): Promise<void> {
  const [without, withOne] = [CHARGED, CONNECTION].map((name) => ways.find((way) => way.name === name))
  if (without === undefined || withOne === undefined) throw new Error('nothing to compare')
  console.log('\n| at once | calls with a connection, of those without | half of the turns |\n| ---: | ---: | ---: |')
  for (const atOnce of AT_ONCE) {
    const ratios: number[] = []
    for (let turn = 0; turn < TURNS; turn++) {
      const pair = turn % 2 === 0 ? [without, withOne] : [withOne, without]
      const rates = new Map<Way, number>()
      for (const way of pair) rates.set(way, (await measure(way, atOnce, TURN_SECONDS)).rate)
      ratios.push((rates.get(withOne) ?? 0) / (rates.get(without) ?? 1))
    }
    ratios.sort((one, other) => one - other)
    const [low, middle, high] = [0.25, 0.5, 0.75].map((part) => (ratios[TURNS * part] ?? 0).toFixed(2))
    console.log(`| ${String(atOnce)} | ${middle ?? ''} | ${low ?? ''} to ${high ?? ''} |`)
  }
}

function measure({ url, headers, body }: Way, atOnce: number, seconds: number): Promise<Figures> {
  const once = async () => {
    const answer = await request(url, { method: 'POST', headers, body, dispatcher: agent })
    await answer.body.dump()
    if (answer.statusCode !== 200) throw new Error(`${url} answered ${String(answer.statusCode)}`)
  }
  return measured(once, atOnce, seconds)
}

/** Debian's; without it the table has a row less. */
function startNginx(): ChildProcess | null {
  try {
    execFileSync('nginx', ['-v'], { stdio: 'ignore' })
  } catch {
    return null
  }
  const home = path.join(folder, 'nginx')
  mkdirSync(home)
  const file = path.join(home, 'nginx.conf')
  writeFileSync(
    file,
    `daemon off; worker_processes 1; pid ${home}/pid; error_log ${home}/error.log;
events { worker_connections 1024; }
http {
  access_log off; client_body_temp_path ${home}/body; proxy_temp_path ${home}/proxy;
  fastcgi_temp_path ${home}/fastcgi; uwsgi_temp_path ${home}/uwsgi; scgi_temp_path ${home}/scgi;
  keepalive_requests 1000000;
  upstream tool { server 127.0.0.1:${String(UPSTREAM)}; keepalive 64; keepalive_requests 1000000; }
  server {
    listen 127.0.0.1:${String(NGINX)};
    location / { proxy_pass http://tool; proxy_http_version 1.1; proxy_set_header Connection ""; }
  }
}`,
  )
  return spawn('nginx', ['-c', file, '-p', home], { stdio: ['ignore', 'ignore', 'inherit'] })
}

async function startService(): Promise<void> {
  const environment = {
    ...process.env,
    DATABASE_URL: database.url,
    DATA_DIR: path.join(folder, 'data'),
    PORT: String(SERVICE),
    DEMO_PORT: '0',
    DEMO_API_KEY: KEY,
    ALLOW_HOSTS: '127.0.0.1',
    RATE_API_PER_MINUTE: '0',
    RATE_TOOLS_PER_MINUTE: '0',
    TOOL_CALLS_AT_ONCE: '0',
    TOOL_PROVIDER_AT_ONCE: '1000',
    LOG_LEVEL: 'warn',
  }
  const service = spawn(process.execPath, [...recorded(), 'service/dist/main.js'], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: environment,
  })
  children.push(service)
  await untilThere(`http://127.0.0.1:${String(SERVICE)}/readyz`)
  const server = ['--server', `http://127.0.0.1:${String(UPSTREAM)}`]
  for (const [provider, content] of Object.entries({ bench: DOCUMENT, connected: CONNECTED })) {
    const document = path.join(folder, `${provider}.json`)
    writeFileSync(document, JSON.stringify(content))
    const words = ['import', document, '--provider', provider, '--price', '0.0001', ...server]
    execFileSync(process.execPath, ['service/dist/cli/tools.js', ...words], { env: environment })
    await untilThere(`http://127.0.0.1:${String(SERVICE)}/tools/${provider}-create-note`)
  }
  await post('/v1/wallet/deposit', { amount: 1_000_000 })
  await post('/v1/connections', { provider: 'connected', secret: 'a-key-of-this-account' })
}

async function post(at: string, content: object): Promise<void> {
  const { statusCode, body } = await request(`http://127.0.0.1:${String(SERVICE)}${at}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify(content),
  })
  const text = await body.text()
  if (statusCode >= 300) throw new Error(`${at} answered ${String(statusCode)}: ${text}`)
}

/** Checks the responses: a fast but wrong service would give no valid figure. */
async function audit(): Promise<void> {
  const { statements, close } = openDatabase({ url: database.url, poolMax: 1 })
  const [row] = await statements.run<{ calls: bigint; cost: bigint; spent: bigint; open: bigint }>(
    `SELECT (SELECT count(*) FROM tool_call) AS calls, (SELECT sum(cost)::bigint FROM tool_call) AS cost,
            (SELECT sum(spent)::bigint FROM ledger_account WHERE kind IN ('wallet', 'credits')) AS spent,
            (SELECT count(*) FROM ledger_hold WHERE state = 'open') AS open`,
    [],
  )
  await close()
  console.log(
    `\n${String(row?.calls)} calls; ${String(row?.cost)} micro-USDC by the calls, ${String(row?.spent)} by the ledger; ${String(row?.open)} locks open`,
  )
}
