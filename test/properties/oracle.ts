/**
 * The ledger as plain sums, for one user: the value that every figure must have after the acknowledged commands. It
 * knows nothing of statements, batches or postings.
 */
export class Oracle {
  wallet = { available: 0n, locked: 0n, deposited: 0n, spent: 0n }
  credits = { available: 0n, locked: 0n, deposited: 0n, spent: 0n }
  readonly locks: OracleLock[] = []

  deposit(amount: bigint): void {
    this.wallet.available += amount
    this.wallet.deposited += amount
  }

  grant(amount: bigint): void {
    this.credits.available += amount
    this.credits.deposited += amount
  }

  /** Whether it can be paid, and how much of it from the credits. */
  reserve(id: string, amount: bigint, useCredits: boolean): boolean {
    const credits = useCredits ? this.credits.available : 0n
    if (amount > this.wallet.available + credits) return false
    const fromCredits = amount < credits ? amount : credits
    this.move(this.credits, fromCredits)
    this.move(this.wallet, amount - fromCredits)
    this.locks.push({ id, amount, fromCredits, open: true })
    return true
  }

  capture(lock: OracleLock, amount: bigint, spending: boolean): void {
    const credits = amount < lock.fromCredits ? amount : lock.fromCredits
    this.end(lock)
    this.credits.available -= credits
    this.credits.spent += spending ? credits : 0n
    this.wallet.available -= amount - credits
    this.wallet.spent += spending ? amount - credits : 0n
  }

  /** Back to where it came from. */
  end(lock: OracleLock): void {
    lock.open = false
    this.move(this.credits, -lock.fromCredits)
    this.move(this.wallet, -(lock.amount - lock.fromCredits))
  }

  transfer(amount: bigint): boolean {
    if (amount > this.wallet.available) return false
    this.wallet.available -= amount
    this.wallet.spent += amount
    return true
  }

  private move(account: { available: bigint; locked: bigint }, amount: bigint): void {
    account.available -= amount
    account.locked += amount
  }
}

export interface OracleLock {
  id: string
  amount: bigint
  fromCredits: bigint
  open: boolean
}
