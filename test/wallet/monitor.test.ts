import { createHmac } from 'node:crypto'
import type { Hex } from '../../service/chain/model.ts'
import { until, usdcOf } from '../facilitator/world.ts'
import { honest, startRelay } from '../chain/relay.ts'
import { openWorld, send, signedMint, transfer, type World } from './world.ts'

describe('the monitor', () => {
  let world: World
  beforeEach(async () => {
    world = await openWorld({ IDENTITY_HOOK_SECRET: SECRET })
  })
  afterEach(() => world.close())

  test('credits a deposit once it has enough confirmations, and not before', async () => {
    const person = await world.person()
    await send(world.chain, [{ to: person.address, value: 5_000_000n }])
    for (const [mined, balance] of [
      [0, 0],
      [1, 0],
      [1, 5],
      [10, 5],
    ] as const) {
      await world.mine(mined)
      await world.watch()
      expect(await person.balance()).toBe(balance)
    }
  })

  test('counts plain transfers, batches and authorizations that another account submits', async () => {
    const [one, other] = [await world.person(), await world.person()]
    const payer = await world.chain.payer(10_000_000n)
    await transfer(world.chain, payer.address, one.address, 1_000_000n)
    await send(world.chain, [
      { to: one.address, value: 2_000_000n },
      { to: other.address, value: 3_000_000n },
      { to: other.address, value: 4_000_000n },
    ])
    await world.mine(3)
    await world.watch()
    expect([await one.balance(), await other.balance()]).toEqual([3, 7])
  })

  test('credits a transfer made long before the reader starts', async () => {
    const person = await world.person()
    await send(world.chain, [{ to: person.address, value: 5_000_000n }])
    await world.chain.mine(300)
    world.service.clock.forward(600_000)
    await world.watch()
    expect(await person.balance()).toBe(5)
  })

  test('credits nothing when a reorganisation removes the deposit before it is deep', async () => {
    const person = await world.person()
    await send(world.chain, [{ to: person.address, value: 5_000_000n }])
    await world.mine(1)
    await world.watch()
    await world.chain.reorg(2)
    await world.mine(10)
    await world.watch()
    expect(await person.balance()).toBe(0)
  })

  test('one after it keeps the credit, counts an event, and shows the difference in the books', async () => {
    const person = await world.person()
    await send(world.chain, [{ to: person.address, value: 5_000_000n }])
    await world.mine(4)
    await world.watch()
    expect(await person.balance()).toBe(5)
    await world.chain.reorg(5)
    await world.mine(5)
    await world.watch()
    expect(await person.balance()).toBe(5)
    expect(await world.service.wallets.reconciling.reconcile()).toMatchObject({ difference: -5_000_000n })
    const { text } = await world.service.call('GET', '/metrics')
    expect(text).toMatch(/coinslot_events_total\{event="deposit_reorganised"\} 1/)
    expect(text).toMatch(/coinslot_reconciliation_difference_usdc -5/)
  })

  test('counts a transaction once when a reorganisation moves it to another block', async () => {
    const [person, other] = [await world.person(), await world.person()]
    const raw = await signedMint(world.chain, person.address, 5_000_000n)
    const hash = (await world.chain.call('eth_sendRawTransaction', raw)) as Hex
    await world.mine(4)
    await world.watch()
    expect(await person.balance()).toBe(5)
    await world.chain.reorg(5)
    await world.chain.call('evm_setAutomine', false)
    // Something else first, so that the same log has another number in its block; then the very same transaction.
    const payer = await world.chain.payer(10_000_000n)
    await transfer(world.chain, payer.address, other.address, 1_000_000n)
    expect(await world.chain.call('eth_sendRawTransaction', raw)).toBe(hash)
    await world.mine(5)
    await world.watch()
    expect([await person.balance(), await other.balance()]).toEqual([5, 1])
    expect((await person.deposit(5, hash)).status).toBe(409)
  })

  test('sweeps a deposit that was gone for a while as any other', async () => {
    const person = await world.person()
    const raw = await signedMint(world.chain, person.address, 6_000_000n)
    await world.chain.call('eth_sendRawTransaction', raw)
    await world.mine(4)
    await world.watch()
    await world.chain.reorg(5)
    await world.mine(5)
    await world.watch()
    const gone = async () => {
      const text =
        "SELECT count(*)::int AS gone FROM wallet_deposit WHERE address = decode($1, 'hex') AND gone_at IS NOT NULL"
      return (await world.service.database.pool.query<{ gone: number }>(text, [person.address.slice(2)])).rows[0]?.gone
    }
    expect(await gone()).toBe(1)
    await world.chain.call('eth_sendRawTransaction', raw)
    await world.mine(5)
    await world.watch()
    expect([await gone(), await person.balance()]).toEqual([0, 6])
  })

  test('credits each transfer once under concurrent API, monitor and identity provider', async () => {
    const people = await Promise.all(Array.from({ length: 8 }, () => world.person()))
    const hashes: Hex[] = []
    for (const { address } of people) hashes.push(await send(world.chain, [{ to: address, value: 3_000_000n }]))
    await world.mine(3)
    const monitor = world.service.wallets.monitors.at(0)!
    const calm = new AbortController().signal
    await Promise.all([
      ...people.map((person, place) => person.deposit(3, hashes[place])),
      ...hashes.map((hash) => hint(world, hash)),
      ...people.map((person) => person.deposit(3)),
      monitor.turn(world.service.clock.now(), calm),
      monitor.turn(world.service.clock.now(), calm),
    ])
    await world.watch()
    expect(await Promise.all(people.map((person) => person.balance()))).toEqual(people.map(() => 3))
    expect(await world.service.wallets.reconciling.reconcile()).toMatchObject({ difference: 0n })
  })

  test("counts a sweep into the treasury as no deposit, and the operator's transfers as capital", async () => {
    const person = await world.person()
    world.service.facilitator.start()
    await send(world.chain, [{ to: person.address, value: 5_000_000n }])
    await world.mine(3)
    await world.watch()
    const collect = async () => {
      for (const { run } of world.service.wallets.collecting) await run(new AbortController().signal)
      const { rows } = await world.service.database.pool.query<{ state: string }>('SELECT state FROM wallet_sweep')
      return rows
    }
    // Until it is deep a reorganization could take it back.
    expect(await collect()).toEqual([{ state: 'open' }])
    await world.mine(3)
    expect(await collect()).toEqual([{ state: 'settled' }])
    const treasury = world.service.wallets.treasury()!
    await send(world.chain, [{ to: treasury, value: 100_000_000n }])
    await world.mine(3)
    await world.watch()
    expect(await person.balance()).toBe(5)
    expect(await world.service.wallets.reconciling.reconcile()).toMatchObject({
      difference: 0n,
      capital: 100_000_000n,
      treasury: 105_000_000n,
      depositAddresses: 0n,
    })
  })

  test('leaves no deposit where it is, however many larger ones a reorganisation has removed', async () => {
    const { service, chain } = world
    const person = await world.person()
    service.facilitator.start()
    await send(chain, [{ to: person.address, value: 5_000_000n }])
    await world.mine(3)
    await world.watch()
    await service.database.pool.query(`WITH gone AS (
      INSERT INTO wallet_address (account, environment, user_id, address, created_at)
      SELECT a.account, a.environment, 'usr_gone' || n, decode(lpad(to_hex(n), 40, '0'), 'hex'), a.created_at
      FROM wallet_deposit d JOIN wallet_address a USING (address), generate_series(1, 200) n RETURNING *
    ) INSERT INTO wallet_deposit SELECT d.network, sha256(g.address), 0, g.address, g.environment, g.user_id, d.sender, d.value * 2,
      d.block_number, d.block_hash, d.act, d.at, d.at FROM wallet_deposit d, gone g`)
    for (const { run } of service.wallets.collecting) await run(new AbortController().signal)
    await world.mine(3)
    expect(await usdcOf(chain, service.wallets.treasury()!)).toBe(5_000_000n)
  })

  test('recovers from an RPC that fails, is slow or needs smaller searches', async () => {
    const relay = await startRelay(world.chain.url)
    const limited = await openWorld({ BASE_RPC_URLS: relay.url })
    const person = await limited.person()
    await limited.chain.stop()
    relay.behave((questions) =>
      questions.some(({ method }) => method === 'eth_getLogs')
        ? { status: 500, body: { error: 'busy' } }
        : { pass: [...questions] },
    )
    await send(world.chain, [{ to: person.address, value: 5_000_000n }])
    await world.chain.mine(50)
    await expect(limited.watch()).rejects.toThrow('cannot be reached')
    relay.behave((questions, isBatch) => {
      const [search] = questions.filter(({ method }) => method === 'eth_getLogs')
      const range = search?.params[0] as { fromBlock: string; toBlock: string } | undefined
      if (range === undefined || Number(range.toBlock) - Number(range.fromBlock) < 16) return honest(questions, isBatch)
      const error = { code: -32602, message: 'block range too large, limit is 16' }
      return { status: 200, body: questions.map(({ id }) => ({ jsonrpc: '2.0', id, error })) }
    })
    await until(async () => {
      limited.service.clock.forward(30_000)
      await limited.watch().catch(() => undefined)
      return (await person.balance()) === 5
    })
    await limited.service.close()
    await relay.stop()
  })

  test('skips a node that lags behind, so nothing is missed', async () => {
    const relay = await startRelay(world.chain.url)
    const two = await openWorld({ BASE_RPC_URLS: `${relay.url},${world.chain.url}` })
    const person = await two.person()
    await two.chain.stop()
    // It knows the newest block's number but not its contents.
    relay.behave((questions, isBatch) => {
      if (!questions.some(({ method }) => method === 'eth_getLogs')) return honest(questions, isBatch)
      return {
        status: 200,
        body: questions.map(({ id, method }) => ({ jsonrpc: '2.0', id, result: method === 'eth_getLogs' ? [] : null })),
      }
    })
    await send(world.chain, [{ to: person.address, value: 5_000_000n }])
    await world.chain.mine(5)
    await two.watch()
    expect(await person.balance()).toBe(5)
    await two.service.close()
    await relay.stop()
  })
})

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

function hint(world: World, transactionHash: Hex) {
  const raw = JSON.stringify({
    type: 'wallet.funds_deposited',
    caip2: 'eip155:8453',
    transaction_hash: transactionHash,
  })
  const timestamp = String(Math.floor(world.service.clock.now().getTime() / 1000))
  const signature = createHmac('sha256', Buffer.alloc(32, 7)).update(`msg_1.${timestamp}.${raw}`).digest('base64')
  return world.service.call('POST', '/v1/hooks/identity', {
    raw,
    headers: { 'svix-id': 'msg_1', 'svix-timestamp': timestamp, 'svix-signature': `v1,${signature}` },
  })
}
