import { usdcOf } from '../facilitator/world.ts'
import { freeUploads, keepUploads } from '../../service/files/customer-store.ts'
import type { Statements } from '../../service/kit/transaction.ts'
import { openWorld, until, type World } from './world.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const FIELDS = [
  { name: 'paper', label: 'Your paper', type: 'file', required: true, pattern: '.+\\.pdf' },
  { name: 'more', type: 'file' },
]
const GONE = 'must be a file of this checkout that is still stored'

/** What a customer uploads stays for the order that names it, and for nothing else. */
describe("a customer's upload", () => {
  let world: World
  beforeAll(async () => {
    world = await openWorld({ chain: true })
  })
  afterAll(() => world.close())
  beforeEach(() => world.forget())

  async function upload(checkout: string, text = 'x'): Promise<string> {
    const headers = { 'content-type': 'application/pdf' }
    const { body } = await world.call('POST', `/p/${checkout}/files?name=a%20b.pdf`, { raw: text, headers })
    return String(body.file.url)
  }

  const simulate = (checkout: string, input: Record<string, unknown>) =>
    world.call('POST', `/p/${checkout}/pay`, { body: { input, simulate: true } })

  function fetched(link: string) {
    const { pathname, search } = new URL(link)
    return world.call('GET', pathname + search)
  }

  async function remove(
    link: string,
    inside: Pick<Statements, 'run'> = world.service.database.statements,
  ): Promise<void> {
    await inside.run('DELETE FROM file WHERE id = $1', [fileOf(link)])
  }

  /** Those that no order holds. */
  async function waiting(checkout: string): Promise<string[]> {
    const unused = 'NOT EXISTS (SELECT FROM file_use WHERE file_id = file.id)'
    const rows = await world.service.database.statements.run<{ id: string }>(
      `SELECT id FROM file WHERE checkout_id = $1 AND ${unused} ORDER BY id`,
      [checkout],
    )
    return rows.map(({ id }) => id)
  }

  const sweep = () => world.service.files.sweep(world.service.clock.now())

  it('of an order that has failed waits for another one again, and is removed where no other one names it', async () => {
    const { id } = await world.sell({ fields: FIELDS, capture: 'onSuccess', responseMode: 'lastNode' })
    const pay = async (input: Record<string, string>, status: number): Promise<string> => {
      world.workflow.answers({ delivery: { status, body: '{}' } })
      const paymentPayload = await world.sign(await world.chain.payer(5_000_000n), id)
      const { body } = await world.call('POST', `/p/${id}/pay`, { body: { input, paymentPayload } })
      const payment = `/p/${id}/payments/${String(body.payment.id)}`
      return await until(async () => {
        const { body: seen } = await world.call('GET', payment)
        return ['paid', 'failed'].includes(String(seen.payment.status)) ? String(seen.payment.status) : null
      })
    }
    const [shared, failed, retried] = [await upload(id), await upload(id), await upload(id)]
    expect(await pay({ paper: shared }, 200)).toBe('paid')
    expect(await pay({ paper: shared, more: failed }, 410)).toBe('failed')
    expect(await pay({ paper: retried }, 410)).toBe('failed')
    expect(await waiting(id)).toEqual([fileOf(failed), fileOf(retried)])
    expect(await pay({ paper: retried }, 200)).toBe('paid')
    expect(await waiting(id)).toEqual([fileOf(failed)])

    await world.service.files.sweep(new Date(world.service.clock.now().getTime() + 2 * HOUR_MS))
    expect((await fetched(failed)).status).toBe(404)
    expect([(await fetched(shared)).text, (await fetched(retried)).text]).toEqual(['x', 'x'])
  })

  it('that an order without money was promised stays as long, also where the sale that it became fails', async () => {
    const { id: checkoutId } = await world.sell({ fields: FIELDS })
    const now = world.service.clock.now()
    const after = (hours: number) => new Date(now.getTime() + hours * HOUR_MS)
    const files = [await upload(checkoutId), await upload(checkoutId)].map(fileOf)
    const keep = (ids: string[], saleId: string | null, hours: number) =>
      statements.together((inside) => keepUploads(inside, { checkoutId, ids, saleId, now, until: after(hours) }))
    const { statements } = world.service.database
    await keep(files.slice(0, 1), null, 24)
    await keep(files, 'pay_one', 200)
    await statements.together((inside) => freeUploads(inside, 'pay_one', after(1)))
    const rows = await statements.run('SELECT kept_until AS until FROM file WHERE checkout_id = $1 ORDER BY id', [
      checkoutId,
    ])
    expect(rows).toEqual([{ until: after(24) }, { until: after(1) }])
  })

  // First, because a chain's clock cannot be moved with the service's.
  it('that is gone is refused before money moves, and its authorization is unused; what is bought stays for seven days', async () => {
    const { id } = await world.sell({ fields: FIELDS })
    const payer = await world.chain.payer(5_000_000n)
    const before = await usdcOf(world.chain, world.recipient)
    const [gone, there] = [await upload(id), await upload(id)]
    await remove(gone)
    const paymentPayload = await world.sign(payer, id)
    const pay = (paper: string, token?: string) =>
      world.call('POST', `/p/${id}/pay`, { body: { input: { paper }, paymentPayload, token } })
    expect(await pay(gone)).toMatchObject({ status: 400, body: { details: { 'input.paper': GONE } } })
    expect(await usdcOf(world.chain, world.recipient)).toBe(before)
    const paid = await pay(there)
    expect(paid.body.payment).toMatchObject({ status: 'paid' })
    expect(await usdcOf(world.chain, world.recipient)).toBe(before + 1_000_000n)
    // The same payment again is the same one.
    await sweep()
    const again = await pay(there, String(paid.body.payment.token))
    expect(again.body.payment).toMatchObject({ id: paid.body.payment.id, status: 'paid' })
    expect(await usdcOf(world.chain, world.recipient)).toBe(before + 1_000_000n)

    world.service.clock.forward(7 * DAY_MS - HOUR_MS)
    await sweep()
    expect((await fetched(there)).text).toBe('x')
    world.service.clock.forward(2 * HOUR_MS)
    expect((await fetched(there)).status).toBe(404)
  })

  it('reaches the workflow as a link that it can fetch for a day where the payment is simulated, and then is removed', async () => {
    const { id } = await world.sell({ testMode: true, fields: FIELDS })
    const [bought, unsold] = [await upload(id, 'the paper'), await upload(id)]
    expect((await simulate(id, { paper: bought })).status).toBe(200)
    const [delivery] = await until(() => world.workflow.deliveries.length > 0 && world.workflow.deliveries)
    expect(delivery!.json.input).toEqual({ paper: bought })

    world.service.clock.forward(HOUR_MS)
    await sweep()
    expect((await fetched(unsold)).status).toBe(404)
    expect((await fetched(bought)).text).toBe('the paper')
    world.service.clock.forward(24 * HOUR_MS)
    await sweep()
    expect((await fetched(bought)).text).toBe('the paper')
    world.service.clock.forward(2 * HOUR_MS)
    expect((await fetched(bought)).status).toBe(404)
    await sweep()
    const rows = await world.service.database.statements.run('SELECT id FROM file WHERE checkout_id = $1', [id])
    expect(rows).toEqual([])
  })

  it('can be bought with again while it is stored, and any other https link as ever', async () => {
    const { id } = await world.sell({ testMode: true, fields: FIELDS })
    const link = await upload(id)
    expect((await simulate(id, { paper: link })).status).toBe(200)
    world.service.clock.forward(20 * HOUR_MS)
    expect((await simulate(id, { paper: link, more: 'https://example.com/p/chk_1/files/file_1' })).status).toBe(200)
  })

  it('of another checkout, a guessed or an expired one is refused by the name of its field', async () => {
    const [{ id }, other] = [
      await world.sell({ testMode: true, fields: FIELDS }),
      await world.sell({ testMode: true, fields: FIELDS }),
    ]
    const [own, stolen, expired] = [await upload(id), await upload(other.id), await upload(id)]
    const signed = new URL(own)
    const guessed = own.replace(/token=[\w-]+/, `token=${'a'.repeat(43)}`)
    const elsewhere = `${signed.origin}${new URL(stolen).pathname}${signed.search}`
    for (const paper of [stolen, guessed, elsewhere, `${own.split('?')[0]!}?name=a.pdf`]) {
      const refused = await simulate(id, { paper: own, more: paper })
      expect(refused).toMatchObject({ status: 400, body: { code: 'invalid_input', details: { 'input.more': GONE } } })
    }
    world.service.clock.forward(HOUR_MS)
    const late = await simulate(id, { paper: expired })
    expect(late).toMatchObject({ status: 400, body: { details: { 'input.paper': GONE } } })
    expect((await world.seller.call('GET', `/v1/checkouts/${id}/payments`)).body.total).toBe(0)
  })

  it('is refused in the transaction of the claim where the sweeper was first', async () => {
    const { id } = await world.sell({ testMode: true, fields: FIELDS })
    const link = await upload(id)
    const statements = world.service.database.statements
    // The check before the claim sees the file; the transaction of the claim waits for the one that removes it.
    const paid = await statements.together(async (inside) => {
      await remove(link, inside)
      const payment = simulate(id, { paper: link })
      await until(async () => {
        // A transaction reads the activity once, unless it is told to read it again.
        await inside.run('SELECT pg_stat_clear_snapshot()', [])
        const waiting = `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%UPDATE file SET kept_until%'`
        return (await inside.run(waiting, [])).length > 0
      })
      return { payment }
    })
    expect(await paid.payment).toMatchObject({ status: 400, body: { details: { 'input.paper': GONE } } })
    expect((await world.seller.call('GET', `/v1/checkouts/${id}/payments`)).body.total).toBe(0)
  })
})

function fileOf(link: string): string {
  return new URL(link).pathname.split('/').at(-1)!
}
