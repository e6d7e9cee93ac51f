/**
 * A line for a process's shared slots. Accounts take turns: every account's first item runs before any account's
 * second, and each account has a limit on running and waiting items. `queue` does the same for accounts that wait in
 * the database.
 */
export class FairLine<Item> {
  private readonly perAccount: number
  private readonly waitingMax: number
  private readonly accounts = new Map<string, { waiting: Item[]; running: number }>()

  constructor({ perAccount, waitingMax }: { perAccount: number; waitingMax: number }) {
    this.perAccount = perAccount
    this.waitingMax = waitingMax
  }

  /** False when the account already has as many waiting items as it may. */
  join(account: string, item: Item): boolean {
    const own = this.accounts.get(account) ?? { waiting: [], running: 0 }
    if (own.waiting.length >= this.waitingMax) return false
    own.waiting.push(item)
    this.accounts.set(account, own)
    return true
  }

  /** The next item, which holds a slot until `leave`. Undefined when none may run. */
  next(): { account: string; item: Item } | undefined {
    for (const [account, own] of this.accounts) {
      if (own.running >= this.perAccount) continue
      const item = own.waiting.shift()
      if (item === undefined) continue
      own.running++
      // Moves the account to the end: a map keeps the order in which its keys were set.
      this.accounts.delete(account)
      this.accounts.set(account, own)
      return { account, item }
    }
    return undefined
  }

  leave(account: string): void {
    const own = this.accounts.get(account)
    if (own === undefined) return
    own.running--
    if (own.running === 0 && own.waiting.length === 0) this.accounts.delete(account)
  }

  /** Removes and returns all waiting items. */
  dissolve(): Item[] {
    return [...this.accounts.values()].flatMap((own) => own.waiting.splice(0))
  }
}

/** A few slots that many accounts share. A hundred requests of one account delay another account by at most one. */
export class FairTurns {
  private readonly limits: TurnLimits
  private readonly line: FairLine<() => void>
  private running = 0
  private waiting = 0

  constructor(limits: TurnLimits) {
    this.limits = limits
    this.line = new FairLine({ perAccount: limits.perAccount, waitingMax: limits.waitingPerAccount })
  }

  /** Waits for a slot, does the work, and frees the slot. `busy` creates the error for a full line. */
  async run<T>(account: string, work: () => Promise<T>, busy: () => Error): Promise<T> {
    await this.enter(account, busy)
    try {
      return await work()
    } finally {
      this.line.leave(account)
      this.running--
      this.admit()
    }
  }

  private enter(account: string, busy: () => Error): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.waiting >= this.limits.waiting || !this.line.join(account, resolve)) {
        reject(busy())
        return
      }
      this.waiting++
      this.admit()
    })
  }

  private admit(): void {
    while (this.running < this.limits.atOnce) {
      const next = this.line.next()
      if (next === undefined) return
      this.running++
      this.waiting--
      next.item()
    }
  }
}

export interface TurnLimits {
  readonly atOnce: number
  readonly perAccount: number
  /** In one account's line, and in all lines together. */
  readonly waitingPerAccount: number
  readonly waiting: number
}
