import fc from 'fast-check'
import { newId } from '../../service/kit/ids.ts'
import { DomainError } from '../../service/kit/errors.ts'
import { usdc } from '../../service/kit/money.ts'
import { assertLeast } from '../../service/refunds/rules.ts'
import { findRefundDifferences } from '../../service/refunds/store.ts'
import { testService, type TestService } from '../harness/service.ts'
import { addSale, work } from '../refunds/sales.ts'

const SEED = Number(process.env['SEED'] ?? 20_261_124)
const HISTORIES = 40
const PAID = 100

/** In hundredths of a dollar. A request without an amount is for all that is left. */
type Step =
  | { act: 'request'; amount: number | null; again: boolean }
  | { act: 'deposit'; amount: number }
  | { act: 'work' }
  | { act: 'wait'; days: number }

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      act: fc.constant('request' as const),
      amount: fc.option(fc.integer({ min: 1, max: 60 }), { freq: 4 }),
      again: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ act: fc.constant('deposit' as const), amount: fc.integer({ min: 1, max: 60 }) }),
  },
  { weight: 3, arbitrary: fc.constant({ act: 'work' as const }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('wait' as const), days: fc.constantFrom(1, 13, 15) }) },
)

test('a refund on a chain is at least five cents or all that is left; other ways have no minimum', () => {
  const micro = (max: number) => fc.bigInt({ min: 1n, max: BigInt(max) }).map((value) => usdc(value))
  const ways = fc.constantFrom('wallet' as const, 'own' as const, 'account' as const, 'simulated' as const)
  fc.assert(
    fc.property(
      micro(200_000),
      fc.integer({ min: 0, max: 99 }),
      micro(200_000),
      ways,
      (amount, part, requested, way) => {
        const refunded = usdc((amount * BigInt(part)) / 100n)
        const left = usdc(amount - refunded)
        const capped = requested > left ? left : requested
        const accepts = () => assertLeast(capped, way, { amount, refunded })
        const isChain = way === 'wallet' || way === 'own'
        const isEnough = capped >= 50_000n || (capped === left && (left >= 100n || left === amount))
        if (isChain && !isEnough) expect(accepts).toThrow(DomainError)
        else expect(accepts).not.toThrow()
      },
    ),
    { seed: SEED, numRuns: 2_000 },
  )
})

describe('any history of refunds', () => {
  let service: TestService
  beforeAll(async () => {
    service = await testService({ WITHDRAWAL_LIMIT_PER_DAY: '0', WITHDRAWAL_LIMIT_TOTAL_PER_DAY: '0' })
  })
  afterAll(() => service.close())

  const cents = (amount: number) => usdc(BigInt(amount) * 10_000n)

  async function play(steps: readonly Step[]): Promise<void> {
    const { refunds, database, clock, ledger } = service
    const person = await service.person()
    const owner = { userId: person.caller.user.id, environment: 'sandbox' as const }
    const saleId = await addSale(service, person, { amount: PAID * 10_000 })
    let deposited = 0n
    for (const one of steps) {
      switch (one.act) {
        case 'deposit': {
          const amount = cents(one.amount)
          const id = newId('dep', clock.now())
          await ledger.credit({ id, kind: 'deposit', owner, amount, reference: null, act: id })
          deposited += amount
          break
        }
        case 'request': {
          const operation = newId('op', clock.now())
          const amount = one.amount === null ? null : cents(one.amount)
          const request = () => refunds.request({ saleId, amount, reason: null, by: 'seller', owner }, operation)
          // Repeated at the same time, it is one refund.
          await Promise.allSettled(one.again ? [request(), request()] : [request()])
          break
        }
        case 'work':
          clock.forward(301_000)
          await work(service)
          break
        case 'wait':
          clock.forward(one.days * 86_400_000)
          break
      }
      const all = await refunds.ofSale(saleId)
      const sumOf = (states: readonly string[]) =>
        all.reduce((sum, { state, amount }) => (states.includes(state) ? sum + amount : sum), 0n)
      const [sale] = await database.statements.run<{ refunded: bigint; state: string }>(
        'SELECT refunded, state::text AS state FROM sale WHERE id = $1',
        [saleId],
      )
      const confirmed = sumOf(['confirmed'])
      expect(sale!.refunded).toBe(sumOf(['requested', 'funded', 'sent', 'confirmed']))
      expect(sale!.refunded).toBeLessThanOrEqual(cents(PAID))
      expect(sale!.state).toBe(confirmed === cents(PAID) ? 'refunded' : 'paid')
      const { funds } = (await ledger.wallet(owner))!
      expect(funds.available + funds.locked).toBe(deposited - confirmed)
      expect(funds.locked).toBe(sumOf(['funded', 'sent']))
    }
  }

  test('keeps the refunded amount between zero and the payment, and the books sound', async () => {
    await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 14 }), play), {
      numRuns: HISTORIES,
      seed: SEED,
      endOnFailure: true,
    })
    expect(await service.ledger.differences()).toEqual([])
    expect(await findRefundDifferences(service.database.statements)).toEqual([])
  })
})
