import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A seller's API with its description: it returns the weather by city. */
export interface WeatherApi {
  readonly origin: string
  close(): Promise<void>
}

export async function startWeatherApi(): Promise<WeatherApi> {
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://api.local')
    response.setHeader('content-type', 'application/json')
    if (pathname === '/openapi.json') response.end(JSON.stringify(describe(origin)))
    else if (pathname === '/partly.json') response.end(JSON.stringify(describe(origin, UNCALLABLE)))
    else if (pathname === '/weather') response.end(JSON.stringify({ city: searchParams.get('city'), celsius: 21 }))
    else response.writeHead(404).end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`
  return {
    origin,
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve()
        })
        server.closeAllConnections()
      }),
  }
}

/** An operation that no request can be made for: its path has a part that nothing describes. */
const UNCALLABLE = {
  '/stations/{station}': { get: { operationId: 'station', responses: { 200: { description: 'It' } } } },
}

function describe(origin: string, more: object = {}): unknown {
  return {
    openapi: '3.1.0',
    info: { title: 'Weather', version: '1.0.0', description: 'What the weather is.' },
    servers: [{ url: origin }],
    paths: {
      ...more,
      '/weather': {
        get: {
          operationId: 'current',
          summary: 'Current weather',
          description: 'What the weather is in a city right now.',
          parameters: [
            {
              name: 'city',
              in: 'query',
              required: true,
              description: 'Its English name',
              schema: { type: 'string', minLength: 1 },
            },
          ],
          responses: {
            200: { description: 'It', content: { 'application/json': { schema: { type: 'object' } } } },
          },
        },
      },
    },
  }
}
