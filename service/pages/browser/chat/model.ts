/** A message and what came of it, as the service tells the holder of the pass. */
export interface Turn {
  turn: number
  status: 'working' | 'answered' | 'failed'
  message: string
  answer: string | null
  isCut: boolean
  paymentId: string
  token: string
  receiptUrl: string
  /** When it began, by the service's clock. */
  at: string
}

/** What pays for the chat. */
export interface Balance {
  plan: { id: string; name: string }
  status: 'active' | 'used_up' | 'ended'
  runs: number | null
  runsLeft: number | null
  until: string | null
}

export interface Talk {
  /** Null before the first payment. */
  token: string | null
  balance: Balance | null
  turns: readonly Turn[]
  /** What the workflow writes while it works, by payment. */
  lines: Readonly<Record<string, readonly string[]>>
  /** What the customer is writing. */
  text: string
  /** A message that is on its way to the service. */
  sending: string | null
  fault: string | null
}

/** Whether the next message must wait. A turn whose workflow does not answer holds it up for a while only, as in the service. */
export function isHeldUp({ turns, sending }: Pick<Talk, 'turns' | 'sending'>, now: number): boolean {
  return sending !== null || turns.some(({ status, at }) => status === 'working' && now - Date.parse(at) < WORKING_MS)
}

const WORKING_MS = 600_000
