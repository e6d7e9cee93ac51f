import { toHex } from 'viem'
import { startChain } from '../harness/chain.ts'
import { openWorld, send, sendCall, transfer, type Depositor, type World } from './world.ts'

describe('a deposit in production', () => {
  let world: World
  let person: Depositor
  beforeAll(async () => {
    world = await openWorld()
  })
  beforeEach(async () => {
    person = await world.person()
  })
  afterAll(() => world.close())

  const refused = async (answer: ReturnType<Depositor['deposit']>) => {
    const { status, body } = await answer
    expect(await person.balance()).toBe(0)
    return { status, code: body.code as string, details: body.details as Record<string, string> }
  }

  test('proven by its hash, in any case of letters, it counts exactly once', async () => {
    const hash = await send(world.chain, [{ to: person.address, value: 5_000_000n }])
    await world.mine(2)
    const shouted = `0x${hash.slice(2).toUpperCase()}`
    const done = await person.deposit(5, shouted)
    expect(done.body).toEqual({ deposited: true, amount: 5, transactionHash: shouted, newBalance: 5 })
    const again = await person.deposit(5, hash)
    expect({ status: again.status, code: again.body.code, hash: again.body.transactionHash }).toEqual({
      status: 409,
      code: 'transaction_already_recorded',
      hash,
    })
    const other = await (await world.person()).deposit(5, hash)
    expect(other.status).toBe(409)
    await world.watch()
    expect(await person.balance()).toBe(5)
    const { transactions } = (await person.call('GET', '/v1/wallet/transactions')).body
    expect(transactions).toMatchObject([{ type: 'deposit', amount: 5, reference: hash }])
  })

  test('the same request again gets the first answer, also when that was lost', async () => {
    const hash = await send(world.chain, [{ to: person.address, value: 1_000_000n }])
    await world.mine(2)
    const first = await person.deposit(1, hash, { 'idempotency-key': 'lost' })
    await world.service.database.statements.run(
      `UPDATE idempotent_request SET status = NULL, answer = NULL, leased_until = now() - interval '1 hour'
       WHERE answer ->> 'transactionHash' = $1`,
      [hash],
    )
    const again = await person.deposit(1, hash, { 'idempotency-key': 'lost' })
    expect({ status: again.status, body: again.body }).toEqual({ status: 200, body: first.body })
    expect(await person.balance()).toBe(1)
  })

  test('without a hash it is matched to an unrecorded transfer of that amount', async () => {
    await send(world.chain, [{ to: person.address, value: 2_000_000n }])
    await send(world.chain, [{ to: person.address, value: 3_000_000n }])
    await world.mine(2)
    expect((await person.deposit(3)).body).toMatchObject({ transactionHash: null, newBalance: 3 })
    const twice = await person.deposit(3)
    expect({ status: twice.status, code: twice.body.code }).toEqual({ status: 400, code: 'deposit_not_found' })
    expect((await person.deposit(2)).body).toMatchObject({ newBalance: 5 })
  })

  test('twenty concurrent claims without a hash for two transfers credit two', async () => {
    await send(world.chain, [
      { to: person.address, value: 7_000_000n },
      { to: person.address, value: 7_000_000n },
    ])
    await world.mine(2)
    const answers = await Promise.all(Array.from({ length: 20 }, () => person.deposit(7)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(2)
    expect(await person.balance()).toBe(14)
  })

  describe('of several transfers in one transaction', () => {
    test("is matched by each transfer's own amount, for each wallet", async () => {
      const other = await world.person()
      const hash = await send(world.chain, [
        { to: person.address, value: 1_000_000n },
        { to: other.address, value: 2_000_000n },
        { to: person.address, value: 4_000_000n },
      ])
      await world.mine(2)
      expect((await person.deposit(4, hash)).body).toMatchObject({ newBalance: 4 })
      expect((await other.deposit(2, hash)).body).toMatchObject({ newBalance: 2 })
      expect((await person.deposit(1, hash)).body).toMatchObject({ newBalance: 5 })
      expect((await person.deposit(1, hash)).status).toBe(409)
    })

    test('is matched by their sum', async () => {
      const hash = await send(world.chain, [
        { to: person.address, value: 1_000_000n },
        { to: person.address, value: 4_000_000n },
      ])
      await world.mine(2)
      expect((await person.deposit(5, hash)).body).toMatchObject({ newBalance: 5 })
      await world.watch()
      expect(await person.balance()).toBe(5)
    })
  })

  describe('is refused with the reason', () => {
    test('for an unknown transaction', async () => {
      expect(await refused(person.deposit(5, toHex(1n, { size: 32 })))).toMatchObject({
        status: 400,
        code: 'transaction_not_found',
        details: { transactionHash: expect.stringContaining('base') },
      })
    })

    test('for an invalid hash', async () => {
      expect(await refused(person.deposit(5, '0xabc'))).toMatchObject({ status: 400, code: 'invalid_input' })
    })

    test('on another network', async () => {
      const elsewhere = await startChain({ chainId: 84532 })
      const hash = await send(elsewhere, [{ to: person.address, value: 5_000_000n }])
      await elsewhere.stop()
      expect((await refused(person.deposit(5, hash))).code).toBe('transaction_not_found')
    })

    test('for another token', async () => {
      // The same code at another address: everything is right but the token.
      const fake = `0x${'fa'.repeat(20)}` as const
      const usdc = world.chain.network.usdc.address
      await world.chain.call('anvil_setCode', fake, await world.chain.call('eth_getCode', usdc, 'latest'))
      const [keeper] = [world.chain.accounts[2]!]
      const data = `0x40c10f19${person.address.slice(2).padStart(64, '0')}${'4c4b40'.padStart(64, '0')}` as const
      const hash = await sendCall(world.chain, { from: keeper.address, to: fake, data })
      await world.mine(2)
      expect((await refused(person.deposit(5, hash))).code).toBe('no_usdc_transfer')
    })

    test('to another recipient', async () => {
      const hash = await send(world.chain, [{ to: `0x${'ab'.repeat(20)}`, value: 5_000_000n }])
      await world.mine(2)
      const answer = await refused(person.deposit(5, hash))
      expect(answer).toMatchObject({ status: 400, code: 'wrong_recipient' })
      expect(answer.details['transactionHash']?.toLowerCase()).toContain(person.address)
    })

    test("to another account's wallet, which that account can still claim", async () => {
      const owner = await world.person()
      const hash = await send(world.chain, [{ to: owner.address, value: 5_000_000n }])
      await world.mine(2)
      expect((await refused(person.deposit(5, hash))).code).toBe('wrong_recipient')
      expect((await owner.deposit(5, hash)).body).toMatchObject({ newBalance: 5 })
    })

    test.each([4.999999, 5.000001, 50])('for another amount: %d', async (amount) => {
      const hash = await send(world.chain, [{ to: person.address, value: 5_000_000n }])
      await world.mine(2)
      expect(await refused(person.deposit(amount, hash))).toMatchObject({
        status: 400,
        code: 'amount_mismatch',
        details: { amount: 'must be 5, what the transaction moved to this wallet' },
      })
    })

    test('for a transfer of zero', async () => {
      const hash = await send(world.chain, [{ to: person.address, value: 0n }])
      await world.mine(2)
      expect((await refused(person.deposit(1, hash))).code).toBe('no_usdc_transfer')
    })

    test('before enough confirmations, and accepted with them', async () => {
      const hash = await send(world.chain, [{ to: person.address, value: 5_000_000n }])
      await world.mine(1)
      const early = await person.deposit(5, hash)
      expect(early.status).toBe(400)
      expect(early.body).toMatchObject({ code: 'not_confirmed_yet', confirmations: 2, required: 3 })
      expect(await refused(person.deposit(5))).toMatchObject({ code: 'deposit_not_found' })
      await world.mine(1)
      expect((await person.deposit(5, hash)).status).toBe(200)
    })

    test('for a reverted transaction', async () => {
      const payer = await world.chain.payer(1_000_000n)
      const hash = await transfer(world.chain, payer.address, person.address, 2_000_000n)
      await world.mine(2)
      expect((await refused(person.deposit(2, hash))).code).toBe('transaction_failed')
    })
  })

  test('is a 503 when the chain does not answer, and nothing is recorded', async () => {
    const hash = await send(world.chain, [{ to: person.address, value: 5_000_000n }])
    const away = await openWorld({ BASE_RPC_URLS: 'http://127.0.0.1:9' })
    const depositor = await away.person()
    const { status, body } = await depositor.deposit(5, hash)
    expect({ status, code: body.code }).toEqual({ status: 503, code: 'rpc_unavailable' })
    expect(await depositor.balance()).toBe(0)
    await away.close()
  })
})
