import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pino } from 'pino'
import { readConfig } from '../../../service/config.ts'
import { newId } from '../../../service/kit/ids.ts'
import { findHoldDifferences } from '../../../service/sales/store/held.ts'
import { compose, type Service } from '../../../service/wiring/compose.ts'
import { testDatabase, type TestDatabase } from '../../harness/database.ts'
import { sendMcp, type Json } from '../../harness/mcp.ts'
import { bundled } from '../../harness/process.ts'
import { until } from '../../harness/until.ts'
import { walletKeys } from '../../wallet/world.ts'
import type { Life } from './driver.ts'
import { Mortal } from './mortal.ts'
import { rested, startReceiver } from './receiver.ts'

const KILLS = Number(process.env['CHAOS_KILLS'] ?? 50)
const CALLS = 3
const PRICE = 0.01
const START = 90

/** In the order of a purchase. A delivery's steps are those where its receiver pulls the trigger. */
const PLACES = {
  onPayment: ['sale claimed', 'sale paid', 'told', 'taken'],
  onSuccess: ['sale claimed', 'told', 'taken', 'sale captured', 'sale paid'],
  route: ['sale claimed', 'told', 'taken', 'sale settling', 'sale paid'],
} as const
type Place = (typeof PLACES)[keyof typeof PLACES][number]

interface Call {
  name: string
  succeeds: boolean
  answered: boolean
  /** A call of a route that was not bought is sent again as a new one. */
  tries: number
}

