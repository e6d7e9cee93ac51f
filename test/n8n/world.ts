import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { HDKey } from 'viem/accounts'
import { accountOfSeed } from '../../service/chain/keys.ts'
import { accountOf, startChain, type TestChain } from '../harness/chain.ts'
import { testDatabase, type TestDatabase } from '../harness/database.ts'
import { ServiceProcess } from '../harness/process.ts'
import { N8n, type Answer, type Installed } from './n8n.ts'
import { freePort } from '../harness/ports.ts'

/** What the launcher prepared: the package as it is published, and the n8n of each generation. */
export const SETUP = JSON.parse(process.env['COINSLOT_N8N'] ?? '{"packed":"","n8n":{}}') as {
  packed: string
  n8n: Record<string, Installed>
}

const KEY = 'csk_test_n8nEndToEnd0123456789'
const WALLET_XPRV = accountOfSeed('5a'.repeat(32))
export const TRIGGER = 'Pay-to-Run Trigger'

export interface Credential {
  id: string
  name: string
}

export interface World {
  n8n: N8n
  chain: TestChain
  /** Reads from the service as the seller. */
  get(path: string): Promise<unknown>
  /** Calls the service as the seller. */
  call(method: string, path: string, body: unknown): Promise<Answer>
  /** As if the provider's next document no longer had the tool. */
  removeTool(slug: string, successor: string): Promise<void>
  /** As if the RDA's creator had archived it. */
  archive(slug: string): Promise<void>
  /** As if the time of all open requests for further amounts were over. */
  expireRequests(): Promise<void>
  apiUrl: string
  facilitatorUrl: string
  credential: Credential
  makeCredential(data?: Record<string, unknown>): Promise<Credential>
  makeWorkflow(
    parameters?: Record<string, unknown>,
    credential?: Credential,
    last?: LastNode,
    triggerVersion?: number,
  ): Promise<Workflow>
  /** Imports a file; its first node is the trigger. */
  importWorkflow(file: unknown): Promise<Workflow>
  /** Stops the service for this work, as an outage does, and restarts it. */
  outage<T>(work: () => Promise<T>): Promise<T>
  close(): Promise<void>
}

