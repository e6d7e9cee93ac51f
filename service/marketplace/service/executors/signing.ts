import type { Clock } from '../../../kit/clock.ts'
import type { Owner } from '../../../kit/owner.ts'
import type { Sign } from '../../ports/run.ts'

/** Signs calls to a creator's agent by that account's secret, and by the previous one while it is being replaced. */
export function createSigning({ secretsOf, signatureOf, clock }: SigningDeps): Sign {
  return async (owner, id, body) => {
    const { secret, previous } = await secretsOf(owner)
    const seconds = Math.floor(clock.now().getTime() / 1000)
    const secrets = previous === null ? [secret] : [secret, previous.secret]
    return {
      'webhook-id': id,
      'webhook-timestamp': String(seconds),
      'webhook-signature': signatureOf(secrets, id, seconds, body),
    }
  }
}

interface SigningDeps {
  secretsOf(owner: Owner): Promise<{ secret: string; previous: { secret: string } | null }>
  signatureOf(secrets: readonly string[], id: string, timestampSeconds: number, body: string): string
  clock: Clock
}
