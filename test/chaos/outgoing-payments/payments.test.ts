import { fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import type { Hex } from '../../../service/chain/model.ts'
import { newId } from '../../../service/kit/ids.ts'
import { usdc } from '../../../service/kit/money.ts'
import type { Payment } from '../../../service/outgoing-payments/model.ts'
import type { TestChain } from '../../harness/chain.ts'
import { until, usdcOf } from '../../facilitator/world.ts'
import { liveSettings, openWorld, send, type Depositor, type World } from '../../wallet/world.ts'
import type { Order } from './mortal.ts'
import { Seller } from '../../outgoing-payments/seller.ts'

/** A live service, whose process is killed between any two states of a paid call while it makes two of them. */
describe('a process that is killed while it pays', () => {
  let world: World
  let seller: Seller
  let person: Depositor
  let recipient: Hex
  let treasury: Hex
  let environment: Record<string, string>
  let aheadMs = 0

  beforeAll(async () => {
    const settings = {
      PAYER_SEED: randomBytes(32).toString('hex'),
      PAY_TIMEOUT_MS: '5000',
      ALLOW_HOSTS: '127.0.0.1',
      SETTLE_CONFIRMATIONS: '1',
      RATE_SETTLE_PER_MINUTE: '0',
    }
    world = await openWorld(settings)
    const { chain, service } = world
    environment = {
      ...(await liveSettings(chain)),
      ...settings,
      LOG_LEVEL: 'silent',
      DATABASE_URL: service.testDatabase.url,
      DATA_DIR: '/tmp',
      PORT: '0',
    }
    recipient = chain.accounts[3]!.address
    treasury = service.wallets.treasury()!
    seller = await new Seller(chain.network, recipient, () => `${service.origin}/facilitator`).listen()
    person = await world.person()
    await send(chain, [
      { to: person.address, value: 100_000_000n },
      { to: treasury, value: 50_000_000n },
    ])
    await world.mine(3)
    await world.watch()
  })
  afterAll(async () => {
    await seller.close()
    await world.close()
  })

  function forward(ms: number): void {
    aheadMs += ms
    world.service.clock.forward(ms)
  }

  async function die(place: string, calls: Order['calls']): Promise<void> {
    const child = fork(fileURLToPath(new URL('./mortal.ts', import.meta.url)), {
      execArgv: ['--import', fileURLToPath(new URL('../../../service/launch/typescript.mjs', import.meta.url))],
    })
    const dead = new Promise<NodeJS.Signals | null>((resolve) => {
      child.once('exit', (_code, signal) => {
        resolve(signal)
      })
    })
    const { url } = world.service.testDatabase
    child.send({ environment, url, aheadMs, caller: person.caller, calls, dieAt: place } satisfies Order)
    expect(await dead).toBe('SIGKILL')
  }

  function payAgain(call: Order['calls'][number]) {
    const request = { url: call.url, method: 'GET', headers: {}, body: null, maxAmount: usdc(1_000_000n) }
    return world.service.outgoingPayments.pay(person.caller, request, call.operation, {
      keyed: true,
      background: false,
    })
  }

  async function payments(): Promise<readonly Payment[]> {
    return (await world.service.outgoingPayments.list(person.caller, { limit: 100, offset: 0 })).payments
  }

  /** Advances the clocks of the service and the chain, until the sweeper has finished all payments. */
  async function finish(): Promise<void> {
    const { chain, service } = world
    await service.outgoingPayments.reconcile()
    forward(460_000)
    await chain.call('evm_setNextBlockTimestamp', Math.floor(service.clock.now().getTime() / 1000))
    await until(async () => {
      await chain.mine(2)
      forward(6_000)
      await service.outgoingPayments.reconcile()
      return (await payments()).every(({ endedAt }) => endedAt !== null)
    })
  }

  const PLACES = ['reserved', 'funding', 'transferred', 'funded', 'signed', 'sent', 'answered', 'settled']
  test.each(PLACES)(
    'once it has %s: each call is paid once or not at all, and the books are true',
    async (place) => {
      const { chain, service } = world
      const [before, recipientBalance] = [await person.balance(), await usdcOf(chain, recipient)]
      const calls = ['asked-again', 'left-alone'].map((what) => ({
        url: seller.url(`/v2/once/${place}/${what}`),
        operation: newId('op', service.clock.now()),
      }))
      await die(place, calls)
      // The successor may not take the sponsor over at once: the dead process could merely be slow.
      forward(30_000)
      service.facilitator.start()
      const { payment } = await payAgain(calls[0]!)
      expect(payment?.state).toMatch(/^(sent|settled)$/)
      await finish()

      // Each call has one authorization, however often it was shown.
      for (const path of seller.payments.keys()) expect(new Set(seller.payments.get(path)).size).toBe(1)
      const found = (await payments()).filter(({ url }) => calls.some((call) => call.url === url))
      const settled = found.filter(({ state }) => state === 'settled')
      expect(settled.map(({ url }) => url)).toContain(calls[0]!.url)
      expect((await usdcOf(chain, recipient)) - recipientBalance).toBe(BigInt(settled.length) * 250_000n)
      expect(await person.balance()).toBeCloseTo(before - settled.length * 0.25, 6)
      expect((await person.call('GET', '/v1/wallet/balance')).body.wallet.totalLocked).toBe(0)
      await sound()
    },
    120_000,
  )

  /** The payer's balance on chain equals the spare money, and no money is missing anywhere. */
  async function sound(): Promise<void> {
    const { chain, service } = world
    const [payer] = await service.database.statements.run<{ address: Hex; spare: bigint }>(
      'SELECT address, spare FROM spending_payer',
      [],
    )
    expect(await usdcOf(chain, payer!.address)).toBe(payer!.spare)
    expect(await spent(chain)).toBe(payer!.spare + (await usdcOf(chain, recipient)))
    expect(await service.ledger.differences()).toEqual([])
    await world.mine(3)
    await world.watch()
    expect(await service.wallets.reconciling.reconcile()).toMatchObject({ difference: 0n, payers: payer!.spare })
  }

  const spent = async (chain: TestChain): Promise<bigint> => 50_000_000n - (await usdcOf(chain, treasury))
})
