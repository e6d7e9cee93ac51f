import { randomBytes } from 'node:crypto'
import type { Hex } from '../../service/chain/model.ts'
import { newId } from '../../service/kit/ids.ts'
import { usdc } from '../../service/kit/money.ts'
import { toBytes } from '../../service/kit/rows.ts'
import type { Payment } from '../../service/outgoing-payments/model.ts'
import { createPaymentStore } from '../../service/outgoing-payments/store/payments.ts'
import { honest, startRelay, type Behaviour, type Relay } from '../chain/relay.ts'
import { until, usdcOf } from '../facilitator/world.ts'
import type { TestService } from '../harness/service.ts'
import { dollars, openWorld, send, transfer, type Depositor, type World } from './world.ts'

const TO = `0x${'c0'.repeat(20)}` as const

describe('a withdrawal', () => {
  let world: World
  beforeAll(async () => {
    // All accounts are paid from one treasury, so the gas budget of a payer does not bind it.
    world = await openWorld({ GAS_BUDGET_PER_PAYER_DAY: '0.000000000001' })
    world.service.facilitator.start()
  })
  afterAll(() => world.close())

  test('holds the money, leaves the treasury once, and is confirmed when deep enough', async () => {
    const { chain, service } = world
    const person = await world.person()
    await send(chain, [{ to: person.address, value: 10_000_000n }])
    await world.mine(3)
    await world.watch()
    expect(await person.balance()).toBe(10)
    const answer = await person.call('POST', '/v1/wallet/withdraw', { body: { amount: 4, to: TO } })
    expect({ status: answer.status, body: answer.body }).toMatchObject({
      status: 200,
      body: { withdrawal: { status: 'pending', amount: 4, to: TO, txHash: null } },
    })
    const { id } = answer.body.withdrawal as { id: string }
    const { wallet } = (await person.call('GET', '/v1/wallet/balance')).body
    expect(wallet).toMatchObject({ balance: 10, availableBalance: 6, pendingLocks: { [id]: 4 } })

    // The treasury has no money yet.
    await service.wallets.payouts.step(id)
    const one = async () =>
      (await person.call('GET', `/v1/wallet/withdrawals/${id}`)).body.withdrawal as { status: string }
    expect((await one()).status).toBe('pending')
    for (const { run } of service.wallets.collecting) await run(new AbortController().signal)
    await service.wallets.payouts.step(id)
    expect(await one()).toMatchObject({ status: 'submitted', txHash: expect.stringMatching(/^0x/) })
    await service.wallets.payouts.step(id)
    expect((await one()).status).toBe('submitted')
    await world.mine(3)
    await service.wallets.payouts.step(id)
    expect(await one()).toMatchObject({ status: 'confirmed', txHash: expect.stringMatching(/^0x/) })
    expect(await usdcOf(chain, TO)).toBe(4_000_000n)
    expect(await person.balance()).toBe(6)
    await world.watch()
    const report = await service.wallets.reconciling.reconcile()
    expect(report).toMatchObject({ difference: 0n, wallets: dollars(6), treasury: dollars(6) })
    expect(await until(async () => (await service.ledger.differences()).length === 0)).toBe(true)
  })

  test('is paid again, once, after a reorganisation removes it', async () => {
    const { chain, service } = world
    const person = await world.person()
    await send(chain, [
      { to: person.address, value: 10_000_000n },
      { to: service.wallets.treasury()!, value: 10_000_000n },
    ])
    await world.mine(10)
    await world.watch()
    const to = `0x${'c1'.repeat(20)}` as const
    const operation = newId('op', service.clock.now())
    const { id } = await service.wallets.withdrawals.withdraw(person.caller, { to, amount: dollars(4) }, operation)
    await service.wallets.payouts.step(id)
    expect(await usdcOf(chain, to)).toBe(4_000_000n)
    await chain.reorg(1)
    expect(await usdcOf(chain, to)).toBe(0n)
    const done = await ended(world, person, id)
    expect(done.state).toBe('confirmed')
    expect(await usdcOf(chain, to)).toBe(4_000_000n)
    expect(await person.balance()).toBe(6)
  })

  test('that a restored database calls pending is found where it was paid, also once the treasury is empty', async () => {
    const { chain, service } = world
    const person = await world.person()
    const treasury = service.wallets.treasury()!
    await send(chain, [
      { to: person.address, value: 10_000_000n },
      { to: treasury, value: 10_000_000n },
    ])
    await world.mine(10)
    await world.watch()
    const to = `0x${'ca'.repeat(20)}` as const
    const operation = newId('op', service.clock.now())
    const { id } = await service.wallets.withdrawals.withdraw(person.caller, { to, amount: dollars(4) }, operation)
    await service.wallets.payouts.step(id)
    await world.mine(30)
    expect(await usdcOf(chain, to)).toBe(4_000_000n)
    await transfer(chain, treasury, `0x${'c6'.repeat(20)}`, await usdcOf(chain, treasury))
    await restoreAsPending(service, id)
    await service.wallets.payouts.step(id)
    expect((await service.wallets.withdrawals.find(person.caller, id)).state).toBe('confirmed')
    expect(await person.balance()).toBe(6)
    await send(chain, [{ to: treasury, value: 10_000_000n }])
  })

  test('validates its usual address like any other, and keeps one per environment', async () => {
    const { service } = world
    const person = await world.person()
    const set = (to: unknown) => person.call('POST', '/trpc/wallet.setUsualAddress', { body: { to } })
    const usual = async () => (await person.call('GET', '/trpc/wallet.terms')).body.result.data.usualAddress as unknown
    const payer = `0x${'7'.repeat(40)}`
    await service.testDatabase.statements.run(
      "INSERT INTO spending_payer (address, user_id, environment, created_at) VALUES ($1, $2, 'production', now())",
      [payer, person.caller.user.id],
    )
    const wrong: Record<string, string | undefined> = {
      [payer]: "is this service's own address",
      '0x12': 'must be an address: 0x and 40 hexadecimal digits',
      [`0x${'0'.repeat(40)}`]: 'must not be the zero address',
      '0xfb6916095ca1df60bb79ce92ce3ea74c37c5d359': undefined,
      '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d358': 'has a checksum that does not fit: a letter or digit is wrong',
      [service.wallets.treasury()!]: "is this service's own address",
      [person.address]: "is this wallet's own address",
    }
    for (const [to, sentence] of Object.entries(wrong)) {
      const { status, body } = await set(to)
      expect({ to, status, message: body.error?.data.fields.details.to }).toEqual({
        ...{ to, message: sentence },
        status: sentence === undefined ? 200 : 400,
      })
    }
    expect(await usual()).toBe('0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359')
    const sandbox = { ...person.caller, environment: 'sandbox' as const }
    expect((await service.wallets.withdrawals.terms(sandbox)).usualAddress).toBeNull()
    expect((await set(null)).status).toBe(200)
    expect(await usual()).toBeNull()
  })

  test('mails the owner each change of the usual address once', async () => {
    const { service } = world
    const person = await world.person()
    const { id } = person.caller.user
    const email = `${id}@example.com`
    const { statements } = service.database
    await statements.run('UPDATE identity_user SET email = $2, email_confirmed = true WHERE id = $1', [id, email])
    const [one, other] = ['0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359', `0x${'c3'.repeat(20)}`]
    for (const to of [null, one, one, one.toLowerCase(), other, null, null]) {
      expect((await person.call('POST', '/trpc/wallet.setUsualAddress', { body: { to } })).status).toBe(200)
    }
    expect((await person.call('POST', '/trpc/wallet.setUsualAddress', { body: { to: '0x12' } })).status).toBe(400)
    const rows = await statements.run<{ notice: object }>(
      `SELECT payload->'notice' AS notice FROM outbox
       WHERE topic = 'identity.notice' AND payload->>'to' = $1 ORDER BY id`,
      [email],
    )
    const changes = [one, other, null].map((address) => ({
      kind: 'payout-address',
      environment: 'production',
      address,
    }))
    expect(rows.map(({ notice }) => notice)).toEqual(changes)
  })

  test('fails after a day without money in the treasury, and returns the money', async () => {
    const { service } = world
    const person = await world.person()
    const owner = { userId: person.caller.user.id, environment: 'production' as const }
    const amount = dollars(900)
    await service.ledger.credit({ id: 'dep_plenty', kind: 'deposit', owner, amount, reference: null, act: 'test' })
    const operation = newId('op', service.clock.now())
    const to = `0x${'c2'.repeat(20)}` as const
    const { id } = await service.wallets.withdrawals.withdraw(person.caller, { to, amount }, operation)
    const state = async () => (await service.wallets.withdrawals.find(person.caller, id)).state
    await service.wallets.payouts.step(id)
    service.clock.forward(86_000_000)
    await service.wallets.payouts.step(id)
    expect(await state()).toBe('pending')
    expect(await service.ledger.sweep()).toBe(0)
    service.clock.forward(400_001)
    await world.mineNow()
    await service.wallets.payouts.step(id)
    const { withdrawal } = (await person.call('GET', `/v1/wallet/withdrawals/${id}`)).body
    expect(withdrawal).toMatchObject({ status: 'failed', reason: 'treasury_short', txHash: null })
    const { wallet } = (await person.call('GET', '/v1/wallet/balance')).body
    expect(wallet).toMatchObject({ balance: 900, availableBalance: 900 })
    // A failed withdrawal counts for no limit.
    expect((await person.call('POST', '/v1/wallet/withdraw', { body: { amount: 900, to } })).status).toBe(200)
  })

  test('waits while the treasury’s money is set aside for paid calls, and is paid once it is free', async () => {
    const { chain, service } = world
    const treasury = service.wallets.treasury()!
    const person = await world.person()
    await send(chain, [
      { to: person.address, value: 10_000_000n },
      { to: treasury, value: 4_000_000n },
    ])
    await world.mine(10)
    await world.watch()
    const store = createPaymentStore(service.database.statements)
    const call = paidCall(person, { treasury, amount: await usdcOf(chain, treasury), now: service.clock.now() })
    await store.add(service.database.statements, call, call.createdAt)
    const terms = { from: treasury, validBefore: call.validBefore, seenBlock: 1n }
    expect(await store.fund(call.id, terms, call.createdAt)).toMatchObject({ state: 'funding' })
    // The treasury has the same address on another network: what leaves there takes nothing of this one.
    const elsewhere = { ...call, id: newId('pay', call.createdAt), network: 'base-sepolia' as const, payer: TO }
    await store.add(service.database.statements, elsewhere, call.createdAt)
    expect(await store.fund(elsewhere.id, terms, call.createdAt)).toMatchObject({ state: 'funding' })
    await service.testDatabase.statements.run(
      `INSERT INTO wallet_withdrawal (id, kind, environment, user_id, network, recipient, amount, nonce, simulated, created_at,
         state, payer, valid_before, seen_block, submitted_at)
       VALUES ('wdr_elsewhere', 'withdrawal', 'sandbox', $1, 'base-sepolia', $2, 1000000000, $3, false, $4,
         'submitted', $5, $6, 1, $4)`,
      [person.caller.user.id, toBytes(TO), randomBytes(32), call.createdAt, toBytes(treasury), call.validBefore],
    )

    const to = `0x${'c5'.repeat(20)}` as const
    const operation = newId('op', service.clock.now())
    const { id } = await service.wallets.withdrawals.withdraw(person.caller, { to, amount: dollars(4) }, operation)
    const state = async () => (await service.wallets.withdrawals.find(person.caller, id)).state
    await service.wallets.payouts.step(id)
    expect(await state()).toBe('pending')

    const returned = { state: 'returned', reason: 'not_signed', remaining: 0n, lookAt: null } as const
    await store.end({ ...call, state: 'funding' }, { ...returned, now: service.clock.now() }, async () => undefined)
    await service.wallets.payouts.step(id)
    expect(await state()).toBe('submitted')
    expect(await usdcOf(chain, to)).toBe(4_000_000n)
  })
})

