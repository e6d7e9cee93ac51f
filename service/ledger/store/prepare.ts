import type { Clock } from '../../kit/clock.ts'
import { DomainError } from '../../kit/errors.ts'
import type { Statements } from '../../kit/transaction.ts'
import type { Act, Capture, Release, Reserve } from '../model.ts'
import type { Accounts } from './accounts.ts'
import { hashOfCapture, hashOfRelease, type EndAsk } from './end.ts'
import type { Ask } from './flight.ts'

/** From what a capability wants to what a flight is asked for: with the accounts' numbers, and when. */
export function createPreparation(accounts: Accounts, clock: Clock) {
  async function reserve(command: Reserve, inside?: Statements): Promise<ReservingAsk> {
    return { reserve: { command, accounts: await accounts.of(command.owner, inside), at: clock.now() } }
  }

  async function capture(command: Capture, inside?: Statements): Promise<EndingAsk> {
    const { environment } = command.owner
    const shares: { account: bigint; amount: bigint }[] = []
    for (const { to, amount } of command.shares) {
      shares.push({ account: await accounts.recipient(to, environment, inside), amount })
    }
    const end: EndAsk = {
      hold: command.hold,
      hash: hashOfCapture(command),
      state: 'captured',
      kind: command.kind,
      amount: command.amount,
      shares,
      revenue: await accounts.ofPlatform(environment, 'revenue', inside),
      redeemed: await accounts.ofPlatform(environment, 'redeemed', inside),
      reference: command.reference,
      announcements: command.announcements,
      at: clock.now(),
    }
    return { end, wallet: (await accounts.of(command.owner, inside)).wallet }
  }

  async function release(command: Release, inside?: Statements): Promise<EndingAsk> {
    const end: EndAsk = {
      hold: command.hold,
      hash: hashOfRelease(),
      state: 'released',
      kind: 'release',
      amount: 0n,
      shares: [],
      revenue: 0n,
      redeemed: 0n,
      reference: null,
      announcements: command.announcements,
      at: clock.now(),
    }
    return { end, wallet: (await accounts.of(command.owner, inside)).wallet }
  }

  /** Looked up before the transaction: inside one, what is found is not remembered. */
  async function act(one: Act): Promise<Ask | Error> {
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

type ReservingAsk = Extract<Ask, { reserve: unknown }>
export type EndingAsk = Extract<Ask, { end: unknown }>
