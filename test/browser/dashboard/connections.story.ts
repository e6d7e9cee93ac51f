import { Company } from '../../connections/world.ts'
import { importRequest } from '../../tools/calls/world.ts'
import { checkLook, STORY_MS, type Desk } from './desk.ts'

export function connections(opened: () => Desk): void {
  describe('connections to providers of tools', () => {
    let desk: Desk
    let company: Company
    beforeAll(async () => {
      desk = opened()
      company = await new Company().listen()
      const { catalogue } = desk.service
      const text = JSON.stringify(DOCUMENT)
      await catalogue.importDocument(importRequest(company.origin, { slug: 'notes', name: 'Notes' }), text)
      const client = {
        ...{
          clientId: 'coinslot',
          issuer: company.origin,
          authorizationUrl: null,
          tokenUrl: null,
          revocationUrl: null,
        },
        ...{ deviceUrl: `${company.origin}/device`, authentication: 'basic' as const, scopes: [] },
        grant: 'authorization_code' as const,
      }
      await catalogue.setOAuth({ environment: 'sandbox', ownerId: null, provider: 'notes' }, client, 'client-secret')
    })
    afterAll(() => company.close())

    it(
      'connects by a code, which is shown until it was entered, and by a client of the account’s own',
      async () => {
        const { page, call } = await desk.sit('/connections?connect=notes&scopes=notes')
        const dialog = page.getByRole('dialog', { name: 'Connect Notes' })
        await dialog.getByRole('button', { name: 'Sign in at Notes' }).waitFor()
        expect(await dialog.getByLabel('How').inputValue()).toBe('person')
        await checkLook(page, 'connections-connect')
        await dialog.getByLabel('How').selectOption('code')
        await dialog.getByText('Asks for: notes').waitFor()
        await dialog.getByRole('button', { name: 'Get a code' }).click()
        await dialog.getByText('WDJB-MJHT').waitFor()
        await checkLook(page, 'connections-code')
        company.enter({ error: 'access_denied' })
        desk.service.clock.forward(INTERVAL_MS)
        await dialog.getByText('The access was not allowed there.').waitFor()
        await checkLook(page, 'connections-code-refused')
        await dialog.getByRole('button', { name: 'Get a new code' }).click()
        await dialog.getByText('WDJB-MJHT').waitFor()
        company.enter({ who: 'ada' })
        desk.service.clock.forward(INTERVAL_MS)
        await dialog.waitFor({ state: 'detached' })
        await page.getByRole('cell', { name: 'active' }).waitFor()

        company.clients.set('my-bot', 'my-bot-secret')
        await page.goto(`${desk.origin}/connections?connect=notes`)
        await dialog.getByLabel('How').selectOption('client')
        await dialog.getByLabel('Client ID').fill('my-bot')
        await dialog.getByLabel('Client secret').fill('wrong')
        await dialog.getByRole('button', { name: 'Connect' }).click()
        await dialog.getByText('its server refused the client').waitFor()
        await dialog.getByLabel('Client secret').fill('my-bot-secret')
        await checkLook(page, 'connections-client')
        await dialog.getByRole('button', { name: 'Connect' }).click()
        await dialog.waitFor({ state: 'detached' })
        await page.getByRole('cell', { name: 'Notes 2', exact: true }).waitFor()
        await checkLook(page, 'connections')

        // The provider has refused a call with it.
        await desk.service.database.statements.run(
          "UPDATE connection SET failure = 'The provider answered 401.' WHERE name = 'Notes 2'",
          [],
        )
        await page.goto(`${desk.origin}/connections`)
        const row = page.getByRole('row').filter({ hasText: 'Notes 2' })
        await row.getByText('failing').waitFor()
        await row.getByRole('button', { name: 'Connect again' }).click()
        await dialog.getByLabel('How').selectOption('client')
        await dialog.getByLabel('Client ID').fill('my-bot')
        await dialog.getByLabel('Client secret').fill('my-bot-secret')
        expect(await dialog.getByLabel('Name', { exact: true }).count()).toBe(0)
        await dialog.getByRole('button', { name: 'Connect' }).click()
        await dialog.waitFor({ state: 'detached' })
        await row.getByText('active').waitFor()
        expect((await call('GET', '/v1/connections')).body.total).toBe(2)
      },
      STORY_MS,
    )
  })
}

/** As often as the provider wants to be asked about a code. */
const INTERVAL_MS = 7_000

const DOCUMENT = {
  openapi: '3.1.0',
  info: { title: 'Notes', version: '1' },
  components: {
    securitySchemes: {
      account: {
        type: 'oauth2',
        flows: {
          authorizationCode: { authorizationUrl: 'https://a.example', tokenUrl: 'https://a.example', scopes: {} },
        },
      },
      key: { type: 'apiKey', in: 'header', name: 'X-Key' },
    },
  },
  paths: {
    '/me': {
      get: {
        operationId: 'getMe',
        summary: 'Read my notes',
        security: [{ account: ['notes'] }, { key: [] }],
        responses: { 200: { description: 'Done' } },
      },
    },
  },
}
