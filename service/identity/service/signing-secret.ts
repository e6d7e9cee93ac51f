import { randomBytes } from 'node:crypto'
import type { Clock } from '../../kit/clock.ts'
import { newId, type Id } from '../../kit/ids.ts'
import type { Owner } from '../../kit/owner.ts'
import type { SigningSecret } from '../model.ts'
import { accountOf, type Caller } from '../../kit/caller.ts'
import type { IdentityStore, Sealing } from '../ports.ts'
import { toSigningSecret } from '../../kit/signing-secret.ts'

/** The `whsec_…` secret that signs an account's outgoing calls. Created when first needed. */
export function createSigningSecrets({ store, clock, sealing }: SigningSecretDeps) {
  async function read(owner: Owner): Promise<SigningSecret | null> {
    const kept = await store.findSigningSecret(owner)
    if (kept === null) return null
    const open = (sealed: string) => sealing.open(sealed, contextOf(owner))
    const { previous, createdAt } = kept
    const alive = previous.filter(({ expiresAt }) => expiresAt > clock.now())
    return {
      secret: open(kept.sealed),
      createdAt,
      previous: alive.map(({ sealed, expiresAt }) => ({ secret: open(sealed), expiresAt })),
    }
  }

  function draw(owner: Owner, madeBy: string) {
    return {
      sealed: sealing.seal(toSigningSecret(randomBytes(SECRET_BYTES)), contextOf(owner)),
      madeBy,
      createdAt: clock.now(),
    }
  }

  async function of(owner: Owner): Promise<SigningSecret> {
    const kept = await read(owner)
    if (kept !== null) return kept
    await store.addSigningSecret(owner, draw(owner, newId('op', clock.now())))
    const made = await read(owner)
    if (made === null) throw new Error('a signing secret is missing')
    return made
  }

  return {
    /** For the parts that sign calls on the account's behalf. */
    of,

    async get(caller: Caller): Promise<SigningSecret> {
      return await of(accountOf(caller))
    },

    /** Each secret that was replaced also signs for a day, so that receivers can switch. */
    async rotate(caller: Caller, operation: Id<'op'>): Promise<SigningSecret> {
      const owner = accountOf(caller)
      const until = new Date(clock.now().getTime() + SIGNS_ALONG_MS)
      await store.rotateSigningSecret(owner, draw(owner, operation), until)
      return await of(owner)
    },
  }
}

export interface SigningSecretDeps {
  store: IdentityStore
  clock: Clock
  sealing: Sealing
}

function contextOf(owner: Owner): string {
  return `${owner.userId}/${owner.environment}/signingSecret`
}

const SECRET_BYTES = 32
const SIGNS_ALONG_MS = 24 * 3_600_000
