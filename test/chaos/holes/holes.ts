/** A bug that could be introduced again: the original text in a built file, and the text that replaces it. */
export interface Hole {
  name: string
  /** A file of the built service. */
  file: string
  from: string
  to: string
  /** What the checker must report about it, at least once. */
  found: RegExp
}

export const HOLES: readonly Hole[] = [
  {
    name: 'digest',
    file: 'facilitator/service/proof.js',
    from: 'if (presented.token)',
    to: 'if (true)',
    found: /got the answer of|got an answer for nothing|got the token of a buyer/,
  },
  {
    name: 'hang-up',
    file: 'kit/departure.js',
    from: 'if (!this.#left)\n            this.#recalled',
    to: 'this.#recalled',
    found: /effects, which were not charged|were charged|knows nothing of its payment/,
  },
  {
    name: 'revoked',
    file: 'api/mcp.js',
    from: 'return await parts.identify(header ?? (key === undefined ? undefined : `Bearer ${key}`), request);',
    // As if a process trusted for ever what it once read about a key.
    to: `const name = header ?? key
      const seen = (globalThis.seenKeys ??= new Map())
      if (seen.has(name)) return seen.get(name)
      const found = await parts.identify(header ?? (key === undefined ? undefined : 'Bearer ' + key), request)
      seen.set(name, found)
      return found`,
    found: /effects and paid nothing/,
  },
  {
    name: 'outflow',
    file: 'outflow/service.js',
    from: 'await store.lock(owner, inside);',
    to: 'return;',
    found: /is counted|took out \d+ of/,
  },
  {
    name: 'quadratic',
    file: 'kit/json.js',
    from: 'const shape = shapeOf(text);',
    to: 'text.slice(0, 50_000).replace(/0+x/, ""); const shape = shapeOf(text);',
    found: /stood still|honest clients waited/,
  },
]
