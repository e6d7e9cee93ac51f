import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Webhook } from 'standardwebhooks'
import type { Hex } from '../../../service/chain/model.ts'
import { signed } from '../../checkouts/world.ts'
import { usdcOf } from '../../facilitator/world.ts'
import { bundled } from '../../harness/process.ts'
import { startChain, type TestAccount, type TestChain } from '../../harness/chain.ts'
import { payEscrow, type EscrowTerms } from '../../harness/escrow.ts'
import { testDatabase, type TestDatabase } from '../../harness/database.ts'
import { until } from '../../harness/until.ts'
import { newToken } from '../token.ts'
import type { Life } from './driver.ts'
import { Mortal } from './mortal.ts'
import { rested, startReceiver } from './receiver.ts'

const KILLS = Number(process.env['CHAOS_KILLS'] ?? 50)
const CUSTOMERS = 3
const PRICE = 1_000_000n
const START = 1_500_000n

/** The steps of a settlement, the sale's own and the facilitator's. */
const SETTLING = [
  'settlement claimed',
  'transaction signed',
  'transaction sent',
  'transaction broadcast',
  'transaction mined',
  'settlement offered',
  'sale settled',
  'sale paid',
] as const
/** One transaction for each payment and operation. */
const ESCROWED = SETTLING.slice(0, 5)
/** Those of a delivery, where its receiver pulls the trigger. */
const DELIVERING = ['told', 'taken'] as const
/** In the order of a payment. */
const PLACES = {
  onPayment: ['sale claimed', 'sale settling', ...SETTLING, ...DELIVERING],
  onSuccess: ['sale claimed', ...DELIVERING, 'sale captured', ...SETTLING],
  // The way into the escrow, the work, and the way out, each with the steps of a transaction.
  escrow: [
    ...['sale claimed', 'sale settling', ...ESCROWED, 'settlement offered', 'sale settled', 'sale authorized'],
    ...[...DELIVERING, 'sale captured', 'sale given up', ...ESCROWED, 'sale settled', 'sale paid'],
  ],
} as const
type Capture = keyof typeof PLACES
type Place = (typeof PLACES)[Capture][number]
/** One transaction carries all customers of a moment. */
const BATCHED: ReadonlySet<Place> = new Set([
  'transaction signed',
  'transaction sent',
  'transaction broadcast',
  'transaction mined',
])

interface Customer {
  payer: TestAccount
  paymentPayload: Record<string, unknown>
  token: string
  /** Whether the customer asks again after the crash, as a reloaded page does, or never returns. */
  returns: boolean
  answered: boolean
  /** How the workflow ends for this customer. Where it is charged after the success, a failure charges nothing. */
  succeeds: boolean
}

