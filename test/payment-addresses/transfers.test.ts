import { randomUUID } from 'node:crypto'
import type { Hex } from '../../service/chain/model.ts'
import type { PaymentAddressView } from '../../service/payment-addresses/service/addresses.ts'
import { createPaymentAddressStore } from '../../service/payment-addresses/store.ts'
import { honest, startRelay, type Relay } from '../chain/relay.ts'
import { openWorld, until, type SoldCheckout, type World } from '../checkouts/world.ts'
import { usdcOf } from '../facilitator/world.ts'
import { mined } from '../harness/escrow.ts'
import { startSmtp } from '../harness/smtp.ts'
import { work } from '../refunds/sales.ts'
import { send as mint, transfer, walletKeys } from '../wallet/world.ts'

describe('an order that is paid by plain transfers', () => {
  let world: World
  let exchange: Hex
  let relay: Relay
  let mails: Awaited<ReturnType<typeof startSmtp>>
  beforeAll(async () => {
    mails = await startSmtp()
    const chainUrl = async (url: string) => {
      relay = await startRelay(url)
      return relay.url
    }
    world = await openWorld({
      chain: true,
      chainUrl,
      environment: { ...(await walletKeys()), SMTP_URL: mails.url, MAIL_FROM: 'Coinslot <hello@coinslot.example>' },
    })
    await world.chain.mine(10)
    exchange = (await world.chain.payer(1_000_000_000n)).address.toLowerCase() as Hex
  })
  afterAll(async () => {
    await world.close()
    await relay.stop()
    await mails.close()
  })
  beforeEach(async () => {
    relay.behave(honest)
    await world.forget()
  })

  interface OpenedAddress {
    checkout: SoldCheckout
    path: string
    token: string
    address: Hex
  }

  async function opened(
    terms: Record<string, unknown> = {},
    body: Record<string, unknown> = {},
  ): Promise<OpenedAddress> {
    const checkout = await world.sell(terms)
    const created = await world.call('POST', `/p/${checkout.id}/addresses`, { body })
    if (created.status !== 201) throw new Error(`no address: ${created.text}`)
    const { address, token } = created.body as { address: PaymentAddressView; token: string }
    return { checkout, path: `/p/${checkout.id}/addresses/${address.id}`, token, address: address.address as Hex }
  }

  const send = (to: Hex, micro: bigint): Promise<Hex> => sendFrom(exchange, to, micro)

  async function sendFrom(from: Hex, to: Hex, micro: bigint): Promise<Hex> {
    const hash = await transfer(world.chain, from, to.toLowerCase() as Hex, micro)
    await mined(world.chain, hash)
    return hash
  }

  /** One look of a worker, at whatever is due. */
  async function turn(ms = 2_000): Promise<void> {
    // A settlement takes real time: no authorization may end by this clock meanwhile.
    await world.settled()
    world.service.clock.forward(ms)
    for (const { run } of world.service.paymentAddresses.sweepers) await run(new AbortController().signal)
  }

  /** Some minutes pass, for the service and for the chain. */
  async function catchUp(): Promise<void> {
    world.service.clock.forward(600_000)
    await world.chain.call('evm_setNextBlockTimestamp', Math.floor(world.service.clock.now().getTime() / 1_000))
    await world.chain.mine(5)
  }

  async function viewOf({ path, token }: Pick<OpenedAddress, 'path' | 'token'>): Promise<PaymentAddressView> {
    const { status, body, text } = await world.call('GET', path, { headers: { 'X-Payment-Token': token } })
    if (status !== 200) throw new Error(text)
    return body.address as PaymentAddressView
  }

  const becomes = (of: OpenedAddress, expected: Partial<PaymentAddressView>): Promise<PaymentAddressView> =>
    until(async () => {
      await turn()
      const view = await viewOf(of)
      return Object.entries(expected).every(([name, value]) => view[name as keyof PaymentAddressView] === value) && view
    })

  const giveBack = ({ path, token }: Pick<OpenedAddress, 'path' | 'token'>, to: string) =>
    world.call('POST', `${path}/return`, { body: { to }, headers: { 'X-Payment-Token': token } })

  const runsOf = ({ checkout }: Pick<OpenedAddress, 'checkout'>) =>
    world.workflow.deliveries.filter(({ body }) => body.includes(checkout.id))

  it('is paid, delivered and shown to its buyer once the money has arrived, in one transfer', async () => {
    const of = await opened(
      { fields: [{ name: 'site', type: 'text', required: true }] },
      { input: { site: 'a.example' } },
    )
    const first = await viewOf(of)
    expect(first).toMatchObject({ status: 'waiting', amount: 1, received: 0, missing: 1, left: 0, payment: null })
    expect(first.link).toContain('uint256=1000000')
    const before = await usdcOf(world.chain, world.recipient)
    await send(of.address, 1_000_000n)
    const paid = await becomes(of, { status: 'paid' })
    expect(paid).toMatchObject({ received: 1, missing: 0, left: 0, link: null, returns: [] })
    expect(await usdcOf(world.chain, world.recipient)).toBe(before + 1_000_000n)
    const payment = await world.call(
      'GET',
      `/p/${of.checkout.id}/payments/${paid.payment!.id}?token=${paid.payment!.token}`,
    )
    expect(payment.body.payment).toMatchObject({ status: 'paid', payer: of.address.toLowerCase(), amount: 1 })
    const delivery = await until(() => runsOf(of)[0] ?? null)
    expect(delivery.json).toMatchObject({ input: { site: 'a.example' } })
    for (let look = 0; look < 3; look++) await turn(60_000)
    expect(runsOf(of)).toHaveLength(1)
  })

  it('keeps what its buyer has uploaded until the money may come, and takes no other upload', async () => {
    const fields = [{ name: 'paper', type: 'file' }]
    const [checkout, other] = [await world.sell({ fields }), await world.sell({ fields })]
    const upload = async (id: string): Promise<URL> => {
      const headers = { 'content-type': 'text/plain' }
      const { body } = await world.call('POST', `/p/${id}/files`, { raw: 'x', headers })
      return new URL(String(body.file.url))
    }
    const [own, stolen] = [await upload(checkout.id), await upload(other.id)]
    const order = (paper: URL) =>
      world.call('POST', `/p/${checkout.id}/addresses`, { body: { input: { paper: paper.href } } })
    expect(await order(stolen)).toMatchObject({ status: 400, body: { details: { 'input.paper': expect.any(String) } } })
    const opened = await order(own)
    expect(opened.status).toBe(201)
    const { address, token } = opened.body as { address: PaymentAddressView; token: string }
    const of = { checkout, path: `/p/${checkout.id}/addresses/${address.id}`, token, address: address.address as Hex }
    await catchUp()
    world.service.clock.forward(3 * 3_600_000)
    await catchUp()
    await world.service.files.sweep(world.service.clock.now())
    await send(of.address, 1_000_000n)
    await becomes(of, { status: 'paid' })
    const delivery = await until(() => runsOf(of)[0] ?? null)
    expect(delivery.json).toMatchObject({ input: { paper: own.href } })
    expect((await world.call('GET', own.pathname + own.search)).text).toBe('x')
  })

  it('waits for the rest where too little arrives, and is paid from all of it', async () => {
    const of = await opened()
    await send(of.address, 400_000n)
    expect(await becomes(of, { status: 'partly_paid' })).toMatchObject({ received: 0.4, missing: 0.6, left: 0.4 })
    await send(of.address, 600_000n)
    expect(await becomes(of, { status: 'paid' })).toMatchObject({ received: 1, left: 0 })
  })

  it('returns an excess and repeated transfers, to the buyer’s address only', async () => {
    const of = await opened()
    await send(of.address, 1_300_000n)
    await becomes(of, { status: 'paid', left: 0.3 })
    const home = (await world.chain.payer(0n)).address
    // Not before the payment is so deep that no reorganisation takes it back.
    expect(await giveBack(of, home)).toMatchObject({ status: 409, body: { code: 'nothing_to_return' } })
    await world.chain.mine(5)
    await turn()
    expect(await giveBack({ ...of, token: `tok_${'a'.repeat(43)}` }, home)).toMatchObject({ status: 404 })
    // Where nobody could spend it: a wallet from which this service pays sellers, and a deposit address of another network.
    const { service } = world
    const buyer = (await service.person()).caller.user.id
    const [paysSellers, deposits] = [`0x${'7'.repeat(40)}`, { userId: buyer, environment: 'production' as const }]
    await service.testDatabase.statements.run(
      "INSERT INTO spending_payer (address, user_id, environment, created_at) VALUES ($1, $2, 'sandbox', now())",
      [paysSellers, buyer],
    )
    for (const to of [paysSellers, (await service.wallets.depositAddress(deposits))!]) {
      expect(await giveBack(of, to)).toMatchObject({ status: 400, body: { details: { to: expect.any(String) } } })
    }
    expect((await giveBack(of, home)).body.address.returns).toEqual([
      { to: expect.any(String), amount: 0.3, status: 'returning', explorerUrl: null },
    ])
    expect(await giveBack(of, home)).toMatchObject({ status: 409, body: { code: 'return_under_way' } })
    await becomes(of, { left: 0 })
    expect(await usdcOf(world.chain, home)).toBe(300_000n)

    await send(of.address, 1_000_000n)
    await world.chain.mine(5)
    await becomes(of, { left: 1 })
    expect((await giveBack(of, home)).status).toBe(200)
    const ended = await becomes(of, { left: 0 })
    expect(ended).toMatchObject({ status: 'paid', received: 2.3 })
    expect(ended.returns.map(({ status }) => status)).toEqual(['returned', 'returned'])
    expect(await usdcOf(world.chain, home)).toBe(1_300_000n)
  })

  it('ends after a day; what arrives too late or was too little goes back, and buys nothing', async () => {
    const of = await opened()
    await send(of.address, 200_000n)
    await becomes(of, { status: 'partly_paid' })
    await turn(86_400_000)
    expect(await becomes(of, { status: 'expired' })).toMatchObject({ left: 0.2, missing: 0 })
    await send(of.address, 1_000_000n)
    await world.chain.mine(5)
    expect(await becomes(of, { left: 1.2 })).toMatchObject({ status: 'expired', payment: null })
    const home = (await world.chain.payer(0n)).address
    expect((await giveBack(of, home)).status).toBe(200)
    await becomes(of, { left: 0 })
    expect(await usdcOf(world.chain, home)).toBe(1_200_000n)
    expect(runsOf(of)).toEqual([])
  })

  it('counts money as in time that came while no worker looked', async () => {
    const of = await opened()
    await send(of.address, 1_000_000n)
    world.service.clock.forward(86_400_001)
    await becomes(of, { status: 'paid', left: 0 })
  })

  it('keeps its balance where a slower process read the one before the payment', async () => {
    const of = await opened()
    await send(of.address, 1_000_000n)
    const { id } = await becomes(of, { status: 'paid', left: 0 })
    const store = createPaymentAddressStore(world.service.database.statements)
    const paid = (await store.find(id))!
    const late = { balance: 1_000_000n, lookAt: null, now: world.service.clock.now(), fromBlock: 1n, searchTo: null }
    await store.looked({ ...paid, state: 'paying' }, late)
    expect(await store.find(id)).toMatchObject({ state: 'paid', balance: 0n, senders: [exchange] })
  })

  it('shows its seller from where it was paid, also after a reorganisation, and no refund as from a buyer', async () => {
    const of = await opened()
    const [friend, wallet] = [await world.chain.payer(5_000_000n), await world.chain.payer(5_000_000n)]
    const snapshot = await world.chain.call('evm_snapshot')
    await world.chain.mine(3)
    await send(of.address, 300_000n)
    await becomes(of, { status: 'partly_paid' })
    await world.chain.call('evm_revert', snapshot)
    await becomes(of, { status: 'waiting' })
    // In a block that was read before.
    await send(of.address, 400_000n)
    await becomes(of, { status: 'partly_paid', received: 0.4 })
    await sendFrom(friend.address, of.address, 600_000n)
    const { payment } = await becomes(of, { status: 'paid' })
    // As a seller's refund comes.
    await sendFrom(wallet.address, of.address, 200_000n)
    await becomes(of, { left: 0.2 })
    const read = async (procedure: string, input: object) => {
      const query = encodeURIComponent(JSON.stringify(input))
      return (await world.seller.call('GET', `/trpc/${procedure}?input=${query}`)).body.result.data as {
        payments: unknown
        customers: unknown
      }
    }
    const shown = {
      payer: of.address.toLowerCase(),
      byTransfer: true,
      sentFrom: [exchange, friend.address.toLowerCase()],
    }
    expect(await read('payments.get', { id: payment!.id })).toMatchObject(shown)
    expect(await read('payments.customer', { id: shown.payer })).toMatchObject(shown)
    expect((await read('payments.list', { customer: shown.payer })).payments).toMatchObject([shown])
    expect((await read('payments.customers', { search: shown.payer })).customers).toMatchObject([shown])
  })

  it('tells its buyer that a refund is at its address, by mail too, and lets them say where it goes from there', async () => {
    const { service, seller, chain } = world
    const email = `transfer-${randomUUID()}@example.com`
    const of = await opened({ refundOnFailure: false }, { email, language: 'en' })
    await send(of.address, 1_000_000n)
    const { payment } = await becomes(of, { status: 'paid' })
    const { id, token } = payment!
    const seen = async (as = `?token=${token}`) =>
      (await world.call('GET', `/p/${of.checkout.id}/payments/${id}${as}`)).body.payment as {
        refunds: { state: string }[]
        collect: { addressId: string; token: string } | null
      }
    expect((await seen()).collect).toBeNull()
    await seller.call('POST', '/v1/wallet/deposit', { body: { amount: 5 } })
    await mint(chain, [{ to: service.wallets.treasury()!, value: 1_000_000_000n }])
    await chain.mine(10)
    const refund = { body: { reason: 'Not as described' } }
    expect((await seller.call('POST', `/v1/payments/${id}/refund`, refund)).status).toBeLessThan(300)
    // Of the token alone, as everything of the buyer's.
    const path = new URL(of.path, 'http://a.example').pathname
    expect((await seen()).collect).toEqual({ addressId: path.split('/').at(-1), token: of.token })
    expect((await seen('')).collect).toBeNull()
    await until(async () => {
      await turn()
      await work(service)
      await chain.mine(3)
      return (await seen()).refunds[0]?.state === 'confirmed'
    })
    const { collect } = await seen()
    const mail = await until(() => mails.received.find((text) => text.includes(email) && text.includes('Refund')))
    const text = mail.replaceAll('=\n', '').replaceAll('=3D', '=')
    expect(text).toContain(`/receipts/${id}?token=${token}`)
    expect(text).toContain('the address that you sent it to')
    expect(text).not.toContain('wallet')
    const home = (await chain.payer(0n)).address
    const back = { path: `/p/${of.checkout.id}/addresses/${collect!.addressId}`, token: collect!.token }
    await until(async () => {
      await catchUp()
      return (await giveBack(back, home)).status < 300
    })
    await until(async () => {
      await turn()
      return (await usdcOf(chain, home)) === 1_000_000n
    })
  })

  it('is opened while no RPC answers, and paid where no search for its senders succeeds, which is repeated', async () => {
    relay.behave(() => ({ status: 500, body: { error: 'busy' } }))
    const of = await opened()
    let isAway = true
    const searches: string[] = []
    relay.behave((questions, isBatch) => {
      if (!questions.some(({ method }) => method === 'eth_getLogs')) return honest(questions, isBatch)
      searches.push(isAway ? 'refused' : 'read')
      return isAway ? { status: 500, body: { error: 'busy' } } : honest(questions, isBatch)
    })
    const friend = (await world.chain.payer(5_000_000n)).address.toLowerCase() as Hex
    // Before the first look: its senders are found all the same.
    await send(of.address, 300_000n)
    await becomes(of, { status: 'partly_paid', received: 0.3 })
    await turn(60_000)
    expect(new Set(searches)).toEqual(new Set(['refused']))
    isAway = false
    await transfer(world.chain, friend, of.address.toLowerCase() as Hex, 200_000n)
    await becomes(of, { status: 'partly_paid', received: 0.5 })
    const store = createPaymentAddressStore(world.service.database.statements)
    const senders = async () => (await store.find(of.path.split('/').at(-1)!))?.senders
    await until(async () => {
      await turn(60_000)
      return (await senders())?.length === 2
    })
    expect(await senders()).toEqual([exchange, friend])
    isAway = true
    const known = searches.length
    await send(of.address, 500_000n)
    await becomes(of, { status: 'paid' })
    expect(searches.length).toBeGreaterThan(known)
  })

  it('shows from where it was paid where an RPC answers few blocks and no worker looked for long', async () => {
    const { clock } = world.service
    // A worker runs beside the test, and finds nothing before all is sent.
    let isAway = true
    const ends: bigint[] = []
    relay.behave((questions, isBatch) => {
      const search = questions.find(({ method }) => method === 'eth_getLogs')
      if (search === undefined) return honest(questions, isBatch)
      const { fromBlock, toBlock } = search.params[0] as Record<string, string>
      const isTooWide = BigInt(toBlock!) - BigInt(fromBlock!) >= 100n
      if (isAway || isTooWide) return { status: 400, body: { error: 'too many blocks' } }
      ends.push(BigInt(toBlock!))
      return honest(questions, isBatch)
    })
    const old = await opened()
    await send(old.address, 300_000n)
    const [blocks, seconds] = [800, 2]
    await world.chain.call('anvil_mine', `0x${blocks.toString(16)}`, `0x${seconds.toString(16)}`)
    clock.forward(blocks * seconds * 1_000)
    const fresh = await opened()
    const hash = await send(fresh.address, 200_000n)
    const mined = async () => (await world.chain.call('eth_getTransactionReceipt', hash)) as { blockNumber: Hex } | null
    const { blockNumber } = await until(mined)
    isAway = false
    const store = createPaymentAddressStore(world.service.database.statements)
    const sendersOf = async ({ path }: OpenedAddress) => (await store.find(path.split('/').at(-1)!))?.senders
    await until(async () => {
      await turn(5_000)
      const isFound = (await Promise.all([fresh, old].map(sendersOf))).every((senders) => senders?.length === 1)
      return isFound && (await store.unsearched('base-sepolia', new Date(0), 10)).length === 0
    })
    expect(await Promise.all([fresh, old].map(sendersOf))).toEqual([[exchange], [exchange]])
    // The one that reaches far back keeps no other waiting.
    expect(ends.length).toBeGreaterThan(blocks / 100)
    expect(ends.findIndex((end) => end >= BigInt(blockNumber))).toBeLessThan(ends.length / 2)
  })

  it('keeps no order of another seller waiting for its senders, however many of one wait before it', async () => {
    const { database } = world.service
    const [seller, other] = await Promise.all([opened(), opened()])
    const idOf = ({ path }: OpenedAddress): string => path.split('/').at(-1)!
    const store = createPaymentAddressStore(database.statements)
    const crowd = `INSERT INTO payment_address
      (id, user_id, environment, checkout_id, network, account, index, address, amount, bought, expires_at, created_at, looked_at, search_to)
      SELECT id || '_' || n, user_id, environment, checkout_id, network, account, index + 1000 + n, set_byte(address, 0, n), amount, bought, expires_at, created_at, looked_at, 900 + n
      FROM payment_address, generate_series(1, 9) n WHERE id = $1`
    await database.statements.run(crowd, [idOf(seller)])
    await database.statements.run(
      `UPDATE payment_address SET search_to = 10, user_id = 'usr_${'x'.repeat(24)}' WHERE id = $1`,
      [idOf(other)],
    )
    const found = (await store.unsearched('base-sepolia', new Date(0), 3)).map(({ id }) => id)
    expect(found.sort()).toEqual([`${idOf(seller)}_9`, idOf(other), `${idOf(seller)}_8`].sort())
    await database.statements.run('UPDATE payment_address SET search_to = NULL', [])
  })

  it('gives back what came once more to an order whose payment a restored database does not know', async () => {
    const of = await opened()
    await send(of.address, 1_000_000n)
    const { payment } = await becomes(of, { status: 'paid' })
    await world.settled()
    // The rows as they were before the payment.
    const { pool } = world.service.database
    const sold = 'SELECT digest FROM sale WHERE id = $1'
    for (const table of ['facilitator_purchase', 'facilitator_settlement']) {
      await pool.query(`DELETE FROM ${table} WHERE digest IN (${sold})`, [payment!.id])
    }
    await pool.query('DELETE FROM sale WHERE id = $1', [payment!.id])
    const reset = `UPDATE payment_address SET state = 'open', attempt = 0, balance = 0, valid_before = NULL, reason = NULL,
      ended_at = NULL, look_at = $2 WHERE id = $1`
    await pool.query(reset, [of.path.split('/').at(-1), world.service.clock.now()])
    await world.chain.mine(10)
    await send(of.address, 1_000_000n)
    const failed = await becomes(of, { status: 'failed' })
    expect(failed).toMatchObject({ left: 1, payment: null })
    const buyer = (await world.chain.payer(0n)).address
    await catchUp()
    await until(async () => (await giveBack(of, buyer)).status === 200)
    await until(async () => {
      await turn()
      return (await usdcOf(world.chain, buyer)) === 1_000_000n
    })
  })

  it('is ended by its buyer, who gets the arrived money back', async () => {
    const of = await opened()
    await send(of.address, 500_000n)
    await world.chain.mine(5)
    await becomes(of, { status: 'partly_paid' })
    const home = (await world.chain.payer(0n)).address
    expect((await giveBack(of, home)).body.address).toMatchObject({ status: 'expired' })
    await send(of.address, 500_000n)
    await becomes(of, { left: 0.5 })
    expect(await usdcOf(world.chain, home)).toBe(500_000n)
    expect(runsOf(of)).toEqual([])
  })

  it('gives money back whatever number of returns of another address of its seller has failed', async () => {
    const { database, clock } = world.service
    const [of, other] = [await opened(), await opened()]
    for (const { address } of [of, other]) await send(address, 500_000n)
    await world.chain.mine(5)
    for (const one of [of, other]) await becomes(one, { status: 'partly_paid' })
    const fail = async ({ path }: OpenedAddress, count: number) =>
      await database.statements.run(
        `INSERT INTO payment_address_return (address_id, recipient, amount, nonce, valid_before, state, created_at, ended_at)
         SELECT $1, '\\x11'::bytea, 500000, '\\x22'::bytea, 1, 'failed', $2, $2 FROM generate_series(1, $3)`,
        [path.split('/').at(-1), clock.now(), count],
      )
    await fail(other, 1_000)
    await fail(of, 9)
    const home = (await world.chain.payer(0n)).address
    expect((await giveBack(of, home)).status).toBe(200)
    await becomes(of, { left: 0 })
    expect(await usdcOf(world.chain, home)).toBe(500_000n)
    // An address has ten attempts in a day, of whatever end.
    await send(of.address, 500_000n)
    await world.chain.mine(5)
    await becomes(of, { left: 0.5 })
    expect(await giveBack(of, home)).toMatchObject({ status: 429, body: { code: 'returns_of_the_day' } })
    await turn(86_400_000)
    expect((await giveBack(of, home)).status).toBe(200)
    await becomes(of, { left: 0 })
  })

  it('ignores a transfer that a reorganisation removed', async () => {
    const of = await opened()
    const snapshot = await world.chain.call('evm_snapshot')
    await send(of.address, 700_000n)
    await becomes(of, { status: 'partly_paid' })
    await world.chain.call('evm_revert', snapshot)
    expect(await becomes(of, { status: 'waiting' })).toMatchObject({ received: 0, missing: 1 })
    await send(of.address, 1_000_000n)
    await becomes(of, { status: 'paid' })
  })

  it('is paid only once its workflow is available again', async () => {
    const of = await opened({ preflight: true })
    world.workflow.answers({ check: { status: 503, body: '{}' } })
    await send(of.address, 1_000_000n)
    expect(await becomes(of, { status: 'paying', reason: 'workflow_unavailable' })).toMatchObject({ left: 0 })
    const home = (await world.chain.payer(0n)).address
    expect(await giveBack(of, home)).toMatchObject({ status: 409, body: { code: 'payment_under_way' } })
    world.workflow.answers({})
    expect(await becomes(of, { status: 'paid' })).toMatchObject({ left: 0, reason: null })
    expect(await until(() => runsOf(of)[0] ?? null)).toBeDefined()
  })

  it('returns the money where the checkout has ended in the meantime', async () => {
    const of = await opened()
    expect((await world.seller.call('DELETE', `/v1/checkouts/${of.checkout.id}`)).status).toBeLessThan(300)
    await send(of.address, 1_000_000n)
    await becomes(of, { status: 'paying', reason: 'checkout_not_found' })
    // Until the signed payment is over, in a block that no reorganisation takes back, it could still be used.
    await turn(60_000)
    expect(await viewOf(of)).toMatchObject({ status: 'paying' })
    await catchUp()
    for (let look = 0; look < 3; look++) await turn()
    expect(await viewOf(of)).toMatchObject({ status: 'failed', reason: 'checkout_not_found', left: 1 })
    const home = (await world.chain.payer(0n)).address
    expect((await giveBack(of, home)).status).toBe(200)
    await becomes(of, { left: 0 })
    expect(await usdcOf(world.chain, home)).toBe(1_000_000n)
    expect(runsOf(of)).toEqual([])
  })

  it('returns the money where the work fails before it is charged', async () => {
    const of = await opened({ capture: 'onSuccess', responseMode: 'lastNode', runSeconds: 60 })
    world.workflow.answers({ delivery: { status: 500, body: '{}' } })
    await send(of.address, 1_000_000n)
    await becomes(of, { status: 'paying' })
    await until(() => runsOf(of)[0] ?? null)
    world.service.clock.forward(120_000)
    await catchUp()
    world.workflow.answers({})
    const ended = await becomes(of, { status: 'failed' })
    expect(ended).toMatchObject({ left: 1, payment: null })
    const home = (await world.chain.payer(0n)).address
    expect((await giveBack(of, home)).status).toBe(200)
    await becomes(of, { left: 0 })
    expect(await usdcOf(world.chain, home)).toBe(1_000_000n)
  })

  it.each([
    { to: '0x0000000000000000000000000000000000000000' },
    { to: '0x036CbD53842c5426634e7929541eC2318f3dCF7e' },
    { to: 'own' },
    { to: '0x12' },
    {},
  ])('returns nothing to %j', async ({ to }) => {
    const of = await opened()
    await send(of.address, 200_000n)
    const body = { to: to === 'own' ? of.address : to }
    const refused = await world.call('POST', `${of.path}/return`, { body, headers: { 'X-Payment-Token': of.token } })
    expect(refused).toMatchObject({ status: 400, body: { details: { to: expect.any(String) } } })
  })

  it.each([
    [{ testMode: true }, {}, 409],
    [{ fields: [{ name: 'site', type: 'text', required: true }] }, { input: {} }, 400],
    [{}, { choice: { plan: 'a' } }, 400],
    [{}, { input: [] }, 400],
    [{}, { email: 'x' }, 400],
  ])('gives no address for %j with %j', async (terms, body, status) => {
    const checkout = await world.sell(terms)
    expect((await world.call('POST', `/p/${checkout.id}/addresses`, { body })).status).toBe(status)
  })

  it('is a single order: a plan and a code for each customer are refused with the way to use them', async () => {
    const coupon = async (code: string, terms: object): Promise<string> => {
      const created = await world.seller.call('POST', '/v1/coupons', { body: { code, percent: 10, ...terms } })
      expect(created.status).toBe(201)
      return code
    }
    const { id } = await world.sell({
      coupons: true,
      plans: [{ id: 'ten', name: 'Ten', price: 5, kind: 'runs', runs: 10 }],
    })
    const open = (choice: object) => world.call('POST', `/p/${id}/addresses`, { body: { choice } })
    expect(await open({ plan: 'ten' })).toMatchObject({
      status: 400,
      body: { details: { 'choice.plan': 'is paid with a wallet, to which it belongs' } },
    })
    expect(await open({ coupon: await coupon('EACH', { perCustomer: 1 }) })).toMatchObject({
      status: 400,
      body: { details: { 'choice.coupon': 'is counted for each wallet: pay with a wallet, or without the code' } },
    })
    // A code that counts for everyone together is taken.
    expect(await open({ coupon: await coupon('ALL', { max: 5 }) })).toMatchObject({
      body: { address: { amount: 0.9 } },
    })
  })

  const createCode = async (code: string, until: Date): Promise<void> => {
    const body = { code, percent: 10, until: until.toISOString() }
    expect((await world.seller.call('POST', '/v1/coupons', { body })).status).toBe(201)
  }
  const inMinutes = (minutes: number): Date => new Date(world.service.clock.now().getTime() + minutes * 60_000)
  const minutesFrom = (from: string, until: string): number => (Date.parse(until) - Date.parse(from)) / 60_000

  it('ends before its code does, and is refused where that is within the hour', async () => {
    const { id } = await world.sell({ coupons: true })
    const open = async (code: string, until: Date) => {
      await createCode(code, until)
      return await world.call('POST', `/p/${id}/addresses`, { body: { choice: { coupon: code } } })
    }
    const fault = 'ends within the hour, before a transfer may arrive: pay with a wallet, or without the code'
    expect(await open('SOONOVER', inMinutes(59))).toMatchObject({
      status: 400,
      body: { details: { 'choice.coupon': fault } },
    })
    const until = inMinutes(120)
    const short = (await open('TWOHOURS', until)).body['address'] as PaymentAddressView
    expect([short.amount, minutesFrom(short.expiresAt, until.toISOString())]).toEqual([0.9, 5])
    const long = (await open('TWODAYS', inMinutes(2_880))).body['address'] as PaymentAddressView
    expect(minutesFrom(long.createdAt, long.expiresAt)).toBe(1_440)
  })

  it('is paid with money that arrives just before it ends, at the price of its code', async () => {
    await createCode('LASTHOUR', inMinutes(61))
    const of = await opened({ coupons: true }, { choice: { coupon: 'LASTHOUR' } })
    await send(of.address, 900_000n)
    await turn(minutesFrom(world.service.clock.now().toISOString(), (await viewOf(of)).expiresAt) * 60_000 + 60_000)
    await becomes(of, { status: 'paid' })
  })

  it('ends before the request that it pays, and is refused where that is within the hour', async () => {
    const order = await opened()
    await send(order.address, 1_000_000n)
    const { payment } = await becomes(order, { status: 'paid' })
    const open = async (expiresInSeconds: number) => {
      const body = { amount: 1, note: 'Express', expiresInSeconds }
      const { request } = (await world.seller.call('POST', `/v1/payments/${payment!.id}/requests`, { body })).body
      const { url, expiresAt } = request as { url: string; expiresAt: string }
      return { expiresAt, answer: await world.call('POST', `${new URL(url).pathname}/addresses`) }
    }
    expect((await open(3_599)).answer).toMatchObject({ status: 409, body: { code: 'transfers_unavailable' } })
    const { expiresAt, answer } = await open(7_200)
    expect(minutesFrom((answer.body['address'] as PaymentAddressView).expiresAt, expiresAt)).toBe(5)
  })

  it('costs its price where a wallet has free trials, and uses none of them', async () => {
    const of = await opened({ trialRuns: 2 })
    expect(await viewOf(of)).toMatchObject({ amount: 1 })
    await send(of.address, 1_000_000n)
    await becomes(of, { status: 'paid' })
    const { body } = await world.call('GET', `/p/${of.checkout.id}/pass?address=${of.address}`)
    expect(body).toMatchObject({ pass: null, trialRunsLeft: 2 })
  })

  it('has one address per key, readable with its own token only', async () => {
    const checkout = await world.sell()
    const make = (key: string) =>
      world.call('POST', `/p/${checkout.id}/addresses`, { headers: { 'Idempotency-Key': key } })
    // A stranger who guesses the key would get the address and its token.
    for (const key of ['one-order-1', 'x'.repeat(31)]) {
      expect(await make(key)).toMatchObject({
        status: 400,
        body: { details: { 'Idempotency-Key': expect.any(String) } },
      })
    }
    const key = randomUUID()
    const [one, two] = [await make(key), await make(key)]
    expect(one.status).toBe(201)
    expect(two.body).toEqual(one.body)
    const other = await opened()
    const path = `/p/${checkout.id}/addresses/${String(one.body.address.id)}`
    for (const token of [other.token, `tok_${'b'.repeat(43)}`]) {
      expect((await world.call('GET', path, { headers: { 'X-Payment-Token': token } })).status).toBe(404)
    }
    expect((await world.call('GET', path)).status).toBe(404)
    const elsewhere = `/p/${other.checkout.id}/addresses/${String(one.body.address.id)}`
    const own = { headers: { 'X-Payment-Token': String(one.body.token) } }
    expect((await world.call('GET', elsewhere, own)).status).toBe(404)
    expect((await world.call('GET', path, own)).status).toBe(200)
  })
})
