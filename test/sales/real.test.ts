import { NETWORKS } from '../../service/chain/networks.ts'
import { newId } from '../../service/kit/ids.ts'
import { isReal, IS_REAL } from '../../service/sales/model.ts'
import { tokenHash } from '../../service/sales/service/proof.ts'
import { newToken } from '../chaos/token.ts'
import { liveSettings } from '../harness/live.ts'
import { testService, type TestPerson, type TestService } from '../harness/service.ts'
import { addSale } from '../refunds/sales.ts'

const KINDS = (['production', 'sandbox'] as const).flatMap((environment) =>
  Object.values(NETWORKS).flatMap(({ name: network }) =>
    [true, false].map((simulated) => ({ environment, network, simulated })),
  ),
)

describe('a real sale', () => {
  let service: TestService
  beforeAll(async () => {
    service = await testService({ ...liveSettings(), RATE_PAY_PER_MINUTE: '0' })
  })
  afterAll(() => service.close())

  test('in production is one that was paid with real money, in the sandbox every one', () => {
    expect(KINDS.filter(isReal)).toEqual([
      { environment: 'production', network: 'base', simulated: false },
      ...KINDS.filter(({ environment }) => environment === 'sandbox'),
    ])
  })

  // Every network of the service is among the kinds, so a new test network needs a migration.
  test('is the same to the database', async () => {
    const rows = await service.database.statements.run<{ real: boolean }>(
      `SELECT ${IS_REAL} AS real
       FROM unnest($1::environment[], $2::text[], $3::boolean[]) WITH ORDINALITY AS s (environment, network, simulated, place)
       ORDER BY place`,
      [KINDS.map((kind) => kind.environment), KINDS.map((kind) => kind.network), KINDS.map((kind) => kind.simulated)],
    )
    expect(rows.map(({ real }) => real)).toEqual(KINDS.map(isReal))
  })

  /** Paid on the page of a checkout, by a customer of this address. */
  const sell = (seller: TestPerson, amount: number, over: Parameters<typeof addSale>[2] = {}) =>
    addSale(service, seller, {
      amount: amount * 1_000_000,
      ...over,
      details: { onPage: 'true', receipt: { email: `buyer${String(amount)}@example.com`, language: 'en' } },
    })
  const read = async (person: TestPerson, name: string, input: object) => {
    const { body } = await person.call('GET', `/trpc/${name}?input=${encodeURIComponent(JSON.stringify(input))}`)
    return body.result.data as Record<'now' | 'customers' | 'all', unknown>
  }
  const today = () => service.clock.now().toISOString().slice(0, 10)

  test('alone is in the summary, among the customers and the payments of a checkout', async () => {
    const seller = await service.person({ environment: 'production' })
    await sell(seller, 1)
    await sell(seller, 2, { network: 'base-sepolia' })
    await sell(seller, 4, { simulated: true })
    await sell(seller, 8, { network: 'base-sepolia', state: 'failed' })
    await sell(seller, 16, { state: 'failed' })
    const days = { first: today(), last: today() }
    expect((await read(seller, 'payments.summary', days)).now).toEqual({
      ...{ revenue: 1, refunded: 0, payments: 1, failed: 1, newCustomers: 1, returningCustomers: 0 },
    })
    expect((await read(seller, 'payments.customers', {})).customers).toMatchObject([
      { id: 'buyer1@example.com', payments: 1, paid: 1 },
    ])
    expect((await read(seller, 'checkouts.conversion', days)).all).toMatchObject({ paid: 1 })
    // All of them are payments all the same.
    expect((await seller.call('GET', '/v1/payments')).body.total).toBe(5)
  })

  test('alone makes the record that customers see before they pay', async () => {
    const seller = await service.person({ environment: 'production' })
    const subject = newId('chk', service.clock.now())
    for (let at = 0; at < 19; at++) await addSale(service, seller, { subject })
    for (let at = 0; at < 19; at++) await addSale(service, seller, { subject, network: 'base-sepolia' })
    expect(await service.disputes.trackRecord(subject)).toBeNull()
    await addSale(service, seller, { subject })
    service.clock.forward(61_000)
    expect(await service.disputes.trackRecord(subject)).toMatchObject({ customers: 20 })
  })

  test('alone gets an invoice; the others take no number', async () => {
    const seller = await service.person({ environment: 'production' })
    await seller.call('PATCH', '/v1/invoicing', {
      body: { enabled: true, sellerName: 'Acme', sellerAddress: 'Main Street 1' },
    })
    const ask = async (over: Parameters<typeof addSale>[2]) => {
      const [id, token] = [await addSale(service, seller, over), newToken()]
      await service.database.statements.run('UPDATE sale SET token_hash = $2 WHERE id = $1', [id, tokenHash(token)])
      const path = `/receipts/${id}/invoice?token=${token}`
      const { body: before } = await service.call('GET', path)
      const body = { name: 'Ada', address: 'Side Street 2', country: 'DE' }
      return { offered: before.offered, ...(await service.call('POST', path, { body })) }
    }
    for (const over of [{ network: 'base-sepolia' }, { simulated: true }] as const)
      expect(await ask(over)).toMatchObject({
        ...{ offered: false, status: 409 },
        body: { code: 'invoice_not_possible', error: expect.stringContaining('moved no real money') },
      })
    const year = service.clock.now().getUTCFullYear()
    expect(await ask({})).toMatchObject({ status: 201, body: { invoice: { number: `${String(year)}-000001` } } })
  })

  test('is every one of a sandbox, as before', async () => {
    const seller = await service.person()
    await sell(seller, 2)
    await sell(seller, 4, { simulated: true })
    const days = { first: today(), last: today() }
    expect((await read(seller, 'payments.summary', days)).now).toMatchObject({ revenue: 6, newCustomers: 2 })
    expect((await read(seller, 'payments.customers', {})).customers).toHaveLength(2)
    expect((await read(seller, 'checkouts.conversion', days)).all).toMatchObject({ paid: 2 })
  })
})
