import { invalid } from '../../../kit/errors.ts'
import type { Environment } from '../../../kit/owner.ts'
import { providerNotFound } from '../../errors/catalogue.ts'
import type { Credentials } from '../../model/provider.ts'
import type { AuthScheme, Tool, UserId } from '../../model/tool.ts'
import type { CatalogueDeps, Directory } from './directory.ts'

/** The keys for calls to providers: sealed at rest, opened for one call, never shown. */
export function createCredentials({ store, directory, secrets, clock }: CatalogueDeps & { directory: Directory }) {
  async function of({ environment, ownerId, provider }: Whose, scheme: AuthScheme | null): Promise<Credentials> {
    if (scheme === null) return NO_CREDENTIALS
    const token = (await directory.provider({ environment, ownerId }, provider))?.credentials ?? null
    if (token === null) return NO_CREDENTIALS
    return credentialsOf(scheme, secrets.open(token, contextOf(environment, ownerId, provider)))
  }

  return {
    of,
    forTool: (tool: Tool): Promise<Credentials> => of(tool, schemeOf(tool)),

    /** Null removes it. For basic authentication: `user:password`. */
    async set({ environment, ownerId, provider }: Whose, secret: string | null): Promise<void> {
      if (secret !== null && !/^[\x21-\x7e]{1,4096}$/.test(secret))
        throw invalid({ credentials: 'must be up to 4096 visible characters of ASCII' })
      const token = secret === null ? null : secrets.seal(secret, contextOf(environment, ownerId, provider))
      const there = await store.seal({ environment, ownerId }, provider, token, clock.now())
      if (!there) throw providerNotFound(provider)
      await directory.refresh(environment)
    },
  }
}

export type CredentialKeeping = ReturnType<typeof createCredentials>

type Whose = Pick<Tool, 'environment' | 'ownerId' | 'provider'>

function schemeOf({ upstream }: Tool): AuthScheme | null {
  if (upstream.kind === 'http') return upstream.auth
  return upstream.kind === 'mcp' ? { kind: 'bearer' } : null
}

/** Binds the secret to its provider, so that it cannot be opened in another provider's row. */
function contextOf(environment: Environment, ownerId: UserId | null, provider: string): string {
  return `tool-provider/${environment}/${ownerId ?? 'platform'}/${provider}`
}

const NO_CREDENTIALS: Credentials = { headers: {}, query: {} }

/** The place in a request where a provider expects its secret. */
function credentialsOf(scheme: AuthScheme, secret: string): Credentials {
  switch (scheme.kind) {
    case 'bearer':
      return header('authorization', `Bearer ${secret}`)
    case 'basic':
      return header(
        'authorization',
        `Basic ${Buffer.from(secret.includes(':') ? secret : `${secret}:`).toString('base64')}`,
      )
    case 'apiKey':
      if (scheme.in === 'query') return { headers: {}, query: { [scheme.name]: secret } }
      if (scheme.in === 'cookie') return header('cookie', `${scheme.name}=${secret}`)
      return header(scheme.name.toLowerCase(), secret)
  }
}

function header(name: string, value: string): Credentials {
  return { headers: { [name]: value }, query: {} }
}
