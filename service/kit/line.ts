/**
 * Who waits for one of a process's shared places. Accounts take turns: each has its first item before any has its
 * second, at most so many at once and so many waiting. Where accounts wait in the database, `queue` does the same.
 */
export class Line<Item> {
  private readonly perAccount: number
  private readonly waitingMax: number
  private readonly accounts = new Map<string, { waiting: Item[]; running: number }>()

  constructor({ perAccount, waitingMax }: { perAccount: number; waitingMax: number }) {
    this.perAccount = perAccount
    this.waitingMax = waitingMax
  }

  /** False when this account has as many waiting as it may have. */
  join(account: string, item: Item): boolean {
    const own = this.accounts.get(account) ?? { waiting: [], running: 0 }
    if (own.waiting.length >= this.waitingMax) return false
    own.waiting.push(item)
    this.accounts.set(account, own)
    return true
  }

  /** The next one in turn, which has a place from now on until `leave`; undefined when nobody may go. */
  next(): { account: string; item: Item } | undefined {
    for (const [account, own] of this.accounts) {
      if (own.running >= this.perAccount) continue
      const item = own.waiting.shift()
      if (item === undefined) continue
      own.running++
      // Behind all others: a map keeps the order in which its keys were set.
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

  /** All that wait, which have no turn any more. */
  dissolve(): Item[] {
    return [...this.accounts.values()].flatMap((own) => own.waiting.splice(0))
  }
}
