import type { Credentials } from '../../../connections/model.ts'
import { credentialsOf, NO_CREDENTIALS } from '../../../connections/service/credentials.ts'
import { invalid } from '../../../kit/errors.ts'
import type { Environment } from '../../../kit/owner.ts'
import { providerUnknown } from '../../../connections/errors.ts'
import type { AuthScheme, Tool, UserId } from '../../model/tool.ts'
import { takesPlatformKey } from '../../rules/needs.ts'
import type { CatalogueDeps, Directory } from './directory.ts'

/** The keys for calls to providers: sealed at rest, opened for one call, never shown. */
export function createCredentials({ store, directory, secrets, clock }: CatalogueDeps & { directory: Directory }) {
  /** One for each of the provider's keys; where it has none, one without. */
  async function of({ environment, ownerId, provider }: Whose, scheme: AuthScheme | null): Promise<KeyRing> {
    if (scheme === null) return [NO_CREDENTIALS]
    const token = (await directory.provider({ environment, ownerId }, provider))?.credentials ?? null
    if (token === null) return [NO_CREDENTIALS]
    const [first, ...others] = secrets.open(token, contextOf(environment, ownerId, provider)).split('\n')
    const toCredentials = (value: string) => credentialsOf([{ place: scheme, value }])
    return [toCredentials(first ?? ''), ...others.map(toCredentials)]
  }

  return {
    of,
    /** None for a tool that would act in the account of the key's owner. */
    async forTool(tool: Tool): Promise<KeyRing> {
      const provider = await directory.provider(tool, tool.provider)
      if (provider === null || !takesPlatformKey(tool, provider)) return [NO_CREDENTIALS]
      return await of(tool, schemeOf(tool))
    },

    /** Null removes it. One a line where there are several, which take turns. For basic authentication: `user:password`. */
    async set({ environment, ownerId, provider }: Whose, secret: string | null): Promise<void> {
      const keys = secret?.split(/\s*\n\s*/).filter((line) => line !== '') ?? []
      if (secret !== null && (keys.length === 0 || keys.some((key) => !/^[\x21-\x7e]{1,4096}$/.test(key))))
        throw invalid({ credentials: 'must be up to 4096 visible characters of ASCII, one key a line' })
      if (keys.length > KEYS_MAX) throw invalid({ credentials: `must be at most ${String(KEYS_MAX)} keys` })
      const token = secret === null ? null : secrets.seal(keys.join('\n'), contextOf(environment, ownerId, provider))
      const there = await store.seal({ environment, ownerId }, provider, token, clock.now())
      if (!there) throw providerUnknown(provider)
      await directory.refresh(environment)
    },
  }
}

const KEYS_MAX = 20

type KeyRing = readonly [Credentials, ...Credentials[]]

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