describe.each(['onPayment', 'onSuccess', 'escrow'] as const)(
  'the service is killed at every step, charging %s',
  (capture) => {
    let chain: TestChain
    let database: TestDatabase
    let mortal: Mortal
    let workflow: Awaited<ReturnType<typeof startReceiver>>
    const folder = mkdtempSync(path.join(tmpdir(), 'coinslot-chaos-'))

    beforeAll(async () => {
      chain = await startChain()
      database = await testDatabase({ poolMax: 2 })
      const driver = bundled(path.join(import.meta.dirname, 'driver.ts'))
      mortal = new Mortal(driver, settings(chain, database.url, folder))
      workflow = await startReceiver(() => {
        mortal.kill()
      })
    })
    afterAll(async () => {
      mortal.close()
      await workflow.close()
      await database.close()
      await chain.stop()
      rmSync(folder, { recursive: true, force: true })
    })

    it(
      `${String(KILLS)} times: paid or failed true to the chain, each delivered with one id`,
      async () => {
        const recipient = chain.accounts[3]!.address
        const customers: Customer[] = []
        const kills = new Map<Place, number>()
        await mortal.live(null)
        const places: readonly Place[] = PLACES[capture]
        const checkout = await sell(mortal, workflow.url, { recipient, capture })
        mortal.kill()
        await mortal.died()

        for (let round = 0; round < KILLS; round++) {
          const place = places[round % places.length]!
          // What comes after the success is reached by those that succeed.
          const late = capture === 'escrow' ? round % places.length > places.indexOf('taken') : place !== 'sale claimed'
          const most = capture !== 'onPayment' && late ? (place === 'sale given up' ? 1 : CUSTOMERS - 1) : CUSTOMERS
          const isSecond = places.indexOf(place) !== round % places.length
          const first = isSecond ? CUSTOMERS + 1 : 1
          const isBatched = capture !== 'escrow' && BATCHED.has(place)
          const pass = isBatched ? 1 : first + (Math.floor(round / places.length) % most)
          await mortal.live(
            place === 'told' || place === 'taken' ? null : ({ step: place, pass } satisfies Life['dieAt']),
          )
          workflow.arm(place === 'told' || place === 'taken' ? { at: place, pass } : null)
          // Returning customers of earlier rounds ask again while the new ones pay.
          const back = customers.filter(({ returns, answered }) => returns && !answered)
          const fresh = await Promise.all(
            Array.from({ length: CUSTOMERS }, (_, each) =>
              arrive({ returns: each !== 0, succeeds: capture === 'onPayment' || each !== CUSTOMERS - 1 }),
            ),
          )
          customers.push(...fresh)
          const before = mortal.late
          await Promise.all([mortal.diedWithin(120_000), ...[...back, ...fresh].map(buy)])
          if (mortal.late > before) process.stdout.write(`late: ${place}, pass ${String(pass)}\n`)
          kills.set(place, (kills.get(place) ?? 0) + 1)
        }

        workflow.arm(null)
        await mortal.live(null)
        for (const customer of customers.filter(({ returns, answered }) => returns && !answered)) await buy(customer)
        await rested(database)
        const outcome = await compare(customers, recipient)
        process.stdout.write(
          `${JSON.stringify({ kills: Object.fromEntries(kills), customers: customers.length, ...outcome })}\n`,
        )
        // If no request was ever cut off, or all were, the kills proved nothing.
        expect(outcome.paid).toBeGreaterThan(KILLS)
        expect(mortal.late).toBe(0)

        async function arrive({ returns, succeeds }: Pick<Customer, 'returns' | 'succeeds'>): Promise<Customer> {
          const payer = await chain.payer(START)
          const paymentPayload =
            capture === 'escrow' ? await signedForEscrow(payer) : await signed(payer, chain, checkout.requirements)
          if (!succeeds) workflow.failing.add(payer.address)
          return { payer, paymentPayload, token: newToken(), returns, succeeds, answered: false }
        }

        /** Its terms have absolute times, so they are fetched for each customer. */
        async function signedForEscrow(payer: TestAccount): Promise<Record<string, unknown>> {
          // A process that has just begun knows no operator for a moment, and so has nothing to sign.
          const terms = await until(async () => {
            const view = await mortal.call('GET', `/p/${checkout.id}`)
            return view?.body.paymentRequirements?.v2 as EscrowTerms | null | undefined
          })
          // Valid as long as the terms allow: the service's clock runs ahead of the chain's.
          const signedAt = terms.extra.captureDeadline - terms.maxTimeoutSeconds
          return (await payEscrow(chain, payer, terms, { now: signedAt })).body.paymentPayload
        }

        async function buy(customer: Customer): Promise<void> {
          const { paymentPayload, token } = customer
          const answer = await mortal.call('POST', `/p/${checkout.id}/pay`, {
            input: { who: customer.payer.address },
            paymentPayload,
            token,
          })
          if (answer === null || answer.status >= 500) return
          if (customer.succeeds) expect(answer.body.payment.status).not.toBe('failed')
          customer.answered = true
        }

        async function compare(all: readonly Customer[], to: Hex) {
          const rows = await database.statements.run<{ id: string; payer: Hex; state: string }>(
            'SELECT id, payer, state FROM sale',
            [],
          )
          const paid = rows.filter(({ state }) => state === 'paid')
          for (const { payer, returns, succeeds } of all) {
            const own = rows.filter((row) => row.payer === payer.address)
            expect(own.length).toBeLessThanOrEqual(1)
            // Every customer who returned was served; one who did not may have been cut off before any row was written.
            if (returns) expect(own.map(({ state }) => state)).toEqual([succeeds ? 'paid' : 'failed'])
            expect(await usdcOf(chain, payer.address)).toBe(own[0]?.state === 'paid' ? START - PRICE : START)
          }
          expect(await usdcOf(chain, to)).toBe(BigInt(paid.length) * PRICE)

          for (const { id, payer } of paid) {
            const deliveries = workflow.deliveries.filter(({ json }) => json.input.who === payer)
            expect(deliveries.length).toBeGreaterThanOrEqual(1)
            expect(new Set(deliveries.map(({ id: webhook }) => webhook))).toEqual(new Set([id.replace('pay_', 'dlv_')]))
            expect(new Set(deliveries.map(({ body }) => body)).size).toBe(1)
            const by = new Webhook(checkout.secret)
            for (const { id: webhook, body, headers } of deliveries) {
              // Signed anew rather than verified: each life's clock is ahead of the one that a receiver has.
              const at = new Date(Number(headers['webhook-timestamp']) * 1000)
              expect(headers['webhook-signature']).toBe(by.sign(webhook, at, body))
            }
          }
          const failed = rows.filter(({ state }) => state === 'failed').length
          const ordered = capture === 'onPayment' ? paid.length : rows.length
          expect(new Set(workflow.deliveries.map(({ id }) => id)).size).toBe(ordered)
          if (capture !== 'onPayment') expect(failed).toBeGreaterThan(0)
          return { paid: paid.length, failed, none: all.length - rows.length, deliveries: workflow.deliveries.length }
        }
      },
      300_000 + KILLS * 30_000,
    )
  },
)

