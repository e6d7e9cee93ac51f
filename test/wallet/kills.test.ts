import { randomBytes } from 'node:crypto'
import { toHex } from 'viem'
import type { Hex } from '../../service/chain/model.ts'
import { newId } from '../../service/kit/ids.ts'
import { hiding, honest, startRelay, type Relay } from '../chain/relay.ts'
import type { Withdrawal } from '../../service/wallet/model.ts'
import { until, usdcOf } from '../facilitator/world.ts'
import type { Order } from './child/worker.ts'
import { startWorker } from './processes.ts'
import { dollars, liveSettings, openWorld, send, type Depositor, type World } from './world.ts'

type Place = 'locked' | 'submitted' | 'settled' | 'paid'

describe('a withdrawal whose process is killed', () => {
  let world: World
  let environment: Record<string, string>
  beforeAll(async () => {
    world = await openWorld()
    environment = {
      ...(await liveSettings(world.chain)),
      LOG_LEVEL: 'silent',
      DATABASE_URL: world.service.testDatabase.url,
      DATABASE_POOL: '5',
      DATA_DIR: '/tmp',
      PORT: '0',
    }
    const treasury = world.service.wallets.treasury()!
    await send(world.chain, [{ to: treasury, value: 1_000_000_000n }])
    await world.mine(3)
  })
  afterAll(() => world.close())

  async function rich(): Promise<Depositor> {
    const person = await world.person()
    await send(world.chain, [{ to: person.address, value: 10_000_000n }])
    await world.mine(3)
    await world.watch()
    return person
  }

  /**
   * A process takes the withdrawal as far as this place, and dies. Returns the id of the operation, which is all that
   * its caller knows.
   */
  async function die(person: Depositor, to: Hex, place: Place) {
    const operation = newId('op', world.service.clock.now())
    const { caller } = person
    const order: Order = {
      work: 'withdraw',
      caller,
      to,
      amount: '4000000',
      operation,
      dieAt: `withdrawal ${place}`,
      environment,
      url: environment['DATABASE_URL']!,
    }
    // Gives the receipt its confirmations: blocks are mined while it works.
    const mining = setInterval(() => void world.chain.mine(1), 100)
    expect(await startWorker(order).dead).toBe('SIGKILL')
    clearInterval(mining)
    return operation
  }

  /** The next process finishes the withdrawal. */
  async function finish(operation: Awaited<ReturnType<typeof die>>, person: Depositor, to: Hex): Promise<Withdrawal> {
    const { service } = world
    const amount = dollars(4)
    const { id } = await service.wallets.withdrawals.withdraw(person.caller, { to, amount }, operation)
    return await until(async () => {
      await world.mine(1)
      await service.wallets.payouts.stepAll(new AbortController().signal)
      const now = await service.wallets.withdrawals.find(person.caller, id)
      return now.endedAt === null ? null : now
    })
  }

  async function sound() {
    await world.mine(3)
    await world.watch()
    expect(await world.service.ledger.differences()).toEqual([])
    expect(await world.service.wallets.reconciling.reconcile()).toMatchObject({ difference: 0n })
    // The sweeper leaves holds alone that another part of the service must end.
    expect(await world.service.ledger.sweep()).toBe(0)
  }

  test.each<Place>(['locked', 'submitted', 'settled', 'paid'])('once it has %s: it is paid, once', async (place) => {
    const person = await rich()
    const to = toHex(randomBytes(20))
    const operation = await die(person, to, place)
    world.service.clock.forward(30_000)
    world.service.facilitator.start()
    const done = await finish(operation, person, to)
    expect(done).toMatchObject({ state: 'confirmed', transactionHash: expect.stringMatching(/^0x/) })
    expect(await usdcOf(world.chain, to)).toBe(4_000_000n)
    expect(await person.balance()).toBe(6)
    const { withdrawals } = (await person.call('GET', '/v1/wallet/withdrawals')).body
    expect(withdrawals).toHaveLength(1)
    await sound()
  })
})

describe('a withdrawal whose time ran out', () => {
  test.each<[Place, 'failed' | 'confirmed']>([
    ['submitted', 'failed'],
    ['settled', 'confirmed'],
  ])('after %s is %s: refunded only when nothing left, and only then', async (place, state) => {
    const world = await openWorld()
    const { chain, service } = world
    const person = await world.person()
    await send(chain, [
      { to: person.address, value: 10_000_000n },
      { to: service.wallets.treasury()!, value: 10_000_000n },
    ])
    await world.mine(3)
    await world.watch()
    const to = toHex(randomBytes(20))
    const operation = newId('op', service.clock.now())
    const { id } = await service.wallets.withdrawals.withdraw(person.caller, { to, amount: dollars(4) }, operation)
    if (place === 'settled') {
      service.facilitator.start()
      await service.wallets.payouts.step(id)
    } else {
      // The withdrawal is not settled: its terms are fixed, but the facilitator is not started.
      void service.wallets.payouts.step(id).catch(() => undefined)
      await until(async () => (await service.wallets.withdrawals.find(person.caller, id)).state === 'submitted')
    }
    await chain.call('evm_increaseTime', 3_700)
    await chain.mine(1)
    service.clock.forward(4_000_000)
    // Soon after its time it is not certain: a branch of the chain may still have it.
    await service.wallets.payouts.stepAll(new AbortController().signal)
    expect((await service.wallets.withdrawals.find(person.caller, id)).state).toBe('submitted')
    expect(await service.ledger.sweep()).toBe(0)
    await chain.call('evm_increaseTime', 100)
    await chain.mine(3)
    service.clock.forward(2_000)
    await service.wallets.payouts.stepAll(new AbortController().signal)
    expect(await service.wallets.withdrawals.find(person.caller, id)).toMatchObject({
      state,
      reason: state === 'failed' ? 'expired' : null,
    })
    expect(await usdcOf(chain, to)).toBe(state === 'failed' ? 0n : 4_000_000n)
    expect(await person.balance()).toBe(state === 'failed' ? 10 : 6)
    expect(await service.ledger.differences()).toEqual([])
    await world.close()
  })

  test('stays submitted while one node hides that it was paid', async () => {
    let relay!: Relay
    const world = await openWorld(async ({ url }) => {
      relay = await startRelay(url)
      return { BASE_RPC_URLS: `${relay.url},${url}` }
    })
    const { chain, service } = world
    const person = await world.person()
    await send(chain, [
      { to: person.address, value: 10_000_000n },
      { to: service.wallets.treasury()!, value: 10_000_000n },
    ])
    await world.mine(3)
    await world.watch()
    const before = BigInt((await chain.call('eth_blockNumber')) as string)
    const operation = newId('op', service.clock.now())
    const to = toHex(randomBytes(20))
    const { id } = await service.wallets.withdrawals.withdraw(person.caller, { to, amount: dollars(4) }, operation)
    const found = async () => await service.wallets.withdrawals.find(person.caller, id)
    service.facilitator.start()
    await service.wallets.payouts.step(id)
    expect(await usdcOf(chain, to)).toBe(4_000_000n)
    await chain.call('evm_increaseTime', 3_800)
    await chain.mine(5)
    service.clock.forward(4_000_000)
    relay.behave(hiding(before))
    await service.wallets.payouts.stepAll(new AbortController().signal)
    expect((await found()).state).toBe('submitted')
    relay.behave(honest)
    service.clock.forward(2_000)
    await service.wallets.payouts.stepAll(new AbortController().signal)
    expect(await found()).toMatchObject({ state: 'confirmed', reason: null })
    expect(await person.balance()).toBe(6)
    await world.close()
    await relay.stop()
  })
})
