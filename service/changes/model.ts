import type { Owner } from '../kit/owner.ts'

/** What an account's open pages hear of: that something of a kind changed, never what. */
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

/** `over` once the listener's session has ended. The first news of a new stream has no kinds. */
export type News = { kinds: readonly Kind[]; marks: Marks } | { over: true }

export interface ChangeStore {
  /** Of each account its marks, in the order asked for. */
  marks(owners: readonly Owner[]): Promise<readonly Marks[]>
}
