import { retryConflicts, type StatementPool } from '../../kit/transaction.ts'
import type { SignInEmails, Tell } from '../ports.ts'
import { hold } from './hold.ts'

/** The address among better-auth's rows, by SQL: its adapter would change it whatever it had become meanwhile. */
export function createEmailStore(statements: StatementPool, tell: Tell): SignInEmails {
  return {
    // Whoever signed up with it while this one waited is found the second time.
    change: ({ subject, from, to }, now) =>
      retryConflicts(() =>
        statements.together(async (inside) => {
          const confirmed = await hold(inside, subject)
          if (confirmed === to) return 'changed'
          if ((await inside.run(OTHERS, [subject, to])).length > 0) return 'taken'
          if ((await inside.run(CHANGE, [subject, from, to, now])).length === 0) return 'stale'
          // Links to a new password that went to the old address: whoever reads it is not let in by them.
          await inside.run('DELETE FROM signin_verification WHERE value = $1', [subject])
          await tell(inside, confirmed, { kind: 'email-changed', email: to })
          return 'changed'
        }),
      ),
  }
}

const OTHERS = 'SELECT 1 FROM signin_user WHERE id <> $1 AND email = $2'

const CHANGE = `
UPDATE signin_user SET email = $3, email_verified = true, updated_at = $4 WHERE id = $1 AND email = $2 RETURNING id`
