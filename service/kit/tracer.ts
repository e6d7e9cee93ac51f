/**
 * Follows work across parts and processes. Everybody who could say something of his work takes one or null, and null
 * costs a comparison: no library is loaded where nobody collects.
 */
export interface Tracer {
  /** A step of whatever is under way, or the first one of a new trace; what runs inside becomes part of it. */
  step<T>(step: Step, work: (said: Said) => Promise<T>): Promise<T>
  /** The same, and nothing but the work where no trace is under way: for what also happens by itself every second. */
  within<T>(step: Step, work: (said: Said) => Promise<T>): Promise<T>
  /** The step under way in the words of W3C's `traceparent`, for who comes after; undefined without one. */
  parent(): string | undefined
}

export interface Step {
  /** Of few values: a route, a statement's name; never an id. A function is asked at the end. */
  readonly name: string | (() => string)
  readonly kind: 'server' | 'client' | 'producer' | 'consumer' | 'inner'
  /** No secrets, no values of statements, no bodies. */
  readonly says?: Said
  /** `traceparent` of what this goes on from; a stranger's is only mentioned. */
  readonly from?: { readonly traceparent: string; readonly trusted: boolean } | undefined
}

/** What is said of a step; what is added while it runs is said with its end. */
export type Said = Record<string, string | number | boolean | undefined>
