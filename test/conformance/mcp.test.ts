import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify, stripVTControlCharacters } from 'node:util'
import { openWorld, type World as CheckoutWorld } from '../checkouts/world.ts'
import { usdcOf } from '../facilitator/world.ts'
import { payFor, type Json } from '../harness/mcp.ts'
import { freePort } from '../harness/ports.ts'
import { payWorld, type PayWorld } from '../tools/calls/pay-world.ts'
import { startFixtures, type Fixtures } from './fixtures.ts'

/*
 * The protocol's own suite for servers. Its scenarios want tools of certain names, so the very MCP code of the service
 * stands before a catalogue of those. Not asked, since the service says of itself that it does not have them: logging
 * (logging-set-level, tools-call-with-logging), completion, sampling and elicitation (four scenarios), prompts (five) and
 * subscriptions (two); and the resources at addresses of the suite's own (three), for its resources are the tools'
 * documentation; and several kinds of content in one result, for a tool's result is one thing.
 */
const SCENARIOS = [
  'server-initialize',
  'ping',
  'tools-list',
  'tools-call-simple-text',
  'tools-call-image',
  'tools-call-audio',
  'tools-call-embedded-resource',
  'tools-call-error',
  'tools-call-with-progress',
  'json-schema-2020-12',
  'server-sse-polling',
  'server-sse-multiple-streams',
  'resources-list',
  'dns-rebinding-protection',
]

/**
 * It asks as a client of 2025-03-26, which the SDK, and so the service, sends no events without data: they came later.
 * Who lost the connection comes back all the same (test/tools/mcp.test.ts).
 */
const WARNED: Readonly<Record<string, string>> = { 'server-sse-polling': '2' }

/**
 * Of the suite for 2026-07-28: the scenarios that apply, and the checks in them that want tools of a kind that is not
 * sold here: such that ask their client for something by name, write to its log, or are headers of a request. Not asked,
 * beside those named above: `input-required-result-…`, whose tools ask for names and confirmations (test/tools/mcp-pages
 * has what is asked for here), `tasks-mrtr-…` and `tasks-required-…` for the same reason, and skills.
 */
const STATELESS: Readonly<Record<string, readonly string[]>> = {
  'server-stateless': [
    'sep-2575-server-rejects-undeclared-capability',
    'sep-2575-missing-capability-http-400',
    'sep-2575-http-server-no-independent-requests-on-stream',
    'sep-2575-server-no-log-without-loglevel',
  ],
  'tools-list': [],
  'tools-call-simple-text': [],
  'tools-call-image': [],
  'tools-call-audio': [],
  'tools-call-embedded-resource': [],
  'tools-call-error': [],
  'tools-call-with-progress': [],
  'json-schema-2020-12': [],
  'server-sse-multiple-streams': [],
  'resources-list': [],
  'sep-2164-resource-not-found': [],
  'dns-rebinding-protection': [],
  // There are no prompts.
  caching: ['sep-2549-prompts-list-caching-hints'],
  'http-header-validation': [],
  'input-required-result-unsupported-methods': [],
  'tasks-lifecycle': [],
  'tasks-capability-negotiation': [],
  'tasks-wire-fields': [],
  'tasks-request-headers': [],
  // No task asks for anything, so none is updated.
  'tasks-dispatch-and-envelope': ['tasks-result-type-complete-on-non-task-responses'],
  'tasks-request-state-removal': [],
}

describe('@modelcontextprotocol/conformance', () => {
  const results = mkdtempSync(path.join(tmpdir(), 'coinslot-mcp-'))
  let server: Fixtures
  beforeAll(async () => {
    server = await startFixtures()
  })
  afterAll(async () => {
    await server.close()
    rmSync(results, { recursive: true, force: true })
  })

  test.each(SCENARIOS)('%s', async (scenario) => {
    const output = await run('@modelcontextprotocol/conformance', scenario)
    const [, passed, of, warned] = /Passed: (\d+)\/(\d+), 0 failed, (\d+) warnings/.exec(output) ?? [output]
    expect([passed, warned]).toEqual([of, WARNED[scenario] ?? '0'])
  })

  test.each(Object.entries(STATELESS))('2026-07-28: %s', async (scenario, failing) => {
    const output = await run('conformance-next', scenario, '--spec-version', '2026-07-28', '--force')
    const failed = [...output.matchAll(/\[([a-z0-9-]+) *\] FAILURE/g)].map(([, name]) => name)
    expect(failed.sort()).toEqual([...failing].sort())
    expect(Number(/Passed: (\d+)/.exec(output)?.[1])).toBeGreaterThan(0)
  })

  async function run(name: string, scenario: string, ...more: string[]): Promise<string> {
    const program = `node_modules/${name}/dist/index.js`
    const args = ['server', '--url', server.url, '--scenario', scenario, '-o', results, ...more]
    const words = ['--import', './old-node.mjs', program, ...args]
    // It ends with 1 when a check fails; which ones may is known above.
    const ended = promisify(execFile)(process.execPath, words, { cwd: HOME }).catch((error: unknown) => error)
    const { stdout = '', stderr = '' } = (await ended) as { stdout?: string; stderr?: string }
    return stripVTControlCharacters(stdout + stderr)
  }
})

