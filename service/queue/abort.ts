/** Resolves when the signal aborts: one side of a race that the other side may win. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else
      signal.addEventListener('abort', () => {
        resolve()
      })
  })
}
