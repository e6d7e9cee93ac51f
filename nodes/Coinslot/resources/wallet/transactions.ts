import { limit, returnAll } from '../../fields.ts'
import { readList } from '../../pages.ts'
import type { Operation } from '../../step.ts'

export const transactions: Operation = {
  option: {
    name: 'Get Transactions',
    value: 'transactions',
    description: 'What came into the wallet and what went out, newest first',
    action: 'Get the transactions of the wallet',
  },
  fields: [returnAll, limit],
  run: async (step) => await readList(step, { path: '/wallet/transactions' }, 'transactions'),
}
