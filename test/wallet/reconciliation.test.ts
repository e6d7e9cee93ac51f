import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import fc from 'fast-check'
import { toHex } from 'viem'
import { newId } from '../../service/kit/ids.ts'
import { usdc } from '../../service/kit/money.ts'
import { openWorld, send, walletKeys, type Depositor, type World } from './world.ts'

describe('reconciliation', () => {
  let world: World
  let people: Depositor[]
  beforeAll(async () => {
    world = await openWorld()
    world.service.facilitator.start()
    people = [await world.person(), await world.person(), await world.person()]
  })
  afterAll(() => world.close())

  const who = fc.nat({ max: 2 })
  const amount = fc.integer({ min: 1, max: 20_000_000 }).map(BigInt)
  const step = fc.oneof(
    fc.record({ act: fc.constant('send' as const), who, amount }),
    fc.record({ act: fc.constant('sendTwo' as const), who, amount }),
    fc.record({ act: fc.constant('report' as const), who, amount }),
    fc.record({ act: fc.constant('mine' as const), blocks: fc.integer({ min: 1, max: 4 }) }),
    fc.record({ act: fc.constant('watch' as const) }),
    fc.record({ act: fc.constant('collect' as const) }),
    fc.record({ act: fc.constant('withdraw' as const), who, amount }),
    fc.record({ act: fc.constant('pay' as const) }),
    fc.record({ act: fc.constant('spend' as const), who, amount }),
    fc.record({ act: fc.constant('capital' as const), amount }),
  )
  type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

  async function perform(doing: Step): Promise<void> {
    const { chain, service } = world
    const calm = new AbortController().signal
    switch (doing.act) {
      case 'send':
        await send(chain, [{ to: people[doing.who]!.address, value: doing.amount }])
        return
      case 'sendTwo':
        await send(chain, [
          { to: people[doing.who]!.address, value: doing.amount },
          { to: people[(doing.who + 1) % 3]!.address, value: doing.amount },
        ])
        return
      case 'report': {
        // Deep enough for the API, before the monitor has looked: booked from a block after the cursor's.
        const hash = await send(chain, [{ to: people[doing.who]!.address, value: doing.amount }])
        await world.mine(2)
        const { status } = await people[doing.who]!.deposit(Number(doing.amount) / 1e6, hash)
        expect(status).toBe(200)
        return
      }
      case 'mine':
        return await world.mine(doing.blocks)
      case 'watch':
        return await world.watch()
      case 'collect':
        for (const { run } of service.wallets.collecting) await run(calm)
        return
      case 'withdraw': {
        const { caller } = people[doing.who]!
        const to = toHex(randomBytes(20))
        const withdrawal = { to, amount: usdc(doing.amount) }
        // A user with too little money is refused, which moves nothing.
        await service.wallets.withdrawals
          .withdraw(caller, withdrawal, newId('op', service.clock.now()))
          .catch(() => null)
        return
      }
      case 'pay':
        return await service.wallets.payouts.stepAll(calm)
      case 'spend': {
        const owner = { userId: people[doing.who]!.caller.user.id, environment: 'production' as const }
        const to = { userId: people[(doing.who + 1) % 3]!.caller.user.id }
        const shares = [{ to, amount: usdc(doing.amount / 2n) }]
        const id = newId('run', service.clock.now())
        await service.ledger
          .transfer({ id, owner, amount: usdc(doing.amount), shares, reference: null })
          .catch(() => null)
        return
      }
      case 'capital':
        await send(chain, [{ to: service.wallets.treasury()!, value: doing.amount }])
    }
  }

  test('holds at every moment of any history', async () => {
    const seed = Number(process.env['SEED'] ?? 20_261_121)
    let compared = 0
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 25 }), async (history) => {
        for (const doing of history) {
          await perform(doing)
          const report = await world.service.wallets.reconciling.reconcile()
          if (report === null) continue
          compared++
          expect(report).toMatchObject({ difference: 0n })
        }
      }),
      { seed, numRuns: Number(process.env['RUNS'] ?? 8), endOnFailure: true },
    )
    // If the comparison were rarely possible, the test would prove nothing.
    expect(compared).toBeGreaterThan(20)
    expect(await world.service.ledger.differences()).toEqual([])
  })

  test('reports a missing amount to the micro-dollar, and counts it', async () => {
    const { chain, service } = world
    await world.mine(3)
    await world.watch()
    const before = (await service.wallets.reconciling.reconcile())!
    expect(await checkByHand()).toMatchObject({
      code: 0,
      output: expect.stringContaining('The ledger and the chain agree.'),
    })
    const treasury = service.wallets.treasury()!
    // Taken by hand: the chain no longer has it, and the ledger has no record of it.
    await chain.fund(treasury, before.treasury + 1n)
    await world.mine(3)
    await world.watch()
    expect(await service.wallets.reconciling.reconcile()).toMatchObject({ difference: 1n })
    const { text } = await service.call('GET', '/metrics')
    expect(text).toMatch(/coinslot_events_total\{event="reconciliation_difference"\} 1/)
    expect(await service.wallets.reconciling.newest()).toMatchObject({ difference: 1n })
    expect(await checkByHand()).toMatchObject({ code: 1, output: expect.stringContaining('0.000001 USDC more') })
  })

  test('the check fails where the monitor is too far behind for a comparison, as it is after a restore', async () => {
    await world.mine(200)
    expect(await world.service.wallets.reconciling.reconcile()).toBeNull()
    const { code, output } = await checkByHand()
    expect({ code, output }).toEqual({ code: 1, output: expect.stringContaining('npm run admin -- payouts off') })
    expect(output).toContain('the ledger is sound.')
  })

  /** Checks as `npm run ledger -- check` does. */
  async function checkByHand(): Promise<{ code: number | null; output: string }> {
    const { WALLET_XPUB } = await walletKeys()
    const child = spawn(process.execPath, ['service/dist/cli/ledger.js', 'check'], {
      env: {
        PATH: process.env['PATH'] ?? '',
        DATABASE_URL: world.service.testDatabase.url,
        BASE_RPC_URLS: world.chain.url,
        WALLET_XPUB,
      },
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => (output += text.toString()))
    const [code] = (await once(child, 'close')) as [number | null]
    return { code, output }
  }
})
