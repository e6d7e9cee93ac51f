type Found<Value> = Value | null | undefined | false

/**
 * Repeats the check until it returns something, for at most a minute: longer than anything takes on a busy machine. The
 * error has the check, so that it says what was waited for.
 */
export async function until<Value>(check: () => Promise<Found<Value>> | Found<Value>): Promise<Value> {
  const deadline = Date.now() + 60_000
  for (;;) {
    const found = await check()
    if (found !== null && found !== undefined && found !== false) return found
    if (Date.now() > deadline) throw new Error(`After a minute there was still nothing from ${String(check)}`)
    // Not at once: the service under test runs in this very process.
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
