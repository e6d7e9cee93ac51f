import { EventEmitter, once } from 'node:events'
import { createServer, get, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json as jsonOf, text as textOf } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import express, { type RequestHandler } from 'express'
import type { Hex } from '../../service/chain/model.ts'
import { remoteMethod } from '../../service/methods/remote/settle.ts'
import { memoryBooks } from '../../service/paywall/middleware/memory.ts'
import { paywall, verifyIdentity, type PaywallOptions } from '../../service/paywall/middleware/index.ts'
import { openWorld, usdcOf, type World } from '../facilitator/world.ts'
import type { TestAccount } from '../harness/chain.ts'
import { answerOf, type Answer } from '../harness/service.ts'
import { startStrangeFacilitator, type StrangeFacilitator } from './facilitator.ts'
import { signed, until } from './world.ts'

const DAY_MS = 24 * 3_600_000

interface RpcQuestion {
  method: string
  params: { fromBlock: string; toBlock: string }[]
}

describe('the middleware in a server of its own', () => {
  let world: World
  let facilitator: StrangeFacilitator
  let node: Server
  /** What the node answers in place of the chain. */
  let answerOfNode: (question: RpcQuestion) => { result: unknown } | { error: unknown } | null
  const servers: Server[] = []

  beforeAll(async () => {
    world = await openWorld()
    facilitator = await startStrangeFacilitator()
    facilitator.behind = world.service.origin
    node = createServer((request, response) => {
      const answer = async (): Promise<unknown> => {
        const question = (await jsonOf(request)) as RpcQuestion
        const own = answerOfNode(question)
        if (own !== null) return { jsonrpc: '2.0', id: 1, ...own }
        return { jsonrpc: '2.0', id: 1, result: await world.chain.call(question.method, ...question.params) }
      }
      void answer().then((body) => response.setHeader('content-type', 'application/json').end(JSON.stringify(body)))
    })
    await once(node.listen(0, '127.0.0.1'), 'listening')
  })
  beforeEach(() => {
    facilitator.mood = 'honest'
    answerOfNode = () => null
  })
  afterAll(async () => {
    for (const server of [node, ...servers]) {
      server.closeAllConnections()
      server.close()
    }
    await facilitator.close()
    await world.close()
  })

  async function shop(
    { rpc = originOf(node), ...options }: Partial<Omit<PaywallOptions, 'rpc'>> & { rpc?: string | null } = {},
    handle = async (): Promise<void> => undefined,
  ) {
    let handled = 0
    const app = express()
    app.use((_request, response, next) => {
      response.set('cdn-cache-control', 'max-age=60')
      next()
    })
    app.use(
      paywall({
        facilitator: facilitator.url,
        ...(rpc === null ? {} : { rpc }),
        recipient: world.seller,
        network: 'base-sepolia',
        routes: [{ path: '/secret', pricing: { model: 'per-request', amount: 0.05 } }],
        ...options,
      }),
    )
    app.get('/secret', async (_request, response) => {
      handled += 1
      await handle()
      response.json({ secret: 'worth it' })
    })
    const server = app.listen(0, '127.0.0.1')
    servers.push(server)
    await once(server, 'listening')
    const url = `${originOf(server)}/secret`
    return { url, handled: () => handled, ask: (headers = {}) => fetch(url, { headers }).then(answerOf) }
  }

  async function paying(at: { ask: () => Promise<Answer> }, payer?: TestAccount) {
    const buyer = payer ?? (await world.chain.payer(1_000_000n))
    const header = await signed(buyer, world.chain, await at.ask())
    return { header, left: () => usdcOf(world.chain, buyer.address) }
  }

  it('finds the transfer at a node that searches few blocks at once', async () => {
    await world.chain.mine(20)
    answerOfNode = ({ method, params: [filter] }) => {
      if (method !== 'eth_getLogs') return null
      const width = Number(filter!.toBlock) - Number(filter!.fromBlock) + 1
      return width > 4 || Number.isNaN(width)
        ? { error: { code: -32_602, message: 'query exceeds max block range 4' } }
        : null
    }
    const one = await shop()
    const { header, left } = await paying(one)
    expect(await one.ask(header)).toMatchObject({ status: 200, body: { secret: 'worth it' } })
    expect(await left()).toBe(950_000n)
  })

  it('waits for a block that its node does not have yet', async () => {
    const one = await shop()
    const { header } = await paying(one)
    const before = facilitator.settled
    let late = 2
    answerOfNode = ({ method }) =>
      method === 'eth_call' && facilitator.settled > before && late-- > 0 ? { result: `0x${'0'.repeat(64)}` } : null
    expect(await one.ask(header)).toMatchObject({ status: 200, body: { secret: 'worth it' } })
    expect(late).toBeLessThan(1)
  })

  it('sells one payment once, where two of them are in one process', async () => {
    let answer = (): void => undefined
    const began = new EventEmitter()
    const slow = await shop({}, () => {
      began.emit('work')
      return new Promise((resolve) => (answer = resolve))
    })
    const other = await shop()
    const { header, left } = await paying(slow)
    const working = once(began, 'work')
    const first = slow.ask(header)
    await working
    expect(await other.ask(header)).toMatchObject({ status: 409, body: { code: 'authorization_used' } })
    answer()
    expect(await first).toMatchObject({ status: 200 })
    expect([other.handled(), await left()]).toEqual([0, 950_000n])
  })

  it('says that a payment is under way where it was sent twice at once, not that its identifier was used', async () => {
    let answer = (): void => undefined
    const began = new EventEmitter()
    const books = memoryBooks()
    let isEarly = false
    const find = async (digest: Hex) => (isEarly ? null : await books.find(digest))
    const one = await shop({ books: { ...books, find } }, () => {
      began.emit('work')
      return new Promise((resolve) => (answer = resolve))
    })
    const { header } = await paying(one)
    const [[name, value]] = Object.entries(header) as [[string, string]]
    const extensions = { 'payment-identifier': { info: { required: false, id: 'p'.repeat(32) }, schema: {} } }
    const payload = { ...JSON.parse(Buffer.from(value, 'base64').toString()), extensions }
    const identified = { [name]: Buffer.from(JSON.stringify(payload)).toString('base64') }
    const working = once(began, 'work')
    const first = one.ask(identified)
    await working
    // The second request looked for the payment before the first had begun it.
    isEarly = true
    const second = await one.ask(identified)
    answer()
    expect(second.body.code).toBe('payment_processing')
    expect([(await first).status, one.handled()]).toEqual([200, 1])
  })

  it('sells nothing for a payment that the chain has already, whatever its facilitator says', async () => {
    const one = await shop()
    const payer = await world.chain.payer(1_000_000n)
    const { header, left } = await paying(one, payer)
    expect((await world.service.post('/settle', toSettle(header))).body).toMatchObject({ success: true })
    facilitator.mood = 'approves-all'
    expect(await one.ask(header)).toMatchObject({ status: 409, body: { code: 'authorization_used' } })
    expect([one.handled(), await left()]).toEqual([0, 950_000n])
  })

  it('takes no payment while its node cannot be read, and says that nothing was charged', async () => {
    const one = await shop()
    const { header, left } = await paying(one)
    answerOfNode = ({ method }) => (method === 'eth_call' ? { error: { code: -32_000, message: 'no state' } } : null)
    const refused = await one.ask(header)
    expect(refused).toMatchObject({ status: 503, body: { code: 'rpc_unavailable' } })
    expect(refused.body.error).toContain('Nothing was charged')
    expect(refused.headers.get('retry-after')).toBe('5')
    expect([one.handled(), await left()]).toEqual([0, 1_000_000n])
    answerOfNode = () => null
    expect(await one.ask(header)).toMatchObject({ status: 200, body: { secret: 'worth it' } })
    expect([one.handled(), await left()]).toEqual([1, 950_000n])
  })

  it('says at its start that its node is of another chain, and again after ten minutes at most', async () => {
    let now = Date.now()
    const problems: unknown[] = []
    const onProblem: PaywallOptions['onProblem'] = (problem, sentence) => problems.push([sentence, String(problem)])
    answerOfNode = ({ method }) => (method === 'eth_chainId' ? { result: '0x1' } : null)
    const one = await shop({ onProblem, now: () => new Date(now) })
    await until(() => problems.length > 0)
    const sentence = 'The node at "rpc" is of another chain than the paywall\'s network: no payment is taken.'
    const told = [sentence, 'Error: the node is of chain 1, and base-sepolia is chain 84532']
    expect(problems).toEqual([told])
    const { header } = await paying(one)
    for (let time = 0; time < 2; time++) expect(await one.ask(header)).toMatchObject({ status: 503 })
    expect(problems).toEqual([told])
    now += 600_000
    await one.ask(header)
    expect(problems).toEqual([told, told])
  })

  it('says that its node or its facilitator does not answer, each once, and answers buyers although its seller’s log fails', async () => {
    const problems: string[] = []
    const onProblem: PaywallOptions['onProblem'] = (_problem, sentence) => {
      problems.push(sentence)
      throw new Error('the log is full')
    }
    const one = await shop({ onProblem, rpc: 'http://127.0.0.1:9' })
    await until(() => problems.length > 0)
    const { header } = await paying(one)
    facilitator.mood = 'garbage'
    for (let time = 0; time < 2; time++) expect(await one.ask(header)).toMatchObject({ status: 503 })
    expect(problems).toEqual([
      'The node at "rpc" cannot be read: no payment is taken.',
      'The facilitator does not answer: no payment is taken.',
    ])
  })

  it('says that its node does not tell what a payment was used for, once', async () => {
    const problems: string[] = []
    const onProblem: PaywallOptions['onProblem'] = (_problem, sentence) => problems.push(sentence)
    const one = await shop({ onProblem, timeoutMs: 1_000 })
    const { header } = await paying(one)
    answerOfNode = ({ method }) => (method === 'eth_getLogs' ? { error: { code: -32_601, message: 'not here' } } : null)
    expect(await one.ask(header)).toMatchObject({ status: 503, body: { code: 'settlement_pending' } })
    expect(problems).toEqual(['The node at "rpc" does not search events: payments stay pending.'])
  })

  it('sells nothing for a payment that the chain has already, where its node does not say what it paid for', async () => {
    const one = await shop()
    const { header, left } = await paying(one)
    expect((await world.service.post('/settle', toSettle(header))).body).toMatchObject({ success: true })
    facilitator.mood = 'approves-all'
    answerOfNode = ({ method }) => (method === 'eth_getLogs' ? { error: { code: -32_601, message: 'not here' } } : null)
    expect(await one.ask(header)).toMatchObject({ status: 409, body: { code: 'authorization_used' } })
    expect([one.handled(), await left()]).toEqual([0, 950_000n])
  })

  it('answers what was paid, where the money has moved since its handler failed, also after its time', async () => {
    let [now, fails] = [Date.now(), true]
    const one = await shop({ now: () => new Date(now) }, () =>
      fails ? Promise.reject(new Error('x')) : Promise.resolve(),
    )
    const { header, left } = await paying(one)
    const failed = await one.ask(header)
    expect([failed.status, await left()]).toEqual([500, 1_000_000n])
    expect((await world.service.post('/settle', toSettle(header))).body).toMatchObject({ success: true })
    now += 500_000_000
    fails = false
    const proof = Object.fromEntries(
      ['x-payment-id', 'x-payment-token'].map((name) => [name, failed.headers.get(name) ?? '']),
    )
    expect(await one.ask(proof)).toMatchObject({ status: 200, body: { secret: 'worth it' } })
    expect(await left()).toBe(950_000n)
  })

  it('ends a paid sale as paid where its buyer does not return, once', async () => {
    let now = Date.now()
    const events: string[] = []
    const onEvent: PaywallOptions['onEvent'] = ({ event }) => events.push(event)
    const one = await shop({ onEvent, now: () => new Date(now), timeoutMs: 1_000 })
    const { header, left } = await paying(one)
    const before = facilitator.settled
    answerOfNode = ({ method }) =>
      method === 'eth_call' && facilitator.settled > before ? { error: { code: -32_000, message: 'no state' } } : null
    const pending = await one.ask(header)
    expect(pending).toMatchObject({ status: 503, body: { code: 'settlement_pending' } })
    expect([events, await left()]).toEqual([[], 950_000n])
    answerOfNode = () => null
    now += 5_000
    await until(() => events.length > 0)
    const ended = ['payment.completed', 'customer.first_payment']
    expect(events).toEqual(ended)
    // The buyer gets what was made for it a day later, and pays nothing more.
    now += DAY_MS
    const proof = { 'x-payment-id': pending.body.paymentId, 'x-payment-token': pending.body.paymentToken }
    expect(await one.ask(proof)).toMatchObject({ status: 200, body: { secret: 'worth it' } })
    expect([one.handled(), events, await left()]).toEqual([1, ended, 950_000n])
  })

  it('does the work that was paid for first where its buyer returns a day later', async () => {
    let now = Date.now()
    const events: string[] = []
    const routes = [{ path: '/secret', settle: 'before', pricing: { model: 'per-request', amount: 0.05 } }] as const
    const clock = { now: () => new Date(now) }
    const one = await shop({ routes, onEvent: ({ event }) => events.push(event), timeoutMs: 1_000, ...clock })
    const { header, left } = await paying(one)
    const before = facilitator.settled
    answerOfNode = ({ method }) =>
      method === 'eth_call' && facilitator.settled > before ? { error: { code: -32_000, message: 'no state' } } : null
    const pending = await one.ask(header)
    answerOfNode = () => null
    now += 5_000
    await until(() => events.length > 0)
    now += DAY_MS
    const proof = { 'x-payment-id': pending.body.paymentId, 'x-payment-token': pending.body.paymentToken }
    expect(await one.ask(proof)).toMatchObject({ status: 200, body: { secret: 'worth it' } })
    expect([one.handled(), await left()]).toEqual([1, 950_000n])
  })

  it('says of an expired payment that it does not know only that the request charged nothing', async () => {
    let now = Date.now()
    const one = await shop({ now: () => new Date(now) })
    const { header } = await paying(one)
    now += 6 * DAY_MS
    const refused = await one.ask(header)
    expect(refused).toMatchObject({ status: 410, body: { code: 'payment_expired' } })
    expect(refused.body.error).toContain('You were not charged for this request.')
    expect(refused.body.error).not.toContain('Nothing was charged')
  })

  it.each([
    ['of x402', {}, 400],
    ['of MPP', { 'accept-payment': 'evm/charge' }, 402],
  ])(
    'says to a client %s, of a payment id that it does not know, only that the request charged nothing',
    async (_, speaks, status) => {
      const one = await shop()
      const refused = await one.ask({ 'x-payment-id': `pay_${'0'.repeat(26)}`, ...speaks })
      expect(refused.status).toBe(status)
      expect(refused.text).toContain('must name a payment that was made here')
      expect(refused.text).not.toContain('Nothing was charged')
    },
  )

  it('does not say that nothing was charged where it cannot know', async () => {
    let now = Date.now()
    const events: string[] = []
    const onEvent: PaywallOptions['onEvent'] = ({ event }) => events.push(event)
    const clock = { now: () => new Date(now) }
    const books = memoryBooks({ onEvent, ...clock })
    const one = await shop({ rpc: null, books, ...clock })
    const { header, left } = await paying(one)
    facilitator.mood = 'settles-and-502'
    const pending = await one.ask(header)
    expect(pending).toMatchObject({ status: 503, body: { code: 'settlement_pending' } })
    const proof = { 'x-payment-id': pending.body.paymentId, 'x-payment-token': pending.body.paymentToken }
    // It does not remember that it has settled.
    facilitator.mood = 'denies'
    expect(await one.ask(proof)).toMatchObject({ status: 503, body: { code: 'settlement_pending' } })
    // Nor does a process that has not asked itself.
    const sale = (await books.findById(String(pending.body.paymentId)))!
    const another = remoteMethod({ post: postJson, verifier: null, digestOf: () => '0x', clock }, facilitator.url)
    expect(await another.settle(sale)).toEqual({ status: 'pending' })
    now += 500_000_000
    const ended = await one.ask(proof)
    expect(ended).toMatchObject({ status: 409, body: { code: 'settlement_unknown', paymentId: expect.any(String) } })
    expect(ended.text).not.toContain('Nothing was charged')
    expect([events, await left()]).toEqual([['payment.failed'], 950_000n])
  })

  it('refuses a path that Express reads without its end', async () => {
    const one = await shop()
    const [status, text] = await new Promise<[number | undefined, string]>((resolve, reject) => {
      get(one.url, { path: '/secret#' }, (response) => {
        void textOf(response).then((text) => {
          resolve([response.statusCode, text])
        })
      }).on('error', reject)
    })
    expect([status, text, one.handled()]).toEqual([400, expect.stringContaining('invalid_path'), 0])
  })

  async function serving(routes: PaywallOptions['routes'], handle: RequestHandler) {
    const app = express()
    app.use(paywall({ facilitator: facilitator.url, recipient: world.seller, network: 'base-sepolia', routes }))
    app.use(handle)
    const server = app.listen(0, '127.0.0.1')
    servers.push(server)
    await once(server, 'listening')
    return originOf(server)
  }

  it('leaves a handler behind it no other method of a path with a price', async () => {
    const seen: unknown[] = []
    const routes = [{ method: 'GET', path: '/secret', pricing: { model: 'per-request', amount: 0.05 } }] as const
    const origin = await serving(routes, (request, response) => {
      seen.push(request.get('x-http-method-override'))
      response.end()
    })
    for (const path of ['/Secret', '/other']) {
      await fetch(origin + path, { method: 'POST', headers: { 'x-http-method-override': 'GET' } })
    }
    expect(seen).toEqual([undefined, 'GET'])
  })

  it('asks for a measured answer that is not compressed, and charges nothing for one that is', async () => {
    const asked: unknown[] = []
    const pricing = { model: 'per-token', input: 0, output: 0.1, minimum: 0.001, maximum: 0.05 } as const
    const origin = await serving([{ path: '/chat', pricing }], (request, response) => {
      asked.push(request.get('accept-encoding'))
      response.set('content-encoding', 'gzip').end(gzipSync('one two three'))
    })
    const ask = (headers = {}) => fetch(`${origin}/chat`, { headers }).then(answerOf)
    const { header, left } = await paying({ ask })
    const refused = await ask({ ...header, 'accept-encoding': 'gzip' })
    expect(refused).toMatchObject({ status: 502, body: { code: 'upstream_error' } })
    expect([asked, await left()]).toEqual([['identity'], 1_000_000n])
  })

  it('lets no cache between store what it sold', async () => {
    const one = await shop()
    const { header } = await paying(one)
    const { headers } = await one.ask(header)
    expect([headers.get('cache-control'), headers.get('cdn-cache-control')]).toEqual(['no-store', null])
  })

  it.each(['', 'whsec_', 'whsec_c2hvcnQ='])('verifies no identity with the secret %j', (secret) => {
    expect(() => verifyIdentity('v1.e30.x', secret, { method: 'GET', path: '/' })).toThrow(/secret must be/)
  })
})

async function postJson(url: string, body: unknown): Promise<{ status: number; json: unknown }> {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  return { status: response.status, json: await response.json() }
}

/** The same payment, as anyone may hand it in at the facilitator. */
function toSettle(header: Record<string, string>): object {
  const payment = JSON.parse(Buffer.from(header['payment-signature']!, 'base64').toString()) as { accepted: object }
  return { x402Version: 2, paymentPayload: payment, paymentRequirements: payment.accepted }
}

function originOf(server: Server): string {
  return `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`
}
