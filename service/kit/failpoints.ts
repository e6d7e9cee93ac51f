/** Places at which a test ends the process or waits; elsewhere they do nothing. */
export interface Failpoints {
  reach(name: string): Promise<void> | void
}

export const NO_FAILPOINTS: Failpoints = { reach: () => undefined }
