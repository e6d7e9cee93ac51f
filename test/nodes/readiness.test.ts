import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { IDataObject, IHttpRequestOptions } from 'n8n-workflow'
import { receive } from '../../nodes/PayToRunTrigger/delivery.ts'
import type { Registration } from '../../nodes/PayToRunTrigger/lifecycle.ts'
import { findFault } from '../../nodes/PayToRunTrigger/readiness.ts'
import { testService, type TestPerson, type TestService } from '../harness/service.ts'
import { SECRET, webhook, type Played, type ServiceAnswer } from './n8n.ts'

let count = 0

/** A registration of its own, since the node remembers for a minute what the service said about one. */
function registered(): Registration {
  const checkoutId = `chk_${String(++count)}`
  const formUrl = `https://pay.example/p/${checkoutId}`
  return { checkoutId, secret: SECRET, formUrl, lifetime: 'persistent', fingerprint: 'x' }
}

async function check(service: Played['service'], { kept = registered(), ...played }: Checked = {}) {
  const sent = webhook({}, { memory: { ...kept }, ...(service && { service }), ...played })
  return { ...sent, result: await receive(sent.context) }
}

type Checked = Played & { kept?: Registration }

function refuses(status: number, code?: string): () => ServiceAnswer {
  return () => ({ status, body: code === undefined ? '<html>' : { error: 'The service says why.', code } })
}

describe('the check before a payment', () => {
  it.each<[string, () => ServiceAnswer, string, RegExp]>([
    ['a revoked key', refuses(401, 'key_revoked'), 'credential_refused', /does not accept the API key/],
    ['a key that may not', refuses(403, 'agent_key_forbidden'), 'credential_refused', /may not do this: The service/],
    ['no such checkout', refuses(404, 'checkout_not_found'), 'checkout_not_found', /has no checkout chk_.*Publish/],
    ['the other environment', refuses(400, 'environment_mismatch'), 'credential_refused', /the other environment/],
  ])('is answered with 410 and the reason, which n8n logs: %s', async (_, service, code, reason) => {
    const { result, response, calls, warnings } = await check(service, { parameters: { testMode: false } })
    expect(result).toEqual({ noWebhookResponse: true })
    expect(response).toMatchObject({ status: 410, body: { code, error: expect.stringMatching(reason) } })
    expect(warnings).toEqual([expect.stringMatching(reason)])
    expect(calls).toEqual([expect.objectContaining({ method: 'GET', timeout: 3_000 })])
  })

  it.each([400, 403, 404])(
    'takes a %s without a code for a proxy that has no service behind it now, once',
    async (status) => {
      const kept = registered()
      let answer = refuses(status)
      const { context, warnings } = webhook({}, { service: () => answer() })
      const at = (minute: number) => findFault(context, kept, { nowMs: minute * 60_000 })
      expect(await at(0)).toBeUndefined()
      answer = () => ({ status: 200, body: {} })
      expect(await at(1)).toBeUndefined()
      answer = refuses(status)
      expect([await at(2), warnings]).toEqual([undefined, []])
      expect([await at(8), warnings]).toEqual([undefined, []])
      expect(await at(9)).toEqual({
        code: 'credential_refused',
        reason: expect.stringContaining('no Coinslot service'),
      })
      expect(await at(10)).toEqual({
        code: 'credential_refused',
        reason: expect.stringContaining('no Coinslot service'),
      })
    },
  )

  it('names the address in the credential to the log alone', async () => {
    const { context, warnings } = webhook({}, { service: refuses(404) })
    const kept = registered()
    await findFault(context, kept, { nowMs: 0 })
    const fault = await findFault(context, kept, { nowMs: 60_000 })
    expect(warnings.join()).toMatch(/http\S+/)
    expect(fault?.reason).not.toMatch(/http/)
  })

  it('is answered with 410 where n8n has no credential any more', async () => {
    const { response } = await check(undefined, { credentials: new Error('Credential does not exist') })
    expect(response).toMatchObject({ status: 410, body: { error: expect.stringMatching(/credential cannot be used/) } })
  })

  it.each<[string, () => ServiceAnswer]>([
    ['knows the checkout', () => ({ status: 200, body: { checkout: {} } })],
    ['is down', () => new Error('connect ECONNREFUSED')],
    ['does not answer in time', () => Object.assign(new Error('timeout'), { code: 'ECONNABORTED' })],
    ['is broken', refuses(500, 'internal')],
    ['is starting', refuses(503)],
    ['is busy', refuses(429, 'rate_limited')],
  ])('finds the workflow ready while the service %s', async (_, service) => {
    const kept = registered()
    const { result, response } = await check(service, { kept })
    expect(result.webhookResponse).toMatchObject({ form_url: kept.formUrl })
    expect(response.status).toBeUndefined()
  })

  it('asks no service while the author listens for a test event', async () => {
    const { result, calls } = await check(refuses(401, 'key_revoked'), { mode: 'manual' })
    expect(result.webhookResponse).toHaveProperty('form_url')
    expect(calls).toEqual([])
  })

  it('asks the service once a minute, also for several at once', async () => {
    const kept = registered()
    let answer = refuses(401, 'key_revoked')
    const { context, calls } = webhook({}, { service: () => answer() })
    const at = (nowMs: number) => findFault(context, kept, { nowMs })
    const both = await Promise.all([at(0), at(0)])
    expect(both).toEqual([expect.objectContaining({ code: 'credential_refused' }), both[0]])
    answer = () => ({ status: 200, body: {} })
    expect(await at(59_999)).toEqual(both[0])
    expect(calls).toHaveLength(1)
    expect(await at(60_000)).toBeUndefined()
    expect(calls).toHaveLength(2)
  })

  it('shows the reason on the page at the address', async () => {
    const sent = webhook({ name: 'setup' }, { memory: { ...registered() }, service: refuses(401, 'key_revoked') })
    await receive(sent.context)
    expect(sent.response.status).toBe(200)
    expect(sent.response.body).toContain('Customers cannot pay now. Coinslot does not accept the API key')
  })

  it('says on the page that the checkout has expired, until it is published again', async () => {
    const kept = registered()
    let status = 'expired'
    const service = () => ({ status: 200, body: { checkout: { id: kept.checkoutId, status } } })
    const shown = async () => {
      const { context, response } = webhook({ name: 'setup' }, { memory: { ...kept }, service })
      await receive(context)
      return response.body
    }
    expect(await shown()).toContain(`Customers cannot pay now. The checkout ${kept.checkoutId} has expired. Publish`)
    status = 'active'
    expect(await shown()).not.toContain('Customers cannot pay now.')
  })
})

