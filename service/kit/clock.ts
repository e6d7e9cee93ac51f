/** Time is a dependency: what decides by it takes a `Clock`, so that a test can turn the hands. */
export interface Clock {
  now(): Date
}

export const systemClock: Clock = { now: () => new Date() }
