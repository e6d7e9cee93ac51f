import type { TakenAgent } from '../ports.ts'

/**
 * What this process knows about agents, if it made the last decision about them. A batch that is judged by memory alone
 * writes its counters only if the row still has the remembered version, so a change by another process is found under
 * the row's lock and never guessed. Money that came back since is not in the memory. So the memory can only allow less
 * than the row would: it is trusted for what it allows, and for nothing else.
 */
export class Memory {
  private readonly known = new Map<string, Known>()

  /**
   * All of these agents, or null if one of them is not trusted. They are taken out of the memory, because the outcome
   * is not known yet.
   */
  lend(ids: ReadonlySet<string>): ReadonlyMap<string, TakenAgent> | null {
    const lent = new Map<string, TakenAgent>()
    for (const id of ids) {
      const { agent = null, left = 0 } = this.known.get(id) ?? {}
      if (agent === null || left === 0) return null
      lent.set(id, agent)
    }
    for (const id of ids) this.set(id, { ...this.known.get(id), agent: null })
    return lent
  }

  /** Stores an agent as a committed batch left it, when the batch was judged by memory. */
  giveBack(id: string, agent: TakenAgent): void {
    const { left = 0 } = this.known.get(id) ?? {}
    this.set(id, { agent, version: agent.version, left: left - 1 })
  }

  /**
   * Stores an agent as a committed batch left it, when the batch had read the row. It is trusted only if no other
   * process decided between this and the previous batch: where processes alternate on an agent, the memory of one is
   * always outdated.
   */
  learn(id: string, agent: TakenAgent, readVersion: bigint, sound: boolean): void {
    const trusted = sound && !agent.deleted && this.known.get(id)?.version === readVersion
    this.set(id, { agent: trusted ? agent : null, version: agent.version, left: TURNS })
  }

  private set(id: string, known: Known): void {
    this.known.delete(id)
    this.known.set(id, known)
    const [oldest] = this.known.keys()
    if (this.known.size > AGENTS_MAX && oldest !== undefined) this.known.delete(oldest)
  }
}

interface Known {
  /** Null while it is lent, and when it is not trusted. */
  agent?: TakenAgent | null
  /** The row's version when this process last wrote it. */
  version?: bigint
  /** How many batches are left until the row is read again, to see the money that came back. */
  left?: number
}

const TURNS = 32
const AGENTS_MAX = 10_000
