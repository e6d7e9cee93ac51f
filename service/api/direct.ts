import { IncomingMessage, ServerResponse } from 'node:http'
import type { Express, Request, RequestHandler, Response } from 'express'
import type { Surface } from './openapi.ts'
import { serve, type Pipeline } from './pipeline.ts'
import { labelled } from './requests.ts'

/**
 * Serves the busiest addresses before Express looks for a handler: its search costs such a request more than all that
 * it finds. The steps are the same functions in the same order, so an address can do without this at any time. Of routes it
 * takes only requests for exactly the address, and of mounted handlers those that they answer for sure; Express does the rest.
 */
export function serveDirectly(app: Express, { opening, own, fail, surfaces, mounted, pipeline }: DirectDeps): void {
  const routes = new Map<string, Place>()
  const steps = [...opening, ...own]
  for (const { address, routes: declared } of surfaces) {
    const baseUrl = new URL(address).pathname.replace(/\/$/, '')
    for (const route of declared) {
      const path = baseUrl + route.path
      const isHidden = mounted.some((other) => other.reads !== true && covers(other.path, path))
      const key = `${route.method.toUpperCase()} ${path}`
      if (route.direct !== true || isHidden || routes.has(key)) continue
      const last: Handler = (request, response) => serve(route, request, response, pipeline)
      routes.set(key, { baseUrl, steps, last })
    }
  }
  const prefixes = mounted.flatMap((one, at) => prefixOf(one, mounted.slice(0, at), opening))

  // In Express an application is a function that calls this method; its types leave the method out.
  const handling = app as unknown as Handling
  const search = handling.handle.bind(app)
  handling.handle = (request, response, done) => {
    const { method = '', url = '' } = request
    const found = routes.get(`${method} ${url}`) ?? prefixes.find((prefix) => prefix.takes(url, request))
    if (found === undefined) search(request, response, done)
    else take(found, asExpress(app, { request, response }, found.baseUrl))
  }

  function take({ steps, last }: Place, { request, response }: Exchange): void {
    let at = 0
    const next = (error?: unknown): void => {
      if (error !== undefined) {
        fail(error, request, response, () => {
          request.socket.destroy()
        })
        return
      }
      const step = steps[at++]
      try {
        if (step === undefined) last(request, response, next)?.catch(next)
        else void step(request, response, next)
      } catch (thrown) {
        next(thrown)
      }
    }
    next()
  }
}

interface DirectDeps {
  /** What every request goes through first. */
  opening: readonly RequestHandler[]
  /** What those go through besides that no bare handler takes. */
  own: readonly RequestHandler[]
  fail(error: unknown, request: Request, response: Response, next: () => void): void
  surfaces: readonly Surface[]
  mounted: readonly Mounted[]
  pipeline: Pipeline
}

/** A handler without declared routes. */
export interface Mounted {
  path: string
  handler: RequestHandler
  /** Runs before our own browser headers are set, and sets all of them itself. */
  bare?: boolean
  /** Answers GET and HEAD only, and passes on the rest. */
  reads?: boolean
  /** Whether the handler answers this request in any case. Only for bare ones. */
  direct?: (request: IncomingMessage) => boolean
}

interface Place {
  baseUrl: string
  steps: readonly RequestHandler[]
  last: Handler
}

interface Prefix extends Place {
  takes(url: string, request: IncomingMessage): boolean
}

type Handler = (request: Request, response: Response, next: (error?: unknown) => void) => Promise<void> | undefined

/** Where a bare handler takes requests before Express does; what an earlier one may take is left to Express. */
function prefixOf(
  { path, handler, bare, direct }: Mounted,
  earlier: readonly Mounted[],
  opening: readonly RequestHandler[],
): Prefix[] {
  if (bare !== true || direct === undefined) return []
  const baseUrl = path.replace(/\/$/, '')
  const before = earlier.filter((one) => one.bare === true).map((one) => one.path.toLowerCase())
  return [
    {
      baseUrl,
      steps: [...opening, labelled(path)],
      last: (request, response, next) =>
        handler(request, response, (error?: unknown) => {
          next(error ?? new Error(`the handler of ${path} left a request that it answers`))
        }) as Promise<void> | undefined,
      takes: (url, request) =>
        url.startsWith(`${baseUrl}/`) &&
        direct(request) &&
        !before.some((other) => url.toLowerCase().startsWith(other)),
    },
  ]
}

interface Handling {
  handle(request: IncomingMessage, response: ServerResponse, done?: (error?: unknown) => void): void
}

interface Exchange {
  request: Request
  response: Response
}

/**
 * Node's classes, whose objects have Express's prototypes from the beginning. Express gives each request and each response
 * these anyway; an object whose prototype changes later makes all code slow that uses it, Node's own too.
 */
export function classesOf(app: Express) {
  return {
    IncomingMessage: createdWith(IncomingMessage, app.request),
    ServerResponse: createdWith<typeof ServerResponse>(ServerResponse, app.response),
  }
}

function createdWith<Class extends new (...args: never[]) => object>(node: Class, prototype: object): Class {
  // Should a later Node write it with `class`, it cannot fill an object of ours: Express changes the prototype then.
  if (String(node).startsWith('class')) return node
  function Created(this: object, ...args: unknown[]): void {
    // Node's class is a plain function, which can fill an object that was created elsewhere.
    Reflect.apply(node, this, args)
  }
  Created.prototype = prototype
  return Created as unknown as Class
}

/** What Express makes of Node's objects for a handler under that address; the prototypes they have mostly had before. */
function asExpress(
  app: Express,
  { request, response }: { request: IncomingMessage; response: ServerResponse },
  baseUrl: string,
): Exchange {
  Object.setPrototypeOf(request, app.request)
  Object.setPrototypeOf(response, app.response)
  const exchange = { request: request as Request, response: response as Response }
  exchange.request.res = exchange.response
  exchange.response.req = exchange.request
  exchange.response.locals = Object.create(null) as Response['locals']
  exchange.request.originalUrl = exchange.request.url
  exchange.request.baseUrl = baseUrl
  exchange.request.url = exchange.request.url.slice(baseUrl.length)
  exchange.request.params = {}
  return exchange
}

function covers(mount: string, path: string): boolean {
  return mount === '/' || path === mount || path.startsWith(`${mount}/`)
}