/** An account buys from another one, in the ledger: there is no chain. */
describe.each(['onPayment', 'onSuccess', 'route'] as const)(
  'an account buys while the service is killed: %s',
  (sold) => {
    const isRoute = sold === 'route'
    // A route's lease covers its upstream's time.
    const passedMs = isRoute ? 200_000 : undefined

    let database: TestDatabase
    let control: Service
    let mortal: Mortal
    let workflow: Awaited<ReturnType<typeof startReceiver>>
    const folder = mkdtempSync(path.join(tmpdir(), 'coinslot-chaos-'))

    beforeAll(async () => {
      database = await testDatabase({ poolMax: 2 })
      const settings = {
        ...{ DATA_DIR: folder, DATABASE_URL: database.url, DATABASE_POOL: '8', PORT: '0', LOG_LEVEL: 'silent' },
        ...{ DEMO_API_KEY: SELLER, RATE_API_PER_MINUTE: '0', RATE_PAY_PER_MINUTE: '0' },
        ...(await walletKeys()),
      }
      const config = readConfig({ ...settings, ROLES: 'api', WALLET_XPRV: '', DATABASE_POOL: '2' })
      control = await compose(config, { url: database.url, log: pino({ level: 'silent' }) })
      mortal = new Mortal(bundled(path.join(import.meta.dirname, 'driver.ts')), settings)
      workflow = await startReceiver(() => {
        mortal.kill()
      })
    })
    afterAll(async () => {
      mortal.close()
      await workflow.close()
      await control.stop()
      await database.close()
      rmSync(folder, { recursive: true, force: true })
    })

    test(
      `${String(KILLS)} times: each call is bought once or not at all, and every cent is somewhere`,
      async () => {
        const calls: Call[] = []
        const places: readonly Place[] = PLACES[sold]
        await mortal.live(null, passedMs)
        const key = await signUp(control)
        await mortal.call('POST', '/v1/wallet/deposit', { amount: START }, key)
        const { path, name: tool, inputOf } = await (isRoute ? sellRoute() : sellCheckout(sold))
        mortal.kill()
        await mortal.died()
        for (let round = 0; round < KILLS; round++) {
          const place = places[round % places.length]!
          const most = AFTER_WORK.has(place) ? CALLS - 1 : CALLS
          const pass = 1 + (Math.floor(round / places.length) % most)
          const isReceivers = place === 'told' || place === 'taken'
          await mortal.live(isReceivers ? null : ({ step: place, pass } satisfies Life['dieAt']), passedMs)
          workflow.arm(isReceivers ? { at: place, pass } : null)
          // Those of earlier rounds ask again while the new ones buy.
          const back = calls.filter(({ answered }) => !answered)
          const fresh = Array.from({ length: CALLS }, (_, each): Call => {
            const succeeds = sold === 'onPayment' || each !== CALLS - 1
            return { name: `call-${String(round)}-${String(each)}`, succeeds, answered: false, tries: 0 }
          })
          for (const { name } of fresh.filter(({ succeeds }) => !succeeds)) workflow.failing.add(name)
          calls.push(...fresh)
          await Promise.all([mortal.diedWithin(120_000), ...[...back, ...fresh].map(buy)])
        }
        workflow.arm(null)
        await mortal.live(null, passedMs)
        for (const call of calls) {
          await until(async () => {
            if (!call.answered) await buy(call)
            return call.answered
          })
        }
        await rested(database)

        const rows = await database.statements.run<{ who: string | null; state: string; method: string }>(
          `SELECT details -> 'input' ->> 'who' AS who, state, method FROM sale`,
          [],
        )
        for (const { name, succeeds } of isRoute ? [] : calls) {
          expect(rows.filter(({ who }) => who === name)).toEqual([
            { who: name, state: succeeds ? 'paid' : 'failed', method: 'account' },
          ])
        }
        const paid = rows.filter(({ state }) => state === 'paid').length
        expect([paid, rows.length]).toEqual([
          calls.filter(({ succeeds }) => succeeds).length,
          rows.filter(({ state, method }) => method === 'account' && (state === 'paid' || state === 'failed')).length,
        ])
        expect(await control.ledger.differences()).toEqual([])
        expect(await findHoldDifferences(database.statements)).toEqual([])
        expect([await balanceOf(key), await balanceOf(SELLER)]).toEqual([cents(START * 100 - paid), cents(paid)])
        // Each is delivered under one id, however often.
        const ids = new Set(workflow.deliveries.map(({ id: webhook }) => webhook))
        if (!isRoute) expect(ids.size).toBe(sold === 'onPayment' ? paid : rows.length)
        expect(mortal.late).toBe(0)
        process.stdout.write(`${JSON.stringify({ sold, calls: calls.length, paid, kills: KILLS })}\n`)

        async function buy(call: Call): Promise<void> {
          const named = `${call.name}-${String(call.tries)}`
          const params = { name: tool, arguments: inputOf(call.name), _meta: { 'coinslot/idempotency-key': named } }
          const { result, error } = await sendMcp(
            `${mortal.origin}${path}`,
            { method: 'tools/call', params },
            { authorization: `Bearer ${key}` },
          ).catch((): Json => ({ error: 'broken off' }))
          if (error !== undefined) return
          const { isError = false, structuredContent } = result as { isError?: boolean; structuredContent: Json }
          if (isError && call.succeeds) {
            const { code } = structuredContent['error'] as { code: string }
            if (!isRoute || !LATER.has(code)) throw new Error(JSON.stringify(structuredContent))
            if (code === 'not_bought') call.tries++
            // It was bought, and its answer was there for ten minutes.
            call.answered = code === 'payment_expired'
            return
          }
          call.answered = true
        }
      },
      300_000 + KILLS * 30_000,
    )

    async function sellRoute(): Promise<Sold> {
      await mortal.call('PATCH', '/v1/me', { handle: 'chaos-co' }, SELLER)
      const pricing = { model: 'per-request', amount: PRICE }
      const routes = [{ method: 'POST', path: new URL(workflow.url).pathname, pricing }]
      const upstreamUrl = new URL(workflow.url).origin
      const terms = { slug: 'chaos', name: 'Chaos', upstreamUrl, network: 'base-sepolia', routes }
      const created = await mortal.call('POST', '/v1/paywalls', terms, SELLER)
      if (created?.status !== 201) throw new Error(`no paywall: ${JSON.stringify(created?.body)}`)
      const inputOf = (who: string) => ({ body: { input: { who } } })
      return { path: '/m/chaos-co/mcp', name: 'chaos-post-webhook', inputOf }
    }

    async function sellCheckout(capture: string): Promise<Sold> {
      const terms = {
        callbackUrl: workflow.url,
        product: { name: 'Chaos' },
        price: PRICE,
        network: 'base-sepolia',
        capture,
      }
      const more = {
        responseMode: 'lastNode',
        runSeconds: 3_600,
        fields: [{ name: 'who', type: 'text', required: true }],
      }
      const created = await mortal.call('POST', '/v1/checkouts', { ...terms, ...more }, SELLER)
      if (created?.status !== 201) throw new Error(`no checkout: ${JSON.stringify(created?.body)}`)
      const path = `/p/${created.body.checkout.id as string}/mcp`
      return { path, name: 'chaos', inputOf: (who) => ({ who }) }
    }

    async function balanceOf(key: string): Promise<number> {
      const answer = await mortal.call('GET', '/v1/wallet/balance', undefined, key)
      if (answer === null) throw new Error('no balance')
      return (answer.body.wallet as { balance: number }).balance
    }
  },
)

/** A call that fails on purpose does not get there. */
const AFTER_WORK: ReadonlySet<string> = new Set(['sale paid', 'sale captured', 'sale settling'])

/** What a call of a route is told whose process was killed. */
const LATER: ReadonlySet<string> = new Set(['not_bought', 'payment_processing', 'payment_expired'])

interface Sold {
  path: string
  name: string
  inputOf(who: string): Json
}

const SELLER = 'csk_test_chaos_of_checkouts_0002'

function cents(amount: number): number {
  return amount / 100
}

/** A buyer's account; returns its key. */
async function signUp({ identity }: Service): Promise<string> {
  const person = { name: 'Buyer', email: 'buyer@example.com', emailConfirmed: true }
  const { user } = await identity.signUp({ issuer: 'coinslot', subject: 'buyer', ...person })
  const { subject, issuer } = user
  const via = { via: 'session', keyId: null, agentId: null } as const
  const caller = { user, subject, issuer, environment: 'sandbox', ...via } as const
  const wanted = { name: 'key', agentId: null, expiresAt: null }
  return (await identity.keys.create(caller, wanted, newId('op', new Date()))).secret
}
