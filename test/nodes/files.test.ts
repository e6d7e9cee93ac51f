import { createHmac } from 'node:crypto'
import { Readable } from 'node:stream'
import type { IHttpRequestOptions } from 'n8n-workflow'
import { filesOf, type Time } from '../../nodes/PayToRunTrigger/files.ts'
import { PayToRunTrigger } from '../../nodes/PayToRunTrigger/PayToRunTrigger.node.ts'
import { SECRET, webhook, type Played, type ServiceAnswer } from './n8n.ts'

const FORM = 'https://pay.example/p/chk_1'
const LINK = `${FORM}/files/file_1?token=abc&name=a%20b.pdf`
const FIELDS = {
  fields: [
    { label: 'Your paper', type: 'file' },
    { label: 'Notes', type: 'text' },
  ],
}
const CONTENT = Buffer.from('the paper')
const there = (): ServiceAnswer => ({ status: 200, body: CONTENT })

describe('files of customers', () => {
  it('are binary data under the names of their fields, fetched before the claim and without the key', async () => {
    const { result, calls, fetches } = await paid({ your_paper: LINK, notes: LINK })
    const binary = {
      your_paper: { data: CONTENT.toString('base64'), fileName: 'a b.pdf', mimeType: 'application/pdf' },
    }
    expect(result.workflowData).toEqual([[{ json: expect.objectContaining({ input: expect.anything() }), binary }]])
    expect(fetches.map(({ url, disableFollowRedirect }) => [url, disableFollowRedirect])).toEqual([[LINK, true]])
    expect(calls).toHaveLength(1)
  })

  it('stay links unless the option is on', async () => {
    const { result, fetches } = await paid({ your_paper: LINK }, { parameters: { customerFields: FIELDS } })
    expect([result.workflowData?.[0]?.[0]?.binary, fetches]).toEqual([undefined, []])
  })

  it.each([
    'https://elsewhere.example/a.pdf',
    'http://169.254.169.254/latest/meta-data',
    `${FORM}.evil.example/files/file_1?token=abc`,
    'https://pay.example/p/chk_2/files/file_1?token=abc',
    'https://pay.example/p/chk_1/payments/pay_1',
  ])('%s is never fetched, and stays a link', async (link) => {
    const { result, fetches } = await paid({ your_paper: link })
    expect(fetches).toEqual([])
    expect(result.workflowData?.[0]?.[0]).toMatchObject({ json: { input: { your_paper: link } } })
    expect(result.workflowData?.[0]?.[0]?.binary).toBeUndefined()
  })

  it('come from the address of the credential where the public one cannot be reached', async () => {
    const file = ({ url }: IHttpRequestOptions) => (url === LINK ? new Error('ECONNREFUSED') : there())
    const { result, fetches } = await paid({ your_paper: LINK }, { ...ON, file })
    expect(fetches.map(({ url }) => url)).toEqual([LINK, LINK.replace('https://pay.example', 'http://localhost:4020')])
    expect(Object.keys(result.workflowData?.[0]?.[0]?.binary ?? {})).toEqual(['your_paper'])
  })

  it('come from the address that a credential of version 0.1 has', async () => {
    const file = ({ url }: IHttpRequestOptions) => (url === LINK ? new Error('ECONNREFUSED') : there())
    const first = { environment: 'sandbox', sandboxUrl: 'http://coinslot:4020/v1', url: 'http://localhost:4020/v1' }
    const { fetches } = await paid(
      { your_paper: LINK },
      { ...ON, file, credentials: { apiKey: 'csk_test_1', ...first } },
    )
    expect(fetches.map(({ url }) => url)).toEqual([LINK, LINK.replace('https://pay.example', 'http://coinslot:4020')])
  })

  it.each<[string, () => ServiceAnswer, RegExp]>([
    ['it is stored no longer', () => ({ status: 404, body: Buffer.from('{}') }), /“your_paper” .* stored no longer/],
    ['the service is in trouble', () => ({ status: 502, body: Buffer.from('') }), /status 502/],
    ['it redirects', () => ({ status: 302, body: Buffer.from('') }), /status 302/],
    ['it is not reached', () => new Error('ECONNREFUSED'), /cannot be reached/],
    ['it is too large', () => ({ status: 200, body: Buffer.alloc(10_000_001) }), /larger/],
  ])('leave the delivery unclaimed for a later attempt where %s', async (_, file, reason) => {
    const { result, response, calls } = await paid({ your_paper: LINK }, { ...ON, file })
    expect(result).toEqual({ noWebhookResponse: true })
    expect([response.status, response.body]).toEqual([
      503,
      { error: expect.stringMatching(reason), code: 'file_unavailable' },
    ])
    expect(calls).toEqual([])
  })

  describe('of one delivery', () => {
    const fields = ['a', 'b', 'c', 'd', 'e'].map((label) => ({ label, type: 'file' }))
    const input = Object.fromEntries(fields.map(({ label }) => [label, `${FORM}/files/${label}?token=abc`]))
    const fetched = (file: NonNullable<Played['file']>, time: Partial<Time> = {}) => {
      const { context, fetches } = webhook(
        {},
        { parameters: { customerFields: { fields }, options: { filesAsBinary: true } }, file },
      )
      const deadline = new AbortController()
      const at = { deadline: deadline.signal, answerMs: 60_000, ...time }
      return { files: filesOf(context, { input }, FORM, at), fetches, deadline }
    }
    const never = () => new Promise<ServiceAnswer>(() => undefined)

    it('are fetched three at a time', async () => {
      const open: (() => void)[] = []
      const { files, fetches } = fetched(
        () => new Promise((resolve) => open.push(() => resolve({ status: 200, body: CONTENT }))),
      )
      const seen: number[] = []
      while (seen.length < fields.length) {
        await new Promise(setImmediate)
        seen.push(fetches.length)
        open.shift()?.()
      }
      expect(seen).toEqual([3, 4, 5, 5, 5])
      expect(Object.keys(((await files) as { binary: object }).binary).toSorted()).toEqual(['a', 'b', 'c', 'd', 'e'])
    })

    it.each<[string, NonNullable<Played['file']>]>([
      ['without an answer', never],
      ['with a body that does not end', () => ({ status: 200, body: new Readable({ read: () => undefined }) })],
    ])('end together, at one moment: %s', async (_, file) => {
      const { files, fetches, deadline } = fetched(file)
      await new Promise(setImmediate)
      deadline.abort()
      await expect(files).resolves.toEqual({ missing: expect.stringMatching(/took too long/) })
      // Nothing is begun after it.
      expect(fetches).toHaveLength(3)
    })

    it('are not asked for where their time was over before', async () => {
      const { files, fetches } = fetched(there, { deadline: AbortSignal.abort() })
      await expect(files).resolves.toEqual({ missing: expect.stringMatching(/took too long/) })
      expect(fetches).toEqual([])
    })

    it('end their connections, also where this version of n8n does not', async () => {
      const body = new Readable({ read: () => undefined })
      const { files, deadline } = fetched(() => ({ status: 200, body }))
      await new Promise(setImmediate)
      deadline.abort()
      await files
      expect(body.destroyed).toBe(true)
    })

    it('wait for an address that does not answer once, and not for each of them', async () => {
      const { files, fetches } = fetched((call) => (call.url.startsWith(FORM) ? never() : there()), { answerMs: 1 })
      expect(Object.keys(((await files) as { binary: object }).binary)).toHaveLength(5)
      expect(fetches.filter(({ url }) => url.startsWith(FORM))).toHaveLength(3)
    })
  })
})

