import { DomainError } from '../../service/kit/errors.ts'
import { usdc } from '../../service/kit/money.ts'
import type { Owner } from '../../service/kit/owner.ts'
import type { Ledger } from '../../service/ledger/service.ts'
import { Crash } from './crashes.ts'
import type { Step } from './history.ts'
import { Oracle, type OracleLock } from './oracle.ts'

/** Plays one user's history against the ledger, while the oracle keeps count. */
export class Person {
  readonly oracle = new Oracle()
  readonly problems: string[] = []
  private readonly operations: Operation[] = []
  private count = 0
  private readonly ledger: Ledger
  private readonly owner: Owner
  private readonly receiver: string
  private readonly expire: (ids: readonly string[]) => Promise<void>

  constructor(ledger: Ledger, owner: Owner, receiver: string, expire: (ids: readonly string[]) => Promise<void>) {
    this.ledger = ledger
    this.owner = owner
    this.receiver = receiver
    this.expire = expire
  }

  async act(steps: readonly Step[]): Promise<void> {
    for (const step of steps) await this.perform(step)
  }

  private async perform(step: Step): Promise<void> {
    const id = `${this.owner.userId}.${String(this.count++)}`
    switch (step.act) {
      case 'deposit':
      case 'grant':
        return await this.come(id, step.act, step.amount)
      case 'reserve':
        return await this.reserve(id, step.amount, step.useCredits)
      case 'capture':
        return await this.capture(step.lock, step.part, step.share, 'capture')
      case 'payout':
        return await this.capture(step.lock, 100, 100, 'payout')
      case 'release':
        return await this.release(step.lock)
      case 'transfer':
        return await this.transfer(id, step.amount, step.share)
      case 'die':
        return await this.die()
      case 'repeat':
        return await this.repeat(step.back)
      case 'contradict':
        return await this.contradict(step.back)
    }
  }

  private async come(id: string, kind: 'deposit' | 'grant', amount: bigint): Promise<void> {
    const command = (micro: bigint) => () =>
      this.ledger.credit({ id, kind, owner: this.owner, amount: usdc(micro), reference: null, act: id })
    await this.run(command(amount), 'done', command(amount + 1n))
    if (kind === 'deposit') this.oracle.deposit(amount)
    else this.oracle.grant(amount)
  }

  private async reserve(id: string, amount: bigint, useCredits: boolean): Promise<void> {
    const command = (micro: bigint) => () =>
      this.ledger.reserve({ id, owner: this.owner, amount: usdc(micro), useCredits, deadline: FAR, reference: id })
    const fits = this.oracle.reserve(id, amount, useCredits)
    if (fits) await this.run(command(amount), 'done', command(amount + 1n))
    else await this.expect(command(amount), 'insufficient_balance')
  }

  private async capture(which: number, part: number, sharePart: number, kind: 'capture' | 'payout'): Promise<void> {
    const lock = this.pick(which)
    if (lock === undefined) return
    const amount = (lock.amount * BigInt(part)) / 100n
    const fromWallet = amount < lock.fromCredits ? 0n : amount - lock.fromCredits
    const share = usdc((fromWallet * BigInt(sharePart)) / 100n)
    const to = kind === 'payout' ? { platform: 'clearing' as const } : { userId: this.receiver }
    const command = (micro: bigint) => () =>
      this.ledger.capture({
        hold: lock.id,
        owner: this.owner,
        amount: usdc(micro),
        shares: [{ to, amount: share }],
        kind,
        reference: null,
        announcements: [],
      })
    await this.expect(command(lock.amount + 1n), 'invalid_input')
    await this.run(command(amount), 'done', () =>
      this.ledger.release({ hold: lock.id, owner: this.owner, announcements: [] }),
    )
    this.oracle.capture(lock, amount, kind === 'capture')
  }

  private async release(which: number): Promise<void> {
    const lock = this.pick(which)
    if (lock === undefined) return
    await this.run(
      () => this.ledger.release({ hold: lock.id, owner: this.owner, announcements: [] }),
      'done',
      // A late capture of a released hold is refused and never charged.
      () =>
        this.ledger.capture({
          hold: lock.id,
          owner: this.owner,
          amount: usdc(lock.amount),
          shares: [],
          kind: 'capture',
          reference: null,
          announcements: [],
        }),
    )
    this.oracle.end(lock)
  }

  private async transfer(id: string, amount: bigint, share: number): Promise<void> {
    const shares = [{ to: { userId: this.receiver }, amount: usdc((amount * BigInt(share)) / 100n) }]
    const command = (micro: bigint) => () =>
      this.ledger.transfer({ id, owner: this.owner, amount: usdc(micro), shares, reference: null })
    if (this.oracle.transfer(amount)) await this.run(command(amount), 'done', command(amount + 1n))
    else await this.expect(command(amount), 'insufficient_balance')
  }

  private async die(): Promise<void> {
    const expiring = this.oracle.locks.filter((lock) => lock.open).slice(0, 2)
    await this.expire(expiring.map((lock) => lock.id))
    for (const lock of expiring) {
      this.oracle.end(lock)
      await this.expect(
        () =>
          this.ledger.capture({
            hold: lock.id,
            owner: this.owner,
            amount: usdc(lock.amount),
            shares: [],
            kind: 'capture',
            reference: null,
            announcements: [],
          }),
        'lock_ended',
      )
    }
  }

  private async repeat(back: number): Promise<void> {
    const operation = this.operations.at(-1 - back)
    if (operation !== undefined) await this.expect(operation.again, operation.outcome)
  }

  private async contradict(back: number): Promise<void> {
    const operation = this.operations.at(-1 - back)
    if (operation === undefined) return
    const outcome = await this.until(operation.otherwise)
    if (outcome === 'done') this.problems.push('contents that contradict an earlier command were accepted')
  }

  private pick(which: number): OracleLock | undefined {
    const open = this.oracle.locks.filter((lock) => lock.open)
    return open[which % Math.max(1, open.length)]
  }

  private async run(again: () => Promise<unknown>, outcome: string, otherwise: () => Promise<unknown>): Promise<void> {
    await this.expect(again, outcome)
    this.operations.push({ again, outcome, otherwise })
  }

  private async expect(call: () => Promise<unknown>, expected: string): Promise<void> {
    const outcome = await this.until(call)
    if (outcome !== expected) this.problems.push(`expected ${expected}, got ${outcome}`)
  }

  /** A call that crashed is repeated unchanged, until there is a result. */
  private async until(call: () => Promise<unknown>): Promise<string> {
    for (;;) {
      try {
        await call()
        return 'done'
      } catch (error) {
        if (error instanceof DomainError) return error.code
        if (!(error instanceof Crash)) throw error
      }
    }
  }
}

interface Operation {
  again: () => Promise<unknown>
  outcome: string
  otherwise: () => Promise<unknown>
}

const FAR = new Date('2100-01-01T00:00:00.000Z')
