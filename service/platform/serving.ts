import type { Request } from 'express'
import type { Config } from '../config.ts'
import type { Surface } from '../api/openapi.ts'
import { assertOrigin } from '../api/requests.ts'
import type { Caller } from '../kit/caller.ts'
import type { Identity } from '../identity/service/identity.ts'
import type { Platform, Part, SurfaceName } from './platform.ts'

/** Who asks, by what a request carries. */
export function identifier({ config, clock }: Platform, identity: Identity) {
  const ownOrigins = new Set([new URL(config.addresses.dashboard).origin, ...config.CORS_ORIGINS])
  return async (request: Request): Promise<Caller> => {
    assertOrigin(request, ownOrigins)
    return await identity.identify({
      authorization: request.get('authorization'),
      cookie: request.get('cookie'),
      environmentHeader: request.get('coinslot-environment'),
      now: clock.now(),
    })
  }
}

/** Of each address that this process serves, all that the parts have there. */
export function surfacesOf(config: Config, parts: readonly Part[]): Surface[] {
  const names: SurfaceName[] = ['api', 'facilitator', 'pay', 'receipts', 'tools', 'gate']
  return names
    .filter((name) => config.ROLES.includes(name === 'receipts' ? 'pay' : name))
    .map((name) => ({
      name,
      address: config.addresses[name],
      routes: parts.flatMap(({ routes }) => routes ?? []).flatMap((of) => (of.surface === name ? of.routes : [])),
    }))
    .filter(({ routes }) => routes.length > 0)
}

/** What each part says of itself; one that cannot tell stands in nobody's way. */
export async function healthOf(parts: readonly Part[]): Promise<Record<string, unknown>> {
  const asked = parts.flatMap(({ health }) => Object.entries(health ?? {}))
  const told = asked.map(async ([name, ask]) => {
    try {
      return [name, await ask()] as const
    } catch {
      return [name, 'unknown'] as const
    }
  })
  return Object.fromEntries(await Promise.all(told))
}

/** The first that some part still has to load; one that cannot be asked is not there. */
export async function loadingOf(parts: readonly Part[]): Promise<string | null> {
  for (const [name, isReady] of parts.flatMap(({ ready }) => Object.entries(ready ?? {})))
    if (!(await isReady().catch(() => false))) return name
  return null
}
