/** Ends a call when its time is up, or when its caller's signal aborts. */
export interface Deadline {
  readonly signal: AbortSignal
  /** The work's result, or the abort if that comes first: undici handles an abort only once it is connected. */
  race<T>(work: Promise<T>): Promise<T>
  /** The call is over, and nothing may abort it any more. */
  stop(): void
}

export function startDeadline(totalMs: number, late: () => Error, caller: AbortSignal | undefined): Deadline {
  const ending = new AbortController()
  const timer = setTimeout(() => {
    ending.abort(late())
  }, totalMs)
  // Not AbortSignal.any: on Node 20 a long-lived signal keeps a reference to every call made under it.
  const abort = () => {
    ending.abort(caller?.reason)
  }
  caller?.addEventListener('abort', abort, { once: true })
  if (caller?.aborted === true) abort()

  const ended = new Promise<never>((_resolve, reject) => {
    const fail = () => {
      reject(ending.signal.reason as Error)
    }
    if (ending.signal.aborted) fail()
    else ending.signal.addEventListener('abort', fail, { once: true })
  })
  ended.catch(() => undefined)

  return {
    signal: ending.signal,
    race: (work) => Promise.race([work, ended]),
    stop() {
      clearTimeout(timer)
      caller?.removeEventListener('abort', abort)
    },
  }
}
