import { get } from 'node:http'
import { inboxMailer } from '../../service/sandbox/inbox.ts'
import { createMessageStore } from '../../service/sandbox/store.ts'
import { testService, type TestService } from '../harness/service.ts'

describe('the pages of a sandbox', () => {
  let service: TestService
  beforeAll(async () => {
    service = await testService({ ALLOW_PRIVATE_CALLBACKS: 'true' })
  })
  afterAll(() => service.close())

  /** Over a socket: `fetch` does not let a caller choose the Host. */
  const look = (path: string, headers: Record<string, string> = {}): Promise<{ status: number; text: string }> =>
    new Promise((resolve, reject) => {
      get(service.origin + path, { headers }, (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (piece: string) => (text += piece))
        response.on('end', () => {
          resolve({ status: response.statusCode ?? 0, text })
        })
      }).on('error', reject)
    })

  describe('/demo/echo', () => {
    const sell = async (): Promise<{ url: string; secret: string }> => {
      const seller = await service.person()
      const body = {
        callbackUrl: `${service.origin}/demo/echo`,
        product: { name: 'Audit' },
        price: 5,
        network: 'base-sepolia',
        testMode: true,
        lifetime: 'persistent',
        fields: [{ name: 'site', label: 'Website', type: 'text', required: true }],
      }
      const { status, body: created } = await seller.call('POST', '/v1/checkouts', { body })
      expect(status).toBe(201)
      return { url: `/p/${created.checkout.id as string}`, secret: created.secret as string }
    }

    it('accepts a delivery, verifies its signature, and shows it', async () => {
      const { url } = await sell()
      const paid = await service.call('POST', `${url}/pay`, { body: { input: { site: '<b>x</b>' }, simulate: true } })
      expect(paid.status).toBe(200)
      const [delivery] = await service.database.statements.run<{ id: string; turn: number }>(
        'SELECT id, turn FROM delivery ORDER BY id DESC LIMIT 1',
        [],
      )
      await service.deliveries.attempt(delivery!, new AbortController().signal)
      const [sent] = await service.database.statements.run<{ state: string; status: number }>(
        'SELECT state, last_status AS status FROM delivery WHERE id = $1',
        [delivery!.id],
      )
      expect(sent).toEqual({ state: 'delivered', status: 200 })
      const { status, text } = await look('/demo/echo')
      expect(status).toBe(200)
      expect(text).toContain('Signature verified')
      expect(text).toContain(delivery!.id)
      expect(text).toContain('&#60;b&#62;x&#60;/b&#62;')
      expect(text).not.toContain('<b>')
    })

    it('refuses a forged delivery, and shows it as not verified', async () => {
      const forged = await service.call('POST', '/demo/echo', {
        body: { payment: {} },
        headers: { 'webhook-id': 'dlv_x', 'webhook-timestamp': '1', 'webhook-signature': 'v1,AAAA' },
      })
      expect(forged).toMatchObject({ status: 401, body: { code: 'signature_refused' } })
      expect((await look('/demo/echo')).text).toContain('Signature not verified')
    })

    it('answers the question whether it is there, and refuses a body that is too large', async () => {
      expect((await service.call('POST', '/demo/echo')).status).toBe(200)
      expect((await service.call('POST', '/demo/echo', { raw: ' '.repeat(70_000) })).status).toBe(413)
    })
  })

  describe('/inbox', () => {
    it('shows the mails that were not sent, with links that work, and keeps the links out of the log', async () => {
      const terminal: string[] = []
      const logged: unknown[] = []
      const mailer = inboxMailer({
        store: createMessageStore(service.database.statements),
        clock: service.clock,
        log: { info: (...line) => void logged.push(line) },
        inbox: 'http://localhost:4020/inbox',
        terminal: (text) => void terminal.push(text),
      })
      const link = 'http://localhost:4020/verify-email?token=eyJ&next=/'
      await mailer.send({ id: '1', to: 'ada@example.com', subject: 'Confirm\u001b[2J', text: `Hi <b>!\n\n${link}\n` })
      const { status, text } = await look('/inbox')
      expect(status).toBe(200)
      expect(text).toContain('To ada@example.com')
      expect(text).toContain(`href="${link.replace('&', '&#38;')}"`)
      expect(text).not.toContain('<b>')
      expect(terminal.join('')).toContain(link)
      expect(terminal.join('')).not.toContain('\u001b')
      expect(JSON.stringify(logged)).not.toContain('token')
    })

    it('keeps the newest two hundred', async () => {
      const store = createMessageStore(service.database.statements)
      for (let at = 0; at < 203; at++) await store.add('mail', { to: 'a', subject: String(at), text: '' }, new Date(0))
      const [counted] = await service.database.statements.run<{ count: number }>(
        `SELECT count(*)::int AS count FROM sandbox_message WHERE kind = 'mail'`,
        [],
      )
      expect(counted).toEqual({ count: 200 })
    })
  })

  it.each(['/inbox', '/demo/echo'])('%s is for a browser on the same machine alone', async (path) => {
    expect((await look(path)).status).toBe(200)
    expect((await look(path, { 'x-forwarded-for': '203.0.113.7' })).status).toBe(404)
    expect((await look(path, { forwarded: 'for=203.0.113.7' })).status).toBe(404)
    expect((await look(path, { host: 'evil.example' })).status).not.toBe(200)
  })
})

it('is nowhere on a server with a public address', async () => {
  const service = await testService({ PUBLIC_DASHBOARD_URL: 'https://coinslot.example' })
  const { text } = await service.call('GET', '/inbox')
  expect(text).not.toContain('Mails of this sandbox')
  expect((await service.call('POST', '/demo/echo', { body: { a: 1 } })).status).toBe(404)
  await service.close()
})
