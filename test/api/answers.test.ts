import { once } from 'node:events'
import express, { Router } from 'express'
import { pino } from 'pino'
import { Idempotency } from '../../service/api/idempotency.ts'
import { Metrics } from '../../service/api/metrics.ts'
import { mount } from '../../service/api/pipeline.ts'
import { answerErrors, openRequest } from '../../service/api/requests.ts'
import { route, type AnyRoute, type ServerEvent } from '../../service/api/route.ts'
import { listen, type RunningServer } from '../../service/api/server.ts'
import { DomainError } from '../../service/kit/errors.ts'
import { TestClock } from '../harness/clock.ts'

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'

const plain = {
  method: 'get',
  path: '/thing',
  summary: 'A thing',
  tag: 'Test',
  auth: 'anyone',
  answers: {},
} as const

describe('an answer', () => {
  let server: RunningServer | null = null
  let origin = ''

  afterEach(async () => {
    await server?.drain(1000)
    server = null
  })

  it('and its request have the prototypes that Express gives them from the beginning, which is what makes them fast', async () => {
    const app = express()
    const created: unknown[] = []
    // In Express an application is a function that calls this method.
    const handling = app as unknown as { handle(request: object, response: object, done: unknown): void }
    const handle = handling.handle.bind(app)
    handling.handle = (request, response, done) => {
      created.push(Object.getPrototypeOf(request), Object.getPrototypeOf(response))
      handle(request, response, done)
    }
    app.get('/', (_request, response) => void response.json({}))
    server = await listen(app, 0, '127.0.0.1')
    await fetch(`http://127.0.0.1:${String(server.port)}/`)
    expect(created[0]).toBe(app.request)
    expect(created[1]).toBe(app.response)
  })

  describe('a page', () => {
    beforeEach(() =>
      serve(
        route({
          ...plain,
          handle: ({ wantsPage }) =>
            Promise.resolve(
              wantsPage
                ? {
                    status: 200,
                    body: null,
                    page: {
                      type: 'text/html; charset=utf-8',
                      content: '<h1>ü</h1>',
                      headers: { 'Content-Security-Policy': "script-src 'self'" },
                    },
                  }
                : { status: 200, body: { is: 'json' } },
            ),
        }),
      ),
    )

    it('is sent to a browser with its own headers', async () => {
      const answer = await fetch(`${origin}/thing`, { headers: { accept: BROWSER } })
      expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8')
      expect(answer.headers.get('content-security-policy')).toBe("script-src 'self'")
      expect(await answer.text()).toBe('<h1>ü</h1>')
    })

    it.each(['application/json', '*/*'])('is JSON for a program that accepts %s', async (accept) => {
      const answer = await fetch(`${origin}/thing`, { headers: { accept } })
      expect(await answer.json()).toEqual({ is: 'json' })
    })
  })

  describe('an error', () => {
    beforeEach(() =>
      serve(
        route({
          ...plain,
          errorPage: ({ status, code, sentence }) => ({
            type: 'text/html; charset=utf-8',
            content: `${String(status)} ${code} ${sentence}`,
          }),
          handle: () => Promise.reject(new DomainError('missing', 'not_found', 'There is no such thing.')),
        }),
      ),
    )

    it('is a page for a browser', async () => {
      const answer = await fetch(`${origin}/thing`, { headers: { accept: BROWSER } })
      expect(answer.status).toBe(404)
      expect(await answer.text()).toBe('404 not_found There is no such thing.')
    })

    it('is JSON for a program', async () => {
      const answer = await fetch(`${origin}/thing`)
      expect(answer.status).toBe(404)
      expect(await answer.json()).toMatchObject({ error: 'There is no such thing.', code: 'not_found' })
    })
  })

  describe('events', () => {
    it('are sent one by one as server-sent events', async () => {
      await serve(
        streaming(() =>
          fromList([
            { event: 'state', data: { n: 1 }, id: 'a' },
            { event: 'end', data: 'two\nlines' },
          ]),
        ),
      )
      const answer = await fetch(`${origin}/thing`)
      expect(answer.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
      expect(await answer.text()).toBe('id: a\nevent: state\ndata: {"n":1}\n\nevent: end\ndata: "two\\nlines"\n\n')
    })

    it('end at the source when the reader goes away', async () => {
      let over: (() => void) | undefined
      const ended = new Promise<void>((resolve) => {
        over = resolve
      })
      await serve(
        streaming(async function* (signal) {
          yield { event: 'state', data: 1 }
          if (!signal.aborted) await once(signal, 'abort')
          over?.()
        }),
      )
      const reader = new AbortController()
      const answer = await fetch(`${origin}/thing`, { signal: reader.signal })
      await answer.body?.getReader().read()
      reader.abort()
      await ended
    })

    it('are not begun for a reader that went away before', async () => {
      let begun = 0
      const events = (): AsyncIterable<ServerEvent> => {
        begun++
        return fromList([])
      }
      const reader = new AbortController()
      let handled: (() => void) | undefined
      const over = new Promise<void>((resolve) => {
        handled = resolve
      })
      await serve(
        route({
          ...plain,
          async handle({ gone }) {
            const signal = gone()
            reader.abort()
            if (!signal.aborted) await once(signal, 'abort')
            handled?.()
            return { status: 200, body: null, events }
          },
        }),
      )
      await expect(fetch(`${origin}/thing`, { signal: reader.signal })).rejects.toThrow('aborted')
      await over
      await fetch(`${origin}/other`)
      expect(begun).toBe(0)
    })

    it('end when the server stops', async () => {
      await serve(
        streaming(async function* (signal) {
          yield { event: 'state', data: 1 }
          if (!signal.aborted) await once(signal, 'abort')
        }),
      )
      const answer = await fetch(`${origin}/thing`)
      const stopped = server?.drain(60_000)
      server = null
      expect(await answer.text()).toBe('event: state\ndata: 1\n\n')
      await stopped
    })

    it('close the connection with an error when the source fails', async () => {
      await serve(
        streaming(async function* () {
          yield { event: 'state', data: 1 }
          throw new Error('the database is away')
        }),
      )
      const answer = await fetch(`${origin}/thing`)
      await expect(answer.text()).rejects.toThrow()
    })

    it('are read from the source only as fast as the client reads', async () => {
      let produced = 0
      await serve(
        streaming(async function* (signal) {
          while (!signal.aborted) yield { event: 'state', data: `${String(produced++)} ${'x'.repeat(65_536)}` }
        }),
      )
      const reader = new AbortController()
      const answer = await fetch(`${origin}/thing`, { signal: reader.signal })
      const body = answer.body?.getReader()
      await body?.read()
      const before = produced
      await fetch(`${origin}/other`)
      // As many as fit into the sockets' buffers, and no more.
      expect(produced).toBeLessThan(Math.max(before, 1) + 400)
      reader.abort()
    })
  })

  async function serve(declared: AnyRoute): Promise<void> {
    const clock = new TestClock()
    const log = pino({ level: 'silent' })
    const app = express()
    app.use(openRequest(clock, log, new Metrics()))
    const routes = Router()
    mount(routes, [declared], {
      clock,
      bodyBytesMax: 1000,
      // No route here honours a key.
      idempotency: new Idempotency({ run: () => Promise.reject(new Error('not asked')) }, clock),
      limit: () => Promise.resolve({ headers: {}, refusal: null }),
      limits: {},
      topUpUrl: undefined,
      awaitWord: () => Promise.reject(new Error('not asked')),
      identify: () => Promise.reject(new Error('not asked')),
    })
    app.use(routes)
    app.use(answerErrors(log))
    server = await listen(app, 0, '127.0.0.1')
    origin = `http://127.0.0.1:${String(server.port)}`
  }
})

function streaming(events: (signal: AbortSignal) => AsyncIterable<ServerEvent>): AnyRoute {
  return route({ ...plain, handle: () => Promise.resolve({ status: 200, body: null, events }) })
}

async function* fromList(events: readonly ServerEvent[]): AsyncGenerator<ServerEvent> {
  for (const event of events) yield await Promise.resolve(event)
}
