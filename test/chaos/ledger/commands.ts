/** What the clients ask of the driver, over its socket. */
export type Command = { userId: string } & (
  | { act: 'open' }
  | { act: 'deposit' | 'reserve' | 'capture'; id: string; amount: number }
  | { act: 'release'; id: string }
)
