import type { IDataObject } from 'n8n-workflow'
import { isObject } from '../../shared/transport.ts'
import { limit, returnAll } from '../fields.ts'
import { read, readList, type Operation } from '../request.ts'

export const getBalance: Operation = {
  option: {
    name: 'Get Balance',
    value: 'balance',
    description: 'Get the balance of the wallet, the amount on hold for runs, and the remaining free credits',
    action: 'Get the balance of the wallet',
  },
  fields: [],
  async run(step) {
    const { wallet } = await read(step, { path: '/wallet/balance' })
    const { credits } = await read(step, { path: '/credits' })
    return [{ json: { ...(isObject(wallet) ? wallet : {}), credits } }]
  },
}

export const getTransactions: Operation = {
  option: {
    name: 'Get Transactions',
    value: 'transactions',
    description: 'Get incoming and outgoing transactions of the wallet, newest first',
    action: 'Get the transactions of the wallet',
  },
  fields: [returnAll, limit],
  async run(step) {
    // The two sides of one transfer share their id, and neither ever changes.
    const keyOf = (line: IDataObject): string => JSON.stringify(line)
    return await readList(step, { path: '/wallet/transactions' }, { list: 'transactions', keyOf })
  },
}