/** The whole chain between a customer and a workflow: service, n8n and blockchain, all real. */
export async function openWorld(version: string, startMain = startAlone): Promise<World> {
  const installed = SETUP.n8n[version]
  if (installed === undefined) throw new Error('start this with `npm run test:n8n`')
  const folder = mkdtempSync(path.join(tmpdir(), 'coinslot-n8n-'))
  const [chain, database] = await Promise.all([startChain(), testDatabase({ poolMax: 1 })])
  const port = await freePort()
  const origin = `http://localhost:${port}`
  const settings = serviceSettings(database, chain, [port, await freePort()], path.join(folder, 'service'))
  let service = new ServiceProcess(settings)
  const home = path.join(folder, 'n8n')
  await service.waitFor('Coinslot is running')
  const n8n = await startMain(installed, home)
  await n8n.setUpOwner()

  const apiUrl = `${origin}/v1`
  await chain.fund(treasury(), 1_000_000_000n)
  await chain.mine()
  await asJson(`${apiUrl}/wallet/deposit`, 'POST', { amount: 100 }, KEY)
  const makeCredential: World['makeCredential'] = async (data = {}) => {
    const { id, name } = await n8n.request<Credential>('POST', '/rest/credentials', {
      name: 'Coinslot',
      type: 'coinslotApi',
      data: credentialData(apiUrl, data),
    })
    return { id, name }
  }
  const credential = await makeCredential()
  const modules = createRequire(path.join(installed.folder, 'node_modules/n8n/package.json'))
  const importWorkflow: World['importWorkflow'] = async (file) =>
    new Workflow(n8n, await n8n.request<Saved>('POST', '/rest/workflows', file), modules)
  return {
    n8n,
    chain,
    apiUrl,
    facilitatorUrl: `${origin}/facilitator`,
    credential,
    makeCredential,
    async get(where) {
      const { body } = await asJson(`${apiUrl}${where}`, 'GET', undefined, KEY)
      return body as unknown
    },
    async call(method, where, body) {
      const answer = await asJson(`${apiUrl}${where}`, method, body, KEY)
      if (answer.status >= 300)
        throw new Error(`${method} ${where} answered ${answer.status}: ${JSON.stringify(answer.body)}`)
      return answer.body as unknown
    },
    async removeTool(slug, successor) {
      const status = async (): Promise<number> =>
        (await asJson(`${origin}/tools/${slug}`, 'GET', undefined, KEY)).status
      // Imported in the background after the start.
      await until(async () => (await status()) === 200)
      const removal = `
WITH next AS (UPDATE tool_catalogue SET change = change + 1 WHERE environment = 'sandbox' RETURNING change)
UPDATE tool SET status = 'removed', successor = $2, version = version + 1, change = next.change
FROM next WHERE slug = $1`
      await database.statements.run(removal, [slug, successor])
      // The service notices it a moment later, as it does with every change by another process.
      await until(async () => (await status()) === 410)
    },
    async archive(slug) {
      await database.statements.run(`UPDATE rda SET status = 'archived' WHERE slug = $1`, [slug])
    },
    async expireRequests() {
      await database.statements.run('UPDATE payment_request SET expires_at = now() WHERE ended_as IS NULL', [])
    },
    async makeWorkflow(parameters, chosen = credential, last = REPORT, triggerVersion = 1.1) {
      return await importWorkflow(workflowData(parameters, chosen, last, triggerVersion))
    },
    importWorkflow,
    async outage(work) {
      service.kill('SIGTERM')
      await service.ended()
      try {
        return await work()
      } finally {
        service = new ServiceProcess(settings)
        await service.waitFor('Coinslot is running')
      }
    },
    async close() {
      await n8n.stop()
      service.kill('SIGTERM')
      await service.ended()
      await Promise.all([chain.stop(), database.close()])
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function startAlone(installed: Installed, home: string): Promise<N8n> {
  await installPackage(home)
  return await N8n.start(installed, home)
}

export function credentialData(apiUrl: string, data: Record<string, unknown> = {}): Record<string, unknown> {
  return { environment: 'sandbox', apiKey: KEY, url: apiUrl, ...data }
}

/** As n8n stores it; its first node is the trigger. */
interface Saved {
  id: string
  versionId: string
  nodes: [{ webhookId: string; parameters: Record<string, unknown> }]
  connections: unknown
  staticData: Record<string, { checkoutId: string; secret: string } | undefined> | null
}

/** A workflow of the trigger and one node after it. */
export class Workflow {
  constructor(
    private readonly n8n: N8n,
    private saved: Saved,
    private readonly modules: NodeJS.Require,
  ) {}

  get id(): string {
    return this.saved.id
  }

  address(kind: 'webhook' | 'webhook-test'): string {
    return `${this.n8n.origin}/${kind}/${this.saved.nodes[0].webhookId}/pay`
  }

  async listen(): Promise<void> {
    await this.n8n.quiet()
    const body = { workflowData: this.saved, triggerToStartFrom: { name: TRIGGER } }
    const answer = await this.n8n.request('POST', `/rest/workflows/${this.id}/run`, body)
    if (answer.waitingForWebhook !== true) throw new Error(`not listening: ${JSON.stringify(answer)}`)
    this.n8n.quiet = async () => await until(async () => (await fetch(this.address('webhook-test'))).status === 404)
  }

  async stopListening(): Promise<void> {
    await this.n8n.request('DELETE', `/rest/test-webhook/${this.id}`)
  }

  /** Resolves when it responds at its production address; rejects with the message that n8n shows to the user. */
  async publish(): Promise<void> {
    const before = await this.read()
    const answer = await this.n8n.send('POST', `/rest/workflows/${this.id}/activate`, { versionId: before.versionId })
    if (answer.status >= 300) throw new Error(String(answer.json.message))
    // The newer generation answers first and activates afterwards.
    await until(async () => {
      const { status, json } = await this.n8n.send('GET', `/rest/workflows/${this.id}/publication-status`)
      if (status < 300 && json.data.status === 'failed') throw new Error(JSON.stringify(json.data))
      return (await fetch(this.address('webhook'))).status === 200
    })
  }

  async unpublish(): Promise<void> {
    await this.n8n.request('POST', `/rest/workflows/${this.id}/deactivate`, {})
    await until(async () => (await fetch(this.address('webhook'))).status === 404)
  }

  /** Changes the trigger's parameters in the draft. */
  async edit(parameters: Record<string, unknown>): Promise<void> {
    const { nodes, connections, versionId } = await this.read()
    Object.assign(nodes[0].parameters, parameters)
    await this.n8n.request('PATCH', `/rest/workflows/${this.id}`, { nodes, connections, versionId })
  }

  async read(): Promise<Saved> {
    this.saved = await this.n8n.request<Saved>('GET', `/rest/workflows/${this.id}`)
    return this.saved
  }

  /** The trigger's stored data: the checkout and the secret. */
  async storedData(): Promise<{ checkoutId?: string; secret?: string }> {
    return (await this.read()).staticData?.[`node:${TRIGGER}`] ?? {}
  }

  /** The trigger's output in each run that has ended, oldest first. */
  async runs(count = 0): Promise<{ mode: string; data: unknown }[]> {
    const filter = encodeURIComponent(JSON.stringify({ workflowId: this.id }))
    const ended = async (): Promise<Execution[]> => {
      const { results } = await this.n8n.request<{ results: Execution[] }>('GET', `/rest/executions?filter=${filter}`)
      return results.filter(({ status }) => status !== 'running' && status !== 'new').reverse()
    }
    await until(async () => (await ended()).length >= count)
    const flatted = this.modules('flatted') as { parse(text: string): Answer }
    return await Promise.all(
      (await ended()).map(async ({ id, mode }) => {
        const { data } = await this.n8n.request<{ data: string }>('GET', `/rest/executions/${id}`)
        return { mode, data: flatted.parse(data).resultData.runData[TRIGGER][0].data.main[0][0].json }
      }),
    )
  }
}

interface Execution {
  id: string
  mode: string
  status: string
}

/** Repeats the check until it holds, for a minute; the check may throw to end this early. */
export async function until(holds: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + 60_000
  while (!(await holds())) {
    if (Date.now() > end) throw new Error('it did not become so within a minute')
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

export async function asJson(
  url: string,
  method = 'GET',
  body?: unknown,
  key?: string,
): Promise<{ status: number; body: Answer }> {
  const response = await fetch(url, {
    method,
    headers: {
      accept: 'application/json',
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  return { status: response.status, body: await response.json() }
}

function workflowData(
  parameters: Record<string, unknown> = {},
  credential: Credential,
  last: LastNode,
  typeVersion: number,
): unknown {
  const trigger = {
    id: randomUUID(),
    webhookId: randomUUID(),
    name: TRIGGER,
    type: 'n8n-nodes-coinslot.payToRunTrigger',
    typeVersion,
    position: [0, 0],
    parameters: { productName: 'SEO audit', price: 5, customerFields: FIELDS, testMode: true, ...parameters },
    credentials: { coinslotApi: credential },
  }
  const report = { id: randomUUID(), name: 'Write the report', position: [260, 0], ...last }
  return {
    name: 'Audit for sale',
    nodes: [trigger, report],
    connections: { [TRIGGER]: { main: [[{ node: report.name, type: 'main', index: 0 }]] } },
    settings: {},
  }
}

/** The node after the trigger. */
export interface LastNode {
  type: string
  typeVersion: number
  parameters: Record<string, unknown>
  credentials?: { coinslotApi: Credential }
}

const REPORT: LastNode = {
  type: 'n8n-nodes-base.set',
  typeVersion: 3.4,
  parameters: {
    mode: 'raw',
    jsonOutput: '={{ JSON.stringify({ report: "Audit of " + $json.input.website }) }}',
    options: {},
  },
}

const FIELDS = {
  fields: [
    { label: 'Website', type: 'url', required: true },
    { label: 'Pages', type: 'number', rules: { min: 1, max: 50 } },
    { label: 'Report', name: 'report', type: 'select', choices: { values: [{ value: 'short' }, { value: 'long' }] } },
  ],
}

/** Installs a community package as n8n does: from the packed file, into the folder that it loads such packages from. */
export async function installPackage(home: string, packed = SETUP.packed): Promise<void> {
  const nodes = path.join(home, '.n8n/nodes')
  await mkdir(nodes, { recursive: true })
  await writeFile(path.join(nodes, 'package.json'), '{"name":"installed-nodes","private":true,"dependencies":{}}')
  const words = ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--legacy-peer-deps', packed]
  await promisify(execFile)('npm', words, { cwd: nodes })
}

function serviceSettings(
  database: TestDatabase,
  chain: TestChain,
  [port, demoPort]: readonly [number, number],
  folder: string,
): Record<string, string> {
  return {
    DATABASE_URL: database.url,
    DATA_DIR: folder,
    PORT: String(port),
    DEMO_PORT: String(demoPort),
    DEMO_API_KEY: KEY,
    BASE_SEPOLIA_RPC_URLS: chain.url,
    SPONSOR_PRIVATE_KEYS: chain.accounts[0]?.privateKey ?? '',
    WALLET_XPRV,
    SETTLE_CONFIRMATIONS: '1',
    // The sellers in these tests.
    ALLOW_HOSTS: '127.0.0.1',
    LOG_LEVEL: 'warn',
  }
}

/** The service funds its x402 payments from it. */
function treasury(): `0x${string}` {
  const { privateKey } = HDKey.fromExtendedKey(WALLET_XPRV).deriveChild(1).deriveChild(0)
  return accountOf(`0x${Buffer.from(privateKey!).toString('hex')}`).address
}
