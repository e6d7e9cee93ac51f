import type { Clock } from '../../../kit/clock.ts'
import { invalid } from '../../../kit/errors.ts'
import type { Environment } from '../../../kit/owner.ts'
import { providerNotFound } from '../../errors/catalogue.ts'
import type { Credentials } from '../../model/provider.ts'
import type { AuthScheme, Tool, UserId } from '../../model/tool.ts'
import type { SecretKeeping } from '../../ports/sources.ts'
import type { CatalogueStore } from '../../ports/keeping.ts'
import { credentialsOf, NO_CREDENTIALS } from '../../rules/credentials.ts'
import type { Directory } from './directory.ts'

/** The keys that providers are called with: sealed at rest, opened for one call, told to nobody. */
export function createCredentials({ store, directory, secrets, clock }: CredentialDeps) {
  async function of({ environment, ownerId, provider }: Whose, scheme: AuthScheme | null): Promise<Credentials> {
    if (scheme === null) return NO_CREDENTIALS
    const token = (await directory.provider({ environment, ownerId }, provider))?.credentials ?? null
    if (token === null) return NO_CREDENTIALS
    return credentialsOf(scheme, secrets.open(token, contextOf(environment, ownerId, provider)))
  }

  return {
    of,
    forTool: (tool: Tool): Promise<Credentials> => of(tool, schemeOf(tool)),

    /** Null takes it away. Of a user and a password: `user:password`. */
    async set({ environment, ownerId, provider }: Whose, secret: string | null): Promise<void> {
      if (secret !== null && !/^[\x21-\x7e]{1,4096}$/.test(secret))
        throw invalid({ credentials: 'must be up to 4096 visible characters of ASCII' })
      const token = secret === null ? null : secrets.seal(secret, contextOf(environment, ownerId, provider))
      const there = await store.seal(environment, ownerId, provider, token, clock.now())
      if (!there) throw providerNotFound(provider)
      await directory.refresh(environment)
    },
  }
}

export type CredentialKeeping = ReturnType<typeof createCredentials>

type Whose = Pick<Tool, 'environment' | 'ownerId' | 'provider'>

export interface CredentialDeps {
  store: CatalogueStore
  directory: Directory
  secrets: SecretKeeping
  clock: Clock
}

function schemeOf({ upstream }: Tool): AuthScheme | null {
  if (upstream.kind === 'http') return upstream.auth
  return upstream.kind === 'mcp' ? { kind: 'bearer' } : null
}

/** Whose secret it is: copied to another provider's row it does not open. */
function contextOf(environment: Environment, ownerId: UserId | null, provider: string): string {
  return `tool-provider/${environment}/${ownerId ?? 'platform'}/${provider}`
}
