/** A sealed signing secret, and the ones before it, newest first: each also signs until it expires. */
export interface SealedSecrets {
  sealed: string
  previous: readonly { sealed: string; expiresAt: Date }[]
}

/** Of a table `t` with these columns. */
export const SEALED_COLUMNS = `t.sealed, t.previous_sealed AS "previousSealed", t.previous_expires_at AS "previousExpiresAt",
  t.earlier_sealed AS "earlierSealed"`

/**
 * What an update sets in `t` beside the new secret and `previous_expires_at`. A second rotation within a day ends no
 * secret: its owner may have lost the answer to the first, and use the one before. Ten sign at most.
 */
export const SEALED_BEFORE = `
  previous_sealed = t.sealed,
  earlier_sealed = CASE WHEN t.previous_sealed IS NULL THEN t.earlier_sealed ELSE jsonb_path_query_array(
    jsonb_build_object('sealed', t.previous_sealed, 'expiresAt', t.previous_expires_at) || t.earlier_sealed,
    '$[0 to 7]')
  END`

export interface SealedRow {
  sealed: string
  previousSealed: string | null
  previousExpiresAt: Date | null
  earlierSealed: readonly { sealed: string; expiresAt: string }[]
}

export function toSealedSecrets({
  sealed,
  previousSealed,
  previousExpiresAt,
  earlierSealed,
}: SealedRow): SealedSecrets {
  const earlier = earlierSealed.map((one) => ({ sealed: one.sealed, expiresAt: new Date(one.expiresAt) }))
  const hasPrevious = previousSealed !== null && previousExpiresAt !== null
  return {
    sealed,
    previous: hasPrevious ? [{ sealed: previousSealed, expiresAt: previousExpiresAt }, ...earlier] : earlier,
  }
}