/** A payment to a seller, before the treasury has sent its amount to the account's payer. */
function paidCall(person: Depositor, { treasury, amount, now }: { treasury: Hex; amount: bigint; now: Date }): Payment {
  const payTo = `0x${'aa'.repeat(20)}` as const
  return {
    id: newId('pay', now),
    owner: { userId: person.caller.user.id, environment: 'production' },
    agentId: null,
    state: 'reserved',
    url: 'https://seller.test/',
    method: 'GET',
    requestHash: 'hash',
    maxAmount: usdc(amount),
    amount: usdc(amount),
    network: 'base',
    payer: `0x${randomBytes(20).toString('hex')}`,
    funding: null,
    reason: null,
    payTo,
    validBefore: BigInt(Math.floor(now.getTime() / 1000) + 300),
    nonce: `0x${randomBytes(32).toString('hex')}`,
    signature: null,
    offer: {
      version: 1,
      scheme: 'exact',
      network: 'base',
      asset: treasury,
      payTo,
      amount,
      timeoutSeconds: 60,
      expires: null,
      header: 'x-payment',
      domain: null,
      raw: {},
      resource: null,
    },
    seenBlock: 1n,
    answerStatus: null,
    receipt: null,
    txHash: null,
    createdAt: now,
    endedAt: null,
  }
}

