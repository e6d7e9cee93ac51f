import cors from 'cors'
import express, { Router, type Express, type Request, type RequestHandler } from 'express'
import helmet from 'helmet'
import type { Logger } from 'pino'
import type { Caller } from '../kit/caller.ts'
import type { Clock } from '../kit/clock.ts'
import type { Tracer } from '../kit/tracer.ts'
import { describe, type DescribedSurface, type Surface } from './openapi.ts'
import { serveDirectly, type Mounted } from './direct.ts'
import { docsRouter } from './docs.ts'
import { errorPagesRouter } from './error-pages.ts'
import { limitStreams, type StreamLimits } from './events.ts'
import { healthRouter, type Health } from './health.ts'
import type { Idempotency } from './idempotency.ts'
import type { RateLimit } from './limits.ts'
import type { Metrics } from './metrics.ts'
import { landingRouter, missingPage } from './landing.ts'
import { mount, type Pipeline } from './pipeline.ts'
import type { Document } from './reference/document.ts'
import { describeProcedures } from './reference/procedures.ts'
import { answerErrors, answerMissing, assertHost, assertMethod, assertPath, labelled, openRequest } from './requests.ts'
import { serveUpgrades, type Upgrade } from './upgrades.ts'

export interface AppDeps {
  clock: Clock
  log: Logger
  metrics: Metrics
  tracing: { tracer: Tracer; trusted: boolean } | null
  health: Health
  idempotency: Idempotency
  limit: RateLimit
  limits: Readonly<Record<string, RateLimit>>
  identify(request: Request): Promise<Caller>
  /** What this process serves of the declared routes, each under its public address. */
  surfaces: readonly Surface[]
  /** The reference's entries for mounted handlers, which declare no routes. */
  described: readonly DescribedSurface[]
  /** Handlers that declare no routes, by path: sign-in, tRPC. */
  mounted: readonly Mounted[]
  upgrades: readonly Upgrade[]
  /** The dashboard's procedures by their path, for the reference. */
  procedures: Readonly<Record<string, unknown>>
  /** The dashboard's public address, where pages for people lead. */
  dashboard: string
  /** Every public address of this service uses TLS. */
  https: boolean
  corsOrigins: readonly string[]
  trustProxy: readonly string[]
  bodyBytesMax: number
  streams: StreamLimits
  metricsToken: string | undefined
  /** Real money moves here. */
  live: boolean
  topUpUrl: string | undefined
  awaitWord: Pipeline['awaitWord']
}

/** One Express application for all surfaces that this process serves. */
export function createApp(deps: AppDeps): Express {
  const app = express()
  app.disable('x-powered-by')
  // Clients do not request the same unchanged answer twice, so hashing each answer would only cost time.
  app.set('etag', false)
  app.set('trust proxy', deps.trustProxy.length === 0 ? false : [...deps.trustProxy])
  app.set('query parser', 'simple')
  limitStreams(app, deps.streams)
  const opening = [openRequest(deps.clock, deps.log, deps.metrics, deps.tracing), assertHost, assertMethod]
  if (deps.https) opening.push(strictTransport)
  app.use(...opening)
  // Handlers that relay other servers' answers decide themselves what browsers may do with those answers.
  for (const { path, handler, bare } of deps.mounted) if (bare === true) app.use(path, labelled(path), handler)
  const own = [
    securityHeaders,
    keepNothing,
    assertPath,
    cors({ origin: [...deps.corsOrigins], exposedHeaders: EXPOSED, maxAge: 600 }),
  ]
  app.use(...own)
  app.use(healthRouter(deps.health, deps.metrics, deps))
  for (const { path, handler, bare } of deps.mounted) if (bare !== true) app.use(path, labelled(path), handler)
  if (deps.surfaces.length > 0) {
    const documents = {
      api: () => describe(deps.surfaces, deps.described) as unknown as Document,
      procedures: () => describeProcedures(deps.procedures, new URL(deps.dashboard).origin),
    }
    app.use(docsRouter(documents))
  }
  app.use(errorPagesRouter())
  app.use(landingRouter(deps.surfaces, deps.dashboard))
  for (const { address, routes } of deps.surfaces) {
    const router = Router()
    mount(router, routes, deps)
    app.use(new URL(address).pathname, router)
  }
  app.use(answerMissing((path) => missingPage(path, deps.dashboard)))
  const fail = answerErrors(deps.log)
  app.use(fail)
  serveDirectly(app, { ...deps, opening, own, fail, pipeline: deps })
  serveUpgrades(app, deps.upgrades)
  return app
}

const securityHeaders = alwaysThese(
  helmet({
    contentSecurityPolicy: { directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] }, useDefaults: false },
    // `strictTransport` sets this header already, also for the gates.
    strictTransportSecurity: false,
  }),
)

/** The headers that helmet sets are the same for each answer, so it is asked once instead of its dozen handlers each time. */
function alwaysThese(handler: ReturnType<typeof helmet>): RequestHandler {
  const headers: [name: string, value: string][] = []
  const response = {
    setHeader: (name: string, value: string) => headers.push([name, value]),
    removeHeader: () => undefined,
  }
  handler({} as never, response as never, (error) => {
    if (error !== undefined) throw error as Error
  })
  return (_request, answer, next) => {
    for (const [name, value] of headers) answer.setHeader(name, value)
    next()
  }
}

/**
 * Used only when all our addresses use TLS. It leaves out subdomains, because other hosts below our names may not use
 * TLS.
 */
const strictTransport: RequestHandler = (_request, response, next) => {
  response.set('Strict-Transport-Security', 'max-age=31536000')
  next()
}

/** Answers concern one account or one moment, so caches must not store them. Files of a build set their own header. */
const keepNothing: RequestHandler = (_request, response, next) => {
  response.set('Cache-Control', 'no-store')
  next()
}

const EXPOSED = [
  'Link',
  'X-Request-Id',
  'Mcp-Session-Id',
  'Idempotency-Replayed',
  'Retry-After',
  'WWW-Authenticate',
  'X-Payment-ID',
  'X-Payment-Token',
  'X-PAYMENT-RESPONSE',
  'PAYMENT-RESPONSE',
  'PAYMENT-REQUIRED',
  'X-Payment-Signed-Receipt',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
]
