import { startSmtp } from '../harness/smtp.ts'
import { testService, type Answer, type TestPerson, type TestService } from '../harness/service.ts'
import { LANGUAGES } from '../../service/kit/language.ts'
import { until } from '../checkouts/world.ts'

/** Mails to the address that a buyer entered: one of each, in the buyer's language, and never a way to fill a mailbox. */
describe('receipts by mail', () => {
  let smtp: Awaited<ReturnType<typeof startSmtp>>
  let service: TestService
  let seller: TestPerson
  let serial = 0

  beforeAll(async () => {
    smtp = await startSmtp()
    service = await testService({
      ...{ RATE_PAY_PER_MINUTE: '0', RATE_API_PER_MINUTE: '0', RECEIPT_MAILS_PER_HOUR: '14' },
      ...{ SMTP_URL: smtp.url, MAIL_FROM: 'Coinslot <hello@coinslot.example>' },
    })
    await service.start()
  })
  afterAll(async () => {
    await service.close()
    await smtp.close()
  })
  beforeEach(async () => {
    seller = await service.person()
  })

  const checkoutOf = async (): Promise<string> => {
    const body = {
      ...{ callbackUrl: 'http://127.0.0.1:9/own', product: { name: 'SEO audit' }, price: 11.9 },
      ...{ network: 'base-sepolia', recipient: `0x${'11'.repeat(20)}`, testMode: true },
    }
    return (await seller.call('POST', '/v1/checkouts', { body })).body.checkout.id as string
  }
  const pay = (chk: string, about: object, key?: string): Promise<Answer> =>
    service.call('POST', `/p/${chk}/pay`, {
      body: { input: {}, simulate: true, ...about },
      ...(key === undefined ? {} : { headers: { 'Idempotency-Key': key } }),
    })
  const someone = (): string => `buyer-${String(serial++)}-${String(Date.now())}@example.com`
  const mailsTo = (email: string): string[] =>
    smtp.received
      .filter((mail) => mail.includes(`To: ${email}\n`))
      .map((mail) => mail.replaceAll('=\n', '').replaceAll('=3D', '='))
  const arrived = (email: string, many: number) => until(() => Promise.resolve(mailsTo(email).length >= many))
  const open = () =>
    service.database.statements.run(
      "SELECT id FROM outbox WHERE topic = 'receipts.mail' AND done_at IS NULL AND failed_at IS NULL",
      [],
    )
  const handled = () => until(async () => (await open()).length === 0)

  test('a buyer gets one receipt with its document, however often the payment is repeated, and a mail about a refund', async () => {
    await seller.call('PATCH', '/v1/brand', { body: { name: 'Acme Audits' } })
    const chk = await checkoutOf()
    const email = someone()
    const key = `key-${email}`
    const [first, twin] = await Promise.all([
      pay(chk, { email, language: 'de' }, key),
      pay(chk, { email, language: 'de' }, key),
    ])
    const { id, token } = first.body.payment
    expect([first.status, twin.body.payment.id]).toEqual([200, id])
    await arrived(email, 1)
    await handled()
    const [mail, ...more] = mailsTo(email)
    expect(more).toEqual([])
    for (const part of [
      'Subject: Quittung: SEO audit',
      'Gesamt: 11.90 USDC',
      'Acme Audits',
      `/receipts/${String(id)}?token=${String(token)}`,
      `filename=receipt-${String(id)}.pdf`,
      'application/pdf',
    ]) {
      expect(mail).toContain(part)
    }
    expect(first.text).not.toContain(email)
    expect((await service.call('GET', `/p/${chk}/payments/${String(id)}`)).text).not.toContain(email)
    const refund = await seller.call('POST', `/v1/payments/${String(id)}/refund`, {
      body: { amount: 2, reason: 'Late.' },
    })
    expect(refund.status).toBeLessThan(300)
    await arrived(email, 2)
    expect(mailsTo(email)[1]).toContain('2.00 USDC')
    expect(mailsTo(email)[1]).not.toContain('Late.')
  })

  test('are sent again only for the buyer and the seller, a few times an hour, or as the invoice', async () => {
    await seller.call('PATCH', '/v1/invoicing', {
      body: { enabled: true, sellerName: 'Acme', sellerAddress: 'Street 1' },
    })
    const chk = await checkoutOf()
    const email = someone()
    const { id, token } = (await pay(chk, { email })).body.payment as { id: string; token: string }
    const other = (await pay(chk, {})).body.payment as { id: string; token: string }
    await arrived(email, 1)
    const buyer = { name: 'Bo', address: 'Road 2', country: 'DE' }
    const { body } = await service.call('POST', `/receipts/${id}/invoice?token=${token}`, { body: buyer })
    const stranger = await service.person()
    expect((await stranger.call('POST', `/v1/payments/${id}/receipt`)).status).toBe(404)
    expect((await service.call('POST', `/receipts/${id}/mail?token=${other.token}`)).status).toBe(404)
    const none = await service.call('POST', `/receipts/${other.id}/mail?token=${other.token}`)
    expect([none.status, none.body.code]).toEqual([409, 'no_receipt_address'])
    const again = await service.call('POST', `/receipts/${id}/mail?token=${token}`)
    expect([again.status, again.body]).toEqual([202, { email }])
    expect((await seller.call('POST', `/v1/payments/${id}/receipt`)).status).toBe(202)
    await arrived(email, 3)
    expect(mailsTo(email)[1]).toContain(`filename=${String(body.invoice.number)}.pdf`)
    await service.call('POST', `/receipts/${id}/mail?token=${token}`)
    const refused = await service.call('POST', `/receipts/${id}/mail?token=${token}`)
    expect([refused.status, refused.body.code]).toEqual([429, 'too_many_mails'])
    await arrived(email, 4)
  })

  test('are limited per mailbox, through any checkouts, and per account', async () => {
    const victim = someone()
    for (let at = 0; at < 4; at++) {
      const chk = await checkoutOf()
      const sent = await Promise.all([victim, victim.toUpperCase(), victim].map((email) => pay(chk, { email })))
      expect(sent.map(({ status }) => status)).toEqual([200, 200, 200])
    }
    await handled()
    expect(smtp.received.filter((mail) => mail.toLowerCase().includes(`to: ${victim}\n`)).length).toBe(5)
    seller = await service.person()
    const chk = await checkoutOf()
    const many = Array.from({ length: 18 }, someone)
    await Promise.all(many.map((email) => pay(chk, { email })))
    await handled()
    expect(many.filter((email) => mailsTo(email).length > 0)).toHaveLength(14)
  })

  test('accepts single addresses only, and languages of the page only', async () => {
    const chk = await checkoutOf()
    for (const email of [
      'a@b',
      'a@b.c,d@e.fr',
      'a b@example.com',
      'a@example.com\nBcc: b@example.com',
      `${'a'.repeat(250)}@example.com`,
    ]) {
      const { status, body } = await pay(chk, { email })
      expect([status, Object.keys(body.details as object)]).toEqual([400, ['email']])
    }
    expect((await pay(chk, { email: someone(), language: 'xx' })).status).toBe(400)
    const sent = LANGUAGES.map((language) => ({ email: someone(), language }))
    await Promise.all(sent.map((about) => pay(chk, about)))
    await handled()
    expect(
      new Set(sent.map(({ email }) => /^Subject: (.*)$/m.exec(mailsTo(email)[0] ?? '')?.[1])).size,
    ).toBeGreaterThan(5)
  })
})
