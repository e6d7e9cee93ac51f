import { isObject } from '../../../shared/transport.ts'
import { read, type Operation } from '../../step.ts'

export const balance: Operation = {
  option: {
    name: 'Get Balance',
    value: 'balance',
    description: 'What is in the wallet, what is locked by runs, and what is left of the free credits',
    action: 'Get the balance of the wallet',
  },
  fields: [],
  async run(step) {
    const { wallet } = await read(step, { path: '/wallet/balance' })
    const { credits } = await read(step, { path: '/credits' })
    return [{ json: { ...(isObject(wallet) ? wallet : {}), credits } }]
  },
}
