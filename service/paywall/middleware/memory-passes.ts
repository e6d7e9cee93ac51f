import type { Pass, Prepaid } from '../ports.ts'

/** When wallets last paid for a path, and the sign-ins that were used. */
export function memoryPasses(now: () => Date) {
  const paid = new Map<string, Date>()
  const used = new Map<string, Date>()

  const signIn: Prepaid['signIn'] = (pass, { since, nonce }) => {
    const paidAt = paid.get(keyOf(pass))
    if (paidAt === undefined || paidAt < since) return Promise.resolve('unpaid')
    for (const [one, usedAt] of used) {
      if (usedAt.getTime() + USED_MS >= now().getTime()) break
      used.delete(one)
    }
    const name = nonce.toString('hex')
    if (used.has(name)) return Promise.resolve('used')
    used.set(name, now())
    return Promise.resolve('passed')
  }

  return {
    signIn,
    /** The wallets that paid the longest time ago are forgotten first; they can pay again. */
    add(pass: Pass): void {
      const key = keyOf(pass)
      paid.delete(key)
      paid.set(key, now())
      const [oldest] = paid.keys()
      if (paid.size > PASSES_MAX && oldest !== undefined) paid.delete(oldest)
    },
  }
}

function keyOf({ paywallId, payer, path }: Pass): string {
  return `${paywallId} ${payer} ${path.toString('hex')}`
}

/** Longer than a sign-in can be used. */
const USED_MS = 600_000
const PASSES_MAX = 100_000
