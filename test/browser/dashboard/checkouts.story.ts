import { startReceiver, type Receiver } from '../../deliveries/receiver.ts'
import { checkLook, STORY_MS, type Desk } from './desk.ts'

export function checkouts(opened: () => Desk): void {
  describe('checkouts and webhooks', () => {
    let desk: Desk
    let receiver: Receiver
    beforeAll(async () => {
      desk = opened()
      receiver = await startReceiver()
    })
    afterAll(() => receiver.close())

    it(
      'shows payments and deliveries, simulates a payment, redelivers, and ends a checkout',
      async () => {
        const { page, call } = await desk.sit('/checkouts')
        await page.getByText('No checkouts yet').waitFor()
        const created = await call('POST', '/v1/checkouts', {
          body: {
            callbackUrl: receiver.url,
            product: { name: 'SEO audit', description: 'A report of what to fix first.' },
            price: 5,
            network: 'base-sepolia',
            testMode: true,
            fields: [{ name: 'site', label: 'Website', type: 'url', required: true }],
            lifetime: 'persistent',
          },
        })
        const { id } = created.body.checkout
        await page.reload()
        await checkLook(page, 'checkouts')
        await page.getByRole('link', { name: 'SEO audit' }).click()
        await page.getByText('No payments yet').waitFor()
        expect(await page.getByRole('img', { name: /QR code/ }).getAttribute('src')).toMatch(/^data:image\/svg/)
        const [png] = await Promise.all([
          page.waitForEvent('download'),
          page.getByRole('button', { name: 'Download PNG' }).click(),
        ])
        expect(png.suggestedFilename()).toBe(`${String(id)}.png`)
        await page.getByRole('button', { name: 'Inline' }).click()
        await page.getByText(`data-checkout="${String(id)}" data-mode="frame"`).waitFor()
        const sites = page.getByLabel('Allowed sites')
        await sites.fill('https://shop.example.com/cart')
        await page.getByRole('button', { name: 'Save sites' }).click()
        await page.getByText('Must be an origin').waitFor()
        await sites.fill('https://shop.example.com\nhttp://localhost:3000')
        await page.getByRole('button', { name: 'Save sites' }).click()
        await page.getByText('Sites saved.').first().waitFor()
        expect((await call('GET', `/v1/checkouts/${String(id)}`)).body.checkout.embedOrigins).toHaveLength(2)
        await page.getByRole('button', { name: 'Make test payment' }).click()
        await page.getByLabel('Website').fill('not an address')
        await page.getByRole('button', { name: 'Simulate payment' }).click()
        await page.getByText('Must be an http or https address').waitFor()
        expect(await page.getByLabel('Website').inputValue()).toBe('not an address')
        await page.getByLabel('Website').fill('https://example.com')
        await checkLook(page, 'checkout-test')
        await page.getByRole('button', { name: 'Simulate payment' }).click()
        await page.getByText('Payment simulated.').first().waitFor()
        expect((await call('GET', `/v1/checkouts/${id}/payments`)).body.total).toBe(1)
        await page.reload()
        await page.getByRole('cell', { name: 'delivered' }).first().waitFor()
        await checkLook(page, 'checkout')

        await page.getByRole('button', { name: /^pay_/ }).click()
        await page.getByRole('heading', { name: 'Attempts' }).waitFor()
        await checkLook(page, 'delivery')
        const count = receiver.calls.length
        await page.getByRole('button', { name: 'Send again' }).click()
        await page.getByText('Delivery is being sent again').first().waitFor()
        await receiver.waitForCalls(count + 1)
        expect(receiver.calls.at(-1)!.id).toBe(receiver.calls.at(-2)!.id)
        await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click()

        await page.getByRole('button', { name: 'Rotate secret' }).click()
        await page.getByRole('dialog').getByRole('button', { name: 'Rotate secret' }).click()
        expect(await page.getByText(/^whsec_/).textContent()).toMatch(/^whsec_/)
        await page.getByLabel('I have saved it').check()
        await page.getByRole('button', { name: 'Done' }).click()

        const unserved = page.getByText('Buyers cannot pay now: this server settles no payments on Base Sepolia.')
        expect(await unserved.count()).toBe(0)
        await call('PATCH', `/v1/checkouts/${id}`, { body: { testMode: false, recipient: `0x${'11'.repeat(20)}` } })
        await unserved.waitFor()
        await checkLook(page, 'checkout-unserved')

        await page.getByRole('button', { name: 'End checkout' }).click()
        await page.getByRole('dialog').getByRole('button', { name: 'End checkout' }).click()
        await page.getByText('Checkout ended.').first().waitFor()
        expect((await desk.service.call('GET', `/p/${id}`)).status).toBe(404)
      },
      STORY_MS,
    )

    it(
      'creates a checkout beside a preview of its page, changes it, and copies it',
      async () => {
        const { page, call } = await desk.sit('/checkouts')
        await page.getByRole('link', { name: 'Create checkout' }).first().click()
        const buyers = page.frameLocator('iframe[title="The page that buyers see"]')
        await buyers.getByText('Your product').first().waitFor()
        await page.getByRole('button', { name: 'Create checkout' }).click()
        await page.getByRole('textbox', { name: 'Callback URL' }).and(page.locator('[aria-invalid="true"]')).waitFor()
        expect(await page.getByLabel('Name', { exact: true }).first().getAttribute('aria-invalid')).toBe('true')
        await page.getByLabel('Name', { exact: true }).first().fill('SEO audit')
        await page.getByLabel('Price').fill('7.5')
        await page.getByLabel('Description').fill('A report of what to fix first.')
        await page.getByRole('button', { name: 'Add a field' }).click()
        await page.getByLabel('Label').fill('Your website')
        const fieldName = page.getByLabel('Name', { exact: true }).nth(1)
        // Made from the label until somebody writes another.
        expect(await fieldName.inputValue()).toBe('your_website')
        await page.getByLabel('Label').fill('Web page')
        expect(await fieldName.inputValue()).toBe('web_page')
        await fieldName.fill('site')
        await page.getByLabel('Label').fill('Website')
        expect(await fieldName.inputValue()).toBe('site')
        await page.getByLabel('Type', { exact: true }).selectOption('url')
        await page.getByLabel('Callback URL').fill(receiver.url)
        await buyers.getByRole('heading', { name: 'SEO audit' }).waitFor()
        await buyers.getByText('7.50').waitFor()
        await buyers.getByLabel('Website').waitFor()
        // As buyers see it, in its colours.
        expect((await buyers.locator('.tile').boundingBox())?.width).toBe(44)
        await checkLook(page, 'checkout-new')
        await page.getByRole('button', { name: 'Create checkout' }).click()
        await page.getByLabel('I have saved it').check()
        await page.getByRole('button', { name: 'Done' }).click()
        await page.getByText('No payments yet').waitFor()
        const { checkouts: listed } = (await call('GET', '/v1/checkouts')).body
        expect(listed).toHaveLength(1)
        const { id } = listed[0]
        expect(listed[0]).toMatchObject({ price: 7.5, fields: [{ name: 'site', type: 'url', required: true }] })

        await page.getByRole('link', { name: 'Edit' }).click()
        await buyers.getByText('7.50').waitFor()
        await page.getByLabel('Price').fill('9')
        await page.getByLabel('Charge').selectOption('onSuccess')
        await buyers.getByText('Only if your order succeeds').waitFor()
        await call('PATCH', `/v1/checkouts/${id}`, { body: { price: 8 } })
        await page.getByRole('button', { name: 'Save checkout' }).click()
        await page.getByText(/This checkout has been edited since/).waitFor()
        await page.reload()
        await page.getByLabel('Price').fill('9')
        await page.getByRole('button', { name: 'Save checkout' }).click()
        await page.getByText('Checkout saved.').first().waitFor()
        expect((await call('GET', `/v1/checkouts/${id}`)).body.checkout).toMatchObject({ price: 9, version: 3 })
        await checkLook(page, 'checkout-made')

        // A copy has also what the form does not show.
        const unseen = { embedOrigins: ['https://shop.example'], onUnconfirmed: 'redeliver', onError: 'fail' }
        const site = { name: 'site', label: 'Website', type: 'url', required: true, default: 'https://example.com' }
        const set = await call('PATCH', `/v1/checkouts/${id}`, { body: { ...unseen, fields: [site] } })
        expect(set.body.checkout).toMatchObject(unseen)
        await page.reload()
        await page.getByRole('link', { name: 'Duplicate' }).click()
        await page.getByRole('heading', { name: 'New checkout' }).waitFor()
        expect(await page.getByLabel('Name', { exact: true }).first().inputValue()).toBe('SEO audit')
        await page.getByRole('button', { name: 'Create checkout' }).click()
        await page.getByText('The checkout is open.').waitFor()
        const { checkouts: both } = (await call('GET', '/v1/checkouts')).body
        const copy = (both as { id: string }[]).find((one) => one.id !== id)
        expect(copy).toMatchObject({ ...unseen, fields: [{ default: 'https://example.com' }] })
      },
      STORY_MS,
    )

    it(
      'keeps the condition of a field when the field that it depends on is renamed',
      async () => {
        const { page, call } = await desk.sit('/checkouts')
        const gold = { name: 'code', label: 'Code', type: 'text', required: true, pattern: '[A-Z]{4}' }
        const { body } = await call('POST', '/v1/checkouts', {
          body: {
            ...{ callbackUrl: receiver.url, product: { name: 'Hosting' }, price: 5, testMode: true },
            ...{ network: 'base-sepolia', lifetime: 'persistent' },
            fields: [
              { name: 'plan', label: 'Plan', type: 'select', required: true, options: ['basic', 'gold'] },
              { ...gold, showIf: { field: 'plan', equals: 'gold' } },
            ],
          },
        })
        const id = String(body.checkout.id)
        await page.goto(`${desk.origin}/checkouts/${id}/edit`)
        const field = (at: number) => page.getByRole('group', { name: `Field ${String(at)}` })
        const named = (at: number) => field(at).getByLabel('Name', { exact: true })
        await named(1).fill('')
        await named(1).pressSequentially('code_of_plan')
        await named(2).fill('voucher')
        for (const [at, label] of [
          [3, 'Gift'],
          [4, 'Card'],
        ] as const) {
          await page.getByRole('button', { name: 'Add a field' }).click()
          await field(at).getByLabel('Label').fill(label)
        }
        await field(3).getByLabel('Type', { exact: true }).selectOption('boolean')
        await field(4).getByLabel('Show', { exact: true }).selectOption('If “Gift” is')
        await field(4).getByLabel('Value', { exact: true }).selectOption('Yes')
        // The name of a new field follows its label.
        await field(3).getByLabel('Label').fill('A gift')
        await page.getByRole('button', { name: 'Save checkout' }).click()
        await page.getByText('Checkout saved.').first().waitFor()
        expect((await call('GET', `/v1/checkouts/${id}`)).body.checkout.fields).toMatchObject([
          { name: 'code_of_plan' },
          { name: 'voucher', pattern: '[A-Z]{4}', showIf: { field: 'code_of_plan', equals: 'gold' } },
          { name: 'a_gift' },
          { name: 'card', showIf: { field: 'a_gift', equals: true } },
        ])
      },
      STORY_MS,
    )

    it(
      'makes a chat whose messages are paid ahead, and edits it',
      async () => {
        const { page, call } = await desk.sit('/checkouts/new')
        await page.getByLabel('Name', { exact: true }).first().fill('Tax questions')
        await page.getByText('Hold a chat').click()
        await page.getByLabel('Price of a single message').fill('0.05')
        await page.getByLabel('Callback URL').fill(receiver.url)
        await page.getByLabel('Greeting').fill('What would you like to know?')
        await page.getByLabel('Give a message back if it fails').check()
        // It has no form of its own, no trials and no page that follows.
        expect(await page.getByRole('heading', { name: 'Form', exact: true }).count()).toBe(0)
        for (const absent of ['Redirect URL', 'Free trial runs'])
          expect([absent, await page.getByLabel(absent).isVisible()]).toEqual([absent, false])
        await page.getByRole('button', { name: 'Create checkout' }).click()
        await page.getByText('must have a plan with chat', { exact: false }).first().waitFor()
        await page.getByRole('button', { name: 'Add a plan' }).click()
        await page.getByLabel('Name', { exact: true }).nth(1).fill('20 questions')
        await page.getByLabel('Price', { exact: true }).fill('1')
        await page.getByLabel('Runs', { exact: true }).fill('20')
        await checkLook(page, 'checkout-chat')
        await page.getByRole('button', { name: 'Create checkout' }).click()
        await page.getByLabel('I have saved it').check()
        await page.getByRole('button', { name: 'Done' }).click()
        const newest = async () => (await call('GET', '/v1/checkouts')).body.checkouts[0] as Record<string, unknown>
        const { id, ...first } = await newest()
        expect(first).toMatchObject({
          chat: { greeting: 'What would you like to know?' },
          ...{ price: 0.05, responseMode: 'lastNode', capture: 'onPayment', refundOnFailure: true, redirectUrl: null },
          plans: [{ name: '20 questions', price: 1, kind: 'runs', runs: 20 }],
          fields: [{ name: 'message' }],
        })

        await page.goto(`${desk.origin}/checkouts/${String(id)}/edit`)
        await page.getByLabel('Greeting').fill('Ask away.')
        await page.getByRole('button', { name: 'Save checkout' }).click()
        await page.getByText('Checkout saved.').first().waitFor()
        expect(await newest()).toMatchObject({ id, chat: { greeting: 'Ask away.' }, fields: [{ name: 'message' }] })
        await page.getByRole('link', { name: 'Edit' }).click()
        await page.getByText('Run a workflow').click()
        await page.getByRole('button', { name: 'Save checkout' }).click()
        await page.getByRole('link', { name: 'Edit' }).waitFor()
        expect(await newest()).toMatchObject({ id, chat: null, fields: [], plans: [{ name: '20 questions' }] })
      },
      STORY_MS,
    )

    it(
      'creates a checkout with a quantity price and a coupon; edits and archives the coupon',
      async () => {
        const { page, call } = await desk.sit('/checkouts/new')
        const buyers = page.frameLocator('iframe[title="The page that buyers see"]')
        await page.getByLabel('Name', { exact: true }).first().fill('Audit')
        await page.getByLabel('Kind', { exact: true }).selectOption('quantity')
        await page.getByLabel('Price of each').fill('2')
        await page.getByLabel('Maximum', { exact: true }).fill('20000')
        await page.getByLabel('Buyers may use your coupons').check()
        await page.getByLabel('Callback URL').fill(receiver.url)
        await page.getByRole('button', { name: 'Create checkout' }).click()
        await page.getByText('Must be at most 10000').waitFor()
        await page.getByLabel('Maximum', { exact: true }).fill('9')
        await buyers.getByLabel('Quantity').waitFor()
        await buyers.getByText('I have a code').waitFor()
        await checkLook(page, 'checkout-pricing')
        await page.getByRole('button', { name: 'Create checkout' }).click()
        await page.getByLabel('I have saved it').check()
        await page.getByRole('button', { name: 'Done' }).click()
        await page.getByText('For each').waitFor()
        const { checkouts: listed } = (await call('GET', '/v1/checkouts')).body
        expect(listed[0]).toMatchObject({ price: 2, pricing: { kind: 'quantity', min: 1, max: 9 }, coupons: true })

        await page.goto(`${desk.origin}/coupons`)
        await page.getByText('No coupons yet').waitFor()
        await page.getByRole('button', { name: 'Create coupon' }).first().click()
        const dialog = page.getByRole('dialog')
        await dialog.getByLabel('Code').fill('X')
        await dialog.getByRole('button', { name: 'Create coupon' }).click()
        await dialog.getByText('Must be 3 to 40 letters, digits and -').waitFor()
        await dialog.getByLabel('Code').fill('launch-20')
        await dialog.getByLabel('Percent').fill('20')
        await dialog.getByLabel('Total uses').fill('100')
        await dialog.getByLabel('Audit').check()
        await checkLook(page, 'coupon-new')
        await dialog.getByRole('button', { name: 'Create coupon' }).click()
        await page.getByRole('cell', { name: '20% off' }).waitFor()
        const body = { input: {}, simulate: true, choice: { quantity: 2, coupon: 'LAUNCH-20' } }
        const chk = String(listed[0].id)
        expect((await desk.service.call('POST', `/p/${chk}/pay`, { body })).body.payment?.amount).toBe(3.2)
        await checkLook(page, 'coupons')
        await page.getByRole('button', { name: 'Edit LAUNCH-20' }).click()
        await dialog.getByLabel('Total uses').fill('')
        await dialog.getByLabel('Uses per wallet').fill('3')
        await dialog.getByRole('button', { name: 'Save coupon' }).click()
        await page.getByText('Coupon saved.').first().waitFor()
        const coupons = async () => (await call('GET', '/v1/coupons')).body.coupons as unknown[]
        expect((await coupons())[0]).toMatchObject({ max: null, perCustomer: 3, until: null, checkouts: [chk] })
        await page.getByRole('button', { name: 'Archive LAUNCH-20' }).click()
        await dialog.getByRole('button', { name: 'Archive coupon' }).click()
        await page.getByText('No coupons yet').waitFor()
        expect(await coupons()).toEqual([])
        expect((await desk.service.call('POST', `/p/${chk}/pay`, { body })).body.code).toBe('coupon_invalid')
      },
      STORY_MS,
    )

    it(
      'adds an endpoint, sends it a test event, disables and removes it',
      async () => {
        const { page } = await desk.sit('/webhooks')
        await page.getByRole('button', { name: 'Add endpoint' }).first().click()
        await page.getByRole('dialog').getByRole('button', { name: 'Add endpoint' }).click()
        await page.getByText(/is not a URL/).waitFor()
        await page.getByLabel('Address').fill(receiver.url)
        await page.getByLabel('run.completed').check()
        await checkLook(page, 'webhook-new')
        await page.getByRole('dialog').getByRole('button', { name: 'Add endpoint' }).click()
        expect(await page.getByText(/^whsec_/).textContent()).toMatch(/^whsec_/)
        await page.getByLabel('I have saved it').check()
        await page.getByRole('button', { name: 'Done' }).click()
        await page.getByRole('link', { name: receiver.url }).click()
        const count = receiver.calls.length
        await page.getByRole('button', { name: 'Send test event' }).click()
        await page.getByText('is on its way.').first().waitFor()
        await receiver.waitForCalls(count + 1)
        await page.getByRole('cell', { name: 'delivered' }).first().waitFor()
        await checkLook(page, 'webhook')
        await page.getByRole('button', { name: 'Disable' }).click()
        await page.getByRole('button', { name: 'Enable' }).waitFor()
        await page.getByRole('button', { name: 'Send test event' }).click()
        await page
          .getByText(/disabled/i)
          .last()
          .waitFor()
        await page.goto(`${desk.origin}/webhooks`)
        await page.getByRole('cell', { name: 'delivered' }).first().waitFor()
        await checkLook(page, 'webhooks')
        await page.getByRole('link', { name: receiver.url }).click()
        await page.getByRole('button', { name: 'Remove' }).click()
        await page.getByRole('button', { name: 'Remove endpoint' }).click()
        await page.getByText('No endpoints yet').waitFor()
      },
      STORY_MS,
    )
  })
}
