import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { INodeTypeDescription } from 'n8n-workflow'
import { CoinslotApi } from '../../credentials/CoinslotApi.credentials.ts'
import { Coinslot } from '../../nodes/Coinslot/Coinslot.node.ts'
import { PaidChatTrigger } from '../../nodes/PaidChatTrigger/PaidChatTrigger.node.ts'
import { PayToRunTrigger } from '../../nodes/PayToRunTrigger/PayToRunTrigger.node.ts'

const root = path.resolve(import.meta.dirname, '../..')
const manifest = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as {
  name: string
  n8n: { nodes: string[]; credentials: string[] }
}

describe('the package', () => {
  it('registers files built from existing sources', () => {
    for (const file of [...manifest.n8n.nodes, ...manifest.n8n.credentials]) {
      expect(existsSync(path.join(root, file.replace(/^dist\//, '').replace(/\.js$/, '.ts')))).toBe(true)
    }
  })

  it.each([
    ['nodes/Coinslot', new Coinslot().description.icon],
    ['nodes/PaidChatTrigger', new PaidChatTrigger().description.icon],
    ['nodes/PayToRunTrigger', new PayToRunTrigger().description.icon],
    ['credentials', new CoinslotApi().icon],
  ])('has its pictures for light and for dark: %s', (folder, icon) => {
    const { light, dark } = icon as { light: string; dark: string }
    const read = (file: string): string => readFileSync(path.join(root, folder, file.replace('file:', '')), 'utf8')
    expect(read(light)).toMatch(/^<svg /)
    expect(read(dark)).toMatch(/^<svg /)
    expect(read(light)).not.toBe(read(dark))
  })

  it.each([
    ['Coinslot', new Coinslot().description.name],
    ['PaidChatTrigger', new PaidChatTrigger().description.name],
    ['PayToRunTrigger', new PayToRunTrigger().description.name],
  ])('is found in n8n by the name that its node has there: %s', (folder, name) => {
    const file = path.join(root, `nodes/${folder}/${folder}.node.json`)
    const codex = JSON.parse(readFileSync(file, 'utf8')) as { node: string }
    expect(codex.node).toBe(`${manifest.name}.${name}`)
  })
})

describe.each([
  ['the trigger', new PayToRunTrigger().description],
  ['the trigger of chats', new PaidChatTrigger().description],
])('%s', (_, description) => {
  it('accepts payments by POST and shows the link by GET, on one path', () => {
    expect(description.webhooks?.map(({ name, httpMethod }) => [name, httpMethod])).toEqual([
      ['default', 'POST'],
      ['setup', 'GET'],
    ])
    expect(new Set(description.webhooks?.map((webhook) => webhook.path)).size).toBe(1)
  })
})

describe('the trigger of forms', () => {
  it('has a parameter for everything that it reads', () => {
    const names = namesOf(new PayToRunTrigger().description)
    const read = ['productName', 'productDescription', 'price', 'network', 'recipient', 'recipientAddress']
    expect(names).toEqual(expect.arrayContaining([...read, 'customerFields', 'redirectUrl', 'testMode', 'options']))
  })
})

describe('the credential', () => {
  const credential = new CoinslotApi()

  it('is never shown its key, and is tested against the service', () => {
    const key = credential.properties.find(({ name }) => name === 'apiKey')
    expect(key?.typeOptions).toEqual({ password: true })
    expect(credential.test.request.url).toBe('/me')
  })

  it('is preset to a service on the same machine', () => {
    expect(credential.properties.find(({ name }) => name === 'url')?.default).toBe('http://localhost:4020/v1')
  })

  it('sends the chosen environment with each call, so that a key of the other one is refused', () => {
    expect(credential.authenticate.properties.headers).toEqual({
      Authorization: '=Bearer {{$credentials.apiKey}}',
      'Coinslot-Environment': '={{$credentials.environment}}',
    })
  })
})

function namesOf({ properties }: INodeTypeDescription): string[] {
  return properties.map(({ name }) => name)
}
