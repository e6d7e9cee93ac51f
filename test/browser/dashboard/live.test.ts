import { createHash, randomBytes } from 'node:crypto'
import type { Page } from 'playwright-core'
import { inBrowser } from '../chromium.ts'
import { newToken } from '../../chaos/token.ts'
import { linkIn, startSmtp } from '../../harness/smtp.ts'
import { addSale } from '../../refunds/sales.ts'
import { callerOf, checkLook, openDesk, PASSWORD, STORY_MS, type Desk } from './desk.ts'
import { startProvider, type OrganisationsProvider } from './provider.ts'

inBrowser('the dashboard of a live server', () => {
  let desk: Desk
  let provider: OrganisationsProvider
  let mails: Awaited<ReturnType<typeof startSmtp>>
  beforeAll(async () => {
    let origin = ''
    ;[provider, mails] = await Promise.all([startProvider(() => `${origin}/auth/oidc/callback`), startSmtp()])
    desk = await openDesk((at) => {
      origin = at
      return {
        LIVE: 'true',
        AUTH_SECRET: randomBytes(32).toString('hex'),
        VAULT_KEY: `k:${randomBytes(32).toString('base64')}`,
        SMTP_URL: mails.url,
        MAIL_FROM: 'coinslot@example.com',
        OIDC_ISSUER: provider.issuer,
        OIDC_AUDIENCE: 'coinslot',
        OIDC_CLIENT_ID: provider.client.id,
        OIDC_CLIENT_SECRET: provider.client.secret,
        OIDC_LABEL: 'Analytical Engines',
      }
    })
  })
  afterAll(async () => {
    await desk.close()
    await Promise.all([provider.close(), mails.close()])
  })

  it(
    'signs a new account in only by the mailed link, and answers alike for known addresses',
    async () => {
      const { page } = await desk.visit('/sign-in')
      const messageFor = async (email: string): Promise<string> => {
        await page.goto(`${desk.origin}/sign-in`)
        await page.getByRole('button', { name: 'Create an account' }).click()
        await page.getByLabel('Name').fill('Grace Hopper')
        await page.getByLabel('E-mail').fill(email)
        await page.getByLabel('Password').fill(PASSWORD)
        await page.getByRole('button', { name: 'Create account' }).click()
        const message = page.getByText('We sent an e-mail to')
        await message.waitFor()
        return ((await message.textContent()) ?? '').replace(email, '')
      }
      const first = await messageFor('grace@example.com')
      await checkLook(page, 'sign-up-mailed')
      expect(await messageFor('grace@example.com')).toBe(first)
      // Of two sign-ups with one address neither keeps its password, so another one is confirmed.
      await messageFor('hopper@example.com')
      const link = await linkIn(mails.received, 'hopper@example.com', '/verify-email')
      // A visitor without the cookie of the sign-up must give a password; the browser that signed up needs none.
      const elsewhere = await desk.visit(link.slice(desk.origin.length))
      await elsewhere.page.getByRole('button', { name: 'Confirm address' }).click()
      await elsewhere.page.getByLabel('Password').waitFor()
      await checkLook(elsewhere.page, 'verify-email')
      await page.goto(link)
      await page.getByRole('button', { name: 'Confirm address' }).click()
      await page.getByRole('link', { name: 'Go to overview' }).click()
      await page.getByRole('navigation', { name: 'Pages' }).waitFor()
    },
    STORY_MS,
  )

  it(
    'changes an e-mail address only by the mailed link, signed in to the same account',
    async () => {
      const { page, email } = await desk.sit('/settings')
      const card = page.getByRole('region', { name: 'Profile' })
      await card.getByText(email).waitFor()
      await card.getByRole('button', { name: 'Change e-mail' }).click()
      const form = page.getByRole('dialog')
      await form.getByLabel('New e-mail address').fill('countess@example.com')
      await form.getByLabel('Your password').fill('not this one')
      await form.getByRole('button', { name: 'Send link' }).click()
      await form.getByText('The password is wrong. Try again.').waitFor()
      await form.getByLabel('Your password').fill(PASSWORD)
      await checkLook(page, 'settings-email')
      await form.getByRole('button', { name: 'Send link' }).click()
      await form.getByText('We sent an e-mail to countess@example.com').waitFor()
      await form.getByRole('button', { name: 'Done' }).click()
      await card.getByText(email).waitFor()
      const link = await linkIn(mails.received, 'countess@example.com', '/settings/email')

      // The link is of no use to another account. Without a session, it works after signing in.
      const stranger = await desk.sit('/settings')
      await stranger.page.goto(link)
      await stranger.page.getByText('This link belongs to another account').waitFor()
      await signOut(page)
      await page.goto(link)
      await page.getByLabel('E-mail').fill(email)
      await page.getByLabel('Password').fill(PASSWORD)
      await page.getByRole('button', { name: 'Sign in', exact: true }).click()
      await page.getByText('Your e-mail address is now countess@example.com').waitFor()
      await checkLook(page, 'settings-email-changed')
      await page.getByRole('link', { name: 'Go to settings' }).click()
      await card.getByText('countess@example.com').waitFor()
      const isNotice = (mail: string): boolean =>
        mail.includes(email) && mail.includes('e-mail address of your Coinslot account was changed')
      while (!mails.received.some(isNotice)) await new Promise(setImmediate)
    },
    STORY_MS,
  )

  it(
    'sends one address at most five password mails an hour, with equal answers',
    async () => {
      const before = mails.received.length
      const requestReset = () =>
        desk.service.call('POST', '/auth/request-password-reset', {
          headers: { origin: desk.origin },
          body: { email: 'grace@example.com' },
        })
      const answers = []
      for (let time = 0; time < 12; time++) answers.push(await requestReset())
      expect(new Set(answers.map(({ status, text }) => `${String(status)} ${text}`)).size).toBe(1)
      // The first of the five was sent when she signed up a second time, before she confirmed the address.
      await expectMails(before + 4)
      const { statements } = desk.service.testDatabase
      const [row] = await statements.run<{ count: bigint }>(
        `SELECT count(*) FROM outbox WHERE topic = 'identity.password-reset'`,
        [],
      )
      expect(Number(row?.count)).toBe(5)
    },
    STORY_MS,
  )

  it(
    'signs in with the provider, links accounts by an e-mail both verified, and refuses the rest',
    async () => {
      const { page, context } = await desk.visit('/runs')
      await page.getByText('Install an Ethereum wallet').waitFor()
      await checkLook(page, 'sign-in-provider')
      await page.getByRole('button', { name: 'Sign in with Analytical Engines' }).click()
      await atProvider(page, 'ada@engines.example')
      await page.getByRole('heading', { name: 'Runs' }).waitFor()
      // The provider's name for her identifies the same person as the bearer of its tokens.
      const me = await context.request.get(`${desk.origin}/v1/me`)
      expect(((await me.json()) as { userId: string }).userId).toBe('ada@engines.example')
      await signOut(page)

      // A returning user is recognised, even if the provider asks nothing any more.
      await page.getByRole('button', { name: 'Sign in with Analytical Engines' }).click()
      await page.getByRole('navigation', { name: 'Pages' }).waitFor()

      // An address that the service and the provider have both verified belongs to one account.
      const second = await desk.visit('/sign-in')
      await second.page.getByRole('button', { name: 'Sign in with Analytical Engines' }).click()
      await atProvider(second.page, 'hopper@example.com')
      await second.page.getByRole('button', { name: 'Account of Grace Hopper' }).waitFor()

      // An address that the provider has not verified opens no account.
      const signedUp = await desk.service.call('POST', '/auth/sign-up/email', {
        headers: { origin: desk.origin },
        body: { name: 'Victim', email: 'unconfirmed@example.com', password: PASSWORD },
      })
      expect(signedUp.status).toBe(200)
      const third = await desk.visit('/sign-in')
      await third.page.getByRole('button', { name: 'Sign in with Analytical Engines' }).click()
      await atProvider(third.page, 'unconfirmed@example.com')
      await third.page.getByText('has not verified that the address is yours').waitFor()

      // Where nobody has an account with it yet, it opens one that has no address.
      const apart = await desk.visit('/sign-in')
      await apart.page.getByRole('button', { name: 'Sign in with Analytical Engines' }).click()
      await atProvider(apart.page, 'unconfirmed.new@example.com')
      await apart.page.getByRole('navigation', { name: 'Pages' }).waitFor()
      const held = `SELECT id FROM signin_user WHERE email = 'unconfirmed.new@example.com'`
      expect(await desk.service.database.statements.run(held, [])).toEqual([])

      // A callback that belongs to another browser signs in no user.
      const fourth = await desk.visit('/sign-in')
      const stolen = await desk.service.call('POST', '/auth/oidc/start', {
        headers: { origin: desk.origin },
        body: {},
      })
      const { searchParams } = new URL(stolen.body.url as string)
      await fourth.page.goto(`${desk.origin}/auth/oidc/callback?code=any&state=${String(searchParams.get('state'))}`)
      await fourth.page.getByText('was started in another browser').waitFor()
    },
    STORY_MS,
  )

  it(
    'says real money in production, and play money in the sandbox',
    async () => {
      const { page } = await desk.sit('/wallet')
      await page.getByRole('button', { name: /Environment/ }).click()
      await page.getByRole('menuitemradio', { name: /Production/ }).click()
      await page.getByText('Your USDC on Base.').waitFor()
      await checkLook(page, 'wallet-live')
      await page.getByRole('button', { name: 'Add funds' }).first().click()
      await page.getByText('This server has no deposit addresses.').waitFor()
      expect(await page.getByText(/play money/i).count()).toBe(0)
      await page.keyboard.press('Escape')
      await page.getByRole('button', { name: 'Withdraw' }).click()
      await page.getByText('Real USDC leaves your wallet.').waitFor()
      await page.getByText('This server cannot pay out: no network is set up.').waitFor()
      await checkLook(page, 'wallet-live-withdraw')
      await page.keyboard.press('Escape')
      // The chosen environment stays selected, also on the next page and after a reload.
      await page.reload()
      await page.getByText('Your USDC on Base.').waitFor()
      await page.getByRole('button', { name: /Environment/ }).click()
      await page.getByRole('menuitemradio', { name: /Sandbox/ }).click()
      await page.getByText('Play money in the sandbox.').waitFor()
      await page.getByRole('button', { name: 'Add funds' }).first().click()
      await page.getByRole('button', { name: 'Add play money' }).waitFor()
    },
    STORY_MS,
  )

  it(
    'saves the invoice of a payment with real money',
    async () => {
      const seat = await desk.sit('/payments')
      const { page, context } = seat
      const headers = { origin: desk.origin, 'coinslot-environment': 'production' }
      const settings = { enabled: true, sellerName: 'Müller GmbH', sellerAddress: 'Allee 1', prefix: 'ACME' }
      const changed = await context.request.patch(`${desk.origin}/v1/invoicing`, { data: settings, headers })
      expect(changed.status()).toBe(200)
      const { caller } = await callerOf(desk, seat)
      const id = await addSale(desk.service, { caller: { ...caller, environment: 'production' } })
      const token = newToken()
      await desk.service.database.statements.run('UPDATE sale SET token_hash = $2 WHERE id = $1', [
        id,
        createHash('sha256').update(token).digest(),
      ])
      const buyer = { name: 'Café Ltd', address: '1 High Street', country: 'GB' }
      const issued = await desk.service.call('POST', `/receipts/${id}/invoice?token=${token}`, { body: buyer })
      expect(issued.status).toBe(201)
      const number = String(issued.body.invoice.number)

      await page.getByRole('button', { name: /Environment/ }).click()
      await page.getByRole('menuitemradio', { name: /Production/ }).click()
      await page.goto(`${desk.origin}/payments/${id}`)
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: `Invoice ${number} (PDF)` }).click(),
      ])
      expect(download.suggestedFilename()).toBe(`${number}.pdf`)
      const chunks: Buffer[] = []
      for await (const chunk of await download.createReadStream()) chunks.push(chunk as Buffer)
      expect(Buffer.concat(chunks).subarray(0, 5).toString()).toBe('%PDF-')
    },
    STORY_MS,
  )

  it("sends requests to no other origin than the provider's, and causes no error", () => {
    const itsPages = [provider.issuer, 'https://fonts.googleapis.com/']
    expect(desk.problems().filter((line) => !itsPages.some((address) => line.includes(address)))).toEqual([])
  })

  async function expectMails(count: number): Promise<void> {
    while (mails.received.length < count) await new Promise(setImmediate)
  }
})

/** Fills in what the provider's own pages ask for. */
async function atProvider(page: Page, name: string): Promise<void> {
  await page.locator('input[name="login"]').fill(name)
  await page.locator('input[name="password"]').fill('anything')
  await page.locator('button[type="submit"]').click()
  await page.locator('button[type="submit"]').click()
}

async function signOut(page: Page): Promise<void> {
  await page.getByRole('button', { name: /^Account of/ }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.getByRole('heading', { name: 'Sign in to Coinslot' }).waitFor()
}
