import fc from 'fast-check'
import { usdc } from '../../service/kit/money.ts'
import type { Route } from '../../service/paywall/model.ts'
import { passes, toClient, toUpstream } from '../../service/paywall/rules/headers.ts'
import { eventsOf, isSuccess } from '../../service/paywall/rules/payment.ts'
import { nextResume } from '../../service/sales/rules.ts'
import { pays, topUpOf } from '../../service/paywall/rules/prepaid.ts'
import { costOf, lastsMs, tierAt, windowStart } from '../../service/paywall/rules/pricing.ts'
import { hiddenRoute, routeOf, segmentsOf } from '../../service/paywall/rules/routes.ts'
import { together, usageIn } from '../../service/paywall/rules/usage.ts'

const route = (method: string, path: string): Route => ({
  method,
  path,
  pricing: { model: 'free' },
  description: null,
  settle: 'after',
  paymentIdentifier: 'optional',
  signIn: null,
})

describe('which route a request is for', () => {
  const routes = [route('GET', '/a/:id'), route('*', '/a/b/*'), route('POST', '/')]

  it.each([
    ['GET', '/a/1', 0],
    ['HEAD', '/A/1/', 0],
    ['GET', '/a/b', 0],
    ['PUT', '/a/b', 1],
    ['GET', '/a/b/c/d', 1],
    ['POST', '/', 2],
    ['GET', '/', null],
    ['DELETE', '/a/1', null],
    ['GET', '/a', null],
  ])('%s %s', (method, path, place) => {
    const found = routeOf(routes, method, segmentsOf(path))
    expect(found).toBe(place === null ? null : routes[place])
  })

  it('names a route that is never reached', () => {
    expect(hiddenRoute([route('GET', '/a/:id'), route('GET', '/a/b')])).toEqual({ place: 1, by: 0 })
    expect(hiddenRoute([route('*', '/*'), route('GET', '/a')])).toEqual({ place: 1, by: 0 })
    expect(hiddenRoute([route('GET', '/a/b'), route('GET', '/a/:id'), route('POST', '/a/:id')])).toBeNull()
    expect(hiddenRoute([route('GET', '/a/:id'), route('GET', '/a/*')])).toBeNull()
  })

  it('finds the same route however often an address is encoded that can only be read in one way', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 20, unit: 'grapheme-ascii' }), (text) => {
        fc.pre(!/[/\\;\0]/.test(text) && text !== '.' && text !== '..')
        const all = [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')
        expect(segmentsOf(`/${all}`)).toEqual(segmentsOf(`/${encodeURIComponent(text)}`))
      }),
    )
  })
})

describe('the top-up for a metered call', () => {
  const micro = (max: number) => fc.bigInt(0n, BigInt(max)).map(usdc)
  const terms = fc.record({ maximum: fc.bigInt(100n, 1_000_000n).map(usdc), least: micro(100) })

  it('is the missing amount, at least the smallest settlement, and at most the maximum', () => {
    fc.assert(
      fc.property(terms, micro(2_000_000), ({ maximum, least }, left) => {
        const more = topUpOf({ maximum }, left, least)
        expect(pays({ maximum }, left, more)).toBe(true)
        expect(more >= least && more <= maximum).toBe(true)
        if (more > least) expect(left + more).toBe(maximum)
      }),
    )
  })

  it('is used by calls in the end, to less than a maximum, and calls never cost more than was paid in', () => {
    const costs = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1, maxLength: 200 })
    fc.assert(
      fc.property(terms, costs, ({ maximum, least }, shares) => {
        let [paid, left, drawn] = [0n, 0n, 0n]
        for (const share of shares) {
          if (!pays({ maximum }, usdc(left))) {
            const more = topUpOf({ maximum }, usdc(left), least)
            paid += more
            left += more
          }
          // As the ledger does it: all of it is set aside, and the rest comes back.
          left -= maximum
          expect(left >= 0n).toBe(true)
          const cost = BigInt(Math.floor(share * Number(maximum)))
          left += maximum - cost
          drawn += cost
        }
        expect(left + drawn).toBe(paid)
        expect(left <= maximum + least).toBe(true)
      }),
    )
  })
})

