import type { Providers } from '../connections/ports.ts'
import { DomainError } from '../kit/errors.ts'
import type { Tool, UserId } from '../tools/model/tool.ts'
import type { Upstreams } from '../tools/ports/calls.ts'
import { accessOf } from '../tools/rules/needs.ts'
import { requestOf } from '../tools/rules/request.ts'
import type { Catalogue } from '../tools/service/catalogue/catalogue.ts'

/** The catalogue's providers, as connections ask for them. */
export function connectableProviders(
  catalogue: Catalogue,
  upstreams: Pick<Upstreams, 'http'>,
  plainHttp: (url: URL) => boolean,
): Providers {
  return {
    async find(environment, viewer, slug) {
      const own = await catalogue.connectable(environment, viewer as UserId, slug)
      return own ?? (await catalogue.connectable(environment, null, slug))
    },

    of: (environment, ownerId, slug) => catalogue.connectable(environment, ownerId as UserId | null, slug),

    async probe({ environment, userId }, provider, credentialsFor) {
      const within = { environment, viewer: userId as UserId, provider: provider.slug, limit: PROBED, offset: 0 }
      const { tools } = await catalogue.list(within)
      const readable = tools
        .map(({ tool }) => tool)
        .filter((tool) => tool.ownerId === provider.ownerId && isSimple(tool))
      readable.sort((one, other) => Number(ACCOUNT.test(other.slug)) - Number(ACCOUNT.test(one.slug)))
      for (const tool of readable) {
        const { upstream } = tool
        const access = accessOf(tool, provider)
        if (upstream.kind !== 'http' || access === null || !provider.security.hosts.includes(access.origin)) continue
        // As for a call: an account's own secret never travels in plain text.
        if (!access.origin.startsWith('https:') && !plainHttp(new URL(access.origin))) continue
        if (await catalogue.isSimulated(tool)) return null
        const credentials = credentialsFor(access)
        if (credentials === null) continue
        const request = { ...requestOf(upstream, {}, credentials), staysHere: true } as const
        try {
          return { tool: tool.slug, status: (await upstreams.http(request, AbortSignal.timeout(10_000))).status }
        } catch (error) {
          if (error instanceof DomainError) return { tool: tool.slug, status: null }
          throw error
        }
      }
      return null
    },
  }
}

/** Reads, and needs no input. */
function isSimple({ upstream, input }: Tool): boolean {
  return upstream.kind === 'http' && upstream.method === 'GET' && ((input['required'] ?? []) as unknown[]).length === 0
}

const ACCOUNT = /(^|-)(me|self|viewer|user|account|whoami)(-|$)/
const PROBED = 200
