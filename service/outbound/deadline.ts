/** Ends a call: when its time is up, or when its caller's signal says so. */
export interface Deadline {
  readonly signal: AbortSignal
  /** The work's outcome, or the ending if that is first: undici hears of an abort only once it is connected. */
  race<T>(work: Promise<T>): Promise<T>
  /** The call is over; nothing will abort any more. */
  stop(): void
}

export function startDeadline(totalMs: number, late: () => Error, caller: AbortSignal | undefined): Deadline {
  const ending = new AbortController()
  const timer = setTimeout(() => {
    ending.abort(late())
  }, totalMs)
  // By hand rather than AbortSignal.any, which on Node 20 holds on to every call made under a long-lived signal.
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
