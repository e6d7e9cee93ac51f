import type { Statements } from '../../kit/transaction.ts'

/**
 * Whatever changes the ways into an account comes one after the other; what is read next is what the last one left.
 * Answers the address that is known to be theirs.
 */
export async function hold(inside: Statements, subject: string): Promise<string | null> {
  const [row] = await inside.run<{ confirmed: string | null }>(HOLD, [subject])
  return row?.confirmed ?? null
}

const HOLD = `
SELECT CASE WHEN email_verified THEN email END AS confirmed FROM signin_user WHERE id = $1 FOR NO KEY UPDATE`
