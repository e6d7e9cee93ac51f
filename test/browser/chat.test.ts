import type { Page } from 'playwright-core'
import { usdcOf } from '../facilitator/world.ts'
import { until } from '../checkouts/world.ts'
import { status } from '../deliveries/receiver.ts'
import { barriers } from './access.ts'
import { inBrowser } from './chromium.ts'
import { openShop, shiftsOf, type Shop, type Visit } from './shop.ts'

const THREE = { id: 'three', name: 'Starter', price: 0.6, kind: 'runs', runs: 3 }
const CHAT = {
  ...{ product: { name: 'Tax assistant', description: 'Answers about your tax return.' }, price: 0.3, fields: [] },
  ...{ responseMode: 'lastNode', refundOnFailure: true, plans: [THREE] },
  chat: { greeting: 'Hello! What would you like to know?' },
}
const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true }

inBrowser('a chat that is paid ahead', () => {
  let shop: Shop
  beforeAll(async () => {
    shop = await openShop()
  })
  afterAll(async () => {
    const problems = shop.problems()
    await shop.close()
    expect(problems).toEqual([])
  })

  const answer = (body: object) => {
    shop.receiver.answers(status(200, JSON.stringify(body)))
  }

  const log = (page: Page) => page.getByRole('log', { name: 'Conversation' })

  /** The first message, paid with the wallet. */
  async function start({ page }: Visit, message: string): Promise<void> {
    await page.getByLabel('Your message').fill(message)
    // Afterwards the page knows the wallet.
    if ((await page.getByRole('button', { name: /Pay / }).count()) === 0)
      await page.getByRole('button', { name: 'Test Wallet' }).click()
    await page.getByRole('button', { name: 'Pay 0.60 USDC' }).click()
    await page.getByText('2 messages left').waitFor()
  }

  it('is paid once, streams its answers, counts the messages left, and stops at zero', async () => {
    const sale = await shop.sell(CHAT)
    const visit = await shop.visit(sale)
    const { page, wallet, payer, picture } = visit
    await page.getByText('Hello! What would you like to know?').waitFor()
    await page.getByRole('radio', { name: /Starter/ }).waitFor()
    await picture('chat-1-first')
    expect(await barriers(page)).toEqual([])
    answer({ output: '**Yes**, you can. See [the rules](https://example.com/rules).' })
    await start(visit, 'Can I deduct my desk?')
    await log(page).getByText('Yes', { exact: true }).waitFor()
    expect(await page.getByText('0.20 USDC each').count()).toBe(1)
    await picture('chat-2-answered')
    expect(await barriers(page)).toEqual([])

    // The second one is answered while the page watches.
    let release: () => void = () => undefined
    const held = new Promise<void>((resolve) => (release = resolve))
    shop.receiver.answers((response) => held.then(() => void response.writeHead(200).end('{}')))
    await page.getByLabel('Your message').fill('And my chair?')
    await page.getByLabel('Your message').press('Enter')
    await log(page).getByText('Answering…').waitFor()
    const payment = await until(async () => {
      const { body } = await shop.person.call('GET', `/v1/checkouts/${sale.id}/payments`)
      const [last] = body.payments as { id: string; free: string | null; delivery: { status: string } | null }[]
      return last?.free === 'pass' ? last : null
    })
    await until(async () => {
      const sent = await shop.person.call('POST', `/v1/payments/${payment.id}/progress`, {
        body: { text: 'Reading the rules of 2026' },
      })
      return sent.body.shown === true
    })
    await log(page).getByText('Reading the rules of 2026').waitFor()
    await picture('chat-3-working')
    expect(await barriers(page)).toEqual([])
    const report = { body: { status: 'succeeded', answer: 'A chair too.' } }
    await shop.person.call('POST', `/v1/payments/${payment.id}/outcome`, report)
    release()
    await log(page).getByText('A chair too.').waitFor()
    await page.getByText('1 message left').waitFor()

    // A reload on the same device goes on with the same chat.
    await page.goto(`${shop.service.origin}/p/${sale.id}`)
    await log(page).getByText('A chair too.').waitFor()
    answer({ output: 'The last one.' })
    await page.getByLabel('Your message').fill('Thanks?')
    await page.getByRole('button', { name: 'Send' }).click()
    await log(page).getByText('The last one.').waitFor()
    await page.getByText('All messages are used. Pay to go on.').waitFor()
    await picture('chat-4-used-up')
    expect(await barriers(page)).toEqual([])
    expect(await usdcOf(shop.chain, payer.address)).toBe(19_400_000n)
    expect(wallet.requests.filter((method) => /sign/i.test(method))).toHaveLength(1)

    // Paying again goes on with the same conversation.
    answer({ output: 'Welcome back.' })
    await start(visit, 'One more')
    await log(page).getByText('Welcome back.').waitFor()
    await log(page).getByText('A chair too.').waitFor()
    expect(await usdcOf(shop.chain, payer.address)).toBe(18_800_000n)
  })

  it('fits a phone, keeps the typed message over a reload, and shows its errors', async () => {
    const sale = await shop.sell({ ...CHAT, testMode: true })
    const { page, picture } = await shop.visit(sale, { ...PHONE, wallet: false })
    await page.getByLabel('Your message').fill('Kept over a reload')
    await page.reload()
    await page.getByRole('button', { name: 'Simulate payment' }).waitFor()
    expect(await page.getByLabel('Your message').inputValue()).toBe('Kept over a reload')
    expect(await shiftsOf(page)).toBeLessThan(0.1)
    await picture('chat-phone-1-first')
    expect(await barriers(page)).toEqual([])
    answer({ output: 'On a phone, too. '.repeat(20) })
    await page.getByRole('button', { name: 'Simulate payment' }).click()
    await page.getByText('2 messages left').waitFor()
    await log(page).getByText('On a phone, too.').waitFor()
    await picture('chat-phone-2-answered')
    expect(await barriers(page)).toEqual([])
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
    // What is said moves nothing.
    await page.evaluate('window.__shifts = 0')
    await page.getByLabel('Your message').fill('And so on?')
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByText('1 message left').waitFor()
    await log(page).getByText('On a phone, too.').nth(1).waitFor()
    expect(await shiftsOf(page)).toBeLessThan(0.1)
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByText('This field is required.').waitFor()
    await page.getByLabel('Your message').fill('x'.repeat(4_001))
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByText('At most 4,000 characters, please.').waitFor()
  })

  it('sends a message again as the same one when its answer was lost', async () => {
    const sale = await shop.sell({ ...CHAT, testMode: true })
    const { page } = await shop.visit(sale, { wallet: false })
    answer({ output: 'Fine.' })
    await page.getByLabel('Your message').fill('Hello')
    await page.getByRole('button', { name: 'Simulate payment' }).click()
    await page.getByText('2 messages left').waitFor()
    let lost = 0
    await page.route('**/pay', async (route) => {
      const response = await route.fetch()
      if (++lost === 1) await route.abort()
      else await route.fulfill({ response })
    })
    await page.getByLabel('Your message').fill('Twice')
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByText('1 message left').waitFor()
    expect(lost).toBe(2)
    await log(page).getByText('Fine.').nth(1).waitFor()
    expect(await log(page).getByText('Twice').count()).toBe(1)
  })

  it("shows its plan's price at once: the first click pays, without a quote request", async () => {
    const sale = await shop.sell({ ...CHAT, testMode: true })
    let requests = 0
    const { page } = await shop.visit(sale, {
      wallet: false,
      prepare: async (opened) => {
        // A page that asked for the price would wait for it for ever.
        await opened.route('**/quote', () => {
          requests++
        })
      },
    })
    answer({ output: 'Fine.' })
    await page.getByText('0.60 USDC').first().waitFor()
    await page.getByLabel('Your message').fill('Hello')
    const paid = page.waitForRequest('**/pay')
    await page.getByRole('button', { name: 'Simulate payment' }).click()
    await paid
    expect(requests).toBe(0)
    await page.getByText('2 messages left').waitFor()
  })

  it.each(['de', 'ja'])('speaks %s', async (lang) => {
    const sale = await shop.sell({ ...CHAT, testMode: true })
    const { page, picture } = await shop.visit(sale, { wallet: false, locale: lang })
    await page.getByRole('radio', { name: /Starter/ }).waitFor()
    await picture(`chat-${lang}`)
    const words = { de: 'Nachrichten bezahlen', ja: 'メッセージの支払い' }
    await page.getByText(words[lang as 'de']).waitFor()
    expect(await barriers(page)).toEqual([])
  })
})
