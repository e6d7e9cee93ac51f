import { timingSafeEqual } from 'node:crypto'
import { Router } from 'express'
import { DomainError } from '../kit/errors.ts'
import type { Metrics } from './metrics.ts'
import { labelled } from './requests.ts'

export interface Health {
  /** True once SIGTERM came: no new work is sent here. */
  draining(): boolean
  database(): Promise<boolean>
  /** All else that an operator wants to see; never makes the service unready. */
  parts(): Promise<Record<string, unknown>>
}

/** Liveness, readiness and Prometheus. Only the database decides whether work may come. */
export function healthRouter(health: Health, metrics: Metrics, metricsToken: string | undefined): Router {
  const router = Router()
  router.get('/healthz', labelled('/healthz'), (_request, response) => {
    response.json({ status: 'ok' })
  })
  router.get('/readyz', labelled('/readyz'), async (_request, response) => {
    const database = await health.database()
    const ready = database && !health.draining()
    const status = ready ? 'ready' : health.draining() ? 'draining' : 'database away'
    response.status(ready ? 200 : 503).json({ status, database: database ? 'ok' : 'away', ...(await health.parts()) })
  })
  router.get('/metrics', labelled('/metrics'), async (request, response) => {
    if (metricsToken !== undefined && !sameText(request.headers.authorization ?? '', `Bearer ${metricsToken}`)) {
      throw new DomainError('unauthenticated', 'unauthenticated', 'The metrics need their token.')
    }
    response.type(metrics.registry.contentType).send(await metrics.page())
  })
  return router
}

function sameText(a: string, b: string): boolean {
  const left = Buffer.from(a)
  const right = Buffer.from(b)
  return left.length === right.length && timingSafeEqual(left, right)
}