/** What the node has stored about its checkout. */
const KEPT = {
  checkoutId: 'chk_1',
  secret: SECRET,
  formUrl: 'https://pay.example/p/chk_1',
  lifetime: 'persistent',
  fingerprint: 'x',
}

const ON: Played = { parameters: { customerFields: FIELDS, options: { filesAsBinary: true } }, file: there }

async function paid(input: Record<string, unknown>, played: Played = ON) {
  const body = JSON.stringify({
    payment: { txHash: '0xabc', amount: 5, currency: 'USDC', payer: '0x1', network: 'base', timestamp: 1_800_000_000 },
    input,
    metadata: { checkoutId: 'chk_1', receivedAt: '2027-01-15T08:00:00.000Z' },
  })
  const timestamp = String(Math.floor(Date.now() / 1000))
  const key = Buffer.from(SECRET.slice('whsec_'.length), 'base64')
  const mac = createHmac('sha256', key).update(`dlv_1.${timestamp}.${body}`).digest('base64')
  const headers = { 'webhook-id': 'dlv_1', 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${mac}` }
  const service = () => ({ status: 200, body: { claimed: true } })
  const sent = webhook({ body, headers }, { service, memory: { ...KEPT }, ...played })
  return { ...sent, result: await new PayToRunTrigger().webhook.call(sent.context) }
}
