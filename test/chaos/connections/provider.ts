import { generateKeyPairSync } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { CLIENT, type ProviderJournal, type ProviderSetting } from './model.ts'

/*
 * Another company in a process of its own, which outlives the service: a real OpenID Connect provider that replaces each
 * refresh token, and an API that takes its tokens. One line on the input: the setting; one on the output: the port.
 */

let input = ''
for await (const chunk of process.stdin) input += String(chunk)
const { redirectUri, bots } = JSON.parse(input) as ProviderSetting
// The provider warns developers that it runs in memory; a test needs no such warning.
Object.assign(console, { info: () => undefined, warn: () => undefined })
const { default: Provider } = await import('oidc-provider')

const journal: ProviderJournal = { grants: [], calls: [], revocations: 0, alive: [] }
/** All that were ever issued. */
const issued: string[] = []
const server = createServer()
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
const { port } = server.address() as AddressInfo
const key = generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey.export({ format: 'jwk' })
const bot = ([id, secret]: [string, string]) => ({
  client_id: id,
  client_secret: secret,
  grant_types: ['client_credentials'],
  redirect_uris: [],
  response_types: [],
})
const ttl = { Interaction: 3_600, Session: 3_600, DeviceCode: 3_600, IdToken: 3_600 }
const lasting = { Grant: 864_000, AccessToken: 86_400, RefreshToken: 864_000, ClientCredentials: 86_400 }
const provider = new Provider(`http://127.0.0.1:${String(port)}`, {
  clients: [
    {
      client_id: CLIENT.id,
      client_secret: CLIENT.secret,
      redirect_uris: [redirectUri],
      response_types: ['code'],
      grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
    },
    ...Object.entries(bots).map(bot),
  ],
  jwks: { keys: [{ ...key, use: 'sig', alg: 'RS256', kid: 'one' }] },
  cookies: { keys: ['of the tests'] },
  scopes: ['openid', 'offline_access', 'notes'],
  features: {
    deviceFlow: { enabled: true },
    clientCredentials: { enabled: true },
    revocation: { enabled: true },
  },
  pkce: { required: () => true },
  issueRefreshToken: () => true,
  rotateRefreshToken: true,
  ttl: { ...ttl, ...lasting },
  findAccount: (_context: unknown, id: string) => ({ accountId: id, claims: () => ({ sub: id }) }),
})
provider.use(async (context, next) => {
  await next()
  const { route, params, entities } = context.oidc ?? {}
  if (route === 'revocation' && context.status === 200) journal.revocations++
  if (route !== 'token') return
  const { Account, RefreshToken, DeviceCode, Client } = entities ?? {}
  const { accountId } = Account ?? RefreshToken ?? DeviceCode ?? {}
  const who = accountId ?? Client?.clientId ?? ''
  journal.grants.push({ who, grant: String(params?.['grant_type']), succeeded: context.status === 200 })
  const { access_token: token } = context.body as { access_token?: string }
  if (token !== undefined) issued.push(token)
})

async function holderOf(token: string): Promise<string | null> {
  const found = (await provider.AccessToken.find(token)) ?? (await provider.ClientCredentials.find(token))
  return found?.accountId ?? found?.clientId ?? null
}

const answer = provider.callback()
server.on('request', (request, response) => {
  const json = (status: number, body: unknown) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  if (request.url === '/journal') {
    const alive = Promise.all(issued.map(holderOf)).then((all) => all.filter((who) => who !== null))
    void alive.then((all) => json(200, { ...journal, alive: all }))
    return
  }
  if (!request.url?.startsWith('/api/')) {
    answer(request, response)
    return
  }
  const caller = request.url.slice('/api/'.length)
  void holderOf((request.headers.authorization ?? '').replace(/^Bearer /, '')).then((who) => {
    journal.calls.push({ caller, who })
    json(who === null ? 401 : 200, { who })
  })
})
process.stdout.write(`${String(port)}\n`)
