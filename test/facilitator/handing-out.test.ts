import { request as send } from 'node:http'
import { openWorld, request, sentBy, until, usdcOf, type Instance, type World } from './world.ts'

describe('the success of a settlement', () => {
  let world: World
  beforeAll(async () => {
    world = await openWorld({ services: 2, chain: { mining: 'manual' } })
  })
  afterAll(() => world.close())

  const newPayment = async () => request(world.chain, 2, await world.payer.authorize(world.chain.network, world.seller))
  type Payment = Awaited<ReturnType<typeof newPayment>>

  const stateOf = async ({ paymentPayload: { payload } }: Payment): Promise<string | null> => {
    const { from, nonce } = payload.authorization
    const { status, body } = await world.service.get(`/settlements/base-sepolia/${from}/${nonce}`)
    return status === 200 ? (body.txHash === null ? null : (body.status as string)) : null
  }
  /** Signed and submitted, but in no block before the test mines one. */
  const underWay = (payment: Payment) =>
    until(async () => (await stateOf(payment)) === 'pending' && (await inPool()) > 0)
  const inPool = async (): Promise<number> => {
    const { pending } = (await world.chain.call('txpool_status')) as { pending: string }
    return Number(pending)
  }
  const mined = async (payment: Payment) => {
    await world.chain.mine()
    await until(async () => (await stateOf(payment)) === 'settled')
  }
  const outcome = async <T>(settlement: Promise<T>, payment: Payment): Promise<T> => {
    await underWay(payment)
    await mined(payment)
    return await settlement
  }

  it('is the same answer for all requests with one Idempotency-Key', async () => {
    const payment = await newPayment()
    const before = await sentBy(world.chain, world.chain.accounts[0]!.address)
    const settlements = Promise.all(
      Array.from({ length: 100 }, (_, place) =>
        world.services[place % 2]!.post('/settle', payment, { 'idempotency-key': 'one-sale' }),
      ),
    )
    const answers = await outcome(settlements, payment)
    expect(answers[0]!.body).toMatchObject({ success: true, status: 'settled' })
    for (const { status, body } of answers) {
      expect(status).toBe(200)
      expect(body).toEqual(answers[0]!.body)
    }
    expect((await sentBy(world.chain, world.chain.accounts[0]!.address)) - before).toBe(1)
    // A second caller does not get the success; a caller with the same key still does.
    const other = await world.service.post('/settle', payment)
    expect(other.body).toMatchObject({
      success: false,
      errorReason: 'invalid_exact_evm_nonce_already_used',
      status: 'settled',
      txHash: answers[0]!.body.txHash,
    })
    const again = await world.service.post('/settle', payment, { 'idempotency-key': 'one-sale' })
    expect(again.body).toEqual(answers[0]!.body)
    expect(again.headers.get('idempotency-replayed')).toBe('true')
  })

  it('goes to the next caller when the first one left before the answer', async () => {
    const payment = await newPayment()
    const { close } = callAndHold(world.services[0]!, payment)
    await underWay(payment)
    close()
    await mined(payment)
    const hash = (await world.service.get(pathOf(payment))).body.txHash as string
    const next = await until(async () => {
      const answer = await world.services[1]!.post('/settle', payment)
      return answer.body.success ? answer : null
    })
    expect(next.body.transaction).toBe(hash)
    const last = await world.services[0]!.post('/settle', payment)
    expect(last.body).toMatchObject({ success: false, status: 'settled', txHash: hash })
  })

  it('goes to the next caller when the process dies while it answers', async () => {
    const payment = await newPayment()
    let dies = true
    const reach = (at: string) => stuck(dies && at === 'settlement offered')
    const mortal = await world.add({ writes: false, failpoints: { reach } })
    const lost = mortal.post('/settle', payment).catch(() => null)
    await underWay(payment)
    await world.chain.mine()
    await until(async () => {
      const rows = await world.database.statements.run(
        'SELECT 1 FROM facilitator_settlement WHERE offered_to IS NOT NULL AND handed_out_at IS NULL',
        [],
      )
      return rows.length > 0
    })
    // Until the offer ends, no other caller gets the success: the first caller may be receiving it at this moment.
    const waiting = world.services[1]!.post('/settle', payment)
    world.clock.forward(11_000)
    expect((await waiting).body.success).toBe(true)
    dies = false
    await mortal.close()
    expect(await lost).toBeNull()
  })

  it('is pending, with the hash, after the longest wait', async () => {
    const payment = await newPayment()
    const settlement = world.service.post('/settle', payment)
    await underWay(payment)
    world.clock.forward(21_000)
    const { status, body } = await settlement
    expect(status).toBe(200)
    expect(body).toMatchObject({
      success: false,
      transaction: '',
      txHash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      errorReason: 'settlement_pending',
      settled: false,
      status: 'pending',
    })
    await mined(payment)
    const then = await world.service.post('/settle', payment)
    expect(then.body).toMatchObject({ success: true })
  })

  it('belongs to one of two authorizations with the same nonce', async () => {
    const { chain, payer, seller } = world
    const first = await payer.authorize(chain.network, seller)
    const other = chain.accounts[2]!.address
    const second = await payer.authorize(chain.network, other, { nonce: first.nonce })
    const sellerBalance = await usdcOf(chain, seller)
    const soldByOther = await usdcOf(chain, other)
    const payments = [request(chain, 2, first), request(chain, 2, second)]
    const settlements = Promise.all(payments.map((payment, place) => world.services[place]!.post('/settle', payment)))
    await until(async () => (await inPool()) > 0)
    await chain.mine()
    const answers = await settlements
    expect(answers.filter(({ body }) => body.success)).toHaveLength(1)
    const refused = answers.find(({ body }) => !body.success)!
    expect(refused.body).toMatchObject({
      errorReason: 'invalid_exact_evm_nonce_already_used',
      status: 'failed',
      txHash: null,
    })
    const moved = [(await usdcOf(chain, seller)) - sellerBalance, (await usdcOf(chain, other)) - soldByOther]
    expect([...moved].sort()).toEqual([0n, 1_000_000n])
  })
})

function pathOf(payment: { paymentPayload: { payload: { authorization: { from: string; nonce: string } } } }): string {
  const { from, nonce } = payment.paymentPayload.payload.authorization
  return `/settlements/eip155:84532/${from}/${nonce}`
}

/** Never resolves, as in a process that is gone. */
function stuck(here: boolean): Promise<void> | void {
  if (here) return new Promise(() => undefined)
}

/** A call whose connection can be cut. */
function callAndHold(instance: Instance, body: unknown): { close(): void } {
  const call = send(`${instance.origin}/settle`, { method: 'POST', headers: { 'content-type': 'application/json' } })
  call.on('error', () => undefined)
  call.end(JSON.stringify(body))
  return { close: () => call.destroy() }
}
