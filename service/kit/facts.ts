import type { Statements } from './transaction.ts'

/** Something that happened. Its type stands with the capability that publishes it. */
export interface FactLike {
  readonly kind: string
}

/**
 * Hands the fact to its subscribers, one after another, in the transaction in which it happened. An error of one rolls
 * that transaction back. The publisher knows none of them.
 */
export type Publish<Fact extends FactLike> = (inside: Statements, fact: Fact) => Promise<void>
