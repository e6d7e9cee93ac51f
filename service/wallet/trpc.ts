import { renderSVG } from 'uqr'
import { z } from 'zod'
import { person, router } from '../edge/trpc.ts'
import { toWire } from '../kit/money.ts'
import { toBody, toLine, toWithdrawal } from './http.ts'
import type { Wallets } from './service.ts'

export function walletRouter(wallets: Wallets) {
  return router({
    balance: person.query(async ({ ctx }) => toBody(await wallets.balance(ctx.caller))),
    /** Where to send USDC, with what a phone's camera needs for it. */
    receiving: person.query(async ({ ctx }) => {
      const receiving = await wallets.receiving(ctx.caller)
      return receiving === null ? null : { ...receiving, qr: renderSVG(receiving.link, { border: 2 }) }
    }),
    credits: person.query(async ({ ctx }) => {
      const { balance, granted, spent } = await wallets.credits(ctx.caller)
      return { balance: toWire(balance), granted: toWire(granted), spent: toWire(spent) }
    }),
    transactions: person.input(pageInput).query(async ({ ctx, input }) => {
      const { transactions, total } = await wallets.transactions(ctx.caller, input)
      return {
        total,
        transactions: transactions.map(toLine),
      }
    }),
    withdrawals: person.input(pageInput).query(async ({ ctx, input }) => {
      const { withdrawals, total } = await wallets.withdrawals.list(ctx.caller, input)
      return { total, withdrawals: withdrawals.map(toWithdrawal) }
    }),
  })
}

const pageInput = z.object({
  limit: z.int().min(1).max(100).default(20),
  offset: z.int().min(0).max(1_000_000_000).default(0),
})
