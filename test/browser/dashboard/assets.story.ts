import { checkLook, PASSWORD, pictures, STORY_MS, type Desk } from './desk.ts'

export function assets(opened: () => Desk): void {
  describe('assets, the marketplace and runs', () => {
    let desk: Desk
    beforeAll(() => {
      desk = opened()
    })

    it(
      'shows visitors the published assets, and leads to a run after the sign-in',
      async () => {
        const creator = await desk.sit('/assets')
        const body = {
          ...{ slug: 'tagline-writer', type: 'prompt', name: 'Tagline writer', description: 'Taglines for a topic.' },
          inputSchema: [{ name: 'topic', label: 'Topic', type: 'text', required: true }],
          promptConfig: {
            promptTemplate: 'Write taglines about {{topic}}.',
            examples: [
              { title: 'A tea shop', inputs: { topic: 'tea' }, output: '- Steep yourself.\n- Leaves the best.' },
            ],
          },
          pricing: { model: 'per-run', amount: 0.05 },
        }
        expect((await creator.call('POST', '/v1/rda', { body })).status).toBe(201)
        expect((await creator.call('POST', '/v1/rda/tagline-writer/publish')).status).toBe(200)
        const { page } = await desk.visit('/marketplace?search=tagline')
        await page.getByRole('link', { name: 'Tagline writer' }).waitFor()
        await checkLook(page, 'marketplace-visitor')
        await page.getByRole('link', { name: 'Tagline writer' }).click()
        await page.getByRole('region', { name: 'Inputs' }).getByText('Topic', { exact: true }).waitFor()
        await page.getByText('Leaves the best.').waitFor()
        await page.getByText('n8n-nodes-coinslot.coinslot').waitFor()
        await page.getByText('curl', { exact: true }).click()
        await page.getByText(/curl -s -X POST .*\/v1\/run/).waitFor()
        expect(await page.title()).toBe('Tagline writer · Coinslot')
        await checkLook(page, 'offer-visitor')
        const plain = await desk.visit('/healthz')
        await plain.page.route('**/static/main-*.js', (route) => route.abort())
        await plain.page.goto(`${desk.origin}/marketplace`)
        await checkLook(plain.page, 'marketplace-without-script')
        await plain.page.getByRole('link', { name: 'Tagline writer' }).click()
        await plain.page.getByRole('heading', { name: 'Tagline writer' }).waitFor()
        await plain.page.getByText('0.05 USDC per run').waitFor()
        await checkLook(plain.page, 'offer-without-script')
        await plain.context.close()
        await page.getByRole('link', { name: 'Sign in to run it' }).click()
        await page.getByRole('heading', { name: 'Sign in to Coinslot' }).waitFor()
        expect(new URL(page.url()).searchParams.get('next')).toBe('/marketplace/tagline-writer')
        await page.getByLabel('E-mail').fill(creator.email)
        await page.getByLabel('Password').fill(PASSWORD)
        await page.getByLabel('Password').press('Enter')
        await page.getByRole('button', { name: 'Run for 0.05 USDC' }).waitFor()
        expect(new URL(page.url()).pathname).toBe('/marketplace/tagline-writer')
      },
      STORY_MS,
    )

    it(
      'lets a creator draft, try and publish an asset that another user finds, runs and pays for',
      async () => {
        const creator = await desk.sit('/assets')
        const { page } = creator
        await page.getByText('No published assets yet').waitFor()
        await page.getByRole('link', { name: 'Create asset' }).first().click()
        await page.getByLabel('Name', { exact: true }).first().fill('Headline writer')
        expect(await page.getByLabel('Slug').inputValue()).toBe('headline-writer')
        await page.getByLabel('Description').fill('Five headlines for whatever you write about.')
        await page.getByRole('textbox', { name: 'Prompt', exact: true }).fill('Write headlines about {{subject}}.')
        await page.getByRole('button', { name: 'Create draft' }).click()
        await page.getByText('Has the variable {{subject}}').waitFor()
        await page.getByRole('textbox', { name: 'Prompt', exact: true }).fill('Write headlines about {{topic}}.')
        await page.getByRole('button', { name: 'Add an input' }).click()
        await page.getByLabel('Label').nth(1).fill('Tone')
        await page.getByLabel('Name', { exact: true }).nth(2).fill('tone')
        await page.getByLabel('Type', { exact: true }).nth(1).selectOption('select')
        await page.getByLabel('Choices').fill('Calm\nLoud')
        const preview = page.getByRole('complementary', { name: 'Preview' })
        await preview.getByLabel('Tone').locator('option', { hasText: 'Loud' }).waitFor({ state: 'attached' })
        expect(await preview.getByLabel('Tone').locator('option').allTextContents()).toEqual([
          'Choose…',
          'Calm',
          'Loud',
        ])
        await checkLook(page, 'asset-new')
        await page.getByRole('button', { name: 'Create draft' }).click()
        await page.getByText('Draft created.').first().waitFor()

        await creator.call('POST', '/v1/wallet/deposit', { body: { amount: 5 } })
        await page.getByLabel('Topic').fill('tea')
        await page.getByRole('button', { name: 'Run for 0.05 USDC' }).click()
        await page.getByText('The run was not started. Check the fields above.').waitFor()
        await page.getByLabel('Tone').selectOption('Calm')
        await page.getByRole('button', { name: 'Run for 0.05 USDC' }).click()
        await page.getByText('Write headlines about tea.').last().waitFor()
        await page.getByRole('button', { name: 'Publish' }).click()
        await page.getByText('Asset published. Anyone can find').first().waitFor()
        await checkLook(page, 'asset')

        const caller = await desk.sit('/marketplace?search=headline')
        await caller.page.getByRole('link', { name: 'Headline writer' }).waitFor()
        await checkLook(caller.page, 'marketplace')
        await caller.page.getByRole('link', { name: 'Headline writer' }).click()
        await caller.page.getByLabel('Topic').fill('coffee')
        await caller.page.getByLabel('Tone').selectOption('Loud')
        await caller.page.getByRole('button', { name: 'Run for 0.05 USDC' }).click()
        await caller.page.getByText(/Insufficient balance/).waitFor()
        await caller.call('POST', '/v1/wallet/deposit', { body: { amount: 1 } })
        await caller.page.getByRole('button', { name: 'Run for 0.05 USDC' }).click()
        await caller.page.getByText('Write headlines about coffee.').waitFor()
        await checkLook(caller.page, 'offer')
        await caller.page.getByRole('button', { name: '5 of 5' }).click()
        await caller.page.getByRole('textbox', { name: 'Review' }).fill('Five headlines,\nand each of them fits.')
        await caller.page.getByRole('button', { name: 'Save rating' }).click()
        await caller.page.getByText('Rating saved.').first().waitFor()
        await caller.page.getByText('and each of them fits.').waitFor()
        await caller.page.getByRole('link', { name: 'View run' }).click()
        await caller.page.getByRole('heading', { name: 'Timeline' }).waitFor()
        await checkLook(caller.page, 'run')
        await caller.page.getByRole('link', { name: 'Run again' }).click()
        expect(await caller.page.getByLabel('Topic').inputValue()).toBe('coffee')

        await caller.page.goto(`${desk.origin}/runs?status=succeeded`)
        await caller.page.getByRole('link', { name: 'headline-writer' }).waitFor()
        await checkLook(caller.page, 'runs')
        await caller.page.getByLabel('State').selectOption('failed')
        await caller.page.getByText('Nothing matches').waitFor()
        expect(new URL(caller.page.url()).search).toBe('?status=failed')

        await page.goto(`${desk.origin}/assets`)
        await page.getByRole('link', { name: 'Headline writer' }).waitFor()
        await checkLook(page, 'assets')

        await page.getByRole('link', { name: 'Headline writer' }).click()
        await page.getByLabel('Your answer').fill('Thank you, more to come.')
        await page.getByRole('button', { name: 'Publish answer' }).click()
        await page.getByText('The creator answered').waitFor()
        expect(await page.getByLabel('Your answer').count()).toBe(0)
        const visitor = await desk.visit('/marketplace/headline-writer')
        await visitor.page.getByText('Thank you, more to come.').waitFor()
        expect(await visitor.page.locator('main').textContent()).not.toContain(caller.email)
        await checkLook(visitor.page, 'offer-reviews')
        await visitor.context.close()
        const customers = page.getByRole('table', { name: 'Customers’ runs' })
        await customers.getByText('succeeded').waitFor()
        expect(await customers.getByRole('row').count()).toBe(2)
        expect(await customers.textContent()).not.toContain('coffee')
        await checkLook(page, 'asset-customers')
        await page.getByLabel('State').selectOption('failed')
        await page.getByText('Nothing matches').waitFor()
      },
      STORY_MS,
    )

    it(
      'edits an asset; a concurrent edit of the same part is refused and its input is kept',
      async () => {
        const { page, call } = await desk.sit()
        const { body } = await call('POST', '/v1/rda', {
          body: {
            slug: 'lookup',
            type: 'tool',
            name: 'Lookup',
            description: 'Looks it up.',
            inputSchema: [{ name: 'q', label: 'What', type: 'text', required: true, pattern: '^[a-z]+$' }],
            toolConfig: {
              apiEndpoint: 'http://127.0.0.1:9/lookup',
              authType: 'api_key',
              authConfig: { headerName: 'X-Key', apiKey: 'hush' },
            },
            pricing: { model: 'per-run', amount: 0.25, currency: 'USDC' },
          },
        })
        await page.goto(`${desk.origin}/assets/${body.rda.id}/edit`)
        await page.getByLabel('Amount').fill('0.5')
        await checkLook(page, 'asset-edit')
        await page.getByRole('button', { name: 'Save' }).click()
        await page.getByText('Asset saved.').first().waitFor()
        const { rda } = (await call('GET', '/v1/rda/lookup')).body
        expect(rda.pricing.amount).toBe(0.5)
        expect(rda.schema.inputs[0].pattern).toBe('^[a-z]+$')
        expect(rda.toolConfig.authConfig.headerName).toBe('X-Key')
        expect(Object.keys(rda.toolConfig.authConfig as object)).toContain('apiKey')

        await page.getByRole('link', { name: 'Edit' }).click()
        await page.getByRole('button', { name: 'Add a sample' }).click()
        const sample = page.getByRole('group', { name: 'Sample 1' })
        await sample.getByLabel('Title').fill('A short word')
        await sample.getByLabel('What').fill('coin')
        await page.getByRole('button', { name: 'Save' }).click()
        await sample.getByText(/must not be empty|at least 1|required/i).waitFor()
        await sample.getByLabel('Output').fill('{"found": "a coin"}')
        await pictures(page, 'asset-sample')
        await page.getByRole('button', { name: 'Save' }).click()
        // The asset's own page follows.
        await page.getByRole('link', { name: 'Edit' }).waitFor()
        const shown = { title: 'A short word', inputs: { q: 'coin' }, output: '{"found": "a coin"}' }
        expect((await call('GET', '/v1/rda/lookup')).body.rda.toolConfig.examples).toMatchObject([shown])
        // A renamed input keeps what the sample has in it.
        await page.getByRole('link', { name: 'Edit' }).click()
        const input = page.getByRole('group', { name: 'Input 1' })
        await input.getByLabel('Name', { exact: true }).fill('query')
        await page.getByRole('button', { name: 'Save' }).click()
        await page.getByRole('link', { name: 'Edit' }).waitFor()
        const renamed = { ...shown, inputs: { query: 'coin' } }
        expect((await call('GET', '/v1/rda/lookup')).body.rda.toolConfig.examples).toMatchObject([renamed])
        await call('POST', '/v1/rda/lookup/publish')
        const visitor = await desk.visit('/marketplace/lookup')
        await visitor.page.getByRole('region', { name: 'Output: A short word' }).getByText('a coin').waitFor()
        const example = visitor.page.getByRole('region', { name: 'Example: A short word' })
        await example.getByText('What', { exact: true }).waitFor()
        await example.getByText('coin', { exact: true }).waitFor()
        await pictures(visitor.page, 'offer-sample')
        await visitor.context.close()

        await page.getByRole('link', { name: 'Edit' }).click()
        await page.getByLabel('Description').fill('Looks it up, quickly.')
        const others = { name: 'Changed meanwhile', description: 'Finds it.' }
        await call('PATCH', '/v1/rda/lookup', { body: others })
        // The notification gives the page the newest version, but the user's edits are based on the one before.
        await page.getByRole('heading', { name: 'Edit Changed meanwhile' }).waitFor()
        await page.getByRole('button', { name: 'Save' }).click()
        await page.getByRole('alert').first().waitFor()
        expect(await page.getByLabel('Description').inputValue()).toBe('Looks it up, quickly.')
      },
      STORY_MS,
    )
  })
}
