import { testService } from '../../harness/service.ts'
import { addSale, refund, rich } from '../../refunds/sales.ts'

test('GET /payments → 200: those of all products, by each filter, and nothing of another account', async () => {
  const service = await testService()
  const [person, other] = [await rich(service, 10), await service.person()]
  await addSale(service, other)
  await addSale(service, person, { environment: 'production' })
  const { checkout } = (
    await person.call('POST', '/v1/checkouts', {
      body: {
        ...{ callbackUrl: 'http://127.0.0.1:9/flow', product: { name: 'Audit' }, price: 5, testMode: true },
        ...{ network: 'base-sepolia', recipient: `0x${'a1'.repeat(20)}` },
      },
    })
  ).body
  const payer = `0x${'b1'.repeat(20)}`
  const audit = await addSale(service, person, { subject: checkout.id as string, payer, amount: 5_000_000 })
  service.clock.forward(60_000)
  const noon = service.clock.now().toISOString()
  const gate = await addSale(service, person, { product: 'gate', subject: 'pwl_none', payer })
  const failed = await addSale(service, person, { product: 'asset', subject: 'rda_none', state: 'failed' })
  const open = await addSale(service, person, { state: 'settling' })
  await refund(person, audit, { amount: 2 })

  const list = async (query: string) => {
    const { status, body } = await person.call('GET', `/v1/payments?${query}`)
    expect(status).toBe(200)
    return { ids: (body.payments as { id: string }[]).map(({ id }) => id), total: body.total as number, body }
  }
  const all = await list('')
  expect(new Set(all.ids)).toEqual(new Set([open, failed, gate, audit]))
  expect(all).toMatchObject({ total: 4, body: { limit: 20, offset: 0 } })
  expect((all.body.payments as { id: string }[]).find(({ id }) => id === audit)).toEqual({
    ...{ id: audit, product: 'checkout', subject: checkout.id, name: 'Audit', state: 'paid', amount: 5, refunded: 2 },
    ...{ refundable: 3, currency: 'USDC', network: 'base-sepolia', payer, recipient: `0x${'a1'.repeat(20)}` },
    ...{
      txHash: expect.stringMatching(/^0x/),
      explorerUrl: expect.stringMatching(/^https:\/\/sepolia\.basescan\.org/),
    },
    ...{ reason: null, test: false, createdAt: expect.any(String), paidAt: expect.any(String) },
  })
  const cases: Record<string, string[]> = {
    'product=gate': [gate],
    'product=tool': [],
    'state=paid': [audit, gate],
    'state=failed': [failed],
    'state=settling': [open],
    'state=refunded': [],
    [`payer=${payer.toUpperCase().replace('0X', '0x')}`]: [audit, gate],
    [`payer=${payer}&product=checkout`]: [audit],
    [`from=${noon}`]: [gate, failed, open],
    [`to=${noon}`]: [audit],
    'refunded=true': [audit],
    'refunded=false&state=paid': [gate],
  }
  for (const [query, expected] of Object.entries(cases)) {
    const { ids, total } = await list(query)
    expect([query, new Set(ids), total]).toEqual([query, new Set(expected), expected.length])
  }
  const [first, rest] = [await list('limit=3'), await list('limit=3&offset=3')]
  expect([...first.ids, ...rest.ids]).toEqual(all.ids)
  for (const query of ['state=gone', 'payer=0x12', 'from=yesterday', 'from=0001-01-01T00:00:00Z', 'refunded=1']) {
    const { status, body } = await person.call('GET', `/v1/payments?${query}`)
    expect([query, status, Object.keys(body.details as object)]).toEqual([query, 400, [query.split('=')[0]]])
  }
  for (const id of [audit, 'pay_none']) {
    expect((await other.call('GET', `/v1/payments/${id}`)).body.code).toBe('payment_not_found')
  }
  await service.close()
})
