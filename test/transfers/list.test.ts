import { newId } from '../../service/kit/ids.ts'
import { showTransfers } from '../../service/cli/transfers.ts'
import { findTransfers } from '../../service/transfers/store.ts'
import { requestOwn } from '../refunds/own.ts'
import { addSale, refund } from '../refunds/sales.ts'
import { dollars, openWorld, send, type Depositor, type World } from '../wallet/world.ts'

const TO = `0x${'c7'.repeat(20)}` as const

/** What an operator is shown who asks where money is. */
describe('the list of transfers', () => {
  let world: World
  let person: Depositor
  beforeAll(async () => {
    world = await openWorld()
    person = await world.person()
    const { chain, service } = world
    await send(chain, [
      { to: person.address, value: 10_000_000n },
      { to: service.wallets.treasury()!, value: 10_000_000n },
    ])
    await world.mine(10)
    await world.watch()
  })
  afterAll(() => world.close())

  const statements = () => world.service.database.statements
  const shown = async (id?: string) => await showTransfers(statements(), id, world.service.clock.now())
  async function line(id: string): Promise<string> {
    const all = (await shown()) ?? ''
    return all.split('\n').find((one) => one.includes(id)) ?? ''
  }

  it('follows a withdrawal from its request to its end', async () => {
    const { service } = world
    expect(await shown()).toBe('Every transfer has ended.')
    const operation = newId('op', service.clock.now())
    const { id } = await service.wallets.withdrawals.withdraw(person.caller, { to: TO, amount: dollars(4) }, operation)
    expect(await line(id)).toMatch(/withdrawal +4(\.0+)? USDC waiting .* waits for a worker$/)
    // Nobody carries it out yet, so that it stays where it is.
    const stepping = service.wallets.payouts.step(id)
    await world.mine(1)
    world.service.facilitator.start()
    await stepping
    expect(await line(id)).toMatch(/ sent .* is in a block: counts once enough follow$/)
    const [one] = await findTransfers(statements(), { id })
    expect(one).toMatchObject({ kind: 'withdrawal', state: 'sent', to: TO, settlement: 'settled', endedAt: null })
    expect(one?.from).toBe(service.wallets.treasury())
    await world.mine(3)
    await service.wallets.payouts.step(id)
    expect(await shown()).toBe('Every transfer has ended.')
    const whole = (await shown(id)) ?? ''
    expect(whole).toContain(`${id}: withdrawal of 4`)
    expect(whole).toContain('has arrived')
    expect(whole).toContain(`https://basescan.org/tx/${one!.txHash!}`)

    // The deposit is swept meanwhile.
    for (const { run } of service.wallets.collecting) await run(new AbortController().signal)
    const [sweep] = await findTransfers(statements(), { id: 'sweep 1' })
    expect(sweep).toMatchObject({ kind: 'sweep', from: person.address, amount: 10_000_000n })
    expect(await line('sweep 1')).toContain(' sent ')
  })

  it('says of a refund what it waits for', async () => {
    const { service, chain } = world
    const seller = await world.person()
    const own = await chain.payer(5_000_000n)
    const sale = { payer: TO, amount: 4_000_000, recipient: own.address }
    const signs = await requestOwn(
      service,
      seller.caller,
      await addSale(service, seller, sale),
      newId('op', service.clock.now()),
    )
    expect(await line(signs.id)).toMatch(/refund_own .* waiting .* waits for the signature of its seller$/)
    const poor = await addSale(service, seller, { ...sale, recipient: seller.address })
    const { body } = await refund(seller, poor, {})
    const { id } = body.refund as { id: string }
    expect(await line(id)).toMatch(/refund .* waiting .* waits: insufficient_balance$/)
    expect(await shown(id)).toContain(`to           ${TO}`)
  })

  it('finds nothing under an id that there is not', async () => {
    expect(await shown('wd_none')).toBeNull()
  })
})
