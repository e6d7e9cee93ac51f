import { until } from '../../harness/until.ts'
import { checkLook, PASSWORD, STORY_MS, type Desk } from './desk.ts'
import { putSigner } from './signer.ts'

export function signIn(opened: () => Desk): void {
  describe('the way into the dashboard', () => {
    let desk: Desk
    beforeAll(() => {
      desk = opened()
    })

    it(
      "leads into the demo account of a developer's own sandbox",
      async () => {
        await desk.service.identity.ensureDemoAccount()
        const { page } = await desk.visit('/sign-in')
        await page.getByText('The demo account is demo@coinslot.local.').waitFor()
        await checkLook(page, 'sign-in-demo')
        await page.getByRole('link', { name: 'Choose its password' }).click()
        expect(await page.getByLabel('E-mail').inputValue()).toBe('demo@coinslot.local')
        await page.getByRole('button', { name: 'Send link' }).click()
        await page.getByRole('link', { name: 'inbox' }).click()
        const mailed = page.getByRole('link', { name: /reset-password/ }).first()
        // The answer does not wait for the mail.
        await until(async () => {
          if ((await mailed.count()) > 0) return true
          await page.reload()
          return false
        })
        await mailed.click()
        await page.getByLabel('New password').fill(PASSWORD)
        await page.getByRole('button', { name: 'Set password' }).click()
        await page.getByRole('link', { name: 'Sign in' }).click()
        await page.getByLabel('E-mail').fill('demo@coinslot.local')
        await page.getByLabel('Password').fill(PASSWORD)
        await page.getByLabel('Password').press('Enter')
        await page.getByRole('button', { name: 'Account of Demo' }).waitFor()
      },
      STORY_MS,
    )

    it(
      'leads visitors without a session to the sign-in, and then to the page they requested',
      async () => {
        const { page } = await desk.visit('/wallet')
        await page.getByRole('heading', { name: 'Sign in to Coinslot' }).waitFor()
        expect(new URL(page.url()).search).toBe('?next=%2Fwallet')
        await page.getByText('Install an Ethereum wallet').waitFor()
        await checkLook(page, 'sign-in')

        await page.getByRole('button', { name: 'Create an account' }).click()
        await page.getByRole('button', { name: 'Create account' }).click()
        expect(await page.getByText('Is required').count()).toBe(3)
        await page.getByLabel('Name').fill('Grace Hopper')
        await page.getByLabel('E-mail').fill('grace@example.com')
        await page.getByLabel('Password').fill('short')
        await page.getByRole('button', { name: 'Create account' }).click()
        await page.getByText('Password too short').waitFor()
        await checkLook(page, 'sign-up')
        // What was typed is still there.
        expect(await page.getByLabel('Name').inputValue()).toBe('Grace Hopper')
        expect(await page.getByLabel('E-mail').inputValue()).toBe('grace@example.com')
        await page.getByLabel('Password').fill(PASSWORD)
        await page.getByRole('button', { name: 'Create account' }).click()
        await page.getByRole('heading', { name: 'Wallet' }).waitFor()

        await page.getByRole('button', { name: 'Account of Grace Hopper' }).click()
        await page.getByRole('menuitem', { name: 'Sign out' }).click()
        await page.getByRole('heading', { name: 'Sign in to Coinslot' }).waitFor()
        await page.getByLabel('E-mail').fill('grace@example.com')
        await page.getByLabel('Password').fill('not her password')
        await page.getByRole('button', { name: 'Sign in' }).first().click()
        await page.getByText('Invalid email or password').waitFor()
        await page.getByLabel('Password').fill(PASSWORD)
        await page.getByLabel('Password').press('Enter')
        await page.getByRole('navigation', { name: 'Pages' }).waitFor()
      },
      STORY_MS,
    )

    it(
      'does nothing in another account that has signed in in another tab, and keeps nothing of the first one',
      async () => {
        const [ada, other] = [await desk.sit('/wallet'), await desk.sit()]
        for (const one of [ada, other]) await one.call('POST', '/v1/wallet/deposit', { body: { amount: 10 } })
        const { page, context } = ada
        await page.goto(`${desk.origin}/wallet?do=withdraw`)
        await page.getByLabel('Amount').fill('4')
        await page.getByLabel('To').fill('0x70997970C51812dc3A010C7d01b50e0d17dc79C8')
        const signedIn = await context.request.post(`${desk.origin}/auth/sign-in/email`, {
          data: { email: other.email, password: PASSWORD },
          headers: { origin: desk.origin },
        })
        expect(signedIn.ok()).toBe(true)
        const renamed = await context.request.post(`${desk.origin}/auth/update-user`, {
          data: { name: 'Somebody' },
          headers: { origin: desk.origin, 'coinslot-account': 'another' },
        })
        expect([renamed.status(), await renamed.json()]).toEqual([
          401,
          expect.objectContaining({ code: 'unauthenticated', reason: 'account_changed' }),
        ])
        await page.getByRole('dialog').getByRole('button', { name: 'Withdraw' }).click()
        const again = page.getByRole('dialog', { name: 'Your session has ended' })
        await again.waitFor()
        for (const { call } of [ada, other]) {
          expect((await call('GET', '/v1/wallet/withdrawals')).body.total).toBe(0)
        }
        await again.getByLabel('E-mail').fill(other.email)
        await again.getByLabel('Password').fill(PASSWORD)
        await again.getByLabel('Password').press('Enter')
        await again.waitFor({ state: 'detached' })
        const amount = page.getByRole('dialog').getByLabel('Amount')
        await amount.waitFor()
        expect(await amount.inputValue()).toBe('')
      },
      STORY_MS,
    )

    it(
      'never redirects to another site',
      async () => {
        const { page } = await desk.sit('/sign-in?next=//example.com/')
        await page.waitForURL(`${desk.origin}/`)
      },
      STORY_MS,
    )

    it(
      'signs a wallet in by its signature, and reports when its owner declines',
      async () => {
        const { page } = await desk.visit('/healthz')
        const signer = await putSigner(page)
        signer.declines = true
        await page.goto(`${desk.origin}/wallet`)
        const enter = page.getByRole('button', { name: 'Sign in with Browser wallet' })
        await enter.click()
        await page.getByText('You declined in the wallet.').waitFor()
        signer.declines = false
        await enter.click()
        await page.getByRole('heading', { name: 'Wallet' }).waitFor()
        await page.getByRole('button', { name: `Account of ${signer.account.address.slice(0, 8)}` }).waitFor()
      },
      STORY_MS,
    )
  })
}
