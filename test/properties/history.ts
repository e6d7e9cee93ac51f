import fc from 'fast-check'

/** One user's dealings with the ledger, as a script: the commands, their order, and where they crash. */
export type Step =
  | { act: 'deposit'; amount: bigint }
  | { act: 'grant'; amount: bigint }
  | { act: 'reserve'; amount: bigint; useCredits: boolean }
  | { act: 'capture'; lock: number; part: number; share: number }
  | { act: 'release'; lock: number }
  | { act: 'payout'; lock: number }
  | { act: 'transfer'; amount: bigint; share: number }
  /** The process of the oldest holds dies: their deadline passes and the sweeper runs. */
  | { act: 'die' }
  /** Repeats an earlier command exactly. */
  | { act: 'repeat'; back: number }
  /** The same id with other contents. */
  | { act: 'contradict'; back: number }

const amount = fc.bigInt({ min: 1n, max: 5_000_000n })
const percent = fc.integer({ min: 0, max: 100 })
const lock = fc.nat({ max: 5 })

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ act: fc.constant('deposit' as const), amount }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('grant' as const), amount }) },
  { weight: 6, arbitrary: fc.record({ act: fc.constant('reserve' as const), amount, useCredits: fc.boolean() }) },
  { weight: 4, arbitrary: fc.record({ act: fc.constant('capture' as const), lock, part: percent, share: percent }) },
  { weight: 2, arbitrary: fc.record({ act: fc.constant('release' as const), lock }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('payout' as const), lock }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('transfer' as const), amount, share: percent }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('die' as const) }) },
  { weight: 2, arbitrary: fc.record({ act: fc.constant('repeat' as const), back: fc.nat({ max: 6 }) }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('contradict' as const), back: fc.nat({ max: 6 }) }) },
)

export const history = fc.array(step, { minLength: 1, maxLength: 14 })
