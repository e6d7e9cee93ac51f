import { disputeOf, report } from '../../disputes/reports.ts'
import { checkLook, STORY_MS, type Desk } from './desk.ts'

export function disputes(opened: () => Desk): void {
  describe('disputes', () => {
    it(
      'lists what buyers reported, refunds one in part, declines another, and sets the policy',
      async () => {
        const desk = opened()
        const { page, call } = await desk.sit('/disputes')
        await page.getByText('No disputes').waitFor()
        const { checkout } = (
          await call('POST', '/v1/checkouts', {
            body: {
              ...{ callbackUrl: 'http://127.0.0.1:9/flow', product: { name: 'SEO audit' }, price: 5 },
              ...{ network: 'base-sepolia', testMode: true, lifetime: 'persistent' },
            },
          })
        ).body
        const sales: string[] = []
        for (const text of ['The report is empty.\nPlease look.', null]) {
          const body = { input: {}, simulate: true }
          const { payment } = (await desk.service.call('POST', `/p/${String(checkout.id)}/pay`, { body })).body
          await report(desk.service, { id: String(payment.id), token: String(payment.token) }, { text })
          sales.push(String(payment.id))
        }
        await page.reload()
        await page.getByRole('button', { name: 'Answer' }).nth(1).waitFor()
        await checkLook(page, 'disputes')
        await page.getByRole('button', { name: 'Answer' }).nth(1).click()
        await page.getByText('Please look.').waitFor()
        await page.getByLabel('Amount').fill('2')
        await page.getByLabel('Message').fill('Sorry. Here is a part of it.')
        await checkLook(page, 'dispute-answer')
        await page.getByRole('button', { name: 'Send answer' }).click()
        await page.getByText('Refund requested.').first().waitFor()
        await page.getByRole('cell', { name: 'refunded', exact: true }).waitFor()
        await page.getByRole('button', { name: 'Answer' }).click()
        await page.getByLabel('Answer', { exact: true }).selectOption('decline')
        expect(await page.getByLabel('Amount').count()).toBe(0)
        await page.getByRole('button', { name: 'Send answer' }).click()
        await page.getByText('Dispute declined.').first().waitFor()
        await page.getByRole('button', { name: 'View' }).nth(1).click()
        await page.getByText('Sorry. Here is a part of it.').waitFor()
        await page.getByRole('button', { name: 'Close' }).last().click()
        const [first = '', second = ''] = sales
        expect([await disputeOf(desk.service, first), await disputeOf(desk.service, second)]).toMatchObject([
          { state: 'refunded', refundAmount: 2_000_000n },
          { state: 'declined', answer: null },
        ])

        await page.goto(`${desk.origin}/settings`)
        await page.getByLabel('Refund requests of programs').selectOption('automatic')
        await page.getByLabel('At most for one payment').fill('2.5')
        await page.getByLabel('You answer within').fill('31')
        await page.getByRole('button', { name: 'Save policy' }).click()
        await page.getByText(/30/).first().waitFor()
        await page.getByLabel('You answer within').fill('3')
        await checkLook(page, 'settings-refund-policy')
        await page.getByRole('button', { name: 'Save policy' }).click()
        await page.getByText('Refund policy saved.').first().waitFor()
        expect((await call('GET', '/v1/refund-policy')).body.refundPolicy).toMatchObject({
          ...{ answerDays: 3, agents: 'automatic', automaticPerSale: 2.5 },
        })
      },
      STORY_MS,
    )
  })
}
