import type { IDataObject } from 'n8n-workflow'
import { NodeOperationError } from 'n8n-workflow'
import { PayToRunTrigger } from '../../nodes/PayToRunTrigger/PayToRunTrigger.node.ts'
import { hook, SECRET, type Played, type ServiceAnswer } from './n8n.ts'

const { checkExists, create, delete: remove } = new PayToRunTrigger().webhookMethods.default

describe('creating', () => {
  it('asks for a temporary checkout while testing, under the test address', async () => {
    const { context, calls } = hook({
      mode: 'manual',
      service: made('chk_1'),
      webhookUrl: 'http://n/webhook-test/1/pay',
    })
    await expect(create.call(context)).resolves.toBe(true)
    expect(calls).toHaveLength(1)
    expect(calls[0]).toMatchObject({
      method: 'POST',
      url: 'http://localhost:4020/v1/checkouts',
      disableFollowRedirect: true,
    })
    expect(calls[0]?.body).toEqual({
      callbackUrl: 'http://n/webhook-test/1/pay',
      product: { name: 'SEO audit', description: null },
      price: 5,
      network: 'base',
      fields: [],
      redirectUrl: null,
      testMode: true,
      lifetime: 'temporary',
      responseMode: 'immediately',
      preflight: true,
      source: { instanceId: 'instance-1', workflowId: 'workflow-1', nodeId: 'node-1' },
    })
  })

  it('asks for a persistent one when published', async () => {
    const { context, calls } = hook({ mode: 'trigger', service: made('chk_1') })
    await create.call(context)
    expect(calls[0]?.body).toMatchObject({ lifetime: 'persistent' })
  })

  it("stores the checkout's id, secret and link", async () => {
    const { context, memory } = hook({ service: made('chk_1') })
    await create.call(context)
    expect(memory).toMatchObject({ checkoutId: 'chk_1', secret: SECRET, formUrl: 'https://pay.example/p/chk_1' })
  })

  it('sends every parameter in the form of the API', async () => {
    const { context, calls } = hook({
      service: made('chk_1'),
      parameters: {
        productDescription: 'Ten pages',
        recipient: 'address',
        recipientAddress: ' 0x71C7656EC7ab88b098defB751B7401B5f6d8976F ',
        redirectUrl: 'https://example.com/thanks',
        testMode: false,
        respond: 'lastNode',
        options: { callbackUrl: 'https://public.example/' },
      },
    })
    await create.call(context)
    expect(calls[0]?.body).toMatchObject({
      callbackUrl: 'https://public.example/webhook/1/pay',
      product: { description: 'Ten pages' },
      recipient: '0x71C7656EC7ab88b098defB751B7401B5f6d8976F',
      redirectUrl: 'https://example.com/thanks',
      testMode: false,
      responseMode: 'lastNode',
    })
  })

  it.each([
    ['sandbox', 'base-sepolia'],
    ['production', 'base'],
  ])('sells on the network of a %s credential unless the author chose one', async (environment, network) => {
    const credentials = { environment, apiKey: 'csk', url: 'http://localhost:4020/v1' }
    const left = hook({ service: made('chk_1'), credentials, parameters: { network: 'credential' } })
    await create.call(left.context)
    expect(left.calls[0]?.body).toMatchObject({ network })
    const chosen = hook({ service: made('chk_1'), credentials, parameters: { network: 'base-sepolia' } })
    await create.call(chosen.context)
    expect(chosen.calls[0]?.body).toMatchObject({ network: 'base-sepolia' })
  })

  it('uses a complete callback address unchanged', async () => {
    const callbackUrl = 'https://public.example/hooks/n8n/pay'
    const { context, calls } = hook({ service: made('chk_1'), parameters: { options: { callbackUrl } } })
    await create.call(context)
    expect(calls[0]?.body).toMatchObject({ callbackUrl })
  })

  it.each<[string, ServiceAnswer, RegExp]>([
    [
      'no service',
      Object.assign(new Error('x'), { cause: { code: 'ECONNREFUSED' } }),
      /cannot be reached at http:\/\/localhost:4020\/v1 \(the connection was refused\)\. Check the service address/,
    ],
    [
      'a code that n8n would put its own sentence for',
      new Error('connect ECONNREFUSED 127.0.0.1:4020'),
      /cannot be reached at http:\/\/localhost:4020\/v1 \(no answer\)/,
    ],
    [
      'a refused key',
      { status: 401, body: { error: 'no', code: 'unauthenticated' } },
      /does not accept the API key.*Make a new key/,
    ],
    [
      'the key of the other environment',
      { status: 400, body: { error: 'x', code: 'environment_mismatch', details: {} } },
      /csk_test_ are for Sandbox/,
    ],
    [
      'a wrong price',
      { status: 400, body: { error: 'x', code: 'invalid_input', details: { price: 'must be above 0' } } },
      /Price \(USDC\): must be above 0/,
    ],
    [
      'a wrong field',
      { status: 400, body: { error: 'x', code: 'invalid_input', details: { 'fields.1.name': 'must be unique' } } },
      /Customer Fields #2 name: must be unique/,
    ],
    [
      'an agent key',
      { status: 403, body: { error: 'Keys of agents may not do this.', code: 'agent_key_forbidden' } },
      /may not do this.*Keys of agents/,
    ],
    ['too many calls', { status: 429, body: { error: 'x', code: 'rate_limited' } }, /Wait a minute/],
    [
      'a limit that waiting does not lift',
      { status: 429, body: { error: 'At most 1000. Delete a checkout.', code: 'quota_exceeded', requestId: 'req_1' } },
      /^Coinslot refused this: At most 1000\. Delete a checkout\. \(request req_1\)$/,
    ],
    [
      'a fault of the service',
      { status: 500, body: { error: 'Something broke.', code: 'internal', requestId: 'req_1' } },
      /Something broke\. Try again in a moment\. \(request req_1\)/,
    ],
    [
      'another server',
      { status: 404, body: '<html>' },
      /no Coinslot service at http:\/\/localhost:4020\/v1.*ends with \/v1/,
    ],
    ['a redirect', { status: 302, body: '' }, /no Coinslot service/],
    [
      'an answer without a secret',
      { status: 201, body: { checkout: { id: 'chk_1', url: 'https://x' } } },
      /returned no signing secret/,
    ],
    [
      'an answer with an empty secret',
      { status: 201, body: { checkout: { id: 'chk_1', url: 'https://x' }, secret: '' } },
      /returned no signing secret/,
    ],
  ])('fails with a sentence that says what to do, and remembers nothing: %s', async (_, answer, sentence) => {
    const { context, memory } = hook({ service: () => answer })
    const failure = await create.call(context).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(NodeOperationError)
    const error = failure as NodeOperationError
    expect(error.message).toMatch(sentence)
    // One generation of n8n shows the message, the other the description where there is one.
    expect(error.description ?? error.message).toMatch(sentence)
    expect(memory).toEqual({})
  })

  it('reports a missing credential', async () => {
    const { context } = hook({ credentials: new Error('Credential with ID "1" does not exist') })
    await expect(create.call(context)).rejects.toThrow('The Coinslot credential cannot be used: Credential with ID "1"')
  })
})

