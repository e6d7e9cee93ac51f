import type { Owner } from '../../kit/owner.ts'
import type { Outgoing, Sealing, SealedSecrets, SecretsOf } from '../ports.ts'

/** The secrets that sign now: the present one, and for a day the one before it. */
export function createSecrets({ sealing, accountSecrets }: SecretsDeps) {
  const asked = new Map<string, ReturnType<SecretsOf>>()

  /** A thousand deliveries of one moment ask once; nothing is remembered beyond the answer. */
  function ofAccount(owner: Owner): ReturnType<SecretsOf> {
    const key = `${owner.userId} ${owner.environment}`
    const already = asked.get(key)
    if (already !== undefined) return already
    const asking = accountSecrets(owner).finally(() => asked.delete(key))
    asked.set(key, asking)
    return asking
  }

  return {
    seal: (secret: string, target: string): string => sealing.seal(secret, contextOf(target)),
    open: ({ sealed }: SealedSecrets, target: string): string => sealing.open(sealed, contextOf(target)),

    async signing({ target, owner }: Outgoing, now: Date): Promise<string[]> {
      if (target === null) {
        const { secret, previous } = await ofAccount(owner)
        return previous !== null && previous.expiresAt > now ? [secret, previous.secret] : [secret]
      }
      const { sealed, previous } = target.secrets
      const alive = previous !== null && previous.expiresAt > now ? [previous.sealed] : []
      return [sealed, ...alive].map((each) => sealing.open(each, contextOf(target.id)))
    },
  }
}

export type Secrets = ReturnType<typeof createSecrets>

interface SecretsDeps {
  sealing: Sealing
  accountSecrets: SecretsOf
}

function contextOf(target: string): string {
  return `${target}/signingSecret`
}
