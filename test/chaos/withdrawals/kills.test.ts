import { randomBytes } from 'node:crypto'
import { toHex } from 'viem'
import { newId } from '../../../service/kit/ids.ts'
import { usdc } from '../../../service/kit/money.ts'
import { until, usdcOf } from '../../facilitator/world.ts'
import { startWorker } from '../../wallet/processes.ts'
import { liveSettings, openWorld, send } from '../../wallet/world.ts'

const KILLS = Number(process.env['CHAOS_KILLS'] ?? 30)

test(`${String(KILLS)} kills of the worker while it pays out: each withdrawal is paid once or refunded`, async () => {
  const world = await openWorld({
    WITHDRAWAL_LIMIT_PER_DAY: '0',
    WITHDRAWAL_LIMIT_TOTAL_PER_DAY: '0',
    WITHDRAWALS_PER_DAY: '0',
    WITHDRAWAL_MINIMUM: '0.1',
  })
  const { chain, service } = world
  const { url } = service.testDatabase
  const environment = {
    ...(await liveSettings(chain)),
    LOG_LEVEL: 'silent',
    DATABASE_URL: url,
    DATABASE_POOL: '10',
    DATA_DIR: '/tmp',
    PORT: '0',
    ROLES: 'worker,facilitator',
  }
  const person = await world.person()
  // Less in the treasury than is asked for at first: the rest comes from the deposit address, by sweeps.
  await send(chain, [{ to: person.address, value: 500_000_000n }])
  await chain.mine(3)
  let over = false
  const mining = (async () => {
    while (!over) {
      await chain.mine(1)
      await new Promise((resolve) => setTimeout(resolve, 500))
    }
  })()
  const withdrawals: { id: string; to: `0x${string}`; amount: bigint }[] = []
  for (let kill = 0; kill < KILLS; kill++) {
    const worker = startWorker({ work: 'everything', environment, url })
    await worker.ready
    await until(async () => (await person.balance()) > 0)
    for (let count = 0; count < 3; count++) {
      const to = toHex(randomBytes(20))
      const amount = BigInt(100_000 + withdrawals.length)
      const { id } = await service.wallets.withdrawals.withdraw(
        person.caller,
        { to, amount: usdc(amount) },
        newId('op', new Date()),
      )
      withdrawals.push({ id, to, amount })
    }
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 6_000))
    worker.child.kill('SIGKILL')
    await worker.dead
  }
  const last = startWorker({ work: 'everything', environment, url })
  const deadline = Date.now() + 300_000
  for (;;) {
    const open = await service.database.statements.run(`SELECT 1 FROM wallet_withdrawal WHERE ended_at IS NULL`, [])
    if (open.length === 0) break
    expect(Date.now()).toBeLessThan(deadline)
    await new Promise((resolve) => setTimeout(resolve, 1_000))
  }
  over = true
  await mining
  last.child.kill('SIGKILL')
  await last.dead
  let paid = 0n
  for (const { id, to, amount } of withdrawals) {
    const { state } = await service.wallets.withdrawals.find(person.caller, id)
    expect(await usdcOf(chain, to)).toBe(state === 'confirmed' ? amount : 0n)
    if (state === 'confirmed') paid += amount
  }
  expect(paid).toBeGreaterThan(0n)
  const wallet = await service.ledger.wallet({ userId: person.caller.user.id, environment: 'production' })
  expect(wallet!.funds).toMatchObject({ available: 500_000_000n - paid, locked: 0n })
  expect(await service.ledger.differences()).toEqual([])
  await chain.mine(3)
  await world.watch()
  expect(await service.wallets.reconciling.reconcile()).toMatchObject({ difference: 0n })
  await world.close()
}, 1_200_000)
