import { randomBytes } from 'node:crypto'
import { encodeTransfer } from '../../service/chain/calldata.ts'
import type { Hex, SignedAuthorization } from '../../service/chain/model.ts'
import type { TestAccount } from '../harness/chain.ts'
import type { Answer } from '../harness/service.ts'
import { toolBody } from '../marketplace/bodies.ts'
import type { Payment } from '../harness/wallet.ts'
import { payWorld, type PayWorld } from '../tools/calls/pay-world.ts'
import { until } from '../checkouts/world.ts'
import { respond } from '../tools/calls/upstream.ts'
import { walletKeys } from '../wallet/world.ts'

/**
 * What was paid for goes to its buyer alone. A thief reads the chain: from, to, value, nonce and signature of every
 * payment, and knows or guesses the input, the Idempotency-Key and the payment's id. A new seller is one more line of
 * `SELLERS`.
 */
describe('a paid answer', () => {
  const SECRET = 'the answer that was sold'
  const REDIRECT = 'thanks.example'
  let world: PayWorld

  interface Seller {
    name: string
    /** Where it is paid, by POST with the payment in a header. */
    open(): Promise<string>
    /** Makes the service behind it fail, and recover. Null where no request is sent before the money is taken. */
    fails: ((yes: boolean) => void) | null
  }

  const work = (path: string, status: number): void => {
    world.upstream.respondWith(path, status === 200 ? { secret: SECRET } : { message: 'broken' }, status)
  }
  const gate = (settle: 'after' | 'before') => async () => {
    const person = await world.service.person()
    const created = await person.call('POST', '/v1/paywalls', {
      body: {
        slug: `sold-${settle}-${randomBytes(4).toString('hex')}`,
        name: 'Sold',
        upstreamUrl: world.upstream.url,
        routes: [{ method: 'POST', path: '/sold', pricing: { model: 'per-request', amount: 0.05 }, settle }],
        network: 'base-sepolia',
        recipient: world.seller,
      },
    })
    work('/sold', 200)
    return `/gate/${String(created.body.paywall.slug)}/sold`
  }
  const failing = (path: string) => (yes: boolean) => {
    work(path, yes ? 500 : 200)
  }
  const SELLERS: Seller[] = [
    {
      name: 'a checkout',
      fails: null,
      async open() {
        work('/workflow', 200)
        const person = await world.service.person()
        const created = await person.call('POST', '/v1/checkouts', {
          body: {
            callbackUrl: `${world.upstream.url}/workflow`,
            product: { name: 'Sold' },
            price: 0.05,
            network: 'base-sepolia',
            recipient: world.seller,
            fields: [{ name: 'title', type: 'text' }],
            redirectUrl: `https://${REDIRECT}/`,
            responseMode: 'lastNode',
          },
        })
        return `/p/${String(created.body.checkout.id)}`
      },
    },
    {
      name: 'a tool',
      fails: failing('/notes'),
      open: () => {
        work('/notes', 200)
        return Promise.resolve('/tools/pay/acme-create-note')
      },
    },
    { name: 'a gate that settles after', fails: failing('/sold'), open: gate('after') },
    { name: 'a gate that settles before', fails: failing('/sold'), open: gate('before') },
    {
      name: 'an asset that is paid before',
      fails: failing('/ran'),
      async open() {
        work('/ran', 200)
        const person = await world.service.person()
        const slug = `sold-${randomBytes(4).toString('hex')}`
        const created = await person.call('POST', '/v1/rda', {
          body: toolBody({
            slug,
            inputSchema: [{ name: 'title', label: 'Title', type: 'text', required: false }],
            toolConfig: { apiEndpoint: `${world.upstream.url}/ran`, apiMethod: 'POST', basePrice: 0.05 },
          }),
        })
        await person.call('POST', `/v1/rda/${String(created.body.rda.id)}/publish`)
        return `/v1/rda/${slug}/run`
      },
    },
  ]

  beforeAll(async () => {
    world = await payWorld({
      ...(await walletKeys()),
      RATE_GATE_PER_MINUTE: '0',
      RATE_VERIFY_PER_MINUTE: '0',
      SETTLE_WAIT_MS: '300',
    })
  })
  afterAll(() => world.close())

  const input = { title: 'Mine' }
  const request = (address: string, headers: Record<string, string> = {}, body: object = input): Promise<Answer> =>
    world.service.call('POST', address, { body: address.startsWith('/v1/rda/') ? { inputs: body } : body, headers })
  const headerOf = ({ header, value }: Payment): Record<string, string> => ({ [header]: value })
  const newToken = (): string => `tok_${randomBytes(32).toString('base64url')}`
  const nonceOf = ({ value }: Payment): string =>
    JSON.parse(Buffer.from(value, 'base64').toString()).payload.authorization.nonce as string
  const idOf = ({ headers, body }: Answer): string =>
    headers.get('x-payment-id') ?? String(body.paymentId ?? body.callId ?? body.payment?.id)
  const tokenOf = ({ headers, body }: Answer): string =>
    headers.get('x-payment-token') ?? String(body.paymentToken ?? body.payment?.token)

  /** With another last byte: a signature that its payer never made. */
  function forged(payment: Payment): Payment {
    const payload = JSON.parse(Buffer.from(payment.value, 'base64').toString())
    const { signature } = payload.payload as { signature: string }
    payload.payload.signature = signature.slice(0, -2) + (signature.endsWith('1b') ? '1c' : '1b')
    return { ...payment, value: Buffer.from(JSON.stringify(payload)).toString('base64') }
  }

  /** Submits the payment on chain, as any holder of the signature can. */
  async function submit({ value }: Payment): Promise<void> {
    const { signature, authorization } = (
      JSON.parse(Buffer.from(value, 'base64').toString()) as {
        payload: { signature: Hex; authorization: Record<string, string> }
      }
    ).payload
    const { value: amount = '', validAfter = '', validBefore = '', ...rest } = authorization
    const whole = { value: BigInt(amount), validAfter: BigInt(validAfter), validBefore: BigInt(validBefore) }
    const usdc = world.chain.network.usdc.address
    const { data } = encodeTransfer(usdc, { ...rest, ...whole, signature } as SignedAuthorization, false)
    const from = world.chain.accounts[1]!.address
    await world.chain.call('anvil_impersonateAccount', from)
    await world.chain.call('eth_sendTransaction', { from, to: usdc, data, gas: '0x493e0' })
    // The chain answers before it mines.
    await world.chain.mine()
  }

  interface Sale {
    address: string
    payer: TestAccount
    payment: Payment
    key: string
    id: string
    token: string
  }

  /** All attempts of a thief who has read the chain and guesses the rest. */
  async function thefts({ address, payment, key, id, token }: Sale): Promise<void> {
    const thief = await world.chain.payer(1_000_000n)
    const own = await world.sign(thief, await request(address))
    const stolen = headerOf(payment)
    const tries: Record<string, Promise<Answer>> = {
      'the same input': request(address, stolen),
      'another input': request(address, stolen, { title: 'Stolen' }),
      'no input': request(address, stolen, {}),
      'the Idempotency-Key': request(address, { ...stolen, 'Idempotency-Key': key }),
      'a forged signature': request(address, headerOf(forged(payment))),
      'a token of their own': request(address, { ...stolen, 'X-Payment-Token': newToken() }),
      'the id alone': request(address, { 'X-Payment-ID': id }),
      'the id and the stolen signature': request(address, { ...stolen, 'X-Payment-ID': id }),
      'the id and a wrong token': request(address, { 'X-Payment-ID': id, 'X-Payment-Token': newToken() }),
      'the id and a signature of their own': request(address, { ...headerOf(own), 'X-Payment-ID': id }),
      'the nonce and the stolen signature': request(address, { ...stolen, 'X-Payment-ID': nonceOf(payment) }),
      'the nonce and a signature of their own': request(address, {
        ...headerOf(own),
        'X-Payment-ID': nonceOf(payment),
      }),
    }
    if (address.startsWith('/p/')) {
      const payload = JSON.parse(Buffer.from(payment.value, 'base64').toString()) as unknown
      const body = { input, paymentPayload: payload }
      tries['the page’s call'] = world.service.call('POST', `${address}/pay`, { body })
      tries['the page’s call by its key'] = world.service.call('POST', `${address}/pay`, {
        body,
        headers: { 'Idempotency-Key': key },
      })
    }
    for (const [what, answer] of Object.entries(tries)) {
      const { status, text, headers } = await answer
      const all = text + JSON.stringify([...headers])
      expect({ what, status, sold: status < 400 || all.includes(SECRET) }).toEqual({
        what,
        status: expect.any(Number),
        sold: false,
      })
      for (const theirs of [id, token, REDIRECT]) {
        expect({ what, leaks: all.includes(theirs) ? theirs : null }).toEqual({ what, leaks: null })
      }
    }
    expect(await world.usdc(thief.address)).toBe(1_000_000n)
    if (address.startsWith('/p/')) {
      const state = await world.service.call('GET', `${address}/payments/${id}`)
      for (const theirs of [SECRET, token, REDIRECT]) expect(state.text).not.toContain(theirs)
    }
  }

  async function begin(seller: Seller, more: Record<string, string> = {}) {
    const address = await seller.open()
    const payer = await world.chain.payer(1_000_000n)
    const payment = await world.sign(payer, await request(address))
    const key = 'order-1'
    const headers = { ...headerOf(payment), 'Idempotency-Key': key, ...more }
    return { address, payer, payment, key, headers, buy: () => request(address, headers) }
  }

  const fetched = (sale: Sale, proof: Record<string, string>) =>
    until(async () => {
      const answer = await request(sale.address, proof)
      return answer.status === 200 && answer.text.includes(SECRET) && answer
    })

  describe.each(SELLERS)('by $name', (seller) => {
    const settle = async (yes: boolean): Promise<void> => {
      await world.chain.call('evm_setAutomine', yes)
      if (yes) await world.chain.mine()
    }
    afterEach(() => settle(true))

    it('goes to its buyer only while the chain is slow, by the token of the first answer', async () => {
      const begun = await begin(seller)
      await settle(false)
      const first = await begun.buy()
      expect([202, 503]).toContain(first.status)
      const sale = { ...begun, id: idOf(first), token: tokenOf(first) }
      expect(sale.token).toMatch(/^tok_[\w-]{43}$/)
      await thefts(sale)
      await settle(true)
      await thefts(sale)
      await fetched(sale, { 'X-Payment-ID': sale.id, 'X-Payment-Token': sale.token })
      await thefts(sale)
      expect(await world.usdc(sale.payer.address)).toBeLessThan(1_000_000n)
      const receipt = await world.service.call('GET', `/receipts/${sale.id}?token=${sale.token}`)
      expect(receipt).toMatchObject({ status: 200, body: { receipt: { id: sale.id, status: 'paid' } } })
      expect((await world.service.call('GET', `/receipts/${sale.id}?token=${newToken()}`)).status).toBe(404)
    })

    it('goes to the buyer by their own token though no answer came, or by a fresh signature', async () => {
      const token = newToken()
      const begun = await begin(seller, { 'X-Payment-Token': token })
      await settle(false)
      const lost = await begun.buy()
      const sale = { ...begun, id: idOf(lost), token }
      await settle(true)
      await thefts(sale)
      await fetched(sale, { ...headerOf(sale.payment), 'X-Payment-Token': token })

      const other = await begin(seller)
      await settle(false)
      const first = await other.buy()
      await settle(true)
      const later = { ...other, id: idOf(first), token: tokenOf(first) }
      await until(async () => {
        const fresh = await world.sign(later.payer, await request(later.address))
        const proof = { ...headerOf(fresh), 'X-Payment-ID': nonceOf(later.payment) }
        const answer = await request(later.address, proof)
        return answer.status === 200 && answer.text.includes(SECRET)
      })
      expect(await world.usdc(later.payer.address)).toBe(await world.usdc(sale.payer.address))
    })

    /** A stranger with the signature is faster than the facilitator: the seller gets the money all the same. */
    it.each([200, 500])(
      'goes to its buyer only where another party submits the transfer (upstream: %i)',
      async (status) => {
        if (seller.fails === null || seller.name.endsWith('before')) return
        const begun = await begin(seller)
        const path = begun.address.startsWith('/tools') ? '/notes' : '/sold'
        world.upstream.on(path, async (_, response) => {
          await submit(begun.payment)
          respond(response, JSON.stringify({ secret: SECRET }), 'application/json', status)
        })
        const first = await begun.buy()
        expect(await world.usdc(begun.payer.address)).toBeLessThan(1_000_000n)
        work(path, 200)
        const sale = { ...begun, id: idOf(first), token: tokenOf(first) }
        if (status === 200) expect(first).toMatchObject({ status: 200 })
        await thefts(sale)
        const left = await world.usdc(begun.payer.address)
        if (status === 500) await fetched(sale, { 'X-Payment-ID': sale.id, 'X-Payment-Token': sale.token })
        await thefts(sale)
        expect(await world.usdc(begun.payer.address)).toBe(left)
      },
    )

    it('goes to its buyer only, after an answer and after a failed try', async () => {
      const begun = await begin(seller)
      seller.fails?.(true)
      const first = await begun.buy()
      const failed = seller.fails !== null
      expect(failed ? first.status : 500).toBeGreaterThanOrEqual(500)
      seller.fails?.(false)
      const paid = (await world.usdc(begun.payer.address)) < 1_000_000n
      if (!failed || paid) {
        const sale = { ...begun, id: idOf(first), token: tokenOf(first) }
        await thefts(sale)
        if (failed) await fetched(sale, { 'X-Payment-ID': sale.id, 'X-Payment-Token': sale.token })
        await thefts(sale)
        return
      }
      // The authorization was not submitted yet: its owner may use it again, for the very same input; a forged one is
      // refused.
      const forgery = await request(begun.address, headerOf(forged(begun.payment)))
      expect([forgery.status, forgery.body.code]).toEqual([409, 'authorization_used'])
      const other = await request(begun.address, headerOf(begun.payment), { title: 'Other' })
      expect(other.status).toBe(409)
      const again = await until(async () => {
        const answer = await request(begun.address, headerOf(begun.payment))
        return answer.status === 200 && answer
      })
      expect(again.text).toContain(SECRET)
      await thefts({ ...begun, id: idOf(again), token: tokenOf(again) })
    })
  })
})
