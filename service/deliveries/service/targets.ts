import { randomBytes } from 'node:crypto'
import { newId, type Id } from '../../kit/ids.ts'
import { toSigningSecret } from '../../kit/signing-secret.ts'
import type { Statements } from '../../kit/transaction.ts'
import type { Owner } from '../../kit/owner.ts'
import type { NewTarget } from '../model.ts'
import type { DeliveriesDeps } from './deps.ts'
import type { Secrets } from './secrets.ts'

/** Addresses that other modules store here, each with its own secret. */
export function createTargets({ targets, clock, secrets }: TargetsDeps) {
  const newSecret = (id: string): string => secrets.seal(toSigningSecret(randomBytes(SECRET_BYTES)), id)

  async function secretOf(owner: Owner, id: string): Promise<string> {
    const sealed = await targets.secrets(owner, id)
    if (sealed === null) throw new Error(`there is no target ${id} of this owner`)
    return secrets.open(sealed, id)
  }

  return {
    /**
     * Creates the target, or changes the address of an existing one, which keeps its secret. The caller has checked the
     * address.
     */
    async put(inside: Statements, { id, owner, url }: NewTarget): Promise<{ secret: string }> {
      const createdAt = clock.now()
      const madeBy = newId('op', createdAt)
      const stored = await targets.put(inside, { id, owner, url, sealed: newSecret(id), madeBy, createdAt })
      return { secret: secrets.open(stored, id) }
    },

    /** The old secret stays valid for a day, also where it is rotated again meanwhile. Repeating the operation makes no second new one. */
    async rotate({ id, owner }: Pick<NewTarget, 'id' | 'owner'>, operation: Id<'op'>): Promise<{ secret: string }> {
      const until = new Date(clock.now().getTime() + OLD_VALID_MS)
      await targets.rotate(owner, id, { sealed: newSecret(id), madeBy: operation }, until)
      return { secret: await secretOf(owner, id) }
    },

    /** The current secret. */
    async secrets(id: string, owner: Owner): Promise<{ secret: string }> {
      return { secret: await secretOf(owner, id) }
    },
  }
}

type TargetsDeps = Pick<DeliveriesDeps, 'targets' | 'clock'> & { secrets: Secrets }

export const SECRET_BYTES = 32
const OLD_VALID_MS = 24 * 3_600_000
