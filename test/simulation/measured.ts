/** Results of benchmarks on two cores (docs/benchmarks.md): a simulation that does not reproduce them is wrong. */
export const MEASURED = {
  /** `npm run bench -- facilitator`: settlements a second at blocks of 2 s, by callers who wait. */
  settlements: [
    { callers: 1, perSecond: 0.5 },
    { callers: 16, perSecond: 8.4 },
    { callers: 64, perSecond: 35 },
    { callers: 512, perSecond: 283.1 },
  ],
  /** `npm run bench -- ledger`: charges a second on one wallet, by callers who wait. */
  hotWallet: [
    { callers: 1, perSecond: 649 },
    { callers: 16, perSecond: 5960 },
    { callers: 64, perSecond: 10_912 },
  ],
} as const

/** Fitted to these three points: a flight's own time, and what each ask adds. */
export const LEDGER_COST = { flightMs: 0.76, operationMs: 0.0337 }
