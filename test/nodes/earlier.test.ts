import { readFileSync } from 'node:fs'
import path from 'node:path'
import type { IDataObject, INode, INodeParameters } from 'n8n-workflow'
import { NodeHelpers } from 'n8n-workflow'
import { CoinslotApi } from '../../credentials/CoinslotApi.credentials.ts'
import { fingerprint, readCheckout } from '../../nodes/PayToRunTrigger/checkout.ts'
import { Coinslot } from '../../nodes/Coinslot/Coinslot.node.ts'
import { PayToRunTrigger } from '../../nodes/PayToRunTrigger/PayToRunTrigger.node.ts'
import { ask } from '../../nodes/shared/transport.ts'
import { parametersOf, type Parameter } from './earlier.ts'
import { hook } from './n8n.ts'

/** What the nodes had when the first workflows were made with them. */
const FIRST = JSON.parse(readFileSync(path.join(import.meta.dirname, 'first-version.json'), 'utf8')) as {
  coinslot: Parameter[]
  payToRunTrigger: Parameter[]
}

/** Workflows are stored with the parameters and the version of their nodes, and must go on when the package is updated. */
describe('a workflow of the first version', () => {
  const nodes = [
    ['coinslot', new Coinslot().description],
    ['payToRunTrigger', new PayToRunTrigger().description],
  ] as const

  it.each(nodes)('finds every parameter again, with its default and its choices: %s', (name, description) => {
    expect([description.version].flat()).toContain(1)
    const today = parametersOf(description.properties, 1)
    expect(FIRST[name].length).toBeGreaterThan(20)
    for (const { at, type, default: byDefault, choices } of FIRST[name]) {
      const found = today.filter((parameter) => parameter.at === at && parameter.type === type)
      expect({ at, defaults: found.map((parameter) => parameter.default) }).toEqual({ at, defaults: [byDefault] })
      expect(found[0]?.choices).toEqual(expect.arrayContaining(choices))
    }
  })

  const RECIPIENT = '0x71C7656EC7ab88b098defB751B7401B5f6d8976F'
  it.each([
    [
      'all defaults',
      { productName: 'SEO audit', price: 5 },
      { product: { name: 'SEO audit', description: null }, price: 5, network: 'base', responseMode: 'immediately' },
    ],
    [
      'what it answers, where it was an option',
      {
        ...{ productName: 'SEO audit', productDescription: 'Ten pages', price: 0.25, network: 'base-sepolia' },
        ...{ recipient: 'address', recipientAddress: RECIPIENT, redirectUrl: 'https://example.com/thanks' },
        customerFields: { fields: [{ label: 'Website', type: 'url', required: true }] },
        ...{ testMode: false, options: { respond: 'lastNode', callbackUrl: 'https://n8n.example' } },
      },
      {
        ...{ product: { name: 'SEO audit', description: 'Ten pages' }, price: 0.25, network: 'base-sepolia' },
        ...{ recipient: RECIPIENT, redirectUrl: 'https://example.com/thanks', testMode: false },
        ...{ responseMode: 'lastNode' },
      },
    ],
  ])('registers the same checkout as then: %s', (_, saved: INodeParameters, expected) => {
    const { description } = new PayToRunTrigger()
    const node: INode = { id: 'n', name: 'T', type: 'x', typeVersion: 1, position: [0, 0], parameters: saved }
    // As n8n does when it loads a workflow: what this version does not have is dropped, and defaults are filled in.
    const loaded = NodeHelpers.getNodeParameters(description.properties, saved, true, false, node, description) ?? {}
    expect(loaded).not.toHaveProperty('respond')
    const { context } = hook({ parameters: { ...(loaded as IDataObject), respond: undefined } })
    const body = readCheckout(context)
    expect(body).toMatchObject(expected)
    // Nothing more than then: a checkout is known again by all of its request.
    const then = ['callbackUrl', 'product', 'price', 'network', 'recipient', 'fields', 'redirectUrl', 'testMode']
    expect(Object.keys(body)).toEqual(
      [...then, 'lifetime', 'responseMode', 'preflight', 'source'].filter(
        (key) => key !== 'recipient' || saved['recipient'] === 'address',
      ),
    )
  })

  it('keeps its checkout: its request is the same, to the byte', () => {
    const { context } = hook({ parameters: { customerFields: { fields: [{ label: 'Site', type: 'url' }] } } })
    // Computed by version 0.1.
    expect(fingerprint(readCheckout(context))).toBe('f6cf417be36b1c74738973caa8685cf4b829780b02a11ee23d481faa3076937d')
  })

  it.each([
    ['sandbox', {}, 'https://sandbox.example/v1'],
    ['production', {}, 'https://live.example/v1'],
    ['sandbox', { url: 'http://localhost:4021/v1' }, 'http://localhost:4021/v1'],
    ['sandbox', { sandboxUrl: '' }, 'http://localhost:4020/v1'],
  ])('reaches the service at the address of its %s credential, until another one is written: %j', async (...of) => {
    const [environment, changed, expected] = of
    const saved = {
      ...{
        environment,
        apiKey: 'csk',
        sandboxUrl: 'https://sandbox.example/v1',
        productionUrl: 'https://live.example/v1',
      },
      ...changed,
    }
    // As n8n does when it reads a credential.
    const credential = new CoinslotApi()
    const loaded = NodeHelpers.getNodeParameters(credential.properties, saved, true, false, null, null) as IDataObject
    const { context, calls } = hook({ credentials: loaded, service: () => ({ status: 404, body: {} }) })
    await ask(context, { method: 'GET', path: '/me' })
    expect(calls.map(({ url }) => url)).toEqual([`${expected}/me`])
    // n8n tests a credential without the node.
    const expression = String(credential.test.request.baseURL).replace(/^=\{\{|\}\}$/g, '')
    // oxlint-disable-next-line typescript/no-implied-eval -- as n8n resolves it
    expect((new Function('$credentials', `return ${expression}`) as (given: unknown) => unknown)(loaded)).toBe(expected)
  })

  it('answers with the last node where that was an option', () => {
    const [webhook] = new PayToRunTrigger().description.webhooks ?? []
    const responseMode = (parameter: IDataObject): unknown => {
      const expression = String(webhook?.responseMode).replace(/^=\{\{|\}\}$/g, '')
      // oxlint-disable-next-line typescript/no-implied-eval -- as n8n resolves it
      return (new Function('$parameter', `return ${expression}`) as (given: IDataObject) => unknown)(parameter)
    }
    expect(responseMode({ options: { respond: 'lastNode' } })).toBe('lastNode')
    expect(responseMode({ options: {} })).toBe('onReceived')
    expect(responseMode({ respond: 'lastNode', options: {} })).toBe('lastNode')
    expect(responseMode({ respond: 'onReceived' })).toBe('onReceived')
  })
})
