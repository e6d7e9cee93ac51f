import type { ToolAccess } from '../../connections/model.ts'
import type { Provider } from '../model/provider.ts'
import type { Tool, Upstream } from '../model/tool.ts'

/**
 * What a call of a tool needs: nothing, the platform's key, or its caller's own connection to the provider. With the
 * platform's key every caller would act in the operator's account, so that key is for public data only.
 */
export type Needs = 'nothing' | 'platform' | 'connection'

type Keys = Pick<Provider, 'isPublic' | 'name'> & { readonly credentials: string | null }

export function needsOf({ upstream, ownerId }: Pick<Tool, 'upstream' | 'ownerId'>, provider: Keys | null): Needs {
  if (upstream.kind === 'rda') return 'nothing'
  const hasKey = provider !== null && provider.credentials !== null
  if (upstream.kind === 'mcp' ? !hasKey : upstream.auth === null) return 'nothing'
  if (upstream.kind === 'http' && upstream.security?.some((way) => way.length === 0) === true) return 'nothing'
  // An account's own provider is called with the account's own key.
  if (provider?.isPublic === true || (ownerId !== null && hasKey)) return 'platform'
  return actsOnAccount(upstream) ? 'connection' : 'platform'
}

/** Whether a call may carry the provider's key. */
export function takesPlatformKey(tool: Pick<Tool, 'upstream' | 'ownerId'>, provider: Keys): boolean {
  return provider.isPublic || tool.ownerId !== null || !actsOnAccount(tool.upstream)
}

/** Whether an account's stored key stays when this is imported: it is for the servers that it was entered for, and for no other. */
export function keepsKey(before: Pick<Provider, 'security'> | null, after: Imported): boolean {
  if (after.ownerId === null || before === null) return true
  return hostsOf(after).every((host) => before.security.hosts.includes(host))
}

type Imported = Pick<Provider, 'ownerId' | 'kind' | 'source' | 'security'>

/** An MCP server that lists no tool is a host all the same. */
function hostsOf({ kind, source, security }: Imported): readonly string[] {
  return kind === 'mcp' && source !== null ? [new URL(source.from).origin] : security.hosts
}

/** Anything that may change something, and anything that a person's own token is for. */
function actsOnAccount(upstream: Upstream): boolean {
  if (upstream.kind === 'mcp') return upstream.readOnly !== true
  if (upstream.kind === 'rda' || upstream.auth === null) return false
  const hasScopes = upstream.security?.some((way) => way.some(({ scopes }) => scopes.length > 0)) ?? false
  return upstream.method !== 'GET' || upstream.auth.kind !== 'apiKey' || hasScopes
}

/** The tool as connections see it. Null where no connection could help. */
export function accessOf(
  { upstream, ownerId, provider }: Tool,
  { name, security }: Pick<Provider, 'name' | 'security'>,
): ToolAccess | null {
  if (upstream.kind === 'rda' || !URL.canParse(upstream.server)) return null
  const about = { provider, providerName: name, providerOwnerId: ownerId, origin: new URL(upstream.server).origin }
  if (upstream.kind === 'mcp') return { ...about, ways: [[{ scheme: 'bearer', scopes: [] }]] }
  const { auth } = upstream
  if (auth === null) return null
  const ways = upstream.security ?? security.schemes.map((scheme) => [{ scheme: scheme.name, scopes: [] }])
  return { ...about, ways }
}