describe('a workflow that a real service checks', () => {
  let service: TestService
  let seller: TestPerson
  /** As n8n runs the node at its address: with this credential, and with what it stored. */
  let n8n: { server: Server; url: string; kept: IDataObject; key: string; statuses: unknown[] }

  beforeAll(async () => {
    service = await testService()
    seller = await service.person()
    const server = createServer((request, response) => {
      void answer(request).then(({ status, body }) => {
        n8n.statuses.push([status, (body as IDataObject)['code']])
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/webhook/1/pay`
    n8n = { server, url, kept: {}, key: '', statuses: [] }
  })
  afterAll(async () => {
    await service.close()
    n8n.server.close()
    n8n.server.closeAllConnections()
  })
  beforeEach(() => (n8n.statuses = []))

  async function answer(request: IncomingMessage): Promise<{ status: number; body: unknown }> {
    const headers = request.headers as Record<string, string>
    const asked = async ({ method, url }: IHttpRequestOptions): Promise<ServiceAnswer> => {
      const { status, body } = await service.call(method!, new URL(url).pathname, { key: n8n.key })
      return { status, body: body as unknown }
    }
    const sent = webhook({ body: await text(request), headers }, { memory: n8n.kept, service: asked })
    const { webhookResponse } = await receive(sent.context)
    const { status = 200, body = webhookResponse as unknown } = sent.response
    return { status, body }
  }

  async function publish(by: TestPerson): Promise<string> {
    const terms = { product: { name: 'Audit' }, price: 1, network: 'base-sepolia', testMode: true, preflight: true }
    const { body } = await by.call('POST', '/v1/checkouts', { body: { ...terms, callbackUrl: n8n.url } })
    const { id, url } = body.checkout as { id: string; url: string }
    n8n.kept = { ...registered(), checkoutId: id, formUrl: url, secret: body.secret as string }
    n8n.key = by.key
    return id
  }
  const buy = (id: string) => service.call('POST', `/p/${id}/pay`, { body: { input: {}, simulate: true } })

  it('sells while the key of its credential is good, and not once it is revoked', async () => {
    const id = await publish(seller)
    expect((await buy(id)).status).toBe(200)
    expect(n8n.statuses).toEqual([[200, undefined]])

    const other = await service.person()
    const revoked = await publish(other)
    const { body } = await other.call('GET', '/v1/keys')
    await other.call('DELETE', `/v1/keys/${String(body.keys[0].id)}`)
    expect(await buy(revoked)).toMatchObject({ status: 503, body: { code: 'workflow_unavailable' } })
    expect(n8n.statuses.slice(1)).toEqual([[410, 'credential_refused']])
  })

  it('is paused with the credential of another account, so that its owner is told', async () => {
    const id = await publish(seller)
    n8n.key = (await service.person()).key
    for (let time = 0; time < 3; time++) {
      expect(await buy(id)).toMatchObject({ status: 503, body: { code: 'workflow_unavailable' } })
    }
    expect(n8n.statuses).toEqual(Array(3).fill([410, 'checkout_not_found']))
    expect((await seller.call('GET', `/v1/checkouts/${id}`)).body.checkout.status).toBe('paused')
    await seller.call('DELETE', `/v1/checkouts/${id}`)
  })

  it('is gone for an earlier checkout at the same address, which is paused for that', async () => {
    const earlier = await publish(seller)
    const id = await publish(seller)
    for (let time = 0; time < 3; time++) {
      expect(await buy(earlier)).toMatchObject({ status: 503, body: { code: 'workflow_unavailable' } })
    }
    expect(n8n.statuses).toEqual(Array(3).fill([410, 'other_checkout']))
    service.clock.forward(31_000)
    await service.checkouts.sweepers.probes(service.clock.now())
    expect(n8n.statuses).toHaveLength(4)
    expect((await seller.call('GET', `/v1/checkouts/${earlier}`)).body.checkout.status).toBe('paused')
    expect((await buy(id)).status).toBe(200)
  })
})
