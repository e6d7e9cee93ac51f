import { findings, checkLook, PASSWORD, STORY_MS, type Desk } from './desk.ts'
import { putSigner } from './signer.ts'

export function settings(opened: () => Desk): void {
  describe('settings', () => {
    let desk: Desk
    beforeAll(() => {
      desk = opened()
    })

    it(
      'changes a name and a password, and ends the other sessions',
      async () => {
        const { page, context, email } = await desk.sit('/settings')
        await page.getByText('not confirmed').waitFor()
        await page.getByLabel('Name', { exact: true }).fill('Ada King')
        await page.getByRole('button', { name: 'Save name' }).click()
        await page.getByText('Name saved.').first().waitFor()
        await page.getByRole('button', { name: 'Account of Ada King' }).waitFor()

        const change = page.getByRole('button', { name: 'Change password' })
        await page.getByLabel('Current password').fill('not this one')
        await page.getByLabel('New password').fill('another battery staple')
        await change.click()
        await page.getByText(/invalid password/i).waitFor()
        expect(await page.getByLabel('New password').inputValue()).toBe('another battery staple')
        await page.getByLabel('Current password').fill(PASSWORD)
        await change.click()
        await page.getByText('Password changed. Other sessions are signed out.').first().waitFor()
        await checkLook(page, 'settings')

        const again = await context.request.post(`${desk.origin}/auth/sign-in/email`, {
          data: { email, password: 'another battery staple' },
          headers: { origin: desk.origin },
        })
        expect(again.status()).toBe(200)
        await page.reload()
        await page.getByRole('button', { name: 'Sign out other sessions' }).click()
        await page.getByText('Other sessions signed out.').first().waitFor()
      },
      STORY_MS,
    )

    it(
      'has groups, each of which a link, a click or the keyboard leads to',
      async () => {
        const { page } = await desk.sit('/settings#money')
        const inView = async (name: string): Promise<void> => {
          const card = page.getByRole('region', { name, exact: true })
          await card.waitFor()
          // Below the page's header, and above the end of the screen.
          await page.waitForFunction(`(() => {
            const { top } = document.querySelector('section[aria-label="${name}"]').getBoundingClientRect()
            return top >= 56 && top < innerHeight
          })()`)
        }
        await inView('Payout address')
        const groups = page.getByRole('navigation', { name: 'Settings' })
        expect(await groups.getByRole('link').allTextContents()).toEqual([
          'Account',
          'Selling',
          'Payouts and invoices',
          'This dashboard',
        ])
        await groups.getByRole('link', { name: 'Account' }).click()
        await inView('Profile')
        await groups.getByRole('link', { name: 'Selling' }).focus()
        await page.keyboard.press('Enter')
        await inView('Brand')
        expect(new URL(page.url()).hash).toBe('#selling')
        expect(await groups.locator('[aria-current]').allTextContents()).toEqual(['Selling'])
        // By the search, from here and from another page.
        const search = async (): Promise<void> => {
          await page.keyboard.press('Control+K')
          await page.getByPlaceholder(/Go to a page/).fill('payout')
          await page.keyboard.press('Enter')
          await inView('Payout address')
        }
        await search()
        const selling = page.getByRole('region', { name: 'Selling', exact: true })
        expect(await selling.getByRole('heading', { level: 3 }).allTextContents()).toEqual([
          'Brand',
          'Storefront',
          'Refund policy',
          'Files',
        ])
        await page.goto(`${desk.origin}/keys`)
        await page.getByRole('button', { name: 'Create key' }).waitFor()
        await search()
        await checkLook(page, 'settings-groups')
      },
      STORY_MS,
    )

    it(
      'shows the MCP address of a handle, and says when a handle is taken',
      async () => {
        const { page, call } = await desk.sit('/settings')
        const card = page.getByRole('region', { name: 'Storefront' })
        await card.getByLabel('Handle').fill('ada-and-co')
        await card.getByRole('button', { name: 'Save handle' }).click()
        await card.getByText(/\/m\/ada-and-co\/mcp$/).waitFor()
        expect((await call('GET', '/v1/me')).body.handle).toBe('ada-and-co')
        await checkLook(page, 'settings-handle')

        const other = await desk.sit('/settings')
        await other.page.getByLabel('Handle').fill('ada-and-co')
        await other.page.getByRole('button', { name: 'Save handle' }).click()
        await other.page
          .getByText(/is taken/i)
          .first()
          .waitFor()
      },
      STORY_MS,
    )

    it(
      'connects a wallet, which signs in to this account until it is removed',
      async () => {
        const { page } = await desk.sit('/settings')
        const signer = await putSigner(page)
        const { address } = signer.account
        const short = `${address.slice(0, 8)}…${address.slice(-6)}`
        await page.reload()
        const card = page.getByRole('region', { name: 'Wallets' })
        await card.getByText('No wallet is connected.').waitFor()
        await card.getByRole('button', { name: 'Connect wallet' }).click()
        await page.getByRole('dialog').getByLabel('Your password').fill(PASSWORD)
        await page.getByRole('dialog').getByRole('button', { name: 'Continue' }).click()
        const connect = page.getByRole('dialog').getByRole('button', { name: 'Connect Browser wallet' })
        await connect.waitFor()
        await checkLook(page, 'settings-connect')
        signer.declines = true
        await connect.click()
        await page.getByText('You declined in the wallet.').waitFor()
        signer.declines = false
        await connect.click()
        await page.getByText(`${short} is connected.`).first().waitFor()
        await card.getByText(address).waitFor()
        expect(await page.getByRole('dialog').count()).toBe(0)
        expect(await findings(page)).toEqual([])

        const signOut = async (who: string): Promise<void> => {
          await page.getByRole('button', { name: `Account of ${who}` }).click()
          await page.getByRole('menuitem', { name: 'Sign out' }).click()
        }
        const enter = page.getByRole('button', { name: 'Sign in with Browser wallet' })
        await signOut('Ada Lovelace')
        await enter.click()
        await page.getByRole('button', { name: 'Account of Ada Lovelace' }).waitFor()

        const remove = card.getByRole('button', { name: `Remove ${short}` })
        await remove.click()
        await page.getByRole('dialog').getByLabel('Your password').fill(PASSWORD)
        await page.getByRole('dialog').getByRole('button', { name: 'Remove wallet' }).click()
        await card.getByText('No wallet is connected.').waitFor()
        await page.getByText('Wallet removed. It no longer signs in to this account.').first().waitFor()

        // The wallet now starts an account of its own, which has no other way in.
        await signOut('Ada Lovelace')
        await enter.click()
        await page.getByRole('button', { name: `Account of ${short}` }).waitFor()
        await remove.click()
        const sign = page.getByRole('dialog').getByRole('button', { name: 'Sign with Browser wallet' })
        await sign.click()
        await page.getByText('This wallet is the only way to sign in to your account').first().waitFor()
        await page.keyboard.press('Escape')
        await card.getByText(address).waitFor()

        // The account may get a contact address; there is no password to ask for, so the wallet signs.
        await page.getByRole('button', { name: 'Add e-mail address' }).click()
        await page.getByRole('dialog').getByLabel('New e-mail address').fill('ada@new.example')
        expect(await page.getByRole('dialog').getByLabel('Your password').count()).toBe(0)
        await page.getByRole('dialog').getByRole('button', { name: 'Send link' }).click()
        await sign.click()
        await page.getByText('We sent an e-mail to ada@new.example').waitFor()
        expect(await findings(page)).toEqual([])
      },
      STORY_MS,
    )

    it(
      'accepts a password reset request, and says when a link has expired or was used',
      async () => {
        const { page } = await desk.visit('/sign-in')
        await page.getByRole('link', { name: 'Forgot your password?' }).click()
        await page.getByRole('button', { name: 'Send link' }).click()
        await page.getByText('Is required').waitFor()
        await page.getByLabel('E-mail').fill('nobody@example.com')
        await checkLook(page, 'reset-password')
        await page.getByRole('button', { name: 'Send link' }).click()
        await page.getByText('If there is an account').waitFor()
        await page.goto(`${desk.origin}/reset-password?token=used`)
        await page.getByLabel('New password').fill('another battery staple')
        await page.getByRole('button', { name: 'Set password' }).click()
        await page.getByText('This link has expired or was already used').waitFor()
      },
      STORY_MS,
    )
  })
}