describe('the price of a metered call', () => {
  const tokens = {
    model: 'per-token',
    input: usdc(1_000n),
    output: usdc(3_000n),
    minimum: usdc(10n),
    maximum: usdc(9_000n),
  } as const
  const minutes = { model: 'per-minute', amount: usdc(60_000n), minimum: usdc(0n), maximum: usdc(30_000n) } as const

  it.each([
    [tokens, { tokens: { input: 1_000, output: 1_000 }, ms: 0 }, 4_000n],
    [tokens, { tokens: { input: 11, output: 1 }, ms: 0 }, 14n],
    [tokens, { tokens: null, ms: 0 }, 10n],
    [tokens, { tokens: { input: 1, output: 0 }, ms: 0 }, 10n],
    [tokens, { tokens: { input: 0, output: 1_000_000_000 }, ms: 0 }, 9_000n],
    [minutes, { tokens: null, ms: 0 }, 1_000n],
    [minutes, { tokens: null, ms: 1_001 }, 2_000n],
    [minutes, { tokens: null, ms: 3_600_000 }, 30_000n],
  ])('%j %j', (pricing, measured, cost) => {
    expect(costOf(pricing, measured)).toBe(cost)
  })

  it('lasts as long as its most pays for', () => {
    expect(lastsMs(minutes)).toBe(30_000)
    expect(lastsMs(tokens)).toBeNull()
  })

  it('stays within its minimum and maximum', () => {
    const amount = fc.bigInt({ min: 1n, max: 10n ** 12n })
    fc.assert(
      fc.property(amount, amount, amount, amount, fc.nat(), fc.nat(), (input, output, one, other, a, b) => {
        const [minimum, maximum] = one < other ? [one, other] : [other, one]
        const pricing = {
          model: 'per-token',
          input: usdc(input),
          output: usdc(output),
          minimum: usdc(minimum),
          maximum: usdc(maximum),
        } as const
        const cost = costOf(pricing, { tokens: { input: a, output: b }, ms: 0 })
        expect(cost >= minimum && cost <= maximum).toBe(true)
      }),
    )
  })
})

it.each([
  [{ usage: { prompt_tokens: 3, completion_tokens: 4 } }, { input: 3, output: 4 }],
  [{ usage: { input_tokens: 3, output_tokens: 4 } }, { input: 3, output: 4 }],
  [
    { type: 'message_start', message: { usage: { input_tokens: 25, output_tokens: 1 } } },
    { input: 25, output: 1 },
  ],
  [
    { type: 'response.completed', response: { usage: { input_tokens: 1, output_tokens: 2 } } },
    { input: 1, output: 2 },
  ],
  [{ usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 6 } }, { input: 5, output: 6 }],
  [
    { prompt_eval_count: 7, eval_count: 8 },
    { input: 7, output: 8 },
  ],
  [{ usage: { prompt_tokens: -1, completion_tokens: 1.5 } }, null],
  [{ usage: null }, null],
  // What Anthropic reads from its cache and writes there, and Google's tools and thoughts.
  [
    { usage: { input_tokens: 3, cache_creation_input_tokens: 500, cache_read_input_tokens: 4_000, output_tokens: 4 } },
    { input: 4_503, output: 4 },
  ],
  // Others count them within the rest.
  [
    { usage: { prompt_tokens: 2_000, cache_read_input_tokens: 1_800, completion_tokens: 4 } },
    { input: 2_000, output: 4 },
  ],
  [[{ usage: { prompt_tokens: 3 } }, { usage: { prompt_tokens: 4 } }], null],
  [
    {
      usageMetadata: {
        promptTokenCount: 5,
        toolUsePromptTokenCount: 7,
        candidatesTokenCount: 6,
        thoughtsTokenCount: 90,
      },
    },
    { input: 12, output: 96 },
  ],
  [
    [{ usageMetadata: { promptTokenCount: 5 } }, { usageMetadata: { candidatesTokenCount: 6 } }],
    { input: 5, output: 6 },
  ],
  ['text', null],
])('reads the use of tokens in %j', (body, tokens) => {
  expect(usageIn(body)).toEqual(tokens)
})

it('merges the usage that a stream reports in parts', () => {
  expect(together({ input: 25, output: 1 }, { input: 0, output: 15 })).toEqual({ input: 25, output: 15 })
  expect(together(null, null)).toBeNull()
})

