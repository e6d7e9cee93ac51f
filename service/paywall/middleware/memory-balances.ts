import { usdc, ZERO, type Usdc } from '../../kit/money.ts'
import type { Sale } from '../../sales/model.ts'
import type { Payment } from '../model.ts'
import type { Held, Hold } from '../ports.ts'
import { paymentOf } from '../rules/payment.ts'

/** Prepaid balances of customers, and the holds of calls under way. */
export function memoryBalances() {
  const balances = new Map<string, Balance>()
  /** By token and place: a client may pay with one token of its choice at several. */
  const tokens = new Map<string, Payment['payer']>()
  const holds = new Map<string, { place: string; amount: Usdc; minimum: Usdc; until: Date }>()

  function balanceAt(place: string): Balance {
    const balance = balances.get(place) ?? { available: ZERO, held: ZERO }
    balances.set(place, balance)
    return balance
  }

  function holdAt(
    place: string,
    { call, amount, minimum, until }: Pick<Hold, 'call' | 'amount' | 'minimum' | 'until'>,
  ) {
    const balance = balanceAt(place)
    balance.available = usdc(balance.available - amount)
    balance.held = usdc(balance.held + amount)
    holds.set(call, { place, amount, minimum, until })
  }

  function draw(call: string, cost: Usdc): Usdc {
    const hold = holds.get(call)
    if (hold === undefined) return ZERO
    holds.delete(call)
    const balance = balanceAt(hold.place)
    const taken = cost < hold.amount ? cost : hold.amount
    balance.held = usdc(balance.held - hold.amount)
    balance.available = usdc(balance.available + hold.amount - taken)
    return balance.available
  }

  function credit(sale: Sale, hold: Hold | null): void {
    const { paywallId, network, payer, amount, cost } = paymentOf(sale)
    const place = placeOf(paywallId, network, payer)
    const balance = balanceAt(place)
    balance.available = usdc(balance.available + amount - (cost ?? 0n))
    if (sale.tokenHash !== null) {
      const token = placeOf(paywallId, network, sale.tokenHash.toString('hex'))
      // A known token stays with its payer.
      if (!tokens.has(token)) tokens.set(token, payer)
    }
    if (cost === null && hold !== null) {
      holdAt(place, { ...hold, amount: hold.amount < balance.available ? hold.amount : balance.available })
    }
  }

  return {
    draw,
    credit,
    hold(hold: Hold): Held {
      const { paywallId, network, by } = hold
      const payer = 'payer' in by ? by.payer : tokens.get(placeOf(paywallId, network, by.token.toString('hex')))
      if (payer === undefined) return { held: false, balance: null }
      const place = placeOf(paywallId, network, payer)
      const { available } = balanceAt(place)
      if (available < hold.amount) return { held: false, balance: available, payer }
      holdAt(place, hold)
      return { held: true, payer, left: usdc(available - hold.amount) }
    },
    left(paywall: string, network: string, payer: Payment['payer']): Usdc {
      return balances.get(placeOf(paywall, network, payer))?.available ?? ZERO
    },
    drawExpired(at: number): void {
      for (const [call, { until, minimum }] of holds) if (until.getTime() <= at) draw(call, minimum)
    },
  }
}

interface Balance {
  available: Usdc
  held: Usdc
}

function placeOf(paywall: string, network: string, payerOrToken: string): string {
  return JSON.stringify([paywall, network, payerOrToken])
}
