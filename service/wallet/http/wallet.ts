import { z } from 'zod'
import { reply, route, type AnyRoute } from '../../api/route.ts'
import { recipientAddress } from '../../kit/address.ts'
import { toWire } from '../../kit/money.ts'
import { amountOut, page, positiveAmount, timestamp } from '../../kit/wire.ts'
import type { Address } from '../../chain/model.ts'
import type { Transaction, Wallet, Withdrawal } from '../model.ts'
import type { Wallets } from '../service/wallets.ts'

export function walletRoutes(wallets: Wallets): AnyRoute[] {
  return [
    route({
      method: 'get',
      path: '/wallet/balance',
      summary: 'Get the wallet and the amounts that runs in progress lock',
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
        409: 'The transaction has already been recorded, or the Idempotency-Key conflicts.',
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
      auth: 'person',
      query: page,
      answers: {
        200: z.object({ transactions: z.array(transactionBody), total: z.int(), limit: z.int(), offset: z.int() }),
      },
      async handle({ caller, query }) {
        const { transactions, total } = await wallets.transactions(caller, query)
        return reply(200, { transactions: transactions.map(toLine), total, ...query })
      },
    }),
    ...withdrawalRoutes(wallets),
    ...alertRoutes(wallets),
    route({
      method: 'get',
      path: '/credits',
      summary: 'Free credits for the tools',
      tag: 'Wallet',
      auth: 'agent',
      answers: {
        200: z.object({
          credits: z.object({
            balance: amountOut,
            granted: amountOut,
            spent: amountOut,
            withheld: z.enum(['sign_up_bound']).nullable().meta({
              description:
                'Why nothing was granted: too many accounts of the same mail domain or caller address signed up on that day. Null otherwise',
            }),
          }),
        }),
      },
      errors: { 404: 'The user has no wallet.' },
      async handle({ caller }) {
        const { balance, granted, spent, withheld } = await wallets.credits(caller)
        const credits = { balance: toWire(balance), granted: toWire(granted), spent: toWire(spent), withheld }
        return reply(200, { credits })
      },
    }),
  ]
}

function withdrawalRoutes(wallets: Wallets): AnyRoute[] {
  return [
    route({
      method: 'post',
      path: '/wallet/withdraw',
      summary: 'Pay out USDC to an address',
      tag: 'Wallet',
      auth: 'person',
      idempotent: true,
      body: withdrawBody,
      answers: { 200: z.object({ withdrawal: withdrawalBody }) },
      errors: {
        402: 'The balance is too low.',
        403: 'The amount exceeds the 24-hour limit, or the address is not allowed.',
        404: 'The user has no wallet.',
        409: 'The Idempotency-Key conflicts.',
        503: 'This server has no chain to pay out on.',
      },
      async handle({ caller, body, operation, keyHash, mayHaveBegun }) {
        const made = await wallets.withdrawals.withdraw(caller, { ...body, keyHash, mayHaveBegun }, operation)
        return reply(200, { withdrawal: toWithdrawal(made) })
      },
    }),
    route({
      method: 'get',
      path: '/wallet/withdrawals',
      summary: 'Withdrawals, newest first',
      tag: 'Wallet',
      auth: 'person',
      query: page,
      answers: {
        200: z.object({ withdrawals: z.array(withdrawalBody), total: z.int(), limit: z.int(), offset: z.int() }),
      },
      async handle({ caller, query }) {
        const { withdrawals, total } = await wallets.withdrawals.list(caller, query)
        return reply(200, { withdrawals: withdrawals.map(toWithdrawal), total, ...query })
      },
    }),
    route({
      method: 'get',
      path: '/wallet/withdrawals/:id',
      summary: 'Get a withdrawal and its status',
      tag: 'Wallet',
      auth: 'person',
      params: z.object({ id: z.string() }),
      answers: { 200: z.object({ withdrawal: withdrawalBody }) },
      errors: { 404: 'There is no such withdrawal.' },
      async handle({ caller, params }) {
        return reply(200, { withdrawal: toWithdrawal(await wallets.withdrawals.find(caller, params.id)) })
      },
    }),
  ]
}

function alertRoutes({ alerts }: Wallets): AnyRoute[] {
  return [
    route({
      method: 'get',
      path: '/wallet/alert',
      summary: 'Get the balance below which `wallet.low_balance` is sent',
      tag: 'Wallet',
      auth: 'person',
      answers: { 200: alertBody },
      async handle({ caller }) {
        const below = await alerts.find(caller)
        return reply(200, { below: below === null ? null : toWire(below) })
      },
    }),
    route({
      method: 'post',
      path: '/wallet/alert',
      summary: 'Set the balance below which `wallet.low_balance` is sent; null turns it off',
      tag: 'Wallet',
      auth: 'person',
      body: z.strictObject({ below: positiveAmount.nullable() }),
      answers: { 200: alertBody },
      errors: { 404: 'The user has no wallet.' },
      async handle({ caller, body }) {
        await alerts.set(caller, body.below)
        return reply(200, { below: body.below === null ? null : toWire(body.below) })
      },
    }),
  ]
}

export const depositBody = z.strictObject({
  amount: positiveAmount,
  transactionHash: z
    .string()
    .regex(/^0x[0-9a-fA-F]{1,64}$/, 'must be 0x and up to 64 hexadecimal digits')
    .nullish()
    .meta({ description: 'The hash of the transfer on chain; recorded once.' }),
})

export const withdrawBody = z.strictObject({
  amount: positiveAmount,
  to: recipientAddress
    .transform((to) => to as Address)
    .meta({
      description: "An address on the wallet's network",
      examples: ['0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'],
    }),
})

const withdrawalBody = z
  .object({
    id: z.string(),
    status: z.enum(['pending', 'submitted', 'confirmed', 'failed']),
    amount: amountOut,
    to: z.string(),
    network: z.string(),
    txHash: z.string().nullable(),
    reason: z.enum(['treasury_short', 'expired', 'canceled']).nullable().meta({
      description: 'Why it failed; the money was returned',
    }),
    createdAt: timestamp,
    submittedAt: timestamp.nullable(),
    endedAt: timestamp.nullable(),
  })
  .meta({ id: 'Withdrawal' })

const alertBody = z.object({ below: amountOut.nullable() })

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
    type: z.enum(['deposit', 'sale', 'charge', 'earning', 'withdrawal', 'refund']).meta({
      description:
        '`deposit`: your own money. `sale`: a payment on chain for a checkout or paywall of yours. `charge`: a run, a call or a purchase. `earning`: your share of a run or a template that someone paid for. `withdrawal`: money that left. `refund`: money that went back to a buyer, or came back to you as the buyer',
    }),
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

export function toWithdrawal(withdrawal: Withdrawal): z.infer<typeof withdrawalBody> {
  const { id, state, amount, to, network, simulated, transactionHash, reason } = withdrawal
  const simulatedHash = state === 'confirmed' ? `simulated:${id}` : null
  return {
    id,
    status: state,
    amount: toWire(amount),
    to,
    network,
    txHash: simulated ? simulatedHash : transactionHash,
    reason,
    createdAt: withdrawal.createdAt.toISOString(),
    submittedAt: withdrawal.submittedAt?.toISOString() ?? null,
    endedAt: withdrawal.endedAt?.toISOString() ?? null,
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