test('a withdrawal that finds the treasury empty is paid as soon as it has money, within the hour', async () => {
  const world = await openWorld({ SETTLE_WAIT_MS: '200' })
  const { chain, service } = world
  const treasury = service.wallets.treasury()!
  const person = await world.person()
  await send(chain, [
    { to: person.address, value: 10_000_000n },
    { to: treasury, value: 10_000_000n },
  ])
  await world.mine(10)
  await world.watch()
  const to = `0x${'c3'.repeat(20)}` as const
  const operation = newId('op', service.clock.now())
  const { id } = await service.wallets.withdrawals.withdraw(person.caller, { to, amount: dollars(4) }, operation)
  // The facilitator is not started yet: the settlement is claimed, and waits.
  await service.wallets.payouts.step(id)
  const settlement = async () => {
    const { nonce } = await service.wallets.withdrawals.find(person.caller, id)
    return await service.facilitator.find('base', treasury, nonce)
  }
  expect((await settlement()).state).toBe('claimed')

  // As if a reorganisation removed the sweep that was to pay for this.
  await transfer(chain, treasury, `0x${'c4'.repeat(20)}`, 10_000_000n)
  service.facilitator.start()
  await until(async () => (await settlement()).state === 'failed')
  await world.mine(1)
  await service.wallets.payouts.step(id)
  expect(await settlement()).toMatchObject({
    state: 'failed',
    reason: 'invalid_exact_evm_insufficient_balance',
    attempts: 1,
  })
  expect((await service.wallets.withdrawals.find(person.caller, id)).state).toBe('submitted')

  await send(chain, [{ to: treasury, value: 10_000_000n }])
  const done = await ended(world, person, id)
  expect(done.state).toBe('confirmed')
  expect(await usdcOf(chain, to)).toBe(4_000_000n)
  expect(await settlement()).toMatchObject({ state: 'settled', attempts: 2 })
  await world.close()
})

