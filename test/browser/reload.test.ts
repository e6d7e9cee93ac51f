import type { Route } from 'playwright-core'
import { sentBy, usdcOf } from '../facilitator/world.ts'
import { inBrowser } from './chromium.ts'
import { openShop, type Shop, type Visit } from './shop.ts'

inBrowser('a page that is loaded again in the middle', () => {
  let shop: Shop
  beforeAll(async () => {
    // No block is mined until a test asks for it: a payment stays pending.
    shop = await openShop({ mining: 'manual', environment: { SETTLE_WAIT_MS: '300' } })
  })
  afterAll(() => shop.close())

  async function toPay(terms: Record<string, unknown> = {}): Promise<Visit & { id: string }> {
    const sale = await shop.sell({ fields: [], ...terms })
    const visit = await shop.visit(sale)
    await visit.page.getByRole('button', { name: 'Test Wallet' }).click()
    await visit.page.getByRole('button', { name: 'Pay 5.00 USDC' }).waitFor()
    return { ...visit, id: sale.id }
  }

  const signatures = ({ wallet }: Visit): number =>
    wallet.requests.filter((one) => one === 'eth_signTypedData_v4').length

  /** Paid once, with one signature and one transaction. */
  async function expectOnce(visit: Visit, transactionsBefore: number): Promise<void> {
    await visit.page.getByText('Confirming payment').waitFor()
    await mineUntilPaid(visit)
    expect(signatures(visit)).toBe(1)
    expect(await usdcOf(shop.chain, visit.payer.address)).toBe(15_000_000n)
    expect(await sentBy(shop.chain, shop.chain.accounts[0]!.address)).toBe(transactionsBefore + 1)
    expect(await visit.page.evaluate('localStorage.length')).toBe(0)
  }

  async function mineUntilPaid({ page }: Visit): Promise<void> {
    await mineUntil(page.getByText('Order started').waitFor())
  }

  async function mineUntil(shown: Promise<void>): Promise<void> {
    let over = false
    const end = shown.finally(() => (over = true))
    while (!over) {
      await shop.chain.mine()
      await Promise.race([end.catch(() => undefined), new Promise((resolve) => setTimeout(resolve, 100))])
    }
    await shown
  }

  const sponsored = (): Promise<number> => sentBy(shop.chain, shop.chain.accounts[0]!.address)

  it('still has the address for the receipt, also where nothing else was typed', async () => {
    const sale = await shop.sell({ fields: [], testMode: true })
    const { page } = await shop.visit(sale, { wallet: false })
    await page.getByLabel(/receipt/i).fill('ada@example.com')
    await page.reload()
    await page.getByRole('button', { name: 'Simulate payment' }).click()
    await page.getByText(/ada@example[.]com/).waitFor()
  })

  it('finds its pending payment again by its address, and does not call it failed', async () => {
    const before = await sponsored()
    const visit = await toPay()
    const { page, picture } = visit
    await page.getByRole('button', { name: 'Pay 5.00 USDC' }).click()
    await page.waitForURL(/[?&]payment=pay_/)
    await page.getByText('Confirming payment').waitFor()
    await page.reload()
    await page.getByRole('heading', { name: 'Confirming your payment' }).waitFor()
    await picture('confirming')
    await expectOnce(visit, before)
  })

  it('finds its payment in another tab that only has the link', async () => {
    const before = await sponsored()
    const visit = await toPay()
    await visit.page.getByRole('button', { name: 'Pay 5.00 USDC' }).click()
    await visit.page.waitForURL(/[?&]payment=pay_/)
    await visit.page.close()
    const page = await visit.context.newPage()
    await page.goto(`${shop.service.origin}/p/${visit.id}`)
    await expectOnce({ ...visit, page }, before)
  })

  it('sends an unsent authorization again, instead of asking for another signature', async () => {
    const before = await sponsored()
    const visit = await toPay()
    const { page } = visit
    await page.route('**/pay', (route) => route.abort())
    await page.getByRole('button', { name: 'Pay 5.00 USDC' }).click()
    await page.getByRole('heading', { name: 'Still confirming your payment' }).waitFor()
    await page.unroute('**/pay')
    await page.reload()
    await expectOnce(visit, before)
  })

  it('needs no second signature in another tab while the first is pending', async () => {
    const before = await sponsored()
    const visit = await toPay()
    const { page, context, id } = visit
    const other = await context.newPage()
    await other.goto(`${shop.service.origin}/p/${id}`)
    await other.getByRole('button', { name: 'Pay 5.00 USDC' }).waitFor()
    await page.route('**/pay', (route) => route.abort())
    await page.getByRole('button', { name: 'Pay 5.00 USDC' }).click()
    await page.getByRole('heading', { name: 'Still confirming your payment' }).waitFor()
    await other.getByRole('button', { name: 'Pay 5.00 USDC' }).click()
    await expectOnce({ ...visit, page: other }, before)
  })

  it.each(['pending', 'paid'])('pays once for two signatures, the second given once the first is %s', async (state) => {
    const before = await sponsored()
    const visit = await toPay()
    const { page, context, id, wallet } = visit
    const other = await context.newPage()
    await other.goto(`${shop.service.origin}/p/${id}`)
    for (const one of [page, other]) await one.getByRole('button', { name: 'Pay 5.00 USDC' }).waitFor()
    const confirms = []
    for (const one of [page, other]) {
      confirms.push(wallet.holds('eth_signTypedData_v4'))
      await one.getByRole('button', { name: 'Pay 5.00 USDC' }).click()
      await one.getByRole('button', { name: /Confirm in your wallet/ }).waitFor()
    }
    const [first, second] = confirms
    first!()
    await page.getByText('Confirming payment').waitFor()
    if (state === 'paid') await mineUntilPaid(visit)
    second!()
    await mineUntilPaid({ ...visit, page: other })
    expect(signatures(visit)).toBe(2)
    expect(await usdcOf(shop.chain, visit.payer.address)).toBe(15_000_000n)
    expect(await sponsored()).toBe(before + 1)
    expect(new URL(other.url()).searchParams.get('payment')).toBe(new URL(page.url()).searchParams.get('payment'))
    expect(await other.evaluate('localStorage.length')).toBe(0)
  })

  it('pays where the browser gives no locks', async () => {
    const visit = await toPay()
    const { page } = visit
    await page.evaluate(WITHOUT_LOCKS)
    await page.getByRole('button', { name: 'Pay 5.00 USDC' }).click()
    await mineUntilPaid(visit)
    expect(signatures(visit)).toBe(1)
    expect(await usdcOf(shop.chain, visit.payer.address)).toBe(15_000_000n)
  })

  it('completes the payment by itself when the answer was lost', async () => {
    const before = await sponsored()
    const visit = await toPay()
    const lose = async (route: Route): Promise<void> => {
      await route.fetch()
      await route.abort()
    }
    await visit.page.route('**/pay', lose, { times: 1 })
    await visit.page.getByRole('button', { name: 'Pay 5.00 USDC' }).click()
    await expectOnce(visit, before)
  })

  it("shows the receipt at the payment's address, also after the link ended, and a new form at the link", async () => {
    const before = await sponsored()
    const visit = await toPay()
    const { page, id } = visit
    await page.getByRole('button', { name: 'Pay 5.00 USDC' }).click()
    await expectOnce(visit, before)
    const link = page.url()
    const query = new URL(link).searchParams
    const payment = query.get('payment')!
    expect(query.get('token')).toMatch(/^tok_[\w-]{43}$/)

    await page.goto(`${shop.service.origin}/p/${id}/payments/${payment}`)
    await page.getByRole('heading', { name: 'Receipt' }).waitFor()
    const other = await visit.context.newPage()
    await other.goto(`${shop.service.origin}/p/${id}`)
    await other.getByRole('button', { name: 'Pay 5.00 USDC' }).waitFor()

    await shop.person.call('DELETE', `/v1/checkouts/${id}`)
    await page.goto(`${shop.service.origin}/p/${id}/payments/${payment}`)
    await page.getByText(payment).waitFor()
    await page.getByRole('heading', { name: 'Payment complete' }).waitFor()
    // With the complete link that the buyer received.
    await page.goto(link)
    await page.getByRole('heading', { name: 'Receipt' }).waitFor()
  })

  it('shows a payment that the chain refused as failed, and allows another try', async () => {
    const visit = await toPay()
    const { page, payer, picture } = visit
    await page.getByRole('button', { name: 'Pay 5.00 USDC' }).click()
    await page.waitForURL(/[?&]payment=pay_/)
    await page.getByText('Confirming payment').waitFor()
    // The buyer's money is moved away before the transfer is in a block.
    await shop.chain.fund(payer.address, 0n)
    await mineUntil(page.getByRole('heading', { name: 'The payment did not go through' }).waitFor())
    await picture('failed')
    await shop.chain.fund(payer.address, 20_000_000n)
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('button', { name: 'Pay 5.00 USDC' }).click()
    await page.getByText('Confirming payment').waitFor()
    await mineUntilPaid(visit)
    expect(signatures(visit)).toBe(2)
    expect(await usdcOf(shop.chain, payer.address)).toBe(15_000_000n)
  })

  it('sends no request to another origin and causes no error', () => {
    expect(shop.problems()).toEqual([])
  })
})

const WITHOUT_LOCKS = `Object.defineProperty(navigator, 'locks', {
  value: { request: () => Promise.reject(new DOMException('refused', 'SecurityError')) },
})`
