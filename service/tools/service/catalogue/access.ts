import type { OAuthClient, OAuthFlow, Provider as Connectable, ToolAccess } from '../../../connections/model.ts'
import type { Environment } from '../../../kit/owner.ts'
import { providerUnknown } from '../../../connections/errors.ts'
import type { Tool, UserId } from '../../model/tool.ts'
import type { StoredProvider } from '../../ports/keeping.ts'
import { accessOf, needsOf, type Needs } from '../../rules/needs.ts'
import type { CatalogueDeps, Directory } from './directory.ts'

/** How accounts get access to providers: what a tool needs, and the client with which they connect. */
export function createAccess({ store, directory, secrets, clock }: CatalogueDeps & { directory: Directory }) {
  function toConnectable({
    environment,
    slug,
    name,
    ownerId,
    security,
    oauth,
    oauthSecret,
    kind,
    source,
  }: StoredProvider): Connectable {
    const clientSecret =
      oauthSecret === null ? null : secrets.open(oauthSecret, contextOf({ environment, ownerId, provider: slug }))
    const resources = kind === 'mcp' && source !== null ? [source.from, ...security.hosts] : security.hosts
    return { slug, name, ownerId, resources, security, client: oauth, clientSecret }
  }

  return {
    /** What a call of the tool needs, and how a connection would help. */
    async accessFor(tool: Tool): Promise<{ needs: Needs; access: ToolAccess | null }> {
      const provider = await directory.provider(tool, tool.provider)
      return { needs: needsOf(tool, provider), access: provider === null ? null : accessOf(tool, provider) }
    },

    /** A provider to connect to. Without a viewer: the owner's own, null for the platform's. */
    async connectable(environment: Environment, owner: UserId | null, slug: string): Promise<Connectable | null> {
      const found = await directory.provider({ environment, ownerId: owner }, slug)
      return found === null ? null : toConnectable(found)
    },

    /** The tools act on no account, so that the provider's key may call all of them; or they do. */
    async setPublic({ environment, ownerId, provider }: Whose, isPublic: boolean): Promise<void> {
      const there = await store.setAccess({ environment, ownerId }, provider, { isPublic }, clock.now())
      if (!there) throw providerUnknown(provider)
      await directory.refresh(environment)
    },

    /**
     * Null removes it. The addresses that the document names are stored with it, so that a later document cannot have
     * the client's secret sent elsewhere.
     */
    async setOAuth(whose: Whose, client: OAuthClient | null, secret: string | null): Promise<void> {
      const { environment, ownerId, provider: slug } = whose
      const provider = await store.provider({ environment, ownerId }, slug)
      if (provider === null) throw providerUnknown(slug)
      const flow = provider.security.schemes.find(({ oauth }) => oauth !== null)?.oauth ?? null
      const whole = client === null || flow === null ? client : completed(client, flow)
      const sealed = secret === null ? null : secrets.seal(secret, contextOf(whose))
      const oauth = whole === null ? null : { client: whole, secret: sealed }
      await store.setAccess({ environment, ownerId }, slug, { oauth }, clock.now())
      await directory.refresh(environment)
    },
  }
}

type Whose = Pick<Tool, 'environment' | 'ownerId' | 'provider'>

/** Binds the client's secret to its provider. */
function contextOf({ environment, ownerId, provider }: Whose): string {
  return `tool-provider/${environment}/${ownerId ?? 'platform'}/${provider}/oauth`
}

/** The operator's own addresses come first. Its issuer's metadata names all of them. */
function completed(client: OAuthClient, flow: OAuthFlow): OAuthClient {
  if (client.issuer !== null) return client
  return {
    ...client,
    issuer: client.tokenUrl === null ? flow.issuer : null,
    authorizationUrl: client.authorizationUrl ?? flow.authorizationUrl,
    tokenUrl: client.tokenUrl ?? flow.tokenUrl,
    deviceUrl: client.deviceUrl ?? flow.deviceUrl ?? null,
  }
}
