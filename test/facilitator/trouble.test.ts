import { encodeTransfer } from '../../service/chain/calldata.ts'
import { startRelay, honest, type Relay } from '../chain/relay.ts'
import { openWorld, request, sentBy, until, usdcOf, type World } from './world.ts'

describe('trouble on the chain', () => {
  let world: World
  let relay: Relay
  beforeAll(async () => {
    world = await openWorld({ chain: { mining: 'manual' }, services: 0 })
    relay = await startRelay(world.chain.url)
    await world.add({ environment: { BASE_SEPOLIA_RPC_URLS: relay.url } })
  })
  afterAll(async () => {
    await world.close()
    await relay.stop()
  })

  const service = () => world.services[0]!
  const newPayment = async () => request(world.chain, 2, await world.payer.authorize(world.chain.network, world.seller))
  type Payment = Awaited<ReturnType<typeof newPayment>>
  const look = async ({ paymentPayload: { payload } }: Payment) => {
    const { from, nonce } = payload.authorization
    return (await service().get(`/settlements/base-sepolia/${from}/${nonce}`)).body as {
      status?: string
      txHash?: string | null
      confirmed?: boolean
    }
  }
  const pooled = () =>
    until(async () => ((await world.chain.call('txpool_status')) as { pending: string }).pending !== '0x0')
  const away = () => relay.behave(() => ({ status: 502, body: {} }))
  const stateOf = async ({ paymentPayload: { payload } }: Payment): Promise<string | null> => {
    const nonce = Buffer.from(payload.authorization.nonce.slice(2), 'hex')
    const [row] = await world.database.statements.run<{ state: string }>(
      'SELECT state FROM facilitator_settlement WHERE nonce = $1',
      [nonce],
    )
    return row?.state ?? null
  }
  const leaseIsNew = async (): Promise<boolean> => {
    const [row] = await world.database.statements.run<{ until: Date }>(
      `SELECT until FROM lease WHERE name LIKE 'sponsor %'`,
      [],
    )
    return row !== undefined && row.until.getTime() > world.clock.now().getTime() + 2_500
  }
  const sponsor = () => world.chain.accounts[0]!.address

  it('an RPC that is down is a 503 with Retry-After, and nothing is claimed', async () => {
    const payment = await newPayment()
    away()
    for (const path of ['/verify', '/settle'] as const) {
      const { status, headers, body } = await service().post(path, payment)
      expect(status).toBe(503)
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
      expect(body).toMatchObject({
        code: 'rpc_unavailable',
        ...(path === '/verify' ? { isValid: false } : { success: false }),
      })
    }
    relay.behave(honest)
    expect((await look(payment)).status).toBeUndefined()
    world.clock.forward(30_000)
  })

  it('a settlement in flight during an outage is pending, and settles afterwards', async () => {
    const payment = await newPayment()
    const settlement = service().post('/settle', payment)
    await pooled()
    away()
    world.clock.forward(25_000)
    const { status, body } = await settlement
    expect(status).toBe(200)
    expect(body).toMatchObject({ success: false, errorReason: 'settlement_pending', status: 'pending' })
    relay.behave(honest)
    world.clock.forward(60_000)
    await world.chain.mine()
    await until(async () => (await look(payment)).status === 'settled')
    expect((await service().post('/settle', payment)).body).toMatchObject({ success: true })
  })

  it('a transaction not mined is replaced at a higher fee, and the one that is mined counts', async () => {
    const payment = await newPayment()
    const before = await sentBy(world.chain, sponsor())
    const settlement = service().post('/settle', payment)
    await pooled()
    const first = await until(async () => (await look(payment)).txHash)
    world.clock.forward(13_000)
    const second = await until(async () => {
      const { txHash } = await look(payment)
      return txHash !== first ? txHash : null
    })
    // The hash is stored before the transaction is sent: a block mined now could still take the first.
    await until(async () => (await world.chain.call('eth_getTransactionByHash', second)) !== null)
    await world.chain.mine()
    const { body } = await settlement
    expect(body).toMatchObject({ success: true, txHash: second })
    expect((await sentBy(world.chain, sponsor())) - before).toBe(1)
  })

  it('settles a transfer again, once, after a reorganisation removes its block', async () => {
    const payment = await newPayment()
    const sellerBalance = await usdcOf(world.chain, world.seller)
    const settlement = service().post('/settle', payment)
    await pooled()
    await world.chain.mine()
    expect((await settlement).body.success).toBe(true)
    await world.chain.reorg(1)
    expect(await usdcOf(world.chain, world.seller)).toBe(sellerBalance)
    world.clock.forward(2_000)
    await until(async () => (await look(payment)).status === 'pending')
    world.clock.forward(5_000)
    await until(async () => {
      await world.chain.mine()
      return (await look(payment)).status === 'settled'
    })
    expect(await usdcOf(world.chain, world.seller)).toBe(sellerBalance + 1_000_000n)
    expect((await service().post('/settle', payment)).body).toMatchObject({ success: false, status: 'settled' })
  })

  it('a failure that a reorganisation removes is not reported, and the payment settles', async () => {
    const payment = await newPayment()
    const { address } = world.payer
    const settlement = service().post('/settle', payment)
    await pooled()
    const funds = await usdcOf(world.chain, address)
    await world.chain.fund(address, 0n)
    await world.chain.mine()
    await until(async () => (await look(payment)).status === 'failed')
    await world.chain.reorg(1)
    await world.chain.fund(address, funds)
    world.clock.forward(2_000)
    await until(async () => (await look(payment)).status === 'pending')
    world.clock.forward(5_000)
    await until(async () => {
      await world.chain.mine()
      return (await look(payment)).status === 'settled'
    })
    expect((await settlement).body).toMatchObject({ success: true })
  })

  it('a failure is reported as soon as its block is deep enough', async () => {
    const payment = await newPayment()
    const { address } = world.payer
    const settlement = service().post('/settle', payment)
    await pooled()
    const funds = await usdcOf(world.chain, address)
    await world.chain.fund(address, 0n)
    await world.chain.mine()
    await until(async () => (await look(payment)).status === 'failed')
    await world.chain.mine(3)
    world.clock.forward(2_000)
    expect((await settlement).body).toMatchObject({
      success: false,
      errorReason: 'invalid_exact_evm_insufficient_balance',
    })
    await world.chain.fund(address, funds)
  })

  it('a settlement is confirmed once its block is deep enough', async () => {
    const payment = await newPayment()
    const settlement = service().post('/settle', payment)
    await pooled()
    await world.chain.mine()
    await settlement
    expect((await look(payment)).confirmed).toBe(false)
    await world.chain.mine(3)
    world.clock.forward(2_000)
    await until(async () => (await look(payment)).confirmed === true)
  })

  it("decides a deep transaction's outcome later when the chain cannot be read at first", async () => {
    const signed = await world.payer.authorize(world.chain.network, world.seller)
    const nonce = signed.nonce.slice(2)
    const payment = request(world.chain, 2, signed)
    const settlement = service().post('/settle', payment)
    await pooled()
    const hash = await until(async () => (await look(payment)).txHash)
    await world.chain.call('anvil_dropTransaction', hash)
    // A stranger's transaction is first in the block; ours comes behind it and moves nothing.
    const { usdc } = world.chain.network
    const [from, to] = [world.chain.accounts[1]!.address, usdc.address]
    const { data } = encodeTransfer(to, signed, false)
    await world.chain.call('anvil_impersonateAccount', from)
    await world.chain.call('eth_sendTransaction', { from, to, data, gas: '0x493e0' })
    const [ours] = await world.database.statements.run<{ raw: Buffer }>(
      'SELECT raw FROM facilitator_transaction WHERE hash = $1',
      [Buffer.from(hash.slice(2), 'hex')],
    )
    await world.chain.call('eth_sendRawTransaction', `0x${ours!.raw.toString('hex')}`)
    relay.behave((questions) =>
      questions.some(({ method, params }) => method === 'eth_getLogs' && JSON.stringify(params).includes(nonce))
        ? { status: 502, body: {} }
        : { pass: [...questions] },
    )
    await world.chain.mine(4)
    // Several checks, each of which finds the transaction deep and cannot tell which one moved the money.
    for (let step = 0; step < 6; step++) {
      world.clock.forward(4_000)
      await until(leaseIsNew)
    }
    expect(await stateOf(payment)).toBe('broadcast')
    relay.behave(honest)
    await until(async () => {
      world.clock.forward(1_000)
      return (await look(payment)).confirmed === true
    })
    expect(await stateOf(payment)).toBe('settled')
    expect((await settlement).body.status).toMatch(/settled|pending/)
  })

  it('fills a nonce without a pending transaction, so that later ones are mined', async () => {
    const nonce = await sentBy(world.chain, sponsor())
    // As if it had gone to a foreign transaction, in a block that was taken back since.
    await world.database.statements.run(
      `INSERT INTO facilitator_transaction
         (network, sponsor, nonce, state, target, data, gas, max_fee, priority_fee, hash, raw, signed_at)
       VALUES ('base-sepolia', $1, $2, 'lost', $1, '', 21000, 1, 1, '', '', now())`,
      [Buffer.from(sponsor().slice(2), 'hex'), nonce],
    )
    await service().close()
    const next = await world.add({ environment: { BASE_SEPOLIA_RPC_URLS: relay.url } })
    world.clock.forward(7_000)
    const payment = await newPayment()
    const settlement = next.post('/settle', payment)
    await until(async () => (await stateOf(payment)) === 'broadcast')
    world.clock.forward(13_000)
    await until(async () => {
      await world.chain.mine()
      return (await stateOf(payment)) === 'settled'
    })
    expect((await settlement).body.success).toBe(true)
    expect(await sentBy(world.chain, sponsor())).toBe(nonce + 2)
    await next.close()
  })

  it("settles with a new transaction when the sponsor's nonce was used outside the service", async () => {
    const payment = await newPayment()
    const other = await world.add({ writes: false })
    const settlement = other.post('/settle', payment)
    await until(async () => (await stateOf(payment)) === 'claimed')
    // Sent without the service's knowledge, with the very nonce that it is about to use.
    await world.chain.call('anvil_impersonateAccount', sponsor())
    const nonce = `0x${(await sentBy(world.chain, sponsor())).toString(16)}`
    other.facilitator.start()
    await pooled()
    await world.chain.call('anvil_dropAllTransactions')
    await world.chain.call('eth_sendTransaction', { from: sponsor(), to: sponsor(), value: '0x0', nonce })
    await world.chain.mine()
    // Steps that are shorter than a lease: the lane keeps it, and takes a turn after each.
    for (let step = 0; step < 10; step++) {
      world.clock.forward(4_000)
      await until(leaseIsNew)
    }
    await until(async () => {
      await world.chain.mine()
      return (await stateOf(payment)) === 'settled'
    })
    expect((await settlement).body.status).toMatch(/settled|pending/)
    const [lost] = await world.database.statements.run<{ n: bigint }>(
      `SELECT count(*) AS n FROM facilitator_transaction WHERE state = 'lost'`,
      [],
    )
    expect(lost!.n).toBe(1n)
  })
})
