/** A bug that could be introduced again: the original text in a built file, and the text that replaces it. */
export interface Hole {
  name: string
  from: string
  to: string
  /** What the checker must report about it, at least once. */
  found: RegExp
  /** It shows once what was signed has expired on the chain: its time jumps ahead at the end. */
  shows?: 'after expiry'
}

export const HOLES: readonly Hole[] = [
  {
    name: 'digest',
    from: 'if (presented.token)',
    to: 'if (true)',
    found: /got the answer of|got an answer for nothing|got the token of a buyer/,
  },
  {
    name: 'hang-up',
    from: 'if (!this.#left) this.#recalled',
    to: 'this.#recalled',
    found: /effects, which were not charged|were charged|knows nothing of its payment/,
  },
  {
    name: 'revoked',
    from: 'return await deps.identify(authorization, request);',
    // As if a process trusted for ever what it once read about a key.
    to: `const seen = (globalThis.seenKeys ??= new Map())
      if (seen.has(authorization)) return seen.get(authorization)
      const found = await deps.identify(authorization, request)
      seen.set(authorization, found)
      return found`,
    found: /effects and paid nothing/,
  },
  {
    name: 'outflow',
    from: 'await store.lock(owner, inside);',
    to: 'return;',
    found: /is counted|took out \d+ of/,
  },
  {
    name: 'take-back',
    from: 'if (ours) return true;',
    to: 'return true;',
    found: /took money out of the escrow/,
  },
  {
    name: 'spend-out',
    from: 'if (isPurchaseCounted(purchase, settings))',
    to: 'if (false)',
    found: /is counted|took out \d+ of/,
  },
  {
    name: 'farm',
    from: 'if (before.isOrderAddress || !hasShare(sale, before)) return false;',
    to: '',
    found: /refunds that no seller agreed to/,
  },
  {
    name: 'behind',
    from: 'await (agreed.known && (agreed.use === null ? !agreed.used : agreed.use.cancelled) ? giveBack(payment, "expired") : lookAgain(payment));',
    to: 'await giveBack(payment, "expired");',
    found: /went back, and its seller was paid/,
    shows: 'after expiry',
  },
  {
    name: 'listing',
    from: 'sold.isOurs === true ? await putOwn(entry, now)',
    to: 'true ? await putOwn(entry, now)',
    found: /is listed by a stranger/,
  },
  {
    name: 'quadratic',
    from: 'const shape = shapeOf(text);\n\tif (',
    to: 'text.slice(0, 50_000).replace(/0+x/, ""); const shape = shapeOf(text);\n\tif (',
    found: /stood still|honest clients waited/,
  },
]
