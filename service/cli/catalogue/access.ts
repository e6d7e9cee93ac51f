import { readFile } from 'node:fs/promises'
import { invalid } from '../../kit/errors.ts'
import type { parseArgs } from 'node:util'
import type { Environment } from '../../kit/owner.ts'
import type { Catalogue } from '../../tools/service/catalogue/catalogue.ts'

const text = { type: 'string' } as const

export const CLIENT_OPTIONS = {
  off: { type: 'boolean' },
  'client-id': text,
  'client-secret-file': text,
  'client-auth': text,
  issuer: text,
  'authorization-url': text,
  'token-url': text,
  'revocation-url': text,
  'device-url': text,
  grant: text,
  scopes: text,
} as const

interface CommandInput {
  catalogue: Catalogue
  environment: Environment
  names: readonly string[]
  flags: ReturnType<typeof parseArgs<{ options: typeof CLIENT_OPTIONS }>>['values']
}

/** With this, callers of the provider's tools need no connection: its data is the same for everybody. */
export async function setPublic({ catalogue, environment, names: [provider], flags }: CommandInput): Promise<boolean> {
  if (provider === undefined) return false
  const isPublic = flags.off !== true
  await catalogue.setPublic({ environment, ownerId: null, provider }, isPublic)
  const how = isPublic ? "are called with the provider's key" : 'that act on an account need a connection'
  console.log(`The tools of ${provider} in ${environment} ${how} from now on.`)
  return true
}

/** The client that the operator registered at the provider. */
export async function setOAuth({ catalogue, environment, names: [provider], flags }: CommandInput): Promise<boolean> {
  if (provider === undefined) return false
  const whose = { environment, ownerId: null, provider }
  if (flags.off === true) {
    await catalogue.setOAuth(whose, null, null)
    console.log(`Accounts no longer connect to ${provider} in ${environment} by signing in.`)
    return true
  }
  const clientId = flags['client-id']
  if (clientId === undefined) return false
  const file = flags['client-secret-file']
  const secret = file === undefined ? null : (await readFile(file, 'utf8')).trim()
  const client = {
    clientId,
    issuer: addressOf(flags.issuer, '--issuer'),
    authorizationUrl: addressOf(flags['authorization-url'], '--authorization-url'),
    tokenUrl: addressOf(flags['token-url'], '--token-url'),
    revocationUrl: addressOf(flags['revocation-url'], '--revocation-url'),
    authentication: authenticationOf(flags['client-auth'] ?? (secret === null ? 'none' : 'post')),
    deviceUrl: addressOf(flags['device-url'], '--device-url'),
    grant: grantOf(flags.grant ?? 'authorization_code'),
    scopes: (flags.scopes ?? '').split(/\s+/).filter((scope) => scope !== ''),
  }
  await catalogue.setOAuth(whose, client, secret)
  console.log(`Accounts connect to ${provider} in ${environment} by signing in from now on.`)
  return true
}

function addressOf(value: string | undefined, flag: string): string | null {
  if (value === undefined) return null
  if (!URL.canParse(value) || !/^https?:/.test(value)) throw invalid({ [flag]: 'must be an address' })
  return value
}

function grantOf(value: string): 'authorization_code' | 'device_code' {
  if (value === 'authorization_code' || value === 'device_code') return value
  throw invalid({ '--grant': 'must be authorization_code or device_code' })
}

function authenticationOf(value: string): 'basic' | 'post' | 'none' {
  if (value === 'basic' || value === 'post' || value === 'none') return value
  throw invalid({ '--client-auth': 'must be basic, post or none' })
}
