import { NETWORKS } from '../../chain/networks.ts'
import { INTENT, METHOD } from '../../mpp/challenge.ts'
import type { Gate, Outcome, Route } from '../model.ts'

/** The path under each gate at which programs find what is sold there, unless the seller has a route of that path. */
export const DISCOVERY_PATH = '/openapi.json'

/** The routes and prices of a gate as an OpenAPI document, for programs that look for something to buy. */
export function discoveryOf(gate: Gate): Outcome {
  const { name, version, address, routes } = gate
  const paths: Record<string, Record<string, unknown>> = {}
  for (const route of routes) {
    const path = toTemplate(route.path)
    const operations = (paths[path] ??= {})
    operations[route.method === '*' ? 'get' : route.method.toLowerCase()] ??= operationOf(gate, route, path)
  }
  const document = {
    openapi: '3.1.0',
    info: { title: name, version: String(version) },
    servers: [{ url: address }],
    'x-service-info': { docs: { homepage: address } },
    paths,
  }
  return {
    status: 200,
    headers: [
      ['Content-Type', 'application/json; charset=utf-8'],
      ['Cache-Control', 'no-cache'],
    ],
    body: Buffer.from(JSON.stringify(document)),
  }
}

function operationOf(gate: Gate, { description, pricing }: Route, path: string) {
  const names = Array.from(path.matchAll(/\{(\w+)\}/g), ([, parameter]) => parameter)
  const parameters = names.map((parameter) => ({
    name: parameter,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }))
  const isSold = pricing.model !== 'free' && !gate.testMode
  return {
    ...(description === null ? {} : { summary: description }),
    ...(parameters.length === 0 ? {} : { parameters }),
    responses: {
      200: { description: 'The answer of the API' },
      ...(isSold ? { 402: { description: 'The price, for x402 versions 1 and 2 and for MPP' } } : {}),
    },
    // The amount depends on the payer or on the answer where it is null; the 402 states it.
    ...(isSold
      ? {
          'x-payment-info': {
            intent: INTENT,
            method: METHOD,
            amount: pricing.model === 'per-request' ? String(pricing.amount) : null,
            currency: NETWORKS[gate.network].usdc.checksummed,
          },
        }
      : {}),
  }
}

/** `/items/:id/*` as `/items/{id}/{rest}`. */
function toTemplate(pattern: string): string {
  return pattern.replaceAll(/:(\w+)/g, '{$1}').replace(/\*$/, '{rest}')
}
