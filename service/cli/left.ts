import type { Config } from '../config.ts'
import type { Database } from '../database/client.ts'
import type { Hex } from '../chain/model.ts'
import { toDecimal } from '../kit/money.ts'
import type { Booking, Left } from '../wallet/service/booking.ts'
import { PLATFORM } from '../wallet/model.ts'
import { openBooking } from '../wiring/wallet-booking.ts'

/** `npm run admin -- left`: what left the treasury on chain and no row explains, after a restore. */
export async function showLeft(config: Config, database: Database): Promise<string> {
  return await withBooking(config, database, async (booking) => {
    const left = await booking.left()
    if (left.length === 0) return 'Every transfer out of the treasury has its row.'
    return ['Left the treasury, and no row explains it:', ...left.map(lineOf), FURTHER].join('\n')
  })
}

/** `npm run admin -- book-withdrawal 0x… usr_…`: what the chain paid, as a withdrawal of this account or the operator's loss. */
export async function bookWithdrawal(config: Config, database: Database, given: readonly string[]): Promise<string> {
  const [hash = '', userId = '', nonce = null] = given
  return await withBooking(config, database, async (booking) => {
    const booked = await booking.withdrawal(hash.toLowerCase() as Hex, userId, nonce?.toLowerCase() ?? null)
    if (userId === PLATFORM)
      return `${booked.id}: ${toDecimal(booked.amount)} USDC to ${booked.to} are booked as a loss of your own.`
    return `${booked.id}: ${toDecimal(booked.amount)} USDC to ${booked.to} are booked as paid to ${userId}.`
  })
}

async function withBooking<T>(config: Config, database: Database, work: (booking: Booking) => Promise<T>): Promise<T> {
  const { booking, close } = await openBooking(config, database)
  try {
    return await work(booking)
  } finally {
    await close()
  }
}

function lineOf({ network, hash, block, to, amount, nonce }: Left): string {
  const by = nonce === null ? "by the treasury's own key, without an authorization" : `nonce ${nonce}`
  return `  ${hash} ${network} block ${String(block)} ${toDecimal(amount)} USDC to ${to}, ${by}`
}

const FURTHER = `Book a withdrawal of an account, with its hash and the id of the account: npm run admin -- book-withdrawal <hash> <usr_…> [nonce]
A refund of a guest's run that failed is a withdrawal of usr_guests, not of the creator: npm run admin -- book-withdrawal <hash> usr_guests [nonce]
Where no account has that money, because it was earned after the dump, book it as a loss of your own: npm run admin -- book-withdrawal <hash> platform [nonce]`
