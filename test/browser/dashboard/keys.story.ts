import { checkLook, STORY_MS, type Desk } from './desk.ts'

export function keys(opened: () => Desk): void {
  describe('API keys', () => {
    let desk: Desk
    beforeAll(() => {
      desk = opened()
    })

    it(
      'shows a new key once; it works until it is revoked',
      async () => {
        const { page } = await desk.sit('/keys')
        await checkLook(page, 'keys')
        await page.getByRole('button', { name: 'Create key' }).click()
        await page.getByLabel('Name').fill('Invoice workflow')
        await checkLook(page, 'keys-new')
        await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click()
        const secret = (await page.getByRole('dialog').locator('code').textContent())!
        expect(secret).toMatch(/^csk_test_/)
        await checkLook(page, 'keys-once')
        expect((await desk.service.call('GET', '/v1/me', { key: secret })).status).toBe(200)

        const done = page.getByRole('button', { name: 'Done' })
        expect(await done.isDisabled()).toBe(true)
        await page.getByLabel('I have saved it').check()
        await done.click()
        await page.getByText('Invoice workflow').waitFor()
        expect(await page.getByText(secret).count()).toBe(0)

        await page.getByRole('button', { name: 'Revoke Invoice workflow' }).click()
        await page.getByRole('button', { name: 'Revoke key' }).click()
        await page.getByText('Key revoked.').first().waitFor()
        expect((await desk.service.call('GET', '/v1/me', { key: secret })).status).toBe(401)
      },
      STORY_MS,
    )
  })
}
