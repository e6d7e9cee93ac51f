/** Follows work across parts and processes. Null where nothing collects traces: then no library is loaded. */
export interface Tracer {
  /** A step of the current trace, or the first one of a new trace; what runs inside becomes part of it. */
  step<T>(step: Step, work: (attributes: StepAttributes) => Promise<T>): Promise<T>
  /** The same, but only inside a trace; otherwise it just runs. For work that also happens by itself every second. */
  within<T>(step: Step, work: (attributes: StepAttributes) => Promise<T>): Promise<T>
  /** The current step as a W3C `traceparent`, to pass on; undefined outside of a trace. */
  parent(): string | undefined
}

export interface Step {
  /** Of few values: a route, a statement's name; never an id. A function is asked at the end. */
  readonly name: string | (() => string)
  readonly kind: 'server' | 'client' | 'producer' | 'consumer' | 'inner'
  /** No secrets, no values of statements, no bodies. */
  readonly attributes?: StepAttributes
  /** The `traceparent` this continues; one that is not trusted is only linked. */
  readonly from?: { readonly traceparent: string; readonly trusted: boolean } | undefined
}

/** Attributes of a step; those added while it runs are reported at its end. */
export type StepAttributes = Record<string, string | number | boolean | undefined>
