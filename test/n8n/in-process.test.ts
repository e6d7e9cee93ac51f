import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { credentialData, SETUP } from './world.ts'

const program = path.join(import.meta.dirname, 'in-process.mjs')

/** What the service answers, each at its method and path. */
const ANSWERS: Record<string, (body: string) => [status: number, body: object]> = {
  'POST /v1/run': (body) => [200, { success: true, runId: 'run_1', output: `ran ${body}`, cost: 0.005 }],
  'GET /v1/wallet/balance': () => [200, { success: true, wallet: { balance: 12.5, locked: 0.5 } }],
  'GET /v1/credits': () => [200, { success: true, credits: { remaining: 3 } }],
  'POST /tools/cheap': () => [200, { success: true, output: 'fine' }],
  'POST /tools/dear': () => [402, { code: 'insufficient_credits', error: 'Too little.', required: 0.02, available: 0 }],
}
const RUN = {
  ...{ resource: 'rda', operation: 'run', rda: { __rl: true, mode: 'id', value: 'echo' } },
  ...{ specifyInputs: 'json', inputsJson: '={{ { text: $json.text } }}' },
}
const CALL = { resource: 'tool', operation: 'call', tool: { __rl: true, mode: 'id', value: '={{ $json.slug }}' } }
const SENTENCE =
  'The Coinslot balance is too low: this costs 0.02 USDC and 0 USDC is available. Nothing was paid. Top up the wallet and try again.'

describe("the Coinslot node in n8n's own engine", () => {
  let unpacked: string
  let service: Server
  let requests: { route: string; key: string | undefined; idempotencyKey: unknown }[]

  beforeAll(async () => {
    unpacked = mkdtempSync(path.join(tmpdir(), 'coinslot-unpacked-'))
    await promisify(execFile)('tar', ['-xzf', SETUP.packed, '-C', unpacked, '--strip-components=1'])
    service = createServer((request, response) => {
      void (async () => {
        const route = `${String(request.method)} ${String(request.url)}`
        const { authorization, 'idempotency-key': idempotencyKey } = request.headers
        requests.push({ route, key: authorization, idempotencyKey })
        const [status, body] = ANSWERS[route]?.(await text(request)) ?? [404, {}]
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
      })()
    }).listen(0, '127.0.0.1')
    await once(service, 'listening')
  })
  beforeEach(() => (requests = []))
  afterAll(() => {
    service.close()
    rmSync(unpacked, { recursive: true })
  })

  async function run(
    parameters: object,
    { items = [{}], ...settings }: { items?: object[]; [name: string]: unknown } = {},
  ) {
    const installed = SETUP.n8n['2.8.4']
    if (installed === undefined) throw new Error('start this with `npm run test:n8n`')
    const modules = path.join(installed.folder, 'node_modules')
    const credential = credentialData(`http://127.0.0.1:${(service.address() as AddressInfo).port}/v1`)
    const node = { name: 'Coinslot', parameters, credentials: { coinslotApi: { id: 'c1', name: 'c' } }, ...settings }
    const words = [program, modules, unpacked, JSON.stringify({ node, credential, items })]
    const { stdout } = await promisify(execFile)(installed.node, words, { env: { NODE_PATH: modules } })
    return JSON.parse(stdout) as { status: string; error?: object; items?: object[] }
  }

  it('runs an asset for each item, and links each output to its input', async () => {
    const ran = await run(RUN, { items: [{ text: 'one' }, { text: 'two' }] })
    const item = (index: number, word: string) => ({
      json: expect.objectContaining({
        runId: 'run_1',
        cost: 0.005,
        output: expect.stringContaining(`"text":"${word}"`),
      }),
      pairedItem: { item: index },
    })
    expect(ran).toEqual({ status: 'success', items: [item(0, 'one'), item(1, 'two')] })
    expect(requests.map(({ route }) => route)).toEqual(['POST /v1/run', 'POST /v1/run'])
    expect(requests[0]?.key).toMatch(/^Bearer csk_test_/)
    expect(new Set(requests.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(2)
  })

  it('returns the balance', async () => {
    const json = { balance: 12.5, locked: 0.5, credits: { remaining: 3 } }
    const ran = await run({ resource: 'wallet', operation: 'balance' })
    expect(ran).toEqual({ status: 'success', items: [{ json, pairedItem: { item: 0 } }] })
  })

  it('fails with a sentence where the credits do not suffice', async () => {
    const error = { name: 'NodeApiError', message: SENTENCE, httpCode: '402', itemIndex: 0 }
    expect(await run(CALL, { items: [{ slug: 'dear' }] })).toMatchObject({ status: 'error', error })
  })

  it('hands the sentence on in an item where the workflow continues on fail', async () => {
    const ran = await run(CALL, { items: [{ slug: 'cheap' }, { slug: 'dear' }], continueOnFail: true })
    const refused = { code: 'insufficient_credits', error: SENTENCE, required: 0.02, available: 0 }
    const jsons = [{ success: true, output: 'fine' }, refused]
    expect(ran).toEqual({ status: 'success', items: jsons.map((json, item) => ({ json, pairedItem: { item } })) })
  })
})
