/** Places at which a test ends the process, or waits. Nothing happens there otherwise. */
export interface Failpoints {
  reach(name: string): Promise<void> | void
}

export const NO_FAILPOINTS: Failpoints = { reach: () => undefined }
