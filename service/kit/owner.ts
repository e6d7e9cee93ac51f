export type Environment = 'sandbox' | 'production'

/** Whose money: a person's, in one environment. */
export interface Owner {
  userId: string
  environment: Environment
}
