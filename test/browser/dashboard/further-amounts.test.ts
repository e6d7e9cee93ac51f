import { inBrowser, picture } from '../chromium.ts'
import { cutControls, findings, isTooWide, openDesk, STORY_MS, type Desk } from './desk.ts'

inBrowser('the further amounts of a payment', () => {
  let desk: Desk
  beforeAll(async () => {
    desk = await openDesk()
  })
  afterAll(() => desk.close())

  it(
    'are shown at the payment with amount, step, time and outcome',
    async () => {
      const { page, call } = await desk.sit('/payments')
      const terms = { callbackUrl: 'https://8.8.8.8/hook', product: { name: 'Site audit' }, price: 5, testMode: true }
      const { body: created } = await call('POST', '/v1/checkouts', { body: { ...terms, network: 'base-sepolia' } })
      const { id: checkout } = created.checkout as { id: string }
      const token = `tok_${'a'.repeat(43)}`
      const simulated = { input: {}, token, simulate: true }
      const { body: paid } = await call('POST', `/p/${checkout}/pay`, { body: simulated })
      const payment = (paid.payment as { id: string }).id

      await page.goto(`${desk.origin}/payments/${payment}`)
      await page.getByRole('heading', { name: 'Site audit' }).waitFor()
      const card = page.getByRole('region', { name: 'Further amounts' })
      expect(await card.count()).toBe(0)

      const requestMore = async (amount: number, note: string, step: string | null) => {
        const callbackUrl = step === null ? null : `https://8.8.8.8/resume?step=${encodeURIComponent(step)}`
        const path = `/v1/payments/${payment}/requests`
        const { status, body } = await call('POST', path, {
          body: { amount, note, expiresInSeconds: 3_600, callbackUrl },
        })
        expect(status).toBe(201)
        return body.request as { id: string; url: string }
      }
      const request = await requestMore(2.5, 'Forty more pages', 'Ask for the rest')
      const unwanted = await requestMore(1, 'A second language', 'Ask for the rest')
      await requestMore(0.75, 'A PDF of it', null)
      const place = new URL(request.url).pathname
      const more = await call('POST', `${place}/pay`, { body: { ...simulated, token: `tok_${'b'.repeat(43)}` } })
      expect(more.status).toBe(200)
      const refusal = `/p/${checkout}/payments/${payment}/requests/${unwanted.id}/refuse`
      await call('POST', refusal, { headers: { 'X-Payment-Token': token } })

      await page.reload()
      await card.waitFor()
      const rows = card.getByRole('listitem')
      const [first, second, third] = [rows.nth(0), rows.nth(1), rows.nth(2)]
      await first.getByText('Paid', { exact: true }).waitFor()
      expect(await first.textContent()).toMatch(/2\.50 USDC.*Forty more pages.*by the step “Ask for the rest”.*paid /)
      expect(await second.textContent()).toMatch(/1\.00 USDC.*Refused.*A second language.*refused /)
      expect(await third.textContent()).toMatch(/0\.75 USDC.*Requested.*A PDF of it.*expires in /)
      expect(await third.textContent()).not.toContain('step')
      for (const width of [1280, 390]) {
        await page.setViewportSize({ width, height: 900 })
        await card.scrollIntoViewIfNeeded()
        await picture(page, `further-amounts-${String(width)}`)
        expect([await isTooWide(page), await cutControls(page)]).toEqual([false, []])
      }
      expect(await findings(page)).toEqual([])

      // What nobody answered in time.
      await desk.service.testDatabase.statements.run(
        "UPDATE payment_request SET expires_at = now() - interval '1 minute' WHERE ended_as IS NULL",
        [],
      )
      await page.reload()
      await third.getByText('Expired', { exact: true }).waitFor()
      await page.setViewportSize({ width: 1280, height: 900 })
      await first.getByRole('link', { name: 'View payment' }).click()
      await page.waitForURL((url) => url.pathname !== `/payments/${payment}`)
      await page.getByText('A test payment: no money moved.').waitFor()
      expect(desk.problems()).toEqual([])
    },
    STORY_MS,
  )
})
