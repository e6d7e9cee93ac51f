import { openWorld, send, type World } from './world.ts'

describe('sweeps of deposit addresses', () => {
  let world: World
  beforeAll(async () => {
    world = await openWorld()
    world.service.facilitator.start()
  })
  afterAll(() => world.close())

  test('reach every address in its turn, however many of which the books know more than the chain', async () => {
    const { chain, service } = world
    const { statements } = service.database
    await statements.run("SELECT setval('wallet_address_index_seq', 1000)", [])
    const person = await world.person()
    await send(chain, [{ to: person.address, value: 10_000_000n }])
    await world.mine(10)
    await world.watch()
    // As after a restore: swept since the dump, so their money is gone, and their rows say that it came.
    await statements.run(
      `WITH empty AS (
         INSERT INTO wallet_address (index, account, environment, user_id, address, created_at)
         SELECT n, a.account, 'production', 'usr_empty_' || n, substring(sha256(n::text::bytea) FOR 20), now()
         FROM wallet_address a, generate_series(1, 250) n WHERE a.user_id = $1
         RETURNING user_id, address
       )
       INSERT INTO wallet_deposit (network, transaction_hash, place, address, environment, user_id, sender, value,
         block_number, block_hash, act, at)
       SELECT d.network, sha256(e.address), 0, e.address, 'production', e.user_id, d.sender, 90000000, d.block_number,
         d.block_hash, d.act, d.at
       FROM empty e, wallet_deposit d WHERE d.user_id = $1`,
      [person.caller.user.id],
    )
    const swept = async () => await statements.run<{ amount: bigint }>('SELECT amount FROM wallet_sweep', [])
    const [collector] = service.wallets.collecting
    await collector!.run(new AbortController().signal)
    expect(await swept()).toEqual([])
    await collector!.run(new AbortController().signal)
    expect(await swept()).toEqual([{ amount: 10_000_000n }])
  })
})
