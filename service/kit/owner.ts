export type Environment = 'sandbox' | 'production'

/** The owner of money: a person, in one environment. */
export interface Owner {
  userId: string
  environment: Environment
}
