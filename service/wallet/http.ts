import { z } from 'zod'
import { reply, route, type AnyRoute } from '../edge/route.ts'
import { toWire } from '../kit/money.ts'
import { amountOut, page, positiveAmount, timestamp } from '../kit/wire.ts'
import type { Transaction, Wallet } from './model.ts'
import type { Wallets } from './service.ts'

export function walletRoutes(wallets: Wallets): AnyRoute[] {
  return [
    route({
      method: 'get',
      path: '/wallet/balance',
      summary: 'The wallet, with what is locked by runs under way',
      tag: 'Wallet',
      auth: 'agent',
      answers: { 200: z.object({ wallet: walletBody }) },
      errors: { 404: 'The user has no wallet.' },
      handle: async ({ caller }) => reply(200, { wallet: toBody(await wallets.balance(caller)) }),
    }),
    route({
      method: 'post',
      path: '/wallet/deposit',
      summary: 'Record a deposit of USDC',
      tag: 'Wallet',
      auth: 'person',
      idempotent: true,
      body: depositBody,
      answers: { 200: depositedBody },
      errors: {
        404: 'The user has no wallet.',
        409: 'The transaction is recorded already, or the Idempotency-Key conflicts.',
      },
      async handle({ caller, body, operation }) {
        const deposit = { amount: body.amount, transactionHash: body.transactionHash ?? null }
        const done = await wallets.deposit(caller, deposit, operation)
        const { amount, transactionHash, newBalance } = done
        return reply(200, { deposited: true, amount: toWire(amount), transactionHash, newBalance: toWire(newBalance) })
      },
    }),
    route({
      method: 'get',
      path: '/wallet/transactions',
      summary: "The wallet's movements, newest first",
      tag: 'Wallet',
      auth: 'agent',
      query: page,
      answers: {
        200: z.object({ transactions: z.array(transactionBody), total: z.int(), limit: z.int(), offset: z.int() }),
      },
      async handle({ caller, query }) {
        const { transactions, total } = await wallets.transactions(caller, query)
        return reply(200, { transactions: transactions.map(toLine), total, ...query })
      },
    }),
    route({
      method: 'get',
      path: '/credits',
      summary: 'Free credits for the tools',
      tag: 'Wallet',
      auth: 'agent',
      answers: { 200: z.object({ credits: z.object({ balance: amountOut, granted: amountOut, spent: amountOut }) }) },
      errors: { 404: 'The user has no wallet.' },
      async handle({ caller }) {
        const { balance, granted, spent } = await wallets.credits(caller)
        return reply(200, { credits: { balance: toWire(balance), granted: toWire(granted), spent: toWire(spent) } })
      },
    }),
  ]
}

const depositBody = z.strictObject({
  amount: positiveAmount,
  transactionHash: z
    .string()
    .regex(/^0x[0-9a-fA-F]{1,64}$/, 'must be 0x and up to 64 hexadecimal digits')
    .nullish()
    .meta({ description: 'The hash of the transfer on chain; recorded once.' }),
})

const depositedBody = z.object({
  deposited: z.boolean(),
  amount: amountOut,
  transactionHash: z.string().nullable(),
  newBalance: amountOut,
})

const walletBody = z
  .object({
    userId: z.string(),
    walletAddress: z.string().nullable(),
    balance: amountOut,
    availableBalance: amountOut,
    pendingLocks: z.record(z.string(), z.number()).meta({ description: 'Locked amounts by run' }),
    totalLocked: amountOut,
    totalDeposited: amountOut,
    totalSpent: amountOut,
  })
  .meta({ id: 'Wallet' })

const transactionBody = z
  .object({
    id: z.string(),
    type: z.enum(['deposit', 'charge', 'earning', 'withdrawal']),
    amount: z.number().meta({ description: 'What it did to the balance: positive in, negative out' }),
    balanceAfter: amountOut,
    reference: z.string().nullable(),
    createdAt: timestamp,
  })
  .meta({ id: 'Transaction' })

/** The wallet as the specification shows it. */
export function toBody(wallet: Wallet): z.infer<typeof walletBody> {
  return {
    userId: wallet.userId,
    walletAddress: wallet.address,
    balance: toWire(wallet.balance),
    availableBalance: toWire(wallet.available),
    pendingLocks: Object.fromEntries(wallet.locks.map((lock) => [lock.id, toWire(lock.amount)])),
    totalLocked: toWire(wallet.locked),
    totalDeposited: toWire(wallet.deposited),
    totalSpent: toWire(wallet.spent),
  }
}

export function toLine(line: Transaction): z.infer<typeof transactionBody> {
  return {
    id: line.id,
    type: line.type,
    amount: toWire(line.amount),
    balanceAfter: toWire(line.balanceAfter),
    reference: line.reference,
    createdAt: line.at.toISOString(),
  }
}
