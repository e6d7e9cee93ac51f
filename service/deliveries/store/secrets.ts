import type { SealedSecrets } from '../ports.ts'

export interface SecretsRow {
  sealed: string
  previousSealed: string | null
  previousExpiresAt: Date | null
}

export function toSecrets({ sealed, previousSealed, previousExpiresAt }: SecretsRow): SealedSecrets {
  const previous =
    previousSealed === null || previousExpiresAt === null
      ? null
      : { sealed: previousSealed, expiresAt: previousExpiresAt }
  return { sealed, previous }
}
