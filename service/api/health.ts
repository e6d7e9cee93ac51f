import { timingSafeEqual } from 'node:crypto'
import { Router, type Request } from 'express'
import { DomainError } from '../kit/errors.ts'
import type { Metrics } from './metrics.ts'
import { labelled } from './requests.ts'

export interface Health {
  /** True after SIGTERM: the balancer must send no new work here. */
  draining(): boolean
  database(): Promise<boolean>
  /** The data that this process must load into memory before it can serve; null when all is loaded. */
  loading(): Promise<string | null>
  /** Further details for the operator; they never make the service unready. */
  parts(): Promise<Record<string, unknown>>
}

/** Why no request should come here yet, or any more. Null once `/readyz` answers 200. */
export async function unreadiness(health: Health): Promise<{ fault: string | null; isDatabaseThere: boolean }> {
  const isDatabaseThere = await health.database()
  const loading = isDatabaseThere ? await health.loading() : null
  if (health.draining()) return { fault: 'draining', isDatabaseThere }
  if (!isDatabaseThere) return { fault: 'database away', isDatabaseThere }
  return { fault: loading === null ? null : `loading ${loading}`, isDatabaseThere }
}

/**
 * Liveness, readiness and Prometheus metrics. A process is ready when it reaches the database and has loaded all data
 * that serving needs.
 */
export function healthRouter(
  health: Health,
  metrics: Metrics,
  { metricsToken, live }: { metricsToken: string | undefined; live: boolean },
): Router {
  const router = Router()
  router.get('/healthz', labelled('/healthz'), (_request, response) => {
    response.json({ status: 'ok' })
  })
  router.get('/readyz', labelled('/readyz'), async (_request, response) => {
    const { fault, isDatabaseThere } = await unreadiness(health)
    response
      .status(fault === null ? 200 : 503)
      .json({ status: fault ?? 'ready', database: isDatabaseThere ? 'ok' : 'away', ...(await health.parts()) })
  })
  router.get('/metrics', labelled('/metrics'), async (request, response) => {
    const isAllowed =
      metricsToken === undefined
        ? !live || isLocal(request)
        : sameText(request.headers.authorization ?? '', `Bearer ${metricsToken}`)
    if (!isAllowed) throw new DomainError('unauthenticated', 'unauthenticated', NO_METRICS)
    response.type(metrics.registry.contentType).send(await metrics.page())
  })
  return router
}

/** True for a request from this machine itself, false when a proxy on this machine forwards it for another client. */
function isLocal({ socket, headers }: Request): boolean {
  const isForwarded = FORWARDED.some((name) => headers[name] !== undefined)
  return !isForwarded && /^(?:(?:::ffff:)?127\.[\d.]{5,11}|::1)$/.test(socket.remoteAddress ?? '')
}

const FORWARDED = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip', 'via']
const NO_METRICS =
  'Metrics require a token: set METRICS_TOKEN and send it as "Authorization: Bearer", or send the request from the same machine.'

function sameText(a: string, b: string): boolean {
  const left = Buffer.from(a)
  const right = Buffer.from(b)
  return left.length === right.length && timingSafeEqual(left, right)
}