describe('asking whether it exists', () => {
  it('says no without stored data, and sends no request', async () => {
    const { context, calls } = hook({ memory: {} })
    await expect(checkExists.call(context)).resolves.toBe(false)
    expect(calls).toEqual([])
  })

  it('says yes for an active one with the same parameters', async () => {
    const played = await remembered()
    await expect(checkExists.call(hook({ ...played, service: is('active') }).context)).resolves.toBe(true)
  })

  it.each([
    ['the price', { parameters: { price: 6 } }],
    ['a field', { parameters: { customerFields: { fields: [{ label: 'Site', type: 'url' }] } } }],
    ['test mode', { parameters: { testMode: false } }],
    ['the address of n8n', { webhookUrl: 'https://moved.example/webhook/1/pay' }],
    ['testing for publishing', { mode: 'manual' as const }],
  ])('answers no when %s has changed', async (_, change) => {
    const played = await remembered()
    await expect(checkExists.call(hook({ ...played, ...change, service: is('active') }).context)).resolves.toBe(false)
  })

  it.each(['expired', 'paused'])('answers no when it is %s, so that creating revives it', async (status) => {
    const played = await remembered()
    await expect(checkExists.call(hook({ ...played, service: is(status) }).context)).resolves.toBe(false)
  })

  it('says no when the service answers 404', async () => {
    const played = await remembered()
    const service = (): ServiceAnswer => ({ status: 404, body: { error: 'x', code: 'checkout_not_found' } })
    await expect(checkExists.call(hook({ ...played, service }).context)).resolves.toBe(false)
  })

  it.each<[string, ServiceAnswer]>([
    ['is down', new Error('connect ECONNREFUSED')],
    ['is broken', { status: 503, body: '<html>' }],
    ['is busy', { status: 429, body: { error: 'x', code: 'rate_limited' } }],
    ['knows the key no more', { status: 401, body: { error: 'x', code: 'unauthenticated' } }],
  ])('keeps its stored data while the service %s, and never throws', async (_, answer) => {
    const played = await remembered()
    await expect(checkExists.call(hook({ ...played, service: () => answer }).context)).resolves.toBe(true)
  })

  it('does not throw when the credential is missing', async () => {
    const played = await remembered()
    const { context } = hook({ ...played, credentials: new Error('gone') })
    await expect(checkExists.call(context)).resolves.toBe(true)
  })
})

