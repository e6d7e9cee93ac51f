import { execFile } from 'node:child_process'
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import type { Browser } from 'playwright-core'
import { signatureOf } from '../../service/deliveries/rules/messages.ts'
import { ZERO } from '../../service/kit/money.ts'
import { startBrowser } from '../browser/chromium.ts'
import { installed } from '../client/sandbox.ts'
import { startChain, type TestChain } from '../harness/chain.ts'
import { freePort } from '../harness/ports.ts'
import { testService, type TestService } from '../harness/service.ts'
import { Seller } from '../outgoing-payments/seller.ts'

const run = promisify(execFile)
const own = path.join(import.meta.dirname, 'runtimes')
const program = (name: string): string => path.join(own, 'node_modules', name)

/** The command for a file, by runtime. Deno grants no more than the client needs: the network. */
const COMMANDS: Readonly<Record<string, readonly string[]>> = {
  Node: [process.execPath],
  Deno: [program(`@deno/linux-${process.arch}-glibc/deno`), 'run', '--no-prompt', '--allow-net=127.0.0.1,localhost'],
  Bun: [program(`@oven/bun-linux-${process.arch === 'arm64' ? 'aarch64' : 'x64'}/bin/bun`), 'run'],
}

describe('the published client in every runtime', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'coinslot-runtimes-'))
  const results = new Map<string, unknown>()
  let project: string
  let pages: Server
  let origin: string
  let chain: TestChain
  let service: TestService
  let seller: Seller
  let browser: Browser

  beforeAll(async () => {
    project = await installed(folder)
    for (const name of ['main.mjs', 'program.mjs']) copyFileSync(path.join(own, name), path.join(project, name))
    pages = createServer(({ url = '' }, response) => {
      const file = url.startsWith('/coinslot/')
        ? path.join(project, 'node_modules/coinslot/dist', path.basename(url))
        : path.join(own, path.basename(url))
      response.setHeader('content-type', file.endsWith('.html') ? 'text/html' : 'text/javascript')
      response.end(readFileSync(file))
    })
    await new Promise<void>((resolve) => pages.listen(0, '127.0.0.1', resolve))
    origin = `http://127.0.0.1:${String((pages.address() as AddressInfo).port)}`
    chain = await startChain()
    service = await testService({
      BASE_SEPOLIA_RPC_URLS: chain.url,
      SPONSOR_PRIVATE_KEYS: chain.accounts[0]!.privateKey,
      PAYER_SEED: '5e'.repeat(32),
      ALLOW_HOSTS: '127.0.0.1',
      SETTLE_CONFIRMATIONS: '1',
      CORS_ORIGINS: origin,
    })
    service.facilitator.start()
    await chain.fund(service.wallets.treasury()!, 1_000_000_000n)
    await chain.mine()
    const now = () => service.clock.now()
    const facilitator = () => `${service.origin}/facilitator`
    seller = await new Seller(chain.network, chain.accounts[3]!.address, facilitator, now).listen()
    await service.catalogue.importDocument(TOOLS.as, JSON.stringify(TOOLS.document))
    browser = await startBrowser()
  })
  afterAll(async () => {
    await browser.close()
    await seller.close()
    await service.close()
    await chain.stop()
    pages.close()
    rmSync(folder, { recursive: true })
  })

  /** An account and an agent for this runtime alone, so that each finds the same. */
  async function setup(name: string): Promise<object> {
    const person = await service.person()
    await person.call('POST', '/v1/wallet/deposit', { body: { amount: 5 } })
    const limits = { lifetime: 0.5 }
    const { agent } = (await person.call('POST', '/v1/agents', { body: { name, limits } })).body
    const { secret } = (await person.call('POST', '/v1/keys', { body: { name, agentId: agent.id } })).body
    const body = JSON.stringify(EVENT)
    const seconds = Math.floor(Date.now() / 1000)
    const signedBy = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
    const headers = {
      'webhook-id': 'dlv_1',
      'webhook-timestamp': String(seconds),
      'webhook-signature': signatureOf([signedBy], 'dlv_1', seconds, body),
    }
    return {
      key: person.key,
      agentKey: secret,
      baseUrl: service.origin,
      recipient: chain.accounts[3]!.address,
      webhook: { body, headers, secret: signedBy },
      paidUrl: seller.url(`/v2/${name}`),
      closedUrl: `http://127.0.0.1:${String(await freePort())}`,
    }
  }

  test.each(Object.keys(COMMANDS))('%s sells, pages, verifies, calls and pays', async (name) => {
    const [command = '', ...words] = COMMANDS[name] ?? []
    const main = path.join(project, 'main.mjs')
    const environment = { cwd: project, env: { HOME: folder, NO_COLOR: '1' } }
    const { stdout } = await run(command, [...words, main, JSON.stringify(await setup(name))], environment)
    results.set(name, JSON.parse(stdout))
    expect(results.get(name)).toEqual(EXPECTED)
  })

  test('a worker in Chromium does the same', async () => {
    const page = await browser.newPage()
    await page.goto(`${origin}/page.html`)
    const pageSetup = { ...(await setup('Chromium')), client: '/coinslot/coinslot.js' }
    const result = await page.evaluate(`useInWorker(${JSON.stringify(pageSetup)})`)
    results.set('Chromium', result)
    expect(result).toEqual(EXPECTED)
  })

  test('each runtime paid its own once, and their results do not differ', () => {
    expect([...results.keys()]).toEqual(['Node', 'Deno', 'Bun', 'Chromium'])
    for (const name of results.keys()) expect([name, seller.payments.get(`/v2/${name}`)?.length]).toEqual([name, 1])
    for (const [name, result] of results) expect([name, result]).toEqual([name, results.get('Node')])
  })
})

const EVENT = { event: 'payment.completed', data: { id: 'pay_1', name: 'Zürich' } }

const EXPECTED = {
  prices: [1, 2, 3, 4, 5].map((price) => [`Zürich ${String(price)}`, price, true]),
  listed: [1, 2, 3, 4, 5].map((price) => `Zürich ${String(price)}`),
  page: [2, 5],
  event: EVENT,
  asHeaders: EVENT,
  forged: ['SignatureError', 'signature_invalid', null],
  output: 'string',
  paid: [200, { sold: true, method: 'POST', body: '{"q":1}' }],
  dear: ['CoinslotError', 'price_above_maximum', 402],
  wrong: ['network', 'price', 'product'],
  refused: ['CoinslotError', 'unauthenticated', 401],
  unanswered: ['CoinslotError', 'connection_failed', null],
  stopped: 'Error: no longer needed',
}

const TOOLS = {
  as: {
    environment: 'sandbox' as const,
    ...{ ownerId: null, slug: 'acme', name: null, description: null, simulated: true },
    ...{ source: null, pricing: { otherwise: ZERO }, server: null, auth: null, trusted: true },
  },
  document: {
    openapi: '3.1.0',
    info: { title: 'Acme', version: '1' },
    servers: [{ url: 'http://127.0.0.1:9' }],
    paths: {
      '/ping': {
        get: {
          operationId: 'ping',
          summary: 'Answers',
          responses: { 200: { description: 'Well', content: { 'application/json': { schema: { type: 'string' } } } } },
        },
      },
    },
  },
}
