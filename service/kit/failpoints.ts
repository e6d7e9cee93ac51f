/** Places at which a test can end or pause the process. Outside of tests they do nothing. */
export interface Failpoints {
  reach(name: string): Promise<void> | void
}

export const NO_FAILPOINTS: Failpoints = { reach: () => undefined }
