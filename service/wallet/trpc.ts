import { renderSVG } from 'uqr'
import { actKey, asked, firstOf, keyed, named, paging, person, router, someDays } from '../api/trpc.ts'
import type { Clock } from '../kit/clock.ts'
import { toWire, usdc, ZERO } from '../kit/money.ts'
import { depositBody, toBody, toLine, toWithdrawal, withdrawBody } from './http/wallet.ts'
import type { Wallets } from './service/wallets.ts'

export function walletRouter(wallets: Wallets, clock: Clock) {
  return router({
    balance: person.query(async ({ ctx }) => toBody(await wallets.balance(ctx.caller))),
    /** Play money for the sandbox. Real money arrives by a transfer. */
    deposit: keyed.input(asked(depositBody.pick({ amount: true }).extend(actKey))).mutation(({ ctx, input }) =>
      ctx.once(input, async (operation) => {
        const deposit = { amount: input.amount, transactionHash: null }
        const { newBalance } = await wallets.deposit(ctx.caller, deposit, operation)
        return { newBalance: toWire(newBalance) }
      }),
    ),
    /** The address to send USDC to, with a link that a phone's camera can read. */
    receiving: person.query(async ({ ctx }) => {
      const receiving = await wallets.receiving(ctx.caller)
      return receiving === null ? null : { ...receiving, qr: renderSVG(receiving.link, { border: 2 }) }
    }),
    credits: person.query(async ({ ctx }) => {
      const { balance, granted, spent } = await wallets.credits(ctx.caller)
      return { balance: toWire(balance), granted: toWire(granted), spent: toWire(spent) }
    }),
    transactions: person.input(asked(paging)).query(async ({ ctx, input }) => {
      const { transactions, total } = await wallets.transactions(ctx.caller, input)
      return {
        total,
        transactions: transactions.map(toLine),
      }
    }),
    days: person.input(asked(someDays)).query(async ({ ctx, input }) => {
      const { wholeFrom, days } = await wallets.days(ctx.caller, firstOf(input, clock))
      const moved = days.map(({ day, moneyIn, sales, moneyOut }) => ({
        day,
        moneyIn: toWire(moneyIn),
        sales: toWire(sales),
        deposits: toWire(usdc(moneyIn - sales)),
        moneyOut: toWire(moneyOut),
      }))
      return { wholeFrom, days: moved }
    }),
    /** Withdrawals are free: the platform pays their cost on chain. */
    terms: person.query(async ({ ctx }) => {
      const { perDay, left, minimum, ...rest } = await wallets.withdrawals.terms(ctx.caller)
      return {
        ...rest,
        fee: toWire(ZERO),
        minimum: toWire(minimum),
        perDay: perDay === null ? null : toWire(perDay),
        left: left === null ? null : toWire(left),
      }
    }),
    /** The payout address that is used when a withdrawal names none. Null removes it. */
    setUsualAddress: person.input(asked(usualAddressBody)).mutation(async ({ ctx, input }) => {
      await wallets.recipients.setUsual(ctx.caller, input.to)
    }),
    withdrawals: person.input(asked(paging)).query(async ({ ctx, input }) => {
      const { withdrawals, total } = await wallets.withdrawals.list(ctx.caller, input)
      return { total, withdrawals: withdrawals.map(toWithdrawal) }
    }),
    withdrawal: person
      .input(asked(named))
      .query(async ({ ctx, input }) => toWithdrawal(await wallets.withdrawals.find(ctx.caller, input.id))),
    withdraw: keyed.input(asked(withdrawBody.extend(actKey))).mutation(({ ctx, input }) =>
      ctx.once(input, async (operation, keyHash, mayHaveBegun) => {
        const wanted = { amount: input.amount, to: input.to, keyHash, mayHaveBegun }
        return toWithdrawal(await wallets.withdrawals.withdraw(ctx.caller, wanted, operation))
      }),
    ),
  })
}

const usualAddressBody = withdrawBody.pick({ to: true }).extend({ to: withdrawBody.shape.to.nullable() })
