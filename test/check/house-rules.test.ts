import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { linted } from './linted.ts'

const OFFENCES: Readonly<Record<string, { allowed: readonly string[]; refused: readonly string[] }>> = {
  'pure-rules': {
    allowed: [
      'export const at = (now: Date) => new Date(now.getTime() + 5)',
      "import { createHash } from 'node:crypto'; export const hash = (text: string) => createHash('sha256').update(text)",
      'export function* each(items: number[]) { for (const item of items) yield item }',
    ],
    refused: [
      'export const x = Date.now()',
      'export const x = new Date()',
      'export const x = Date()',
      'export const x = performance.now()',
      'export const x = process.hrtime.bigint()',
      'export const x = Math.random()',
      'export const x = crypto.randomUUID()',
      "import { randomBytes } from 'node:crypto'",
      "import { newId } from '../kit/ids.ts'",
      "fetch('https://example.org')",
      'setTimeout(() => {}, 1)',
      'export async function x() {}',
      'export function x(p: Promise<number>) { return p }',
      'export const x = [await y]',
    ],
  },
  environment: {
    allowed: ['process.exitCode = 1', 'export const env = config.env', 'const config = readConfig(process.env)'],
    refused: [
      'export const x = process.env.X',
      'const config = readConfig(process.env.CONFIG)',
      'const config = merge(process.env)',
      "export const x = process.env['X']",
      "export const x = process['env']",
      'const { env } = process',
      "import { env } from 'node:process'",
    ],
  },
  'steady-tests': {
    allowed: [
      'const past = new Date(Date.now() - 60_000)',
      'const old = Date.now() - ageMs',
      'for (;;) await new Promise((resolve) => setTimeout(resolve, 10))',
      "server.listen(0, '127.0.0.1')",
    ],
    refused: [
      'const began = performance.now()',
      'expect(Date.now() - began).toBeLessThan(2_000)',
      'const { heapUsed } = process.memoryUsage()',
      'const before = process.cpuUsage()',
      'const at = Math.random()',
      'const seed = Date.now() % 1_000',
      'await new Promise((resolve) => setTimeout(resolve, 500))',
      'server.listen(8080)',
    ],
  },
  'guarded-calls': {
    allowed: [
      "import type { IncomingMessage } from 'node:http'",
      "import { type Server } from 'node:http'",
      "import { createServer, type Server } from 'node:http'",
      "import { isIPv6 } from 'node:net'",
      'client.fetch(url)',
      "import { fetch } from '../outbound/model.ts'",
    ],
    refused: [
      "await fetch('https://example.org')",
      "await globalThis.fetch('https://example.org')",
      "import { request } from 'undici'",
      "import http from 'http'",
      "import * as https from 'node:https'",
      "import { createServer, request } from 'node:http'",
      "import { connect } from 'node:net'",
      "import 'node:net'",
      "await import('undici')",
      "export const socket = new WebSocket('ws://127.0.0.1')",
      "export const events = new EventSource('http://127.0.0.1')",
      "import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js'",
    ],
  },
  'flat-literals': {
    allowed: [
      'export const x = { a, b, c }',
      'export const x = { ...base, b: { c } }',
      'export const x = { ...(wanted ? { a } : {}), c }',
      'export const x = { ...make({ a }), c }',
      'export const x = f(...[{ a }])',
    ],
    refused: [
      'export const x = { ...{ a, b }, c }',
      'export const x = { c, ...{ a, b } }',
      'export const x = f({ c: { ...{ a }, b } })',
    ],
  },
  'linear-patterns': {
    allowed: [
      "text.replace(/^0+$/, '')",
      "text.replace(/^_+|_$/g, '')",
      "text.replace(/0{1,6}$/, '')",
      "text.replace(/[+*]$/, '')",
      "text.replace(/\\+$/, '')",
      "text.replace(/(?=(\\d{3})+$)/, '')",
      "text.replace(/0+/, '')",
    ],
    refused: [
      "text.replace(/0+$/, '')",
      "text.replace(/^_+|_+$/g, '')",
      'export const x = /\\s*$/',
      'export const x = /\\s+\\S*?$/',
      'export const x = /(?:[a|b]-)*$/',
      'export const x = /a{2,}$/u',
      'export const x = /(x*)$/',
    ],
  },
  'plain-names': {
    allowed: ['const settled = 1', 'interface PurchaseRequest { amount: number }', 'use({ fate: 1 })'],
    refused: [
      'const fleeting = 1',
      'function glance() {}',
      'interface Asked {}',
      'type Answer = string',
      'interface Run { fate: Date }',
    ],
  },
  'plain-words': {
    allowed: ["export const x = 'The seller answers.' // The process that holds the lease continues."],
    refused: [
      "export const x = 'Nobody is signed in.'",
      '/* whatever it costs */',
      'export const x = `Ask ${who} or somebody else`',
    ],
  },
  'whole-tests': {
    allowed: [
      "it('adds', () => {})",
      "it.each([1])('adds %s', () => {})",
      'list.only(1)',
      "it.concurrent('adds', run)",
    ],
    refused: [
      "it.skip('adds', () => {})",
      "describe.only('adding', () => {})",
      "test.todo('adds')",
      "it.only.each([1])('adds', () => {})",
      "it.concurrent.skip('adds', run)",
      "xit('adds', () => {})",
      "fdescribe('adding', () => {})",
    ],
  },
}

const NAMES = {
  allowed: ['service/ledger/rules.ts', 'service/api/utilization.ts', 'test/harness/clock.ts'],
  refused: [
    'service/utils/text.ts',
    'service/kit/utils.ts',
    'service/ledger/sql-helpers.ts',
    'nodes/Coinslot/run.helper.ts',
  ],
}

describe("the house's lint rules", () => {
  const cases = Object.entries(OFFENCES).flatMap(([rule, judged]) =>
    (['allowed', 'refused'] as const).flatMap((verdict) =>
      judged[verdict].map((code, place) => ({ rule, verdict, code, file: `${rule}/${verdict}-${String(place)}.ts` })),
    ),
  )
  const names = [
    ...NAMES.allowed.map((file) => ({ verdict: 'allowed', file })),
    ...NAMES.refused.map((file) => ({ verdict: 'refused', file })),
  ]

  let refusals: Map<string, string[]>
  beforeAll(async () => {
    const files = Object.fromEntries([
      ...cases.map(({ file, code }) => [file, code] as const),
      ...names.map(({ file }) => [file, ''] as const),
    ])
    const overrides = Object.keys(OFFENCES).map((rule) => ({
      files: [`${rule}/**`, ...(rule === 'plain-names' ? names.map(({ file }) => file) : [])],
      rules: { [`house/${rule}`]: 'error' },
    }))
    const config = { plugins: [], jsPlugins: ['./oxlint.rules.mjs'], categories: { correctness: 'off' }, overrides }
    refusals = await linted(files, config)
  })

  it.each(cases)('$rule has $verdict: $code', ({ rule, verdict, file }) => {
    expect((refusals.get(file) ?? []).includes(`house/${rule}`)).toBe(verdict === 'refused')
  })

  it.each(names)('plain-names has $verdict: $file', ({ verdict, file }) => {
    expect((refusals.get(file) ?? []).includes('house/plain-names')).toBe(verdict === 'refused')
  })

  it('are all tried here', async () => {
    const source = pathToFileURL(path.resolve(import.meta.dirname, '../../oxlint.rules.mjs')).href
    const { default: house } = (await import(source)) as { default: { rules: object } }
    expect(Object.keys(OFFENCES).sort()).toEqual(Object.keys(house.rules).sort())
  })
})