it.each([
  ['day', '2026-11-19T00:00:00.000Z'],
  ['week', '2026-11-16T00:00:00.000Z'],
  ['month', '2026-11-01T00:00:00.000Z'],
  ['lifetime', '1970-01-01T00:00:00.000Z'],
] as const)('begins a %s where the calendar does', (window, begin) => {
  expect(windowStart(window, new Date('2026-11-19T23:59:59.999Z')).toISOString()).toBe(begin)
})

it('counts tiers up to and with their last call', () => {
  const tiers = [
    { upTo: 2, amount: usdc(3n) },
    { upTo: 4, amount: usdc(2n) },
    { upTo: null, amount: usdc(1n) },
  ]
  expect([0, 1, 2, 3, 4, 100].map((calls) => tierAt(tiers, calls))).toEqual([0, 0, 1, 1, 2, 2])
})

it('reports each milestone that a payment passes, once', () => {
  const payment = { id: 'pay_x', paywallId: 'pwl_x', payer: '0x', amount: usdc(50n), simulated: false } as never
  const facts = { payment, customerPayments: 2, tier: null, milestones: [10n, 100n, 120n, 150n, 151n].map(usdc) }
  const events = eventsOf({ ...facts, revenueBefore: usdc(100n), revenue: usdc(150n) }, new Date(0))
  expect(events.map(({ event, data }) => [event, data['milestone']])).toEqual([
    ['payment.completed', undefined],
    ['revenue.milestone', 0.00012],
    ['revenue.milestone', 0.00015],
  ])
})

it('resumes after five seconds at first, and after a minute later on', () => {
  const began = new Date(0)
  const waits = [0, 30_000, 3_600_000].map((ms) => nextResume(began, new Date(ms)).getTime() - ms)
  expect(waits).toEqual([5_000, 7_500, 60_000])
})

it('counts a status below 400 as success', () => {
  expect([101, 200, 204, 302, 304, 399].every(isSuccess)).toBe(true)
  expect([400, 402, 404, 500, 503].some(isSuccess)).toBe(false)
})

it('drops hop-by-hop headers, also those named in Connection', () => {
  const headers = [
    ['Connection', 'keep-alive, X-Secret'],
    ['X-Secret', '1'],
    ['TE', 'trailers'],
    ['Via', '1.1 coinslot, 1.0 other'],
    ['X-A', '1'],
    ['x-a', '2'],
  ] as const
  const from = { address: '10.0.0.1', host: 'gate.example', secure: true }
  expect(toUpstream(headers, from, [['X-Key', 'k']])).toEqual([
    ['X-A', '1'],
    ['x-a', '2'],
    ['X-Forwarded-For', '10.0.0.1'],
    ['X-Forwarded-Host', 'gate.example'],
    ['X-Forwarded-Proto', 'https'],
    ['Via', '1.1 coinslot, 1.0 other'],
    ['Via', '1.1 coinslot'],
    ['X-Key', 'k'],
  ])
  expect(toClient(headers).map(([name]) => name)).toEqual(['Via', 'X-A', 'x-a'])
  expect(passes(headers)).toBe(1)
})

it.each([
  'X-HTTP-Method-Override',
  'X-HTTP-Method',
  'X-Method-Override',
  'X-Original-URL',
  'X-Rewrite-URL',
  'X-Remote-User',
  'Remote-User',
  'X-Forwarded-User',
  'X-Forwarded-Prefix',
  'X-Forwarded-Port',
  'Forwarded',
  'x_payment_id',
  'X_Payment-Token',
  'coinslot_payment',
  'Coinslot.Payment',
  'x_forwarded_host',
  'x_http_method_override',
])('a gate passes no %s on', (name) => {
  const from = { address: '10.0.0.1', host: 'gate.example', secure: true }
  const sent = toUpstream([[name, 'forged']], from, [])
  expect(sent.map(([, value]) => value)).not.toContain('forged')
})

it('a client writes no twin of an owner’s own header', () => {
  const from = { address: '10.0.0.1', host: 'gate.example', secure: true }
  const sent = toUpstream([['x_api_key', 'forged']], from, [['X-Api-Key', 'k']])
  expect(sent.map(([, value]) => value)).not.toContain('forged')
})
