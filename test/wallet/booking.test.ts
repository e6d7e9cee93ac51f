import { randomBytes } from 'node:crypto'
import { toHex } from 'viem'
import type { Hex } from '../../service/chain/model.ts'
import { bookWithdrawal, showLeft } from '../../service/cli/left.ts'
import { readConfig, type Config } from '../../service/config.ts'
import { deriveId, newId, type Id } from '../../service/kit/ids.ts'
import { refundOf } from '../../service/disputes/rules.ts'
import { findRefundDifferences } from '../../service/refunds/store.ts'
import { payoutNonce } from '../../service/wallet/rules.ts'
import { honest, startRelay } from '../chain/relay.ts'
import { createSale, DAY_MS, disputeOf, report, sweep } from '../disputes/reports.ts'
import { usdcOf } from '../facilitator/world.ts'
import { addSale } from '../refunds/sales.ts'
import { dollars, liveSettings, openWorld, send, type Depositor, type World } from './world.ts'

/** A restored database does not know what left the treasury since its dump: the operator books it from the chain. */
describe('what left the treasury and no row knows', () => {
  let world: World
  let config: Config
  beforeAll(async () => {
    world = await openWorld()
    const { chain, service } = world
    config = readConfig({ ...(await liveSettings(chain)), DATABASE_URL: service.testDatabase.url })
    await send(chain, [{ to: service.wallets.treasury()!, value: 200_000_000n }])
    await world.mine(3)
    service.facilitator.start()
  })
  afterAll(() => world.close())

  async function owner(): Promise<Depositor> {
    const person = await world.person()
    await send(world.chain, [{ to: person.address, value: 10_000_000n }])
    await world.mine(3)
    await world.watch()
    return person
  }

  /** As a payout whose row was lost: signed and carried out, and in no table of the wallet. */
  async function lost(id: string, to: Hex, amount = 4_000_000n, nonce = payoutNonce(id)): Promise<Hex> {
    const { service, chain } = world
    const now = BigInt(Math.floor(service.clock.now().getTime() / 1_000))
    const hash = await service.wallets.treasurer.send({
      ...{ network: chain.network.name, from: service.wallets.treasury()!, to, amount },
      ...{ nonce, validBefore: now + 600n, operation: id },
    })
    // Longer ago than the clocks of a chain and a server can differ.
    await world.mine(100)
    await world.watch()
    return hash!
  }

  const operationNow = (): Id<'op'> => newId('op', world.service.clock.now())
  const newAddress = (): Hex => toHex(randomBytes(20))
  const left = () => showLeft(config, world.service.database)
  const book = (...given: string[]) => bookWithdrawal(config, world.service.database, given)

  async function sound(): Promise<void> {
    const { service } = world
    expect(await service.ledger.differences()).toEqual([])
    expect(await findRefundDifferences(service.database.statements)).toEqual([])
    expect(await service.wallets.reconciling.reconcile()).toMatchObject({ difference: 0n })
    expect(await left()).toBe('Every transfer out of the treasury has its row.')
  }

  test('is listed, and booked once, by what the chain says; asked for again it is paid', async () => {
    const { service } = world
    const [person, to, operation] = [await owner(), newAddress(), operationNow()]
    await sound()
    const hash = await lost(deriveId('wdr', operation), to)
    expect(await service.wallets.reconciling.reconcile()).toMatchObject({ difference: -4_000_000n })
    expect(await left()).toContain(`${hash} base block`)
    expect(await left()).toContain(`4 USDC to ${to}`)
    const { id: userId } = person.caller.user
    await expect(book(hash, 'usr_nobody')).rejects.toThrow('No account of production has the id usr_nobody.')
    expect(await book(hash, userId)).toContain(`4 USDC to ${to} are booked as paid to ${userId}.`)
    await expect(book(hash, userId)).rejects.toThrow('No transfer out of the treasury in it is left to book.')
    expect(await person.balance()).toBe(6)
    await sound()
    const again = await service.wallets.withdrawals.withdraw(person.caller, { to, amount: dollars(4) }, operation)
    expect([again.state, again.transactionHash]).toEqual(['confirmed', hash])
    expect(await person.balance()).toBe(6)
    await sound()
  })

  test('ends a withdrawal that was asked for again before it was booked', async () => {
    const { service } = world
    const [person, to, operation] = [await owner(), newAddress(), operationNow()]
    const hash = await lost(deriveId('wdr', operation), to)
    const { id } = await service.wallets.withdrawals.withdraw(person.caller, { to, amount: dollars(4) }, operation)
    expect(await book(hash, person.caller.user.id)).toContain(`${id}: 4 USDC`)
    expect(await service.wallets.withdrawals.find(person.caller, id)).toMatchObject({ state: 'confirmed' })
    expect(await person.balance()).toBe(6)
    await sound()
  })

  test('is found where a withdrawal is asked for again and nobody booked it', async () => {
    const { service } = world
    const [person, to, operation] = [await owner(), newAddress(), operationNow()]
    const hash = await lost(deriveId('wdr', operation), to)
    const { id } = await service.wallets.withdrawals.withdraw(person.caller, { to, amount: dollars(4) }, operation)
    await service.wallets.payouts.step(id)
    expect(await service.wallets.withdrawals.find(person.caller, id)).toMatchObject({
      ...{ state: 'confirmed', transactionHash: hash },
    })
    expect(await person.balance()).toBe(6)
    await sound()
  })

  /** Asked for by its key, and paid; then the database is restored from a dump that is older. */
  async function paidAndForgotten(person: Depositor, body: { to: Hex; amount: number }, key: string): Promise<Hex> {
    const { service } = world
    const { database } = service
    const id = await withdrawal(person, body, key)
    const { nonce } = await service.wallets.withdrawals.find(person.caller, id)
    const owner = { userId: person.caller.user.id, environment: 'production' } as const
    await database.statements.run('DELETE FROM wallet_withdrawal WHERE id = $1', [id])
    await database.statements.run('DELETE FROM idempotent_request', [])
    await database.transaction(async (inside) => {
      await service.ledger.release({ hold: id, owner, announcements: [] }, inside)
      await service.outflow.giveBack(id, inside)
    })
    return await lost(id, body.to, BigInt(body.amount) * 1_000_000n, nonce)
  }

  async function withdrawal(person: Depositor, body: { to: Hex; amount: number }, key: string): Promise<string> {
    const {
      status,
      body: answer,
      text,
    } = await person.call('POST', '/v1/wallet/withdraw', {
      body,
      headers: { 'Idempotency-Key': key },
    })
    if (status !== 200) throw new Error(text)
    return (answer['withdrawal'] as { id: string }).id
  }

  async function paid(person: Depositor, id: string) {
    await world.service.wallets.payouts.step(id)
    await world.mine(100)
    await world.service.wallets.payouts.step(id)
    await world.watch()
    const { state, transactionHash } = await world.service.wallets.withdrawals.find(person.caller, id)
    return { state, transactionHash }
  }

  test('is not paid again where its client repeats it with the same key', async () => {
    const [person, to] = [await owner(), newAddress()]
    const hash = await paidAndForgotten(person, { to, amount: 4 }, 'rent-of-may')
    const id = await withdrawal(person, { to, amount: 4 }, 'rent-of-may')
    expect(await paid(person, id)).toEqual({ state: 'confirmed', transactionHash: hash })
    expect([await person.balance(), await usdcOf(world.chain, to)]).toEqual([6, 4_000_000n])
    await sound()
  })

  test('is not paid again by its key after it was booked, and is while the key is forgotten', async () => {
    const { service, chain } = world
    const [person, to] = [await owner(), newAddress()]
    const hash = await paidAndForgotten(person, { to, amount: 2 }, 'each-week')
    await book(hash, person.caller.user.id)
    const same = await withdrawal(person, { to, amount: 2 }, 'each-week')
    expect(await paid(person, same)).toEqual({ state: 'confirmed', transactionHash: hash })
    expect([await person.balance(), await usdcOf(chain, to)]).toEqual([8, 2_000_000n])
    service.clock.forward(7 * DAY_MS)
    await world.mineNow()
    await service.database.statements.run('DELETE FROM idempotent_request', [])
    const next = await withdrawal(person, { to, amount: 2 }, 'each-week')
    expect(next).not.toBe(same)
    expect(await paid(person, next)).toMatchObject({ state: 'confirmed' })
    expect([await person.balance(), await usdcOf(chain, to)]).toEqual([6, 4_000_000n])
    await sound()
  })

  test('is another one where its key comes with another amount, and each is paid once', async () => {
    const { chain } = world
    const [person, to] = [await owner(), newAddress()]
    const hash = await paidAndForgotten(person, { to, amount: 3 }, 'used-twice')
    const other = await withdrawal(person, { to, amount: 2 }, 'used-twice')
    expect(await paid(person, other)).toMatchObject({ state: 'confirmed' })
    expect(await usdcOf(chain, to)).toBe(5_000_000n)
    await book(hash, person.caller.user.id)
    expect(await person.balance()).toBe(5)
    await sound()
  })

  test('is not paid again by a key that the restored database has, where the version before paid by its operation', async () => {
    const { service, chain } = world
    const [person, to] = [await owner(), newAddress()]
    // Refused for want of money, which keeps the key and no answer.
    await expect(withdrawal(person, { to, amount: 12 }, 'known-before')).rejects.toThrow('insufficient')
    const sql = 'SELECT operation FROM idempotent_request ORDER BY created_at DESC LIMIT 1'
    const [{ operation }] = (await service.database.statements.run(sql, [])) as [{ operation: Id<'op'> }]
    await send(chain, [{ to: person.address, value: 10_000_000n }])
    await world.mine(3)
    await world.watch()
    const hash = await lost(deriveId('wdr', operation), to, 12_000_000n)
    const id = await withdrawal(person, { to, amount: 12 }, 'known-before')
    expect(await paid(person, id)).toEqual({ state: 'confirmed', transactionHash: hash })
    expect([await person.balance(), await usdcOf(chain, to)]).toEqual([8, 12_000_000n])
    await sound()
  })

  test('is never paid again by its key where it was booked as a loss', async () => {
    const { service, chain } = world
    const [person, to] = [await owner(), newAddress()]
    const hash = await paidAndForgotten(person, { to, amount: 7 }, 'lost-for-good')
    await paid(person, await withdrawal(person, { to: newAddress(), amount: 5 }, 'meanwhile'))
    await book(hash, 'platform')
    await send(chain, [{ to: person.address, value: 10_000_000n }])
    await world.mine(3)
    await world.watch()
    for (const days of [0, 7]) {
      service.clock.forward(days * DAY_MS)
      await world.mineNow()
      await service.database.statements.run('DELETE FROM idempotent_request', [])
      const again = withdrawal(person, { to, amount: 7 }, 'lost-for-good')
      await expect(again).rejects.toThrow('payout_booked_otherwise')
    }
    expect(await usdcOf(chain, to)).toBe(7_000_000n)
    await sound()
  })

  test('is booked as a loss of the operator where no account has the money any more, once', async () => {
    const { service } = world
    const [person, to, operation] = [await owner(), newAddress(), operationNow()]
    const hash = await lost(deriveId('wdr', operation), to, 20_000_000n)
    await expect(book(hash, person.caller.user.id)).rejects.toThrow('Insufficient')
    const { capital } = (await service.wallets.reconciling.reconcile())!
    expect(await book(hash, 'platform')).toContain(`20 USDC to ${to} are booked as a loss of your own.`)
    await expect(book(hash, 'platform')).rejects.toThrow('No transfer out of the treasury in it is left to book.')
    expect(await service.wallets.reconciling.reconcile()).toMatchObject({ capital: capital - 20_000_000n })
    expect(await person.balance()).toBe(10)
    await sound()
    // The account did not pay for it.
    const again = service.wallets.withdrawals.withdraw(person.caller, { to, amount: dollars(20) }, operation)
    await expect(again).rejects.toThrow('The transfer of this payout is booked as another one.')
    expect(await person.balance()).toBe(10)
    await sound()
  })

  test('ends a refund that waits as paid, also after its time and whichever account it was booked on', async () => {
    const { service } = world
    const [person, other, operation] = [await owner(), await owner(), operationNow()]
    const payer = newAddress()
    const sale = await addSale(service, person, { payer, amount: 4_000_000, recipient: person.address })
    await service.outflow.setPaused(true)
    const by = { amount: null, reason: null, by: 'seller', owner: null } as const
    const { id, state } = await service.refunds.request({ ...by, saleId: sale }, operation)
    expect(state).toBe('requested')
    const hash = await lost(id, payer)
    await book(hash, other.caller.user.id)
    service.clock.forward(15 * DAY_MS)
    await service.refunds.retryDue(service.clock.now(), new AbortController().signal)
    await service.outflow.setPaused(false)
    expect(await service.refunds.ofSale(sale)).toMatchObject([{ id, state: 'confirmed', txHash: hash, failure: null }])
    expect([await person.balance(), await other.balance()]).toEqual([10, 6])
    await sound()
  })

  test('keeps a refund that waits from failing by its age until payouts are on, or while its transfer is not booked', async () => {
    const { service } = world
    const [person, gone, payer] = [await owner(), await owner(), newAddress()]
    const by = { amount: null, reason: null, by: 'seller', owner: null } as const
    // Neither seller has the money any more.
    const sales = await Promise.all(
      [person, gone].map((seller) =>
        addSale(service, seller, { payer, amount: 15_000_000, recipient: seller.address }),
      ),
    )
    await service.outflow.setPaused(true)
    const [left] = await Promise.all(sales.map((saleId) => service.refunds.request({ ...by, saleId }, operationNow())))
    const stateOf = async (at: number) => (await service.refunds.ofSale(sales[at]!))[0]!.state
    const retry = async () => {
      service.clock.forward(301_000)
      await service.refunds.retryDue(service.clock.now(), new AbortController().signal)
      return [await stateOf(0), await stateOf(1)]
    }
    const hash = await lost(left!.id, payer, 15_000_000n)
    service.clock.forward(15 * DAY_MS)
    expect(await retry()).toEqual(['requested', 'requested'])
    await service.outflow.setPaused(false)
    expect(await retry()).toEqual(['requested', 'failed'])
    await book(hash, 'platform')
    expect(await retry()).toEqual(['confirmed', 'failed'])
    await sound()
  })

  test('ends a refund that waits as paid, also where the booked transfer has another amount', async () => {
    const { service, chain } = world
    const [person, payer] = [await owner(), newAddress()]
    const sale = await addSale(service, person, { payer, amount: 5_000_000, recipient: person.address })
    await service.outflow.setPaused(true)
    const by = { amount: null, reason: null, by: 'seller', owner: null } as const
    const { id } = await service.refunds.request({ ...by, saleId: sale }, operationNow())
    const hash = await lost(id, payer, 3_000_000n)
    await book(hash, person.caller.user.id)
    await service.outflow.setPaused(false)
    service.clock.forward(301_000)
    await service.refunds.retryDue(service.clock.now(), new AbortController().signal)
    expect(await service.refunds.ofSale(sale)).toMatchObject([{ id, state: 'confirmed', txHash: hash }])
    expect([await person.balance(), await usdcOf(chain, payer)]).toEqual([7, 3_000_000n])
    await sound()
  })

  test('is tried again after the usual wait where it is booked otherwise', async () => {
    const { service } = world
    const [person, operation] = [await owner(), operationNow()]
    const sale = await addSale(service, person, { payer: newAddress(), amount: 4_000_000, recipient: person.address })
    await service.outflow.setPaused(true)
    const by = { amount: null, reason: null, by: 'seller', owner: null } as const
    const { id } = await service.refunds.request({ ...by, saleId: sale }, operation)
    await book(await lost(id, newAddress()), 'platform')
    await service.outflow.setPaused(false)
    service.clock.forward(301_000)
    const now = service.clock.now()
    await service.refunds.retryDue(now, new AbortController().signal)
    const [refund] = await service.refunds.ofSale(sale)
    expect(refund).toMatchObject({ state: 'requested', waitsFor: 'payouts_paused' })
    expect(refund!.tryAt!.getTime()).toBeGreaterThan(now.getTime())
  })

  test('ends a dispute that its deadline decides as paid where its transfer is a loss of the operator', async () => {
    const { service, chain } = world
    const person = await owner()
    await person.call('PATCH', '/v1/refund-policy', { body: { unanswered: 'refund', answerDays: 1 } })
    const sale = await createSale(service, person, { amount: 4_000_000, recipient: person.address })
    expect((await report(service, sale)).status).toBe(201)
    const payer = sale.payer.address.toLowerCase() as Hex
    const hash = await lost(refundOf(sale.id, 1), payer)
    await book(hash, 'platform')
    for (const pass of [DAY_MS, DAY_MS]) {
      service.clock.forward(pass)
      await world.mineNow()
      await sweep(service)
      await service.wallets.payouts.stepAll(new AbortController().signal)
    }
    expect(await service.refunds.ofSale(sale.id)).toMatchObject([{ state: 'confirmed', txHash: hash }])
    expect(await disputeOf(service, sale.id)).toMatchObject({ state: 'refunded', attempts: 1, refundFailure: null })
    expect(await usdcOf(chain, payer)).toBe(4_000_000n)
    expect(await person.balance()).toBe(10)
    await sound()
  })

  test('keeps the attempt of a dispute whose transfer is booked to another address', async () => {
    const { service } = world
    const person = await owner()
    await person.call('PATCH', '/v1/refund-policy', { body: { unanswered: 'refund', answerDays: 1 } })
    const sale = await createSale(service, person, { amount: 4_000_000, recipient: person.address })
    await report(service, sale)
    await book(await lost(refundOf(sale.id, 1), newAddress()), 'platform')
    for (const pass of [DAY_MS, DAY_MS]) {
      service.clock.forward(pass)
      await sweep(service)
    }
    expect(await disputeOf(service, sale.id)).toMatchObject({ state: 'refunding', attempts: 1 })
    expect(await service.refunds.ofSale(sale.id)).toEqual([])
    await sound()
  })

  test('is not said to be booked where the node has no receipt', async () => {
    const { chain } = world
    const hash = await lost(deriveId('wdr', operationNow()), newAddress())
    const relay = await startRelay(chain.url, (questions) => ({
      pass: questions.map((question) =>
        question.method === 'eth_getTransactionReceipt' ? { ...question, params: [toHex(randomBytes(32))] } : question,
      ),
    }))
    const pruned = { ...config, BASE_RPC_URLS: [relay.url] }
    await expect(showLeft(pruned, world.service.database)).rejects.toThrow('The node has no receipt of 0x')
    // One that takes too long for many blocks, and says so as an outage.
    relay.behave((questions) => {
      const search = questions.find(({ method }) => method === 'eth_getLogs')?.params[0]
      const { fromBlock = '0x0', toBlock = '0x0' } = (search ?? {}) as { fromBlock?: string; toBlock?: string }
      if (Number(toBlock) - Number(fromBlock) < 100) return honest(questions, false)
      const error = { code: -32005, message: 'query timeout exceeded' }
      return { status: 200, body: questions.map(({ id }) => ({ jsonrpc: '2.0', id, error })) }
    })
    expect(await showLeft(pruned, world.service.database)).toContain(hash)
    await relay.stop()
    await book(hash, 'platform')
    await sound()
  })

  test('ends a refund that is asked for again as paid', async () => {
    const { service } = world
    const [person, payer, operation] = [await owner(), newAddress(), operationNow()]
    const sale = await addSale(service, person, { payer, amount: 4_000_000, recipient: person.address })
    const hash = await lost(deriveId('rfd', operation), payer)
    await book(hash, person.caller.user.id)
    const by = { amount: null, reason: null, by: 'seller', owner: null } as const
    const refund = await service.refunds.request({ ...by, saleId: sale }, operation)
    expect([refund.state, refund.txHash]).toEqual(['confirmed', hash])
    expect((await person.call('GET', `/v1/payments/${sale}`)).body.payment).toMatchObject({ state: 'refunded' })
    expect(await person.balance()).toBe(6)
    await sound()
  })

  test('ends the refund that has its nonce as paid, also where its amount is another one by now', async () => {
    const { service, chain } = world
    const [person, payer, operation] = [await owner(), newAddress(), operationNow()]
    const sale = await addSale(service, person, { payer, amount: 5_000_000, recipient: person.address })
    const hash = await lost(deriveId('rfd', operation), payer, 3_000_000n)
    const by = { amount: null, reason: null, by: 'seller', owner: null } as const
    const { id } = await service.refunds.request({ ...by, saleId: sale }, operation)
    await service.wallets.payouts.step(id)
    await world.mine(100)
    await service.wallets.payouts.step(id)
    expect(await service.refunds.ofSale(sale)).toMatchObject([{ id, state: 'confirmed', txHash: hash }])
    expect(await usdcOf(chain, payer)).toBe(3_000_000n)
    await world.watch()
    // The operator reads what has not left.
    expect(await service.wallets.reconciling.reconcile()).toMatchObject({ difference: 2_000_000n })
  })
})
