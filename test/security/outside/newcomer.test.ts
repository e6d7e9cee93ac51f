import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { freePort } from '../../harness/ports.ts'
import { testService, type TestPerson, type TestService } from '../../harness/service.ts'
import { until } from '../../harness/until.ts'

/* What somebody tries who has the sandbox and its pages, a server of their own, and no word of the code. */
describe('a newcomer with a sandbox', () => {
  let service: TestService
  let person: TestPerson
  let own: Server
  let ownUrl: string
  let calls = 0

  beforeAll(async () => {
    own = createServer((request, response) => {
      calls++
      const isAgent = request.url === '/agent'
      response.writeHead(isAgent ? 200 : 500, { 'content-type': 'application/json' })
      response.end(JSON.stringify(isAgent ? { status: 'completed', output: 'Done.' } : { error: 'No seats are left.' }))
    })
    await new Promise<void>((resolve) => own.listen(0, '127.0.0.1', resolve))
    ownUrl = `http://localhost:${String((own.address() as AddressInfo).port)}`
    service = await testService({ DEMO_PORT: String(await freePort()) })
    await service.start()
    person = await service.person()
    await person.call('POST', '/v1/wallet/deposit', { body: { amount: 10 } })
  })
  afterAll(async () => {
    await service.close()
    own.closeAllConnections()
    await new Promise((resolve) => own.close(resolve))
  })

  test('asks the bare address with curl, and reads where everything is', async () => {
    const { status, text } = await service.call('GET', '/', { headers: { accept: '*/*' } })
    expect(status).toBe(200)
    for (const path of ['/v1', '/docs', '/openapi.json']) expect(text).toContain(path)
    expect(text.trim().split('\n').length).toBeLessThanOrEqual(3)
  })

  test('runs a prompt, and reads that no model has answered', async () => {
    const body = { rdaSlug: 'sql-explainer', inputs: { query: 'SELECT 1' } }
    const { output } = (await person.call('POST', '/v1/run', { body })).body as { output: string }
    expect(output.split('\n')[0]).toMatch(/not a model's answer/)
  })

  test('searches by the end of a word', async () => {
    const { body } = await service.call('GET', '/v1/rdas?search=utline')
    expect((body.rdas as { slug: string }[]).map(({ slug }) => slug)).toContain('blog-outline')
  })

  test('sees the most that a prompt may cost before running it', async () => {
    const { pricing } = (await service.call('GET', '/v1/rda/blog-outline')).body.rda
    expect(pricing.maxCost).toBeGreaterThanOrEqual(Number(pricing.amount))
  })

  test('sells an agent on the own machine', async () => {
    const agent = {
      ...{ slug: 'own-agent', name: 'Own agent', description: 'Answers from my machine', type: 'agent' },
      inputSchema: [{ name: 'say', label: 'Say', type: 'text', required: true }],
      pricing: { model: 'per-run', amount: 0.01 },
      agentConfig: { webhookUrl: `${ownUrl}/agent` },
    }
    expect((await person.call('POST', '/v1/rda', { body: agent })).status).toBe(201)
    expect((await person.call('POST', '/v1/rda/own-agent/publish')).status).toBe(200)
    const buyer = await service.person()
    await buyer.call('POST', '/v1/wallet/deposit', { body: { amount: 1 } })
    const { body } = await buyer.call('POST', '/v1/run', { body: { rdaSlug: 'own-agent', inputs: { say: 'hi' } } })
    expect(body).toMatchObject({ success: true, output: 'Done.', cost: 0.01 })
  })

  test('looks up the run of a refused request, and reads that it started none', async () => {
    const refused = await person.call('POST', '/v1/run', { body: { rdaSlug: 'no-such-asset', inputs: {} } })
    const looked = await person.call('GET', `/v1/runs/${String(refused.body.runId)}`)
    expect([looked.status, looked.body.error]).toEqual([404, expect.stringContaining('started no')])
  })

  test('sells with a server whose error the buyer reads, after one call', async () => {
    const { checkout } = (
      await person.call('POST', '/v1/checkouts', {
        body: {
          ...{ callbackUrl: `${ownUrl}/order`, product: { name: 'A seat' }, price: 0.5, network: 'base-sepolia' },
          ...{ recipient: `0x${'ab'.repeat(20)}`, testMode: true, responseMode: 'lastNode', refundOnFailure: true },
          fields: [{ name: 'row', label: 'Row', type: 'text', required: true }],
        },
      })
    ).body
    calls = 0
    const paid = await service.call('POST', `/p/${String(checkout.id)}/pay`, {
      body: { input: { row: 'A' }, simulate: true },
    })
    const { id, token } = paid.body.payment as { id: string; token: string }
    const view = await until(async () => {
      const { body } = await service.call('GET', `/p/${String(checkout.id)}/payments/${id}?token=${token}`)
      return body.payment.refunds.length > 0 && (body as { delivery: unknown })
    })
    expect(view.delivery).toMatchObject({ status: 'stopped', attempts: 1, failure: 'No seats are left.' })
    expect(calls).toBe(1)
    const { body } = await person.call('GET', `/v1/deliveries/${id.replace('pay_', 'dlv_')}`)
    expect(JSON.parse(String(body.delivery.body)).input).toEqual({ row: 'A' })
  })
})
