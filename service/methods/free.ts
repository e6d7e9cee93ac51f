import type { SaleMethod } from '../sales/ports.ts'

/** Sales that cost nothing, because their buyer has a right to them. */
export function freeMethod(): SaleMethod {
  return {
    signed: false,
    simulated: false,
    verify: () => Promise.reject(new Error('nobody signs for a free sale')),
    settle: ({ id }) => Promise.resolve({ status: 'settled', txHash: `free:${id}` }),
  }
}
