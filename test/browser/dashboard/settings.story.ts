import { looks, PASSWORD, STORY_MS, type Desk } from './desk.ts'

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
        await page.getByLabel('Name').fill('Ada King')
        await page.getByRole('button', { name: 'Save' }).click()
        await page.getByText('Saved.').first().waitFor()
        await page.getByRole('button', { name: 'Account of Ada King' }).waitFor()

        const change = page.getByRole('button', { name: 'Change password' })
        await page.getByLabel('Present password').fill('not this one')
        await page.getByLabel('New password').fill('another battery staple')
        await change.click()
        await page.getByText(/invalid password/i).waitFor()
        expect(await page.getByLabel('New password').inputValue()).toBe('another battery staple')
        await page.getByLabel('Present password').fill(PASSWORD)
        await change.click()
        await page.getByText('Changed. You are signed out everywhere else.').first().waitFor()
        await looks(page, 'settings')

        const again = await context.request.post(`${desk.origin}/auth/sign-in/email`, {
          data: { email, password: 'another battery staple' },
          headers: { origin: desk.origin },
        })
        expect(again.status()).toBe(200)
        await page.reload()
        await page.getByRole('button', { name: 'Sign out everywhere else' }).click()
        await page.getByText('You are signed in here only.').first().waitFor()
      },
      STORY_MS,
    )

    it(
      'lets somebody who forgot their password choose a new one, once',
      async () => {
        const { page } = await desk.visit('/sign-in')
        await page.getByRole('link', { name: 'Forgot your password?' }).click()
        await page.getByRole('button', { name: 'Send the link' }).click()
        await page.getByText('Is required').waitFor()
        await page.getByLabel('E-mail').fill('nobody@example.com')
        await looks(page, 'reset-password')
        await page.getByRole('button', { name: 'Send the link' }).click()
        await page.getByText('If there is an account').waitFor()
        await page.goto(`${desk.origin}/reset-password?token=used`)
        await page.getByLabel('New password').fill('another battery staple')
        await page.getByRole('button', { name: 'Set the password' }).click()
        await page.getByText('This link was used already').waitFor()
      },
      STORY_MS,
    )
  })
}
