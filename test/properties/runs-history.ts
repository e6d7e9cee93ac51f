import fc from 'fast-check'

/** The plan of one run: its price, how its execution ends, and what happens in between. */
export interface Plan {
  price: bigint
  /** Which of a person's assets it is; each has another creator, one of them the person. */
  asset: number
  execution: 'succeeds' | 'fails' | 'breaks' | 'is canceled' | 'is swept' | 'dies'
  queued: boolean
  /** The request is sent again under the same name, after the answer or while it is under way. */
  repeated: boolean
}

const plan: fc.Arbitrary<Plan> = fc.record({
  price: fc.oneof(fc.constant(0n), fc.bigInt({ min: 1n, max: 3_000_000n })),
  asset: fc.nat({ max: 2 }),
  execution: fc.oneof(
    { weight: 5, arbitrary: fc.constant('succeeds' as const) },
    { weight: 2, arbitrary: fc.constant('fails' as const) },
    { weight: 1, arbitrary: fc.constant('breaks' as const) },
    { weight: 2, arbitrary: fc.constant('is canceled' as const) },
    { weight: 1, arbitrary: fc.constant('is swept' as const) },
    { weight: 1, arbitrary: fc.constant('dies' as const) },
  ),
  queued: fc.boolean(),
  repeated: fc.boolean(),
})

export const history = fc.array(plan, { minLength: 1, maxLength: 10 })
