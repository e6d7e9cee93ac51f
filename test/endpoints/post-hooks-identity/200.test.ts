import { openWorld, send, type World } from '../../wallet/world.ts'
import { SECRET, sendEvent } from './hook.ts'

describe('POST /hooks/identity → 200', () => {
  let world: World
  beforeAll(async () => {
    world = await openWorld({
      IDENTITY_HOOK_SECRET: SECRET,
      OIDC_ISSUER: 'https://issuer.example',
      OIDC_AUDIENCE: 'coinslot',
    })
  })
  afterAll(() => world.close())

  const deposited = (hash: string, more: object = {}) => ({
    type: 'wallet.funds_deposited',
    caip2: 'eip155:8453',
    transaction_hash: hash,
    amount: '999000000',
    ...more,
  })

  test('wallet.funds_deposited is proven on chain and credited once', async () => {
    const person = await world.person()
    const hash = await send(world.chain, [{ to: person.address, value: 5_000_000n }])
    // Not deep enough: received, and left to the monitor.
    expect((await sendEvent(world.service, deposited(hash))).body).toEqual({ received: true, credited: 0 })
    expect(await person.balance()).toBe(0)
    await world.mine(2)
    expect((await sendEvent(world.service, deposited(hash))).body).toEqual({ received: true, credited: 1 })
    // The amount in the message is ignored.
    expect(await person.balance()).toBe(5)
    expect((await sendEvent(world.service, deposited(hash))).body).toEqual({ received: true, credited: 0 })
    expect((await sendEvent(world.service, deposited(hash), { id: 'msg_other' })).body.credited).toBe(0)
    expect((await person.deposit(5, hash)).status).toBe(409)
    expect(await person.balance()).toBe(5)
  })

  test('in the form of Svix, and with the event under `data`', async () => {
    const person = await world.person()
    const hash = await send(world.chain, [{ to: person.address, value: 1_000_000n }])
    await world.mine(2)
    const { type, ...data } = deposited(hash.toUpperCase().replace('0X', '0x'))
    expect((await sendEvent(world.service, { type, data }, { prefix: 'svix' })).body).toEqual({
      received: true,
      credited: 1,
    })
  })

  test('accepts an unknown transaction or event without any effect', async () => {
    for (const event of [
      deposited(`0x${'12'.repeat(32)}`),
      deposited('nonsense'),
      { type: 'wallet.funds_deposited' },
      { type: 'something.else' },
      [],
      'null',
    ]) {
      const { status, body } = await sendEvent(world.service, event)
      expect({ status, body }).toEqual({ status: 200, body: { received: true, credited: 0 } })
    }
  })

  test('user.created: the user and their wallets, once', async () => {
    const event = {
      type: 'user.created',
      user: { id: 'did:privy:new', email: { address: 'new@example.com' }, email_verified: true },
    }
    for (let times = 0; times < 2; times++) expect((await sendEvent(world.service, event)).status).toBe(200)
    const rows = await world.service.database.statements.run<{ id: string; accounts: bigint }>(
      `SELECT u.id, (SELECT count(*) FROM ledger_account a WHERE a.owner = u.id) AS accounts
       FROM identity_user u WHERE u.issuer = 'https://issuer.example' AND u.subject = 'did:privy:new'`,
      [],
    )
    expect(rows).toMatchObject([{ accounts: 4n }])
  })
})
