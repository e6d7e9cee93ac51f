import type { Clock } from '../../kit/clock.ts'
import { DomainError } from '../../kit/errors.ts'
import type { Statements } from '../../kit/transaction.ts'
import type { Act, Capture, Release, Reserve } from '../model.ts'
import type { Accounts } from './accounts.ts'
import { hashOfCapture, hashOfRelease, type EndRequest } from './end.ts'
import type { Charge } from './charge-batch.ts'

/** Turns a capability's commands into charges of a batch: adds the accounts' numbers, and the time. */
export function createPreparation(accounts: Accounts, clock: Clock) {
  async function reserve(command: Reserve, inside?: Statements): Promise<ReserveCharge> {
    return { reserve: { command, accounts: await accounts.of(command.owner, inside), at: clock.now() } }
  }

  async function capture(command: Capture, inside?: Statements): Promise<EndCharge> {
    const { hold, kind, amount, reference, announcements, owner } = command
    const { environment } = owner
    const shares: { account: bigint; amount: bigint }[] = []
    for (const share of command.shares) {
      shares.push({ account: await accounts.recipient(share.to, environment, inside), amount: share.amount })
    }
    const revenue = await accounts.ofPlatform(environment, 'revenue', inside)
    const redeemed = await accounts.ofPlatform(environment, 'redeemed', inside)
    const hash = hashOfCapture(command)
    const charge = { hold, hash, state: 'captured', kind, amount, shares, revenue, redeemed, reference } as const
    const { wallet } = await accounts.of(owner, inside)
    return { end: { ...charge, announcements, at: clock.now() }, wallet }
  }

  async function release(command: Release, inside?: Statements): Promise<EndCharge> {
    const { hold, announcements } = command
    const nothing = { amount: 0n, shares: [], revenue: 0n, redeemed: 0n, reference: null }
    const hash = hashOfRelease()
    const end: EndRequest = {
      hold,
      hash,
      state: 'released',
      kind: 'release',
      ...nothing,
      announcements,
      at: clock.now(),
    }
    return { end, wallet: (await accounts.of(command.owner, inside)).wallet }
  }

  /** Looked up before the transaction: inside one, what is found is not remembered. */
  async function act(one: Act): Promise<Charge | Error> {
    try {
      if ('reserve' in one) return await reserve(one.reserve)
      return 'capture' in one ? await capture(one.capture) : await release(one.release)
    } catch (error) {
      if (error instanceof DomainError) return error
      throw error
    }
  }

  return { reserve, capture, release, act }
}

type ReserveCharge = Extract<Charge, { reserve: unknown }>
export type EndCharge = Extract<Charge, { end: unknown }>
