import { deriveId, type Id } from '../../service/kit/ids.ts'
import { startSmtp } from '../harness/smtp.ts'
import { addSale } from '../refunds/sales.ts'
import { openWorld, until, type World } from './world.ts'

/** What sellers are mailed of their sales: what they chose, once, and never a thousand mails. */
describe('mails to sellers about their sales', () => {
  let world: World
  let smtp: Awaited<ReturnType<typeof startSmtp>>

  beforeAll(async () => {
    smtp = await startSmtp()
    world = await openWorld({ environment: { SMTP_URL: smtp.url, MAIL_FROM: 'coinslot@example.com' } })
  })
  afterAll(async () => {
    await world.close()
    await smtp.close()
  })
  beforeEach(() => {
    smtp.received.length = 0
  })

  const simulate = (id: string, outcome = 'paid') =>
    world.call('POST', `/p/${id}/pay`, { body: { input: {}, simulate: true, outcome } })
  /** But those of the seller's new key, which may come at any time. */
  const received = (): string[] => smtp.received.filter((mail) => !mail.includes('An API key was created'))
  const subjects = (): string[] => received().map((mail) => /^Subject: (.*)$/m.exec(mail)?.[1] ?? '')
  const handled = () =>
    until(async () => {
      const sql = "SELECT id FROM outbox WHERE topic LIKE 'checkouts.%' AND done_at IS NULL AND failed_at IS NULL"
      return (await world.service.database.statements.run(sql, [])).length === 0
    })
  /** Whose turns the work of these sales has used: each seller waits for their own mails only. */
  const accounts = async () => {
    const sql = "SELECT DISTINCT account FROM outbox WHERE topic LIKE 'checkouts.%'"
    return (await world.service.database.statements.run<{ account: string }>(sql, [])).map(({ account }) => account)
  }
  const anHourLater = async () => {
    await world.service.checkouts.sweepers.notices(new Date(world.service.clock.now().getTime() + 3_600_001))
    await handled()
  }

  test('are sent for the first five sales of an hour, then together, and only where switched on', async () => {
    const { id } = await world.sell({
      testMode: true,
      product: { name: 'Audit' },
      notify: { sale: true, failure: false },
    })
    const quiet = await world.sell({ testMode: true })
    expect(quiet.checkout.notify).toEqual({ sale: false, failure: true })
    await Promise.all([...Array.from({ length: 12 }, () => simulate(id)), simulate(quiet.id), simulate(id, 'declined')])
    await handled()
    expect(subjects()).toEqual(Array<string>(5).fill('Test: Audit was sold for 1 USDC'))
    await anHourLater()
    await anHourLater()
    expect(subjects().slice(5)).toEqual(['7 more sales'])
    expect(received()[0]).toMatch(/^To: person\d+@example\.com$/m)
    expect(await accounts()).toEqual([`sandbox/${world.seller.caller.user.id}`])
  })

  test('say which sales in production were paid with test money', async () => {
    world.service.clock.forward(3_600_001)
    const { id: subject } = await world.sell({ product: { name: 'Audit' }, notify: { sale: true, failure: false } })
    const production = { caller: { ...world.seller.caller, environment: 'production' } } as const
    for (const network of ['base-sepolia', 'base'] as const) {
      const saleId = await addSale(world.service, production, { subject, network })
      await world.service.checkouts.notices.tell({ saleId, kind: 'sale' }, saleId)
    }
    expect(subjects()).toEqual(['Test: Audit was sold for 1 USDC', 'Audit was sold for 1 USDC'])
    expect(received().map((mail) => mail.includes('test money, on base-sepolia'))).toEqual([true, false])
  })

  test('say what the receiver answered, and that nothing was charged only where that is so', async () => {
    const { id } = await world.sell({ testMode: true, responseMode: 'lastNode', product: { name: 'Broken' } })
    world.workflow.answers({ delivery: { status: 500, body: '' } })
    const paid = (await simulate(id)).body.payment.id as string
    await until(() => Promise.resolve(subjects().length > 0))
    expect(received()[0]).toMatch(/answered 500, so it is not sent again/)
    expect(received()[0]).not.toMatch(/410|Nothing was charged/)

    // The mail was late: the order has been delivered again since.
    world.workflow.answers({ delivery: { status: 200, body: '{}' } })
    const delivery = deriveId('dlv', paid as Id<'pay'>)
    expect((await world.seller.call('POST', `/v1/deliveries/${delivery}/redeliver`)).status).toBe(202)
    await until(async () => {
      const { body } = await world.seller.call('GET', `/v1/deliveries/${delivery}`)
      return body.delivery.status === 'delivered'
    })
    await world.service.checkouts.notices.tell({ saleId: paid, kind: 'failure' }, 'late')
    expect(received()).toHaveLength(1)
  })

  test('are sent for each failure of an order that is delivered again', async () => {
    const { id } = await world.sell({ testMode: true, responseMode: 'lastNode', product: { name: 'Twice' } })
    world.workflow.answers({ delivery: { status: 500, body: '' } })
    const paid = (await simulate(id)).body.payment.id as string
    const delivery = deriveId('dlv', paid as Id<'pay'>)
    for (const failures of [1, 2, 3]) {
      await until(() => Promise.resolve(received().length === failures))
      await handled()
      if (failures < 3) await world.seller.call('POST', `/v1/deliveries/${delivery}/redeliver`)
    }
    expect(subjects()).toEqual(Array<string>(3).fill('Test: A paid delivery was rejected: Twice'))
  })

  test('are sent for failed deliveries unless switched off, which makes no new version', async () => {
    const { id } = await world.sell({ testMode: true, product: { name: 'Broken' } })
    world.workflow.answers({ delivery: { status: 410, body: '' } })
    await simulate(id)
    await until(() => Promise.resolve(subjects().length > 0))
    await handled()
    expect(subjects()).toEqual(['Test: A paid delivery was rejected: Broken'])
    const { body } = await world.seller.call('PATCH', `/v1/checkouts/${id}`, {
      body: { notify: { sale: false, failure: false } },
    })
    expect(body.checkout).toMatchObject({ version: 1, notify: { sale: false, failure: false } })
    const paid = (await simulate(id)).body.payment.id as string
    await until(async () => (await world.seller.call('GET', `/v1/deliveries?subject=${paid}`)).status < 500)
    await handled()
    expect(subjects()).toHaveLength(1)
  })
})
