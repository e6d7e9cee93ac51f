import { timingSafeEqual } from 'node:crypto'
import { Router, type Request } from 'express'
import { DomainError } from '../kit/errors.ts'
import type { Metrics } from './metrics.ts'
import { labelled } from './requests.ts'

export interface Health {
  /** True once SIGTERM came: no new work is sent here. */
  draining(): boolean
  database(): Promise<boolean>
  /** What this process has to have in memory before it can serve, and has not yet; null once it has all. */
  loading(): Promise<string | null>
  /** All else that an operator wants to see; never makes the service unready. */
  parts(): Promise<Record<string, unknown>>
}

/** Liveness, readiness and Prometheus. Work may come with a database, and with all in memory that serving it needs. */
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
    const database = await health.database()
    const loading = database ? await health.loading() : null
    const fault = health.draining() ? 'draining' : !database ? 'database away' : loading && `loading ${loading}`
    const status = fault ?? 'ready'
    response
      .status(fault === null ? 200 : 503)
      .json({ status, database: database ? 'ok' : 'away', ...(await health.parts()) })
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

/** Somebody on this very machine, and not whoever a proxy on it speaks for. */
function isLocal({ socket, headers }: Request): boolean {
  const isForwarded = FORWARDED.some((name) => headers[name] !== undefined)
  return !isForwarded && /^(?:(?:::ffff:)?127\.[\d.]{5,11}|::1)$/.test(socket.remoteAddress ?? '')
}

const FORWARDED = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip', 'via']
const NO_METRICS =
  'The metrics need their token: set METRICS_TOKEN and send it as "Authorization: Bearer", or ask from the machine itself.'

function sameText(a: string, b: string): boolean {
  const left = Buffer.from(a)
  const right = Buffer.from(b)
  return left.length === right.length && timingSafeEqual(left, right)
}