/**
 * The newest that runs on Node 20; from its second version on it wants Node 22.19. It speaks 2025-11-25 only, and its
 * `_meta` holds text, so a payment is passed as base64.
 */
describe('the command line of @modelcontextprotocol/inspector, against the whole service', () => {
  let tools: PayWorld
  let checkouts: CheckoutWorld
  beforeAll(async () => {
    tools = await payWorld()
    tools.upstream.respondWith('/notes', { id: 9 }, 201)
    const environment = { SETTLE_CONFIRMATIONS: '1', PORT: String(await freePort()) }
    checkouts = await openWorld({ chain: true, environment })
    checkouts.workflow.answers({ delivery: { status: 200, body: '{"score":97}' } })
  })
  afterAll(async () => {
    await tools.close()
    await checkouts.close()
  })

  async function inspect(url: string, method: string, ...words: string[]): Promise<ToolResult> {
    const program = 'node_modules/@modelcontextprotocol/inspector/cli/build/index.js'
    const args = [program, url, '--transport', 'http', '--method', method, ...words]
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: HOME })
    return JSON.parse(stdout) as ToolResult
  }
  const header = (key: string): string[] => ['--header', `Authorization: Bearer ${key}`]
  const paying = (payment: Json): string[] => [
    '--tool-metadata',
    `x402/payment=${Buffer.from(JSON.stringify(payment)).toString('base64')}`,
  ]
  const addressOf = (query: string): string => `${tools.service.origin}/tools/mcp${query}`
  const NOTE = ['--tool-name', 'acme-create-note', '--tool-arg', 'title=By the inspector']
  const AUDIT = ['--tool-name', 'seo-audit', '--tool-arg', 'site=https://example.com/']
  const sell = async (): Promise<string> => {
    const fields = [{ name: 'site', label: 'Site', type: 'url', required: true }]
    const { id } = await checkouts.sell({ fields, responseMode: 'lastNode', price: 0.5 })
    return `${checkouts.service.origin}/p/${id}/mcp`
  }

  test('lists the tools of both views and calls them with a key', async () => {
    const { key } = await tools.caller()
    expect((await inspect(addressOf(''), 'tools/list', ...header(key))).tools).toHaveLength(5)
    const all = await inspect(addressOf(`?view=all&key=${key}`), 'tools/list')
    expect(all.tools?.map(({ name }) => name)).toContain('acme-create-note')
    expect(await inspect(addressOf('?view=all'), 'tools/call', ...NOTE, ...header(key))).toMatchObject({
      structuredContent: { id: 9 },
      _meta: { 'coinslot/billing': { cost: 0.01, credits: 4.99 } },
    })
  })

  test("shows a tool's price without a key, and pays for it", async () => {
    const unpaid = await inspect(addressOf('?view=all'), 'tools/call', ...NOTE)
    expect(unpaid).toMatchObject({ isError: true, structuredContent: { accepts: [{ amount: '10000' }] } })
    const payer = await tools.chain.payer(1_000_000n)
    const payment = await payFor(tools.chain, payer, unpaid)
    expect(await inspect(addressOf('?view=all'), 'tools/call', ...NOTE, ...paying(payment))).toMatchObject({
      structuredContent: { id: 9 },
      _meta: { 'x402/payment-response': { success: true, payer: payer.address } },
    })
    expect(await tools.usdc(payer.address)).toBe(990_000n)
  })

  test('buys a checkout as a guest, after it was shown the price', async () => {
    const url = await sell()
    const unpaid = await inspect(url, 'tools/call', ...AUDIT)
    expect(unpaid).toMatchObject({ isError: true, structuredContent: { accepts: [{ amount: '500000' }] } })
    const payer = await checkouts.chain.payer(1_000_000n)
    const payment = await payFor(checkouts.chain, payer, unpaid)
    expect(await inspect(url, 'tools/call', ...AUDIT, ...paying(payment))).toMatchObject({
      structuredContent: { score: 97 },
    })
    expect(await usdcOf(checkouts.chain, payer.address)).toBe(500_000n)
  })

  test('buys a checkout with a key, from the account’s wallet', async () => {
    await checkouts.chain.fund(checkouts.service.wallets.treasury()!, 100_000_000n)
    await checkouts.chain.mine()
    const buyer = await checkouts.service.person()
    await buyer.call('POST', '/v1/wallet/deposit', { body: { amount: 10 } })
    expect(await inspect(await sell(), 'tools/call', ...AUDIT, ...header(buyer.key))).toMatchObject({
      structuredContent: { score: 97 },
      _meta: { 'coinslot/billing': { cost: 0.5 } },
    })
    expect((await buyer.call('GET', '/v1/wallet/balance')).body.wallet.totalSpent).toBe(0.5)
  })
})

const HOME = fileURLToPath(new URL('./mcp', import.meta.url))

interface ToolResult extends Json {
  tools?: { name: string }[]
}
