import type { TakenAgent } from '../ports.ts'

/**
 * What this process knows of agents that it decided about itself, last of all. A batch that is judged by it alone
 * writes its counters only at the very version that is remembered, so what another process did meanwhile is found
 * out under the row's lock and never guessed. What came back since is not in it: it can only allow less than the
 * row would, so it is trusted with what it allows and nothing else.
 */
export class Memory {
  private readonly known = new Map<string, Known>()

  /** All of these, or null where one is not to be trusted. They are taken out: what becomes of them is not known. */
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

  /** As a committed batch left it, judged by what was lent. */
  giveBack(id: string, agent: TakenAgent): void {
    const { left = 0 } = this.known.get(id) ?? {}
    this.set(id, { agent, version: agent.version, left: left - 1 })
  }

  /**
   * As a committed batch left it that had read the row. It is trusted only from the second time on that no other process
   * was there in between: where processes take turns at an agent, what one remembers is never true.
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
  /** Null while it is lent, and where it is not trusted. */
  agent?: TakenAgent | null
  /** The row's, when this process last wrote it. */
  version?: bigint
  /** Batches until the row is read again, for what has come back. */
  left?: number
}

const TURNS = 32
const AGENTS_MAX = 10_000
