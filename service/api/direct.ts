import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Express, Request, RequestHandler, Response } from 'express'
import type { Surface } from './openapi.ts'
import { serve, type Pipeline } from './pipeline.ts'
import type { AnyRoute } from './route.ts'

/**
 * Serves the busiest addresses before Express looks for a handler: its search costs such a request more than all that
 * it finds. The steps are the same functions in the same order, so an address can do without this at any time. It takes
 * only requests for exactly the address; Express does the rest.
 */
export function serveDirectly(app: Express, { steps, fail, surfaces, mounted, pipeline }: DirectDeps): void {
  const routes = new Map<string, { baseUrl: string; route: AnyRoute }>()
  for (const { address, routes: declared } of surfaces) {
    const baseUrl = new URL(address).pathname.replace(/\/$/, '')
    for (const route of declared) {
      const path = baseUrl + route.path
      const isHidden = mounted.some((other) => other.reads !== true && covers(other.path, path))
      const key = `${route.method.toUpperCase()} ${path}`
      if (route.direct === true && !isHidden && !routes.has(key)) routes.set(key, { baseUrl, route })
    }
  }

  // In Express an application is a function that calls this method; its types leave the method out.
  const handling = app as unknown as Handling
  const search = handling.handle.bind(app)
  handling.handle = (request, response, done) => {
    const found = routes.get(`${request.method ?? ''} ${request.url ?? ''}`)
    if (found === undefined) search(request, response, done)
    else take(found, asExpress(app, { request, response }, found))
  }

  function take({ route }: { route: AnyRoute }, { request, response }: Exchange): void {
    let place = 0
    const next = (error?: unknown): void => {
      if (error !== undefined) {
        fail(error, request, response, () => {
          request.socket.destroy()
        })
        return
      }
      const step = steps[place++]
      if (step === undefined) {
        serve(route, request, response, pipeline).catch(next)
        return
      }
      try {
        void step(request, response, next)
      } catch (thrown) {
        next(thrown)
      }
    }
    next()
  }
}

interface DirectDeps {
  /** What every request goes through before it reaches a route. */
  steps: readonly RequestHandler[]
  fail(error: unknown, request: Request, response: Response, next: () => void): void
  surfaces: readonly Surface[]
  mounted: readonly { path: string; reads?: boolean }[]
  pipeline: Pipeline
}

interface Handling {
  handle(request: IncomingMessage, response: ServerResponse, done?: (error?: unknown) => void): void
}

interface Exchange {
  request: Request
  response: Response
}

/** What Express makes of Node's objects for a handler under that address. */
function asExpress(
  app: Express,
  { request, response }: { request: IncomingMessage; response: ServerResponse },
  { baseUrl, route }: { baseUrl: string; route: AnyRoute },
): Exchange {
  Object.setPrototypeOf(request, app.request)
  Object.setPrototypeOf(response, app.response)
  const exchange = { request: request as Request, response: response as Response }
  exchange.request.res = exchange.response
  exchange.response.req = exchange.request
  exchange.response.locals = Object.create(null) as Response['locals']
  exchange.request.originalUrl = exchange.request.url
  exchange.request.baseUrl = baseUrl
  exchange.request.url = route.path
  exchange.request.params = {}
  return exchange
}

function covers(mount: string, path: string): boolean {
  return mount === '/' || path === mount || path.startsWith(`${mount}/`)
}
