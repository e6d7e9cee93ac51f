/** What an account's open pages are told of: that something of a kind is otherwise than it was, never what. */
export const KINDS = [
  'wallet',
  'runs',
  'assets',
  'checkouts',
  'deliveries',
  'agents',
  'tools',
  'paywalls',
  'keys',
] as const
export type Kind = (typeof KINDS)[number]

/** One for each kind, in their order. Another mark than before means that something changed; it says nothing else. */
export type Marks = readonly string[]

/** `over` once whoever listened is not signed in any more. The first word of a stream from nowhere has no kinds. */
export type News = { kinds: readonly Kind[]; marks: Marks } | { over: true }