async function sell(mortal: Mortal, callbackUrl: string, terms: { recipient: Hex; capture: Capture }) {
  const created = await mortal.call(
    'POST',
    '/v1/checkouts',
    {
      callbackUrl,
      product: { name: 'Chaos' },
      price: 1,
      network: 'base-sepolia',
      ...terms,
      responseMode: 'lastNode',
      // The clock runs ahead with each life: no workflow is late by that alone.
      runSeconds: 3_600,
      fields: [{ name: 'who', type: 'text', required: true }],
    },
    DEMO_KEY,
  )
  if (created?.status !== 201) throw new Error(`no checkout: ${JSON.stringify(created?.body)}`)
  const id: string = created.body.checkout.id
  const view = await mortal.call('GET', `/p/${id}`)
  return {
    id,
    secret: created.body.secret as string,
    requirements: view?.body.paymentRequirements as Parameters<typeof signed>[2],
  }
}

const DEMO_KEY = 'csk_test_chaos_of_checkouts_0001'

function settings(chain: TestChain, url: string, folder: string): Record<string, string> {
  return {
    DATA_DIR: folder,
    DATABASE_URL: url,
    DATABASE_POOL: '8',
    DEMO_API_KEY: DEMO_KEY,
    PORT: '0',
    LOG_LEVEL: 'silent',
    BASE_SEPOLIA_RPC_URLS: chain.url,
    SPONSOR_PRIVATE_KEYS: chain.accounts[0]!.privateKey,
    RATE_API_PER_MINUTE: '0',
    RATE_PAY_PER_MINUTE: '0',
    GAS_BUDGET_PER_DAY: '0',
    GAS_BUDGET_PER_PAYER_DAY: '0',
  }
}
