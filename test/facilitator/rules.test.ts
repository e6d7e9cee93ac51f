import fc from 'fast-check'
import type { Receipt } from '../../service/chain/model.ts'
import type { Operation, Settlement } from '../../service/facilitator/model.ts'
import type { Reason } from '../../service/x402/reasons.ts'
import {
  bumpFees,
  gaps,
  gasLimit,
  gatherMs,
  isMendable,
  isMoved,
  lookAgainMs,
  plan,
  secondsUntilTomorrow,
  shareCost,
} from '../../service/facilitator/rules.ts'
import { isCarriedOut } from '../../service/methods/auth-capture/rules.ts'
import { REASONS, refuseTime } from '../../service/methods/exact/rules.ts'

const item = fc.record({ id: fc.uuid(), alone: fc.boolean() })

const PACE = { batchMax: 50, gatherMs: 100, quietMs: 15 }
const gathering = { claims: 1, arriving: 0, takenLast: 1, quietMs: 0, waitedMs: 0 }
const moment = fc.record({
  claims: fc.nat(80),
  arriving: fc.nat(80),
  takenLast: fc.nat(200),
  quietMs: fc.nat(200),
  waitedMs: fc.nat(200),
})

describe('the rules of settling', () => {
  it('sends a claim at once when no other is being sent, and a full batch always', () => {
    expect(gatherMs(gathering, PACE)).toBe(0)
    expect(gatherMs({ ...gathering, claims: 50, arriving: 9, takenLast: 50 }, PACE)).toBe(0)
  })

  it('let a claim wait for claims being checked, and briefly for the rest of a large group', () => {
    expect(gatherMs({ ...gathering, arriving: 1, waitedMs: 40 }, PACE)).toBe(60)
    expect(gatherMs({ ...gathering, takenLast: 16, quietMs: 5 }, PACE)).toBe(10)
    expect(gatherMs({ ...gathering, takenLast: 16, quietMs: 15 }, PACE)).toBe(0)
    expect(gatherMs({ ...gathering, claims: 16, takenLast: 16 }, PACE)).toBe(0)
  })

  it('let no claim wait longer than the gather time', () => {
    fc.assert(
      fc.property(moment, (situation) => {
        const waitMs = gatherMs(situation, PACE)
        expect(waitMs).toBeGreaterThanOrEqual(0)
        expect(waitMs === 0 || situation.waitedMs + waitMs <= PACE.gatherMs).toBe(true)
      }),
    )
  })

  it('a block is seen within half of the time that it took, and at most a turn late', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 5_000, noNaN: true }), (blockMs) => {
        let [at, looks] = [0, 0]
        while (at < blockMs) {
          at += lookAgainMs(at, 100)
          looks++
        }
        expect(at - blockMs).toBeLessThanOrEqual(Math.max(1, Math.min(100, blockMs / 2)))
        expect(looks).toBeLessThanOrEqual(16 + blockMs / 100)
      }),
    )
  })

  it('plan each claim once, in batches up to the maximum size, with lone claims alone', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(item, { selector: ({ id }) => id, maxLength: 200 }),
        fc.integer({ min: 1, max: 50 }),
        (items, largest) => {
          const groups = plan(items, largest)
          expect(
            groups
              .flat()
              .map(({ id }) => id)
              .sort(),
          ).toEqual(items.map(({ id }) => id).sort())
          for (const group of groups) {
            expect(group.length).toBeGreaterThan(0)
            expect(group.length).toBeLessThanOrEqual(largest)
            if (group.some(({ alone }) => alone)) expect(group).toHaveLength(1)
          }
          const places = groups.map(([first]) => items.indexOf(first!))
          expect(places).toEqual(places.toSorted((one, other) => one - other))
        },
      ),
    )
  })

  it('the shares of a cost add up to it, to the last wei', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 20n }), fc.integer({ min: 1, max: 60 }), (cost, of) => {
        const shares = shareCost(cost, of)
        expect(shares).toHaveLength(of)
        expect(shares.reduce((sum, share) => sum + share, 0n)).toBe(cost)
        expect(shares.every((share) => share >= 0n)).toBe(true)
      }),
    )
  })

  it("raise a replacement's fees by an eighth, and at least to today's", () => {
    const fee = fc.bigInt({ min: 0n, max: 10n ** 12n })
    fc.assert(
      fc.property(fee, fee, fee, fee, (maxFee, priorityFee, maxFeePerGas, maxPriorityFeePerGas) => {
        const raised = bumpFees({ maxFee, priorityFee }, { maxFeePerGas, maxPriorityFeePerGas })
        expect(raised.maxFeePerGas * 8n).toBeGreaterThanOrEqual(maxFee * 9n)
        expect(raised.maxPriorityFeePerGas * 8n).toBeGreaterThanOrEqual(priorityFee * 9n)
        expect(raised.maxFeePerGas).toBeGreaterThanOrEqual(maxFeePerGas)
        expect(raised.maxPriorityFeePerGas).toBeGreaterThanOrEqual(maxPriorityFeePerGas)
      }),
    )
  })

  it('the gaps are the nonces below the lowest open one that the chain still waits for', () => {
    expect(gaps(5, [])).toEqual([])
    expect(gaps(5, [5, 6])).toEqual([])
    expect(gaps(7, [5, 6])).toEqual([])
    expect(gaps(5, [9, 8])).toEqual([5, 6, 7])
  })

  it('retry failures by money or the chain, at most ten times', () => {
    const failed = (reason: Reason, attempts = 1): boolean => isMendable({ state: 'failed', reason, attempts }, REASONS)
    expect(failed('invalid_exact_evm_insufficient_balance')).toBe(true)
    expect(failed('invalid_exact_evm_insufficient_balance', 9)).toBe(true)
    expect(failed('invalid_exact_evm_insufficient_balance', 10)).toBe(false)
    expect(failed('invalid_exact_evm_nonce_already_used')).toBe(false)
    expect(failed('invalid_exact_evm_payload_authorization_valid_before')).toBe(false)
    expect(failed('invalid_exact_evm_signature')).toBe(false)
    for (const state of ['claimed', 'signed', 'broadcast', 'settled'] as const) {
      expect(isMendable({ state, reason: null, attempts: 1 }, REASONS)).toBe(false)
    }
  })

  it('set a gas limit of the simulated gas and a third more', () => {
    fc.assert(
      fc.property(fc.array(fc.bigInt({ min: 30_000n, max: 400_000n }), { minLength: 1, maxLength: 50 }), (each) => {
        const simulated = each.reduce((sum, gas) => sum + gas, 0n)
        expect(gasLimit(each.map((gas) => ({ gas })))).toBeGreaterThan((simulated * 4n) / 3n)
      }),
    )
  })

  it('a payment needs six seconds left, and is valid from its first second', () => {
    const now = new Date(1_000_999)
    const [first, last] = [1000n, 1006n]
    expect(refuseTime({ validAfter: first, validBefore: last }, now)).toBeNull()
    expect(refuseTime({ validAfter: first, validBefore: last - 1n }, now)).toMatch(/valid_before$/)
    expect(refuseTime({ validAfter: first + 1n, validBefore: last }, now)).toMatch(/valid_after$/)
  })

  it('a day of gas ends at midnight UTC', () => {
    expect(secondsUntilTomorrow(new Date('2026-03-01T23:59:59.500Z'))).toBe(1)
    expect(secondsUntilTomorrow(new Date('2026-03-01T00:00:00Z'))).toBe(86_400)
  })

  describe('a transaction moved an authorization', () => {
    const [from, to, other] = ['0x01', '0x02', '0x03'] as const
    const authorization = { from, to, value: 5n, nonce: '0x0a' }
    const settlement = { authorization } as unknown as Settlement
    const used = { authorizer: from, nonce: '0x0a', logIndex: 4 } as const
    const transfer = { from, to, value: 5n, logIndex: 5 } as const
    const receipt = (changes: Partial<Receipt>): Receipt =>
      ({ status: 'success', used: [used], transfers: [transfer], cancelled: [], ...changes }) as Receipt

    it('only by its own use and the transfer right after it', () => {
      expect(isMoved(settlement, receipt({}))).toBe(true)
      expect(isMoved(settlement, receipt({ status: 'reverted' }))).toBe(false)
      expect(isMoved(settlement, receipt({ used: [] }))).toBe(false)
      expect(isMoved(settlement, receipt({ used: [{ ...used, nonce: '0x0b' }] }))).toBe(false)
      expect(isMoved(settlement, receipt({ used: [{ ...used, authorizer: other }] }))).toBe(false)
      expect(isMoved(settlement, receipt({ transfers: [] }))).toBe(false)
      expect(isMoved(settlement, receipt({ transfers: [{ ...transfer, value: 4n }] }))).toBe(false)
      // A neighbour's transfer of the same amount stands before, another one's between.
      expect(isMoved(settlement, receipt({ transfers: [{ ...transfer, logIndex: 3 }] }))).toBe(false)
      expect(
        isMoved(
          settlement,
          receipt({
            transfers: [
              { ...transfer, to: other },
              { ...transfer, logIndex: 9 },
            ],
          }),
        ),
      ).toBe(false)
    })

    it('and executed a message to the escrow only by its own event', () => {
      const captured = { type: 'capture', paymentHash: '0x0c', amount: 5n } as const
      const capture = { type: 'capture', paymentHash: '0x0c' } as unknown as Operation
      const isDone = (changes: Partial<Receipt>) =>
        isCarriedOut(capture, 5n, receipt({ escrow: [captured], ...changes }))
      expect(isDone({})).toBe(true)
      expect(isDone({ status: 'reverted' })).toBe(false)
      expect(isDone({ escrow: [] })).toBe(false)
      expect(isDone({ escrow: [{ ...captured, amount: 4n }] })).toBe(false)
      expect(isDone({ escrow: [{ ...captured, paymentHash: '0x0d' }] })).toBe(false)
      expect(isDone({ escrow: [{ ...captured, type: 'void' }] })).toBe(false)
    })
  })
})
