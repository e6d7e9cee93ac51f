import type { Owner } from '../../kit/owner.ts'
import type { SealedSecrets } from '../../kit/sealed-secrets.ts'
import type { Outgoing, Sealing, SecretsOf } from '../ports.ts'

/** The current signing secrets: the present one, and for a day each that it replaced. */
export function createSecrets({ sealing, accountSecrets }: SecretsDeps) {
  const pending = new Map<string, ReturnType<SecretsOf>>()

  /** A thousand concurrent deliveries share one query; its result is not cached beyond that. */
  function ofAccount(owner: Owner): ReturnType<SecretsOf> {
    const key = `${owner.userId} ${owner.environment}`
    let query = pending.get(key)
    if (query === undefined) {
      query = accountSecrets(owner).finally(() => pending.delete(key))
      pending.set(key, query)
    }
    return query
  }

  return {
    seal: (secret: string, target: string): string => sealing.seal(secret, contextOf(target)),
    open: ({ sealed }: SealedSecrets, target: string): string => sealing.open(sealed, contextOf(target)),

    async signing({ target, owner }: Outgoing, now: Date): Promise<string[]> {
      if (target === null) {
        const { secret, previous } = await ofAccount(owner)
        return [secret, ...alive(previous, now).map((one) => one.secret)]
      }
      const { sealed, previous } = target.secrets
      const all = [sealed, ...alive(previous, now).map((one) => one.sealed)]
      return all.map((each) => sealing.open(each, contextOf(target.id)))
    },
  }
}

export type Secrets = ReturnType<typeof createSecrets>

interface SecretsDeps {
  sealing: Sealing
  accountSecrets: SecretsOf
}

function alive<One extends { expiresAt: Date }>(previous: readonly One[], now: Date): One[] {
  return previous.filter(({ expiresAt }) => expiresAt > now)
}

function contextOf(target: string): string {
  return `${target}/signingSecret`
}
