import type { Sale } from '../../sales/model.ts'
import type { SaleMethod } from '../../sales/ports.ts'

/** Payments from accounts of this server to others: what was set aside with the claim is moved in the ledger. */
export function accountMethod({ pay, giveBack }: AccountMoney): SaleMethod {
  return {
    signed: false,
    simulated: false,
    verify: () => Promise.reject(new Error('a payment from an account has no signature')),
    settle: ({ id }) => Promise.resolve({ status: 'settled', txHash: accountHash(id) }),
    pay,
    giveBack,
  }
}

/** Stands for the transaction hash of a payment that is on no chain. */
function accountHash(id: Sale['id']): string {
  return `account:${id}`
}

/** Moves money between accounts. */
export type AccountMoney = Required<Pick<SaleMethod, 'pay' | 'giveBack'>>