describe('deleting', () => {
  it('expires the checkout and forgets it', async () => {
    const { memory } = await remembered()
    const { context, calls } = hook({ mode: 'internal', memory, service: is('expired') })
    await expect(remove.call(context)).resolves.toBe(true)
    expect(calls.map(({ method, url }) => [method, url])).toEqual([
      // Publishing again makes it anew in a moment: its link is not gone in between.
      ['DELETE', 'http://localhost:4020/v1/checkouts/chk_1?graceSeconds=5'],
    ])
    expect(memory).toEqual({})
  })

  it('does not delete a temporary one that publishing has made persistent', async () => {
    const { memory } = await remembered('manual')
    const { context, calls } = hook({ mode: 'internal', memory, service: is('active', 'persistent') })
    await expect(remove.call(context)).resolves.toBe(true)
    expect(calls.map(({ method }) => method)).toEqual(['GET'])
    expect(memory).toEqual({})
  })

  it('expires a temporary one when listening ends', async () => {
    const { memory } = await remembered('manual')
    const { context, calls } = hook({ mode: 'internal', memory, service: is('active', 'temporary') })
    await remove.call(context)
    expect(calls.map(({ method, url }) => [method, url.replace(/^.+chk_1/, '')])).toEqual([
      ['GET', ''],
      // Publishing between the two requests makes it persistent.
      ['DELETE', '?lifetime=temporary'],
    ])
  })

  it.each<[string, ServiceAnswer]>([
    ['is lost', new Error('socket hang up')],
    ['is a refusal', { status: 429, body: { error: 'x', code: 'rate_limited' } }],
    ['is none of the service', { status: 200, body: '<html>' }],
  ])(
    'leaves one that may be persistent where the answer about it %s: a temporary one expires by itself',
    async (_, answer) => {
      const { memory } = await remembered('manual')
      const { context, calls } = hook({ mode: 'internal', memory, service: () => answer })
      await expect(remove.call(context)).resolves.toBe(true)
      expect(calls.map(({ method }) => method)).toEqual(['GET'])
      expect(memory).toEqual({})
    },
  )

  it.each<[string, ServiceAnswer]>([
    ['is down', new Error('connect ECONNREFUSED')],
    ['is broken', { status: 500, body: { error: 'x', code: 'internal' } }],
    ['refuses', { status: 401, body: { error: 'x', code: 'unauthenticated' } }],
  ])('forgets it and says so in the log when the service %s', async (_, answer) => {
    const { memory } = await remembered()
    const { context, warnings } = hook({ mode: 'internal', memory, service: () => answer })
    await expect(remove.call(context)).resolves.toBe(true)
    expect(memory).toEqual({})
    expect(warnings).toEqual([expect.stringMatching(/^Checkout chk_1 could not be expired\. /)])
  })

  it('does nothing where nothing was made', async () => {
    const { context, calls } = hook({ mode: 'internal' })
    await expect(remove.call(context)).resolves.toBe(true)
    expect(calls).toEqual([])
  })
})

/** A memory as `create` leaves it, and the parameters that it came from. */
async function remembered(mode: 'trigger' | 'manual' = 'trigger'): Promise<Played & { memory: IDataObject }> {
  const { context, memory } = hook({ mode, service: made('chk_1') })
  await create.call(context)
  return { mode, memory }
}

function made(id: string): () => ServiceAnswer {
  const checkout = { id, url: `https://pay.example/p/${id}`, status: 'active', lifetime: 'persistent' }
  return () => ({ status: 201, body: { checkout, secret: SECRET } })
}

function is(status: string, lifetime = 'persistent'): () => ServiceAnswer {
  return () => ({ status: 200, body: { checkout: { id: 'chk_1', url: 'https://x', status, lifetime } } })
}
