/** Traces work across capabilities and processes. Null when no collector is configured; then no library is loaded. */
export interface Tracer {
  /** Runs a step of the current trace, or the first step of a new one. Work inside it becomes part of the step. */
  step<T>(step: Step, work: (attributes: StepAttributes) => Promise<T>): Promise<T>
  /**
   * The same, but only inside a trace; otherwise the work just runs. For work that also repeats every second on its
   * own.
   */
  within<T>(step: Step, work: (attributes: StepAttributes) => Promise<T>): Promise<T>
  /** The current step as a W3C `traceparent`, to pass on; undefined outside of a trace. */
  parent(): string | undefined
}

export interface Step {
  /** One of few values: a route, a statement's name, never an id. A function is called at the end of the step. */
  readonly name: string | (() => string)
  readonly kind: 'server' | 'client' | 'producer' | 'consumer' | 'inner'
  /** Must not contain secrets, statement values or bodies. */
  readonly attributes?: StepAttributes
  /** The `traceparent` that this step continues. One from an untrusted caller is only linked. */
  readonly from?: { readonly traceparent: string; readonly trusted: boolean } | undefined
}

/** Attributes of a step; those added while it runs are reported at its end. */
export type StepAttributes = Record<string, string | number | boolean | undefined>
