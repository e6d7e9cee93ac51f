import { createHash } from 'node:crypto'
import { httpServer, type Listening } from '../outbound/servers.ts'
import { inBrowser } from './chromium.ts'
import { cutControls, findings, isTooWide, openDesk, PASSWORD, STORY_MS, type Desk } from './dashboard/desk.ts'

inBrowser('the consent page on a phone', () => {
  let desk: Desk
  let program: Listening
  const arrived: string[] = []

  beforeAll(async () => {
    desk = await openDesk()
    // Like an assistant's own page, it redirects once more, to another host.
    program = await httpServer((request, response) => {
      arrived.push(String(request.url))
      if (request.url?.startsWith('/callback') === true) {
        response.writeHead(302, { location: `http://localhost:${String(program.port)}/done` }).end()
      } else response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Connected</h1>')
    })
  })
  afterAll(async () => {
    await program.close()
    await desk.close()
  })

  it(
    'leads through the sign-in and returns to the program with a code',
    async () => {
      const redirect = `http://127.0.0.1:${String(program.port)}/callback`
      const { body } = await desk.service.call('POST', '/oauth/register', {
        body: { client_name: 'Claude', redirect_uris: [redirect] },
      })
      const query = new URLSearchParams({
        response_type: 'code',
        client_id: String(body.client_id),
        redirect_uri: redirect,
        code_challenge: createHash('sha256').update('x').digest('base64url'),
        code_challenge_method: 'S256',
        resource: `${desk.origin}/tools/mcp`,
        state: 'its own',
      })
      const { page } = await desk.visit(`/oauth/authorize?${query.toString()}`, {
        viewport: { width: 360, height: 740 },
      })
      await page.getByRole('button', { name: 'Create an account' }).click()
      await page.getByLabel('Name').fill('Grace Hopper')
      await page.getByLabel('E-mail').fill('grace@example.com')
      await page.getByLabel('Password').fill(PASSWORD)
      await page.getByRole('button', { name: 'Create account' }).click()

      await page.getByRole('heading', { name: 'Connect a program' }).waitFor()
      await page.getByText('grace@example.com').waitFor()
      expect(await findings(page)).toEqual([])
      expect(await isTooWide(page)).toBe(false)
      expect(await cutControls(page)).toEqual([])
      await page.getByLabel('Spending limit per day').fill('2.5')
      await page.getByRole('button', { name: 'Connect' }).click()
      await page.getByRole('heading', { name: 'Connected' }).waitFor()
      expect(arrived[0]).toMatch(/^\/callback\?code=.+&state=its\+own&iss=/)
    },
    STORY_MS,
  )

  it(
    'of a command line is shown after the sign-in',
    async () => {
      const { body } = await desk.service.call('POST', '/oauth/device_authorization', {
        raw: 'client_id=coinslot-cli&device_name=Laptop',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      })
      const { page } = await desk.visit(`/oauth/device?user_code=${String(body.user_code)}`)
      await page.getByRole('button', { name: 'Create an account' }).click()
      await page.getByLabel('Name').fill('Ada Lovelace')
      await page.getByLabel('E-mail').fill('ada@example.com')
      await page.getByLabel('Password').fill(PASSWORD)
      await page.getByRole('button', { name: 'Create account' }).click()
      await page.getByRole('heading', { name: 'Sign in a command line' }).waitFor()
      await page.getByText('Laptop (its own choice of a name)').waitFor()
    },
    STORY_MS,
  )
})
