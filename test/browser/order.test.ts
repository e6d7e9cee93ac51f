import { usdcOf } from '../facilitator/world.ts'
import { post } from '../tools/mcp-client.ts'
import { barriers } from './access.ts'
import { inBrowser } from './chromium.ts'
import { openShop, type Sale, type Shop, type Visit } from './shop.ts'

const FIELDS = [
  { name: 'site', label: 'Website', type: 'url', required: true },
  { name: 'depth', label: 'Depth', type: 'select', options: ['quick', 'full'], required: true },
  { name: 'mail', label: 'Send a mail', type: 'boolean', required: false },
  { name: 'note', label: 'Note', type: 'text', required: false },
]
const INPUT = { site: 'https://example.com/ü', depth: 'full', mail: true }
const LOOKS = [
  ['light', 1280],
  ['dark', 390],
] as const

inBrowser('a person who pays for an assistant’s call', () => {
  let shop: Shop
  beforeAll(async () => {
    shop = await openShop()
    shop.receiver.answers((response) => void response.writeHead(200).end('{"score":97}'))
  })
  afterAll(() => shop.close())

  const sell = (terms: object = {}) => shop.sell({ fields: FIELDS, responseMode: 'lastNode', ...terms })
  const call = async ({ id }: Sale, more: object = {}) => {
    const params = { name: 'seo-audit', arguments: INPUT, ...more }
    const capabilities = { elicitation: { url: {} } }
    const address = `${shop.service.origin}/p/${id}/mcp`
    const { body } = await post(address, null, { method: 'tools/call', params, capabilities })
    return body.result as {
      requestState: string
      inputRequests: { page: { params: { url: string } } }
    }
  }
  /** The call waits, and its person opens the page. */
  async function open(sale: Sale, settings: object = {}) {
    const { requestState, inputRequests } = await call(sale)
    const { hash } = new URL(inputRequests.page.params.url)
    const visit = await shop.visit({ id: `${sale.id}${hash}` }, settings)
    const answer = () => call(sale, { requestState, inputResponses: { page: { action: 'accept' } } })
    return { ...visit, hash, answer }
  }
  const checkLook = async ({ page, picture }: Pick<Visit, 'page' | 'picture'>, step: string): Promise<void> => {
    for (const [colorScheme, width] of LOOKS) {
      await page.setViewportSize({ width, height: 800 })
      await page.emulateMedia({ colorScheme })
      expect(await barriers(page)).toEqual([])
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
      await picture(`${step}-${colorScheme}-${width}`)
    }
  }

  it('shows the form filled in and locked, pays, and sends the person back; the call has the answer', async () => {
    const sale = await sell()
    const visit = await open(sale)
    const { page, payer } = visit
    await page.getByText('Your AI assistant filled in this form').waitFor()
    const site = page.getByLabel('Website')
    expect([await site.inputValue(), await site.isEditable()]).toEqual([INPUT.site, false])
    const depth = page.getByLabel('Depth')
    expect([await depth.inputValue(), await depth.isEnabled()]).toEqual(['full', false])
    const mail = page.getByLabel('Send a mail')
    expect([await mail.isChecked(), await mail.isEnabled()]).toEqual([true, false])
    expect(await page.getByLabel('Note').count()).toBe(0)
    await page.getByRole('button', { name: 'Test Wallet' }).click()
    await page.getByText('20.00 USDC').waitFor()
    await checkLook(visit, 'order-form')
    // What the browser shows does not decide what is bought.
    await site.evaluate("(input) => { input.readOnly = false; input.value = 'https://other.example' }")
    await page.getByRole('button', { name: 'Pay 5.00 USDC' }).click()
    await page.getByText('You can go back to your assistant.').waitFor()
    await page.getByRole('heading', { name: 'Result' }).waitFor()
    await checkLook(visit, 'order-paid')
    expect(await visit.answer()).toMatchObject({ structuredContent: { score: 97 } })
    expect(JSON.parse(shop.receiver.calls.at(-1)!.body)).toMatchObject({ input: INPUT })
    expect(await usdcOf(shop.chain, payer.address)).toBe(15_000_000n)

    // A reload shows the payment; the link opened by another shows that it is paid, and not the answer.
    await page.reload()
    await page.getByText('You can go back to your assistant.').waitFor()
    expect(await page.getByRole('heading', { name: 'Result' }).count()).toBe(1)
    const other = await shop.visit({ id: `${sale.id}${visit.hash}` })
    await other.page.getByText('Payment complete').first().waitFor()
    expect(await other.page.getByRole('heading', { name: 'Result' }).count()).toBe(0)
  })

  it('simulates in test mode; after a failure the assistant has to call again', async () => {
    const sale = await sell({ testMode: true })
    const visit = await open(sale, { wallet: false })
    const { page } = visit
    await page.getByText('Your AI assistant filled in this form').waitFor()
    await page.getByLabel('Outcome').selectOption('declined')
    await page.getByRole('button', { name: 'Simulate payment' }).click()
    await page.getByText('Ask your assistant to call the tool again.').waitFor()
    expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(0)
    expect(await visit.answer()).toMatchObject({ isError: true })
  })

  it('sees that an order has expired, and that a cut link is incomplete', async () => {
    const sale = await sell()
    const { page, hash } = await open(sale)
    shop.service.clock.forward(1_800_001)
    const late = await shop.visit({ id: `${sale.id}${hash}` })
    await late.page.getByRole('heading', { name: 'This order has expired' }).waitFor()
    await checkLook(late, 'order-expired')
    await page.evaluate(`location.hash = ${JSON.stringify(hash.slice(0, 40))}`)
    await page.getByRole('heading', { name: 'This link is not complete' }).waitFor()
    expect(await page.getByRole('button', { name: /Pay|Wallet/ }).count()).toBe(0)
  })

  it('sends no request to another origin and causes no error', () => {
    expect(shop.problems()).toEqual([])
  })
})
