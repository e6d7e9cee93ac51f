import { mkdirSync, writeFileSync } from 'node:fs'
import { extractText, getDocumentProxy } from 'unpdf'
import { testService, type Answer, type TestPerson, type TestService } from '../harness/service.ts'
import { newToken } from '../chaos/token.ts'
import { createPdf } from '../../service/pdf/pdf.ts'

const SETTINGS = {
  enabled: true,
  sellerName: 'Müller & Söhne GmbH',
  sellerAddress: 'Königsallee 1\n40212 Düsseldorf',
  sellerTaxId: 'DE123456789',
  taxLabel: 'MwSt.',
  taxPercent: 19,
  prefix: 'ACME',
  note: 'Thank you.',
}
const BUYER = {
  name: '株式会社カフェ',
  address: '東京都新宿区西新宿二丁目8番1号',
  country: 'JP',
  taxId: 'T1234567890123',
}
const BYTES = 'application/pdf'

describe('receipts and invoices as documents', () => {
  let service: TestService
  let seller: TestPerson

  beforeAll(async () => {
    service = await testService({ RATE_PAY_PER_MINUTE: '0', RATE_API_PER_MINUTE: '0' })
  })
  afterAll(() => service.close())
  beforeEach(async () => {
    seller = await service.person()
    const { status } = await seller.call('PATCH', '/v1/invoicing', { body: SETTINGS })
    expect(status).toBe(200)
  })

  const checkoutOf = async (by = seller): Promise<string> => {
    const body = {
      ...{ callbackUrl: 'http://127.0.0.1:9/own', product: { name: 'SEO audit, groß' }, price: 11.9 },
      ...{ network: 'base-sepolia', recipient: `0x${'11'.repeat(20)}`, testMode: true },
    }
    return (await by.call('POST', '/v1/checkouts', { body })).body.checkout.id as string
  }
  const pay = async (chk: string, outcome = 'paid'): Promise<{ id: string; token: string; receipt: string }> => {
    const { body } = await service.call('POST', `/p/${chk}/pay`, { body: { input: {}, simulate: true, outcome } })
    const { id, token } = body.payment
    return { id, token, receipt: `/receipts/${String(id)}` }
  }
  const requestInvoice = (receipt: string, token: string, body: object = BUYER) =>
    service.call('POST', `${receipt}/invoice?token=${token}`, { body })
  const read = async (
    path: string,
    init: RequestInit = {},
  ): Promise<{ status: number; type: string; bytes: Buffer }> => {
    const answer = await fetch(service.origin + path, init)
    const bytes = Buffer.from(await answer.arrayBuffer())
    return { status: answer.status, type: answer.headers.get('content-type') ?? '', bytes }
  }
  const numberOf = ({ body }: Pick<Answer, 'body'>): string => String(body.invoice.number)
  const textOf = async (bytes: Buffer): Promise<string> => {
    const { text } = await extractText(await getDocumentProxy(new Uint8Array(bytes)), { mergePages: true })
    return text
  }

  test('an invoice has the agreed details, in the scripts of both parties', async () => {
    const { id, token, receipt } = await pay(await checkoutOf())
    expect((await service.call('GET', `${receipt}/invoice?token=${token}`)).body).toEqual({
      invoice: null,
      offered: true,
      email: null,
    })
    expect((await read(`${receipt}/invoice.pdf?token=${token}`)).status).toBe(404)
    const answer = await requestInvoice(receipt, token)
    const year = service.clock.now().getUTCFullYear()
    expect([answer.status, answer.body.invoice]).toEqual([
      201,
      {
        number: `TEST-ACME-${String(year)}-000001`,
        paymentId: id,
        issuedAt: expect.any(String),
        buyer: BUYER,
        product: 'SEO audit, groß',
        total: '11.90',
        tax: '1.90',
      },
    ])
    const { type, bytes } = await read(`${receipt}/invoice.pdf?token=${token}`)
    expect([type, bytes.subarray(0, 5).toString(), bytes.length < 200_000]).toEqual([BYTES, '%PDF-', true])
    mkdirSync('.build/browser', { recursive: true })
    writeFileSync('.build/browser/invoice.pdf', bytes)
    const text = await textOf(bytes)
    for (const part of [
      ...['Müller & Söhne GmbH', '40212 Düsseldorf', 'DE123456789', '株式会社カフェ', '東京都新宿区西新宿二丁目'],
      ...[`TEST-ACME-${String(year)}-000001`, id, 'SEO audit, groß', '11.90 USDC', 'Includes MwSt. 19 %', '1.90 USDC'],
      ...['Test: no money has moved.', 'Thank you.'],
    ]) {
      expect(text).toContain(part)
    }
    const own = await read(`/v1/invoices/${id}/pdf`, { headers: { authorization: `Bearer ${seller.key}` } })
    expect(own.bytes.equals(bytes)).toBe(true)
  })

  test('the receipt of a free sale has no transaction', async () => {
    await seller.call('POST', '/v1/coupons', { body: { code: 'GIFT', percent: 100 } })
    const body = {
      ...{ callbackUrl: 'http://127.0.0.1:9/own', product: { name: 'SEO audit' }, price: 5, coupons: true },
      ...{ network: 'base-sepolia', recipient: `0x${'11'.repeat(20)}` },
    }
    const chk = String((await seller.call('POST', '/v1/checkouts', { body })).body.checkout.id)
    const token = newToken()
    const paid = await service.call('POST', `/p/${chk}/pay`, {
      body: { input: {}, choice: { coupon: 'GIFT' }, free: true, token },
    })
    expect(paid.body.payment).toMatchObject({ status: 'paid', amount: 0 })
    const id = String(paid.body.payment.id)
    const text = await textOf((await read(`/receipts/${id}/receipt.pdf?token=${token}`)).bytes)
    expect(text).toContain('0.00 USDC')
    // The network is one of test tokens, though nothing was simulated.
    expect(text).toContain('Test: in test tokens, which have no value.')
    expect(text).not.toMatch(/Transaction|free:/)
  })

  test('an issued invoice cannot be changed by the buyer, the settings, a refund or the database', async () => {
    const { id, token, receipt } = await pay(await checkoutOf())
    const first = (await requestInvoice(receipt, token)).body.invoice
    const again = await requestInvoice(receipt, token, { ...BUYER, name: 'Another' })
    expect([again.status, again.body.invoice]).toEqual([200, first])
    await seller.call('PATCH', '/v1/invoicing', { body: { sellerName: 'Renamed', prefix: 'NEW', taxPercent: 7 } })
    await seller.call('PATCH', '/v1/invoicing', { body: { enabled: false } })
    expect((await requestInvoice(receipt, token)).body.invoice).toEqual(first)
    expect(
      (await seller.call('POST', `/v1/payments/${id}/refund`, { body: { amount: 2, reason: 'Partly late.' } })).status,
    ).toBeLessThan(300)
    const text = await textOf((await read(`${receipt}/invoice.pdf?token=${token}`)).bytes)
    expect(text).toContain('Müller & Söhne GmbH')
    expect(text).not.toContain('Renamed')
    expect(text).toContain('2.00 USDC')
    const { statements } = service.database
    await expect(statements.run(`UPDATE invoice SET number = 'X' WHERE sale_id = $1`, [id])).rejects.toThrow()
    await expect(statements.run('DELETE FROM invoice WHERE sale_id = $1', [id])).rejects.toThrow()
    // A receipt says what the seller is called today.
    expect(await textOf((await read(`${receipt}/receipt.pdf?token=${token}`)).bytes)).toContain('Renamed')
  })

  test('a payment that goes back whole gets no invoice, and is offered none', async () => {
    const { id, token, receipt } = await pay(await checkoutOf())
    expect((await seller.call('POST', `/v1/payments/${id}/refund`, { body: { reason: 'No.' } })).status).toBe(202)
    expect((await service.call('GET', `${receipt}/invoice?token=${token}`)).body).toMatchObject({ offered: false })
    expect(await requestInvoice(receipt, token)).toMatchObject({ status: 409, body: { code: 'invoice_not_possible' } })
  })

  test('a hundred requests for one sale get one number, and a hundred sales a hundred numbers without a gap', async () => {
    const chk = await checkoutOf()
    const one = await pay(chk)
    const same = await Promise.all(Array.from({ length: 100 }, () => requestInvoice(one.receipt, one.token)))
    expect(new Set(same.map(numberOf)).size).toBe(1)
    expect(same.filter(({ status }) => status === 201)).toHaveLength(1)
    const sales = await Promise.all(Array.from({ length: 100 }, () => pay(chk)))
    const failed = await pay(chk, 'declined')
    const many = await Promise.all([
      ...sales.map(({ receipt, token }) => requestInvoice(receipt, token)),
      ...Array.from({ length: 20 }, () => requestInvoice(failed.receipt, failed.token)),
    ])
    const numbers = many.filter(({ status }) => status === 201).map((answer) => Number(numberOf(answer).slice(-6)))
    expect(numbers.sort((a, b) => a - b)).toEqual(Array.from({ length: 100 }, (_, at) => at + 2))
    const { body } = await seller.call('GET', '/v1/invoices?limit=2')
    expect([body.total, numberOf({ body: { invoice: body.invoices[0] } }).slice(-6)]).toEqual([101, '000101'])
  })

  test('only the holder of the payment’s token gets a document, and only of a payment that has arrived', async () => {
    const chk = await checkoutOf()
    const [one, other, failed] = [await pay(chk), await pay(chk), await pay(chk, 'declined')]
    for (const path of ['invoice', 'invoice.pdf', 'receipt.pdf']) {
      expect((await read(`${one.receipt}/${path}`)).status).toBe(404)
      expect((await read(`${one.receipt}/${path}?token=${other.token}`)).status).toBe(404)
    }
    expect((await requestInvoice(one.receipt, other.token)).status).toBe(404)
    expect((await read(`${failed.receipt}/receipt.pdf?token=${failed.token}`)).status).toBe(409)
    expect((await requestInvoice(failed.receipt, failed.token)).body.code).toBe('invoice_not_possible')
    await requestInvoice(one.receipt, one.token)
    const stranger = await service.person()
    const foreign = { headers: { authorization: `Bearer ${stranger.key}` } }
    expect((await read(`/v1/invoices/${one.id}/pdf`, foreign)).status).toBe(404)
    expect((await stranger.call('GET', '/v1/invoices')).body.total).toBe(0)
    await seller.call('PATCH', '/v1/invoicing', { body: { enabled: false } })
    expect((await requestInvoice(other.receipt, other.token)).body.code).toBe('invoicing_off')
  })

  test.each([
    ['name', ''],
    ['name', 'a'.repeat(201)],
    ['name', 'two\nlines'],
    ['address', 'a'.repeat(501)],
    ['country', 'Germany'],
    ['taxId', 'a'.repeat(61)],
  ])('the buyer’s %s is checked before a number is taken', async (field, value) => {
    const { token, receipt } = await pay(await checkoutOf())
    expect((await requestInvoice(receipt, token, { ...BUYER, [field]: value })).status).toBe(400)
    expect((await seller.call('GET', '/v1/invoices')).body.total).toBe(0)
  })

  test.each<[object]>([
    [{ taxPercent: 101 }],
    [{ taxPercent: 7.123 }],
    [{ prefix: 'A B' }],
    [{ prefix: '../x' }],
    [{ enabled: true, sellerName: '' }],
    [{ note: 'a'.repeat(1_001) }],
    [{ unknown: true }],
  ])('settings are checked (%#)', async (change) => {
    const { body: before } = await seller.call('GET', '/v1/invoicing')
    expect((await seller.call('PATCH', '/v1/invoicing', { body: change })).status).toBe(400)
    expect((await seller.call('GET', '/v1/invoicing')).body).toEqual(before)
  })

  test('the longest texts fit, what no font has is a question mark, and no account makes others wait', async () => {
    const pdf = createPdf()
    const cell = { at: 0, width: 0.3, align: 'left', size: 10, bold: false, quiet: false, linesMax: 5 } as const
    const paper = (text: string) => ({
      title: 'T',
      date: '2026-01-01T00:00:00.000Z',
      rows: Array.from({ length: 60 }, () => ({ gap: 4, rule: true, cells: [{ ...cell, text }] })),
    })
    const owner = { userId: 'one', environment: 'sandbox' } as const
    const bytes = await pdf.render(paper(`한글 ${'W'.repeat(2_000)} ${'語'.repeat(2_000)}\u202e`), owner)
    expect(await textOf(bytes)).toContain('??')
    expect(await textOf(bytes)).toContain('…')
    const settled = await Promise.allSettled([
      ...Array.from({ length: 30 }, () => pdf.render(paper('a'), owner)),
      pdf.render(paper('b'), { ...owner, userId: 'two' }),
    ])
    const refused = settled.filter(({ status }) => status === 'rejected')
    expect(refused.length).toBeGreaterThan(10)
    expect(settled.at(-1)?.status).toBe('fulfilled')
    await pdf.close()
  })
})
