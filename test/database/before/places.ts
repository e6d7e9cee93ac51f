/** Makes work of a service stand still at a place, as that of a process that was killed there. */
export class Places {
  private wanted: { place: string; reached: () => void } | null = null
  private readonly ends: (() => void)[] = []
  private readonly passed: string[] = []

  readonly failpoints = {
    reach: (place: string): Promise<void> | undefined => {
      this.passed.push(place)
      if (this.wanted?.place !== place) return undefined
      this.wanted.reached()
      this.wanted = null
      return new Promise<void>((_, reject) => {
        this.ends.push(() => reject(new Error('its process has ended')))
      })
    },
  }

  /** Begins the work, and returns once it stands still. */
  async stop(place: string, work: () => Promise<unknown>): Promise<void> {
    this.passed.length = 0
    const reached = new Promise<null>((resolve) => {
      this.wanted = { place, reached: () => resolve(null) }
    })
    const ended = work().then(
      (result) => ({ result }),
      (error: unknown) => ({ result: String(error) }),
    )
    const first = await Promise.race([reached, ended])
    if (first === null) return
    throw new Error(`it ended without "${place}", after ${this.passed.join(', ')}: ${JSON.stringify(first.result)}`)
  }

  /** Ends what stands still, so that its service can be closed. */
  end(): void {
    for (const end of this.ends) end()
  }
}
