import { randomBytes } from 'node:crypto'
import { sendMcp, type Json } from '../harness/mcp.ts'
import type { TestPerson } from '../harness/service.ts'
import { png } from '../files/pictures.ts'
import { openWorld, type SoldCheckout, type World } from './world.ts'

/** What a payment leads to where no workflow is called. */
describe('after the payment', () => {
  let world: World
  beforeAll(async () => {
    world = await openWorld({ works: false })
  })
  afterAll(() => world.close())

  const GUIDE = randomBytes(300_000)

  async function uploaded(name: string, raw: string | Uint8Array, by: TestPerson = world.seller, purpose = 'sale') {
    const query = new URLSearchParams({ name, purpose })
    const headers = { 'content-type': 'application/pdf' }
    const { body } = await by.call('POST', `/v1/files?${String(query)}`, { raw, headers })
    return String(body.file.id)
  }

  const sell = (after: object, terms: object = {}): Promise<SoldCheckout> =>
    world.sell({ callbackUrl: null, testMode: true, after, ...terms })

  async function buy({ id }: Pick<SoldCheckout, 'id'>, more: object = {}) {
    const { status, body } = await world.call('POST', `/p/${id}/pay`, { body: { input: {}, simulate: true, ...more } })
    expect(status).toBe(200)
    const { payment, delivery, result } = body
    return { payment, delivery, result }
  }

  const pathOf = (url: string): string => {
    const { pathname, search } = new URL(url)
    return pathname + search
  }

  const refusal = async (terms: object): Promise<unknown> => {
    const body = { product: { name: 'x' }, price: 1, network: 'base-sepolia', testMode: true, ...terms }
    return (await world.seller.call('POST', '/v1/checkouts', { body })).body.details
  }

  it.each([
    ['text', { kind: 'text', text: '# Your key\n\n**AB-12**' }],
    ['link', { kind: 'link', url: 'https://example.com/folder?x=1' }],
  ])(
    'a %s goes to the buyer through every channel, but not before the payment or without the token',
    async (_, after) => {
      const checkout = await sell(after)
      expect(checkout).toMatchObject({ secret: null, checkout: { callbackUrl: null, after } })
      const secret = 'text' in after ? 'AB-12' : 'folder?x=1'
      for (const headers of [{}, { accept: 'text/html' }]) {
        expect((await world.call('GET', `/p/${checkout.id}`, { headers })).text).not.toContain(secret)
      }
      const { payment, delivery, result } = await buy(checkout)
      expect([delivery, result]).toEqual([null, after])
      const receipt = await world.call('GET', pathOf(String(payment.receiptUrl)))
      expect(receipt.body).toMatchObject({ result: after, delivery: null })
      for (const path of [payment.receiptUrl, payment.statusUrl].map((url) => pathOf(String(url)))) {
        expect((await world.call('GET', path, { headers: { accept: 'text/html' } })).text).toContain(secret)
      }
      const status = `/p/${checkout.id}/payments/${String(payment.id)}`
      for (const token of [
        '',
        `?token=tok_${'A'.repeat(43)}`,
        `?token=${String((await buy(checkout)).payment.token)}`,
      ]) {
        for (const headers of [{}, { accept: 'text/html' }, { accept: 'text/event-stream' }]) {
          expect((await world.call('GET', status + token, { headers })).text).not.toContain(secret)
        }
      }
      const page = await world.seller.call('GET', `/v1/checkouts/${checkout.id}/payments`)
      expect(page.body.payments).toHaveLength(2)
    },
  )

  it('a file: downloaded by its buyer alone, as an attachment', async () => {
    const fileId = await uploaded('../../Führer.pdf'.slice(6), GUIDE)
    const forSale = await sell({ kind: 'file', fileId })
    const { checkout } = (await world.call('GET', `/p/${forSale.id}`)).body
    expect(checkout.after).toEqual({ kind: 'file', file: { name: 'Führer.pdf', bytes: GUIDE.length } })
    expect(JSON.stringify(checkout)).not.toContain(fileId)
    const { payment, result } = await buy(forSale)
    expect(result).toMatchObject({
      kind: 'file',
      name: 'Führer.pdf',
      mediaType: 'application/pdf',
      bytes: GUIDE.length,
    })
    const response = await fetch(world.service.origin + pathOf(String(result.url)))
    expect(Buffer.from(await response.arrayBuffer()).equals(GUIDE)).toBe(true)
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'application/pdf',
      'content-disposition': `attachment; filename="F_hrer.pdf"; filename*=UTF-8''F%C3%BChrer.pdf`,
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox",
      'cache-control': 'private, no-store',
    })
    const other = await buy(forSale)
    const path = `/p/${forSale.id}/payments/${String(payment.id)}/file`
    const elsewhere = await sell({ kind: 'text', text: 'x' })
    const tokens = [
      '',
      `?token=${String(other.payment.token)}`,
      `?token=tok_${'A'.repeat(43)}`,
      '?token=',
      '?token=..%2f',
    ]
    for (const token of tokens) expect([token, (await world.call('GET', path + token)).status]).toEqual([token, 404])
    const foreign = `/p/${elsewhere.id}/payments/${String(payment.id)}/file?token=${String(payment.token)}`
    expect((await world.call('GET', foreign)).status).toBe(404)
    const ofText = await buy(elsewhere)
    const none = `/p/${elsewhere.id}/payments/${String(ofText.payment.id)}/file?token=${String(ofText.payment.token)}`
    expect((await world.call('GET', none)).status).toBe(404)
  })

  it('a file that is not paid for yet, or whose payment failed, is not handed out', async () => {
    const checkout = await sell({ kind: 'file', fileId: await uploaded('a.pdf', 'a') })
    for (const [outcome, code] of [
      ['slow', 409],
      ['declined', 409],
    ] as const) {
      const { body } = await world.call('POST', `/p/${checkout.id}/pay`, {
        body: { input: {}, simulate: true, outcome },
      })
      expect(body.result).toBeNull()
      const path = `/p/${checkout.id}/payments/${String(body.payment.id)}/file?token=${String(body.payment.token)}`
      expect((await world.call('GET', path)).status).toBe(code)
    }
  })

  it('a client of MCP gets the text itself, and a file as a link', async () => {
    const text = await sell({ kind: 'text', text: 'AB-12' })
    const file = await sell({ kind: 'file', fileId: await uploaded('b.pdf', 'bb') })
    for (const [{ id, checkout }, content] of [
      [text, { type: 'text', text: 'AB-12' }],
      [file, { type: 'resource_link', name: 'b.pdf', mimeType: 'application/pdf', size: 2 }],
    ] as const) {
      const params = { name: 'seo-audit', arguments: {} }
      const sent = await sendMcp(`${world.service.origin}/p/${id}/mcp`, { method: 'tools/call', params })
      const result = sent['result'] as Json
      expect([checkout.id, result['content']]).toEqual([id, [expect.objectContaining(content)]])
    }
  })

  it('earlier buyers keep the file of their version until the seller insists on its removal', async () => {
    const [first, second] = [await uploaded('one.pdf', '1'), await uploaded('two.pdf', '22')]
    const checkout = await sell({ kind: 'file', fileId: first })
    const { quote } = (await world.call('GET', `/p/${checkout.id}`)).body
    const before = await buy(checkout)
    const change = (body: object) => world.seller.call('PATCH', `/v1/checkouts/${checkout.id}`, { body })
    expect((await change({ after: { kind: 'file', fileId: second } })).body.checkout.version).toBe(2)
    expect((await buy(checkout)).result).toMatchObject({ name: 'two.pdf' })
    expect((await buy(checkout, { quoteId: quote.quoteId })).result).toMatchObject({ name: 'one.pdf' })
    expect((await world.call('GET', pathOf(String(before.result.url)))).text).toBe('1')
    const remove = (id: string, query = '') => world.seller.call('DELETE', `/v1/files/${id}${query}`)
    expect((await remove(second)).body).toMatchObject({ code: 'file_used', usedBy: [checkout.id], sold: true })
    expect((await remove(first)).body).toMatchObject({ code: 'file_used', usedBy: [checkout.id], sold: true })
    expect((await remove(first, '?soldToo=true')).status).toBe(204)
    expect((await world.call('GET', pathOf(String(before.result.url)))).body.code).toBe('file_removed')
    // No money is taken for a file that is gone.
    const pay = { body: { input: {}, simulate: true, quoteId: quote.quoteId } }
    expect((await world.call('POST', `/p/${checkout.id}/pay`, pay)).body.code).toBe('quote_expired')
    expect((await change({ after: { kind: 'text', text: 'x' } })).status).toBe(200)
    await world.seller.call('DELETE', `/v1/checkouts/${checkout.id}`)
    expect((await remove(second)).body).toMatchObject({ code: 'file_used', sold: true })
  })

  it('a workflow can be replaced by another delivery, and back', async () => {
    const checkout = await sell({ kind: 'text', text: 'x' })
    const change = (body: object) => world.seller.call('PATCH', `/v1/checkouts/${checkout.id}`, { body })
    expect((await change({ after: { kind: 'webhook' } })).body.details).toEqual({ callbackUrl: 'is required' })
    const { url: callbackUrl } = world.workflow
    expect((await change({ after: { kind: 'webhook' }, callbackUrl })).body.checkout).toMatchObject({ callbackUrl })
    const { quote } = (await world.call('GET', `/p/${checkout.id}`)).body
    expect((await buy(checkout)).delivery).toMatchObject({ status: 'pending' })
    const back = await change({ after: { kind: 'link', url: 'https://example.com/' } })
    expect(back.body.checkout).toMatchObject({ callbackUrl: null, version: 3 })
    const pay = { body: { input: {}, simulate: true, quoteId: quote.quoteId } }
    expect((await world.call('POST', `/p/${checkout.id}/pay`, pay)).body.code).toBe('quote_expired')
    const rotated = await world.seller.call('POST', `/v1/checkouts/${checkout.id}/rotate-secret`)
    expect(rotated.body.code).toBe('no_workflow')
  })

  it('terms that contradict each other, and files of others, are refused', async () => {
    const text = { kind: 'text', text: 'x' }
    const callbackUrl = world.workflow.url
    expect(await refusal({})).toEqual({ callbackUrl: 'is required' })
    expect(await refusal({ after: text, callbackUrl })).toEqual({
      callbackUrl: expect.stringMatching(/^must be absent/),
    })
    expect(await refusal({ after: text, capture: 'escrow' })).toEqual({
      capture: expect.stringMatching(/^must be onPay/),
    })
    expect(await refusal({ after: text, preflight: true })).toHaveProperty('preflight')
    expect(await refusal({ after: text, refundOnFailure: true })).toHaveProperty('refundOnFailure')
    expect(await refusal({ after: text, responseMode: 'lastNode' })).toHaveProperty('responseMode')
    const source = { instanceId: 'i', workflowId: 'w', nodeId: 'n' }
    expect(await refusal({ after: text, source })).toHaveProperty('after')
    expect(await refusal({ after: { kind: 'text', text: 'é'.repeat(25_001) } })).toHaveProperty(['after.text'])
    for (const url of ['http://example.com', 'javascript:alert(1)', 'https://u:p@example.com/', 'https://a\u202eb']) {
      expect(await refusal({ after: { kind: 'link', url } })).toHaveProperty(['after.url'])
    }
    const stranger = await world.service.person()
    const theirs = await uploaded('theirs.pdf', 'x', stranger)
    const picture = await uploaded('own.png', png(8, 8), world.seller, 'picture')
    for (const fileId of [theirs, picture, 'file_guessed', `file_${'0'.repeat(26)}`]) {
      const details = await refusal({ after: { kind: 'file', fileId } })
      expect(details).toEqual({ 'after.fileId': 'must be the id of a file that you have uploaded' })
    }
    const sale = await uploaded('photo.png', png(8, 8))
    for (const fileId of [sale, await uploaded('theirs.png', png(8, 8), stranger, 'picture')]) {
      expect(await refusal({ after: text, picture: fileId })).toHaveProperty('picture')
    }
  })

  it('a picture of the product is on the page, at an address that everyone can load', async () => {
    const picture = await uploaded('cup.png', png(16, 10), world.seller, 'picture')
    const { id } = await sell({ kind: 'text', text: 'x' }, { picture })
    const { checkout } = (await world.call('GET', `/p/${id}`)).body
    expect(checkout.picture).toMatchObject({ width: 16, height: 10 })
    const { text } = await world.call('GET', `/p/${id}`, { headers: { accept: 'text/html' } })
    const [, src = ''] = /<img[^>]* src="([^"]+)"/.exec(text) ?? []
    expect((await world.call('GET', src)).headers.get('content-type')).toBe('image/png')
    expect((await world.seller.call('DELETE', `/v1/files/${picture}`)).body.usedBy).toEqual([id])
    await world.seller.call('PATCH', `/v1/checkouts/${id}`, { body: { picture: null } })
    expect((await world.seller.call('DELETE', `/v1/files/${picture}`)).status).toBe(204)
  })
})
