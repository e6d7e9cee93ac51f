import { until } from '../../facilitator/world.ts'
import { startWorker } from '../../wallet/processes.ts'
import { liveSettings, openWorld, send } from '../../wallet/world.ts'

const KILLS = Number(process.env['CHAOS_KILLS'] ?? 10)
const BLOCKS = 50
const EACH = 20

test(`${String(BLOCKS * EACH)} deposits in ${String(BLOCKS)} blocks, the monitor killed ${String(KILLS)} times: each is credited once`, async () => {
  const world = await openWorld()
  const { chain, service } = world
  const { url } = service.testDatabase
  const environment = {
    ...(await liveSettings(chain)),
    LOG_LEVEL: 'silent',
    DATABASE_URL: url,
    DATABASE_POOL: '10',
    DATA_DIR: '/tmp',
    PORT: '0',
    ROLES: 'worker',
  }
  const people = await Promise.all(
    Array.from({ length: 100 }, async (_, place) => {
      const owner = { userId: `usr_chaos${String(place)}`, environment: 'production' as const }
      await service.ledger.openAccounts(owner.userId)
      return { owner, address: (await service.wallets.depositAddress(owner))!, sent: 0n }
    }),
  )
  let block = 0
  let over = false
  // Blocks are mined all the time, and the kills come at random moments.
  const sending = (async () => {
    while (block < BLOCKS) {
      const transfers = Array.from({ length: EACH }, (_, place) => {
        const person = people[(block * EACH + place * 7) % people.length]!
        const value = BigInt(1 + block * EACH + place)
        person.sent += value
        return { to: person.address, value }
      })
      await send(chain, transfers)
      block++
      await new Promise((resolve) => setTimeout(resolve, (KILLS * 4_000) / BLOCKS))
    }
    while (!over) {
      await chain.mine(1)
      await new Promise((resolve) => setTimeout(resolve, 1_000))
    }
  })()

  const credited = async () =>
    Number((await service.database.statements.run<{ n: bigint }>('SELECT count(*) AS n FROM wallet_deposit', []))[0]!.n)
  for (let kill = 0; kill < KILLS; kill++) {
    const worker = startWorker({ work: 'everything', environment, url })
    await worker.ready
    const before = await credited()
    // Kills it in the middle of its work.
    await until(async () => (await credited()) > before || block >= BLOCKS)
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 50))
    worker.child.kill('SIGKILL')
    await worker.dead
  }
  const last = startWorker({ work: 'everything', environment, url })
  await until(async () => block >= BLOCKS && (await credited()) === BLOCKS * EACH)
  over = true
  await sending
  last.child.kill('SIGKILL')
  await last.dead
  for (const { owner, sent } of people) expect((await service.ledger.wallet(owner))!.funds.available).toBe(sent)
  expect(await service.ledger.differences()).toEqual([])
  await world.watch()
  expect(await service.wallets.reconciling.reconcile()).toMatchObject({ difference: 0n })
  await world.close()
}, 300_000)
