/** Code whose decisions depend on the time takes a `Clock`, so that a test can set the time. */
export interface Clock {
  now(): Date
}

export const systemClock: Clock = { now: () => new Date() }