test('a withdrawal that was paid since the dump is not given back because one node lags', async () => {
  let relay: Relay | null = null
  const world = await openWorld(async ({ url }) => {
    relay = await startRelay(url)
    return { BASE_RPC_URLS: `${relay.url},${url}` }
  })
  const { chain, service } = world
  service.facilitator.start()
  const treasury = service.wallets.treasury()!
  const person = await world.person()
  await send(chain, [
    { to: person.address, value: 10_000_000n },
    { to: treasury, value: 4_000_000n },
  ])
  await world.mine(10)
  await world.watch()
  const before = BigInt((await chain.call('eth_blockNumber')) as Hex)
  const operation = newId('op', service.clock.now())
  const { id } = await service.wallets.withdrawals.withdraw(person.caller, { to: TO, amount: dollars(4) }, operation)
  const found = async () => await service.wallets.withdrawals.find(person.caller, id)
  await service.wallets.payouts.step(id)
  await world.mine(3)
  expect(await usdcOf(chain, TO)).toBe(4_000_000n)

  await restoreAsPending(service, id)
  relay!.behave(forgetting((await found()).nonce, before))
  service.clock.forward(86_400_001)
  await world.mineNow()
  await service.wallets.payouts.step(id)
  expect((await found()).state).toBe('pending')
  expect(await person.balance()).toBe(10)

  relay!.behave(honest)
  await service.wallets.payouts.step(id)
  expect((await found()).state).toBe('confirmed')
  expect(await person.balance()).toBe(6)
  await world.close()
  await relay!.stop()
})

/** A node that answers questions about one nonce as of an older block. */
function forgetting(nonce: Hex, block: bigint): Behaviour {
  const at = `0x${block.toString(16)}`
  return (questions) => ({
    pass: questions.map((question) => {
      const [first] = question.params
      if (!JSON.stringify(first ?? null).includes(nonce.slice(2))) return question
      const isSearch = question.method === 'eth_getLogs'
      return { ...question, params: isSearch ? [{ ...(first as object), fromBlock: at, toBlock: at }] : [first, at] }
    }),
  })
}

/** As a dump from before its payment has it. In a running database what was fixed meanwhile cannot be changed. */
async function restoreAsPending({ testDatabase: { statements } }: TestService, id: string): Promise<void> {
  await statements.run('ALTER TABLE wallet_withdrawal DISABLE TRIGGER USER', [])
  await statements.run(
    `UPDATE wallet_withdrawal SET state = 'pending', payer = NULL, valid_before = NULL, seen_block = NULL,
       submitted_at = NULL, transaction_hash = NULL WHERE id = $1`,
    [id],
  )
  await statements.run('ALTER TABLE wallet_withdrawal ENABLE TRIGGER USER', [])
}

/** Mines a block and takes a step at a time, as the worker does, until the chain shows the outcome. */
async function ended({ service, mine }: World, { caller }: Depositor, id: string) {
  return await until(async () => {
    await mine(1)
    await service.wallets.payouts.step(id)
    const now = await service.wallets.withdrawals.find(caller, id)
    return now.endedAt === null ? null : now
  })
}
