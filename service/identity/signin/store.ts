import { randomBytes } from 'node:crypto'
import { retryConflicts, type StatementPool, type Statements } from '../../kit/transaction.ts'
import type { ConnectedWallet, ConnectedWallets, SignInEmails, Tell } from '../ports.ts'
import { isWayIn, walletEmailOf, WALLETS_MAX, type Way } from '../rules.ts'

/**
 * The wallets of an account in better-auth's tables, by SQL: its adapter takes no locks, and two simultaneous removals
 * would each find the other's wallet still there. `issuer` is the provider's, null if none is configured.
 */
export function createWalletStore(statements: StatementPool, issuer: string | null, tell: Tell): ConnectedWallets {
  return {
    of: (subject) => statements.run<ConnectedWallet>(LIST, [subject], 'signin_wallets'),

    connect: (subject, address, now) =>
      statements.together(async (inside) => {
        const confirmed = await hold(inside, subject)
        const known = await inside.run<{ userId: string } & ConnectedWallet>(KNOWN, [subject, address])
        const already = known.find((wallet) => wallet.address === address)
        if (already !== undefined) return already.userId === subject ? told(already) : 'taken'
        if (known.length >= WALLETS_MAX) return 'full'
        const id = randomBytes(16).toString('base64url')
        const [made] = await inside.run<ConnectedWallet>(CONNECT, [id, address, subject, now])
        // Another account connected it first, in a transaction that ended while this one waited for the index.
        if (made === undefined) return 'taken'
        await tell(inside, confirmed, { kind: 'wallet-connected', address })
        return made
      }),

    disconnect: (subject, address, now) =>
      statements.together(async (inside) => {
        const confirmed = await hold(inside, subject)
        const ways = await inside.run<Way>(WAYS, [subject])
        const left = ways.find((way) => isWallet(way) && sameAddress(way.accountId, address))
        if (left === undefined) return 'missing'
        const others = ways.filter((way) => way !== left)
        if (!others.some((way) => isWayIn(way, issuer))) return 'last'
        await inside.run(DISCONNECT, [subject, left.accountId])
        const heir = others.find(isWallet)
        if (heir !== undefined) await inside.run(RENAME, [subject, ...namesOf(left), ...namesOf(heir), now])
        await tell(inside, confirmed, { kind: 'wallet-removed', address: left.accountId })
        return 'gone'
      }),
  }
}

function told({ address, connectedAt }: ConnectedWallet): ConnectedWallet {
  return { address, connectedAt }
}

function isWallet({ providerId }: Way): boolean {
  return providerId === 'siwe'
}

function namesOf({ accountId }: Way): [name: string, email: string] {
  return [accountId, walletEmailOf(accountId)]
}

/** Two spellings of one address differ only in the capitals of its checksum. */
function sameAddress(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase()
}

const LIST = `
SELECT account_id AS address, created_at AS "connectedAt" FROM signin_account
WHERE user_id = $1 AND provider_id = 'siwe' ORDER BY created_at, id`

const KNOWN = `
SELECT user_id AS "userId", account_id AS address, created_at AS "connectedAt" FROM signin_account
WHERE provider_id = 'siwe' AND (user_id = $1 OR account_id = $2)`

const CONNECT = `
INSERT INTO signin_account (id, provider_id, account_id, user_id, created_at, updated_at)
VALUES ($1, 'siwe', $2, $3, $4, $4)
ON CONFLICT (provider_id, account_id) DO NOTHING
RETURNING account_id AS address, created_at AS "connectedAt"`

const WAYS = `
SELECT provider_id AS "providerId", account_id AS "accountId", password IS NOT NULL AS "hasPassword"
FROM signin_account WHERE user_id = $1 ORDER BY created_at, id`

const DISCONNECT = `DELETE FROM signin_account WHERE user_id = $1 AND provider_id = 'siwe' AND account_id = $2`

// An account that was created with this wallet has the wallet's name and its stand-in address. It takes those of its
// oldest remaining wallet, because otherwise the removed wallet could never create an account of its own. Such an
// account signs in by wallets only.
const RENAME = `
UPDATE signin_user SET email = $5, name = CASE WHEN name = $2 THEN $4 ELSE name END, updated_at = $6
WHERE id = $1 AND email = $3`

/**
 * The e-mail address in better-auth's tables, by SQL: its adapter would change the address even if it had changed in
 * the meantime.
 */
export function createEmailStore(statements: StatementPool, tell: Tell): SignInEmails {
  return {
    // A sign-up with this address that ended while this transaction waited is found by the retry.
    change: ({ subject, from, to }, now) =>
      retryConflicts(() =>
        statements.together(async (inside) => {
          const confirmed = await hold(inside, subject)
          if (confirmed === to) return 'changed'
          if ((await inside.run(OTHERS, [subject, to])).length > 0) return 'taken'
          if ((await inside.run(CHANGE, [subject, from, to, now])).length === 0) return 'stale'
          // Deletes reset links that went to the old address, so that its reader cannot sign in by them.
          await inside.run(END_RESETS, [subject])
          await tell(inside, confirmed, { kind: 'email-changed', email: to })
          return 'changed'
        }),
      ),

    async endResets(subject) {
      await statements.run(END_RESETS, [subject], 'signin_end_resets')
    },

    async forgetPassword(subject) {
      await statements.run(FORGET_PASSWORD, [subject], 'signin_forget_password')
    },

    confirm: (subject, replaced) =>
      statements.together(async (inside) => {
        if ((await inside.run(CONFIRM, [subject])).length === 0) return false
        if (replaced === null) return true
        const id = randomBytes(16).toString('base64url')
        if (replaced.hash !== null) await inside.run(SET_PASSWORD, [id, subject, replaced.hash, replaced.at])
        await inside.run(END_RESETS, [subject])
        await inside.run('DELETE FROM signin_session WHERE user_id = $1', [subject])
        await inside.run(FORGET_WALLETS, [subject])
        // What keys made in the meantime is found by the next statement.
        while ((await inside.run(REVOKE_KEYS, [subject, replaced.at])).length > 0);
        return true
      }),
  }
}

const END_RESETS = 'DELETE FROM signin_verification WHERE value = $1'

// The user's row is locked: an address that is confirmed meanwhile keeps its password.
const FORGET_PASSWORD = `
WITH unconfirmed AS (SELECT id FROM signin_user WHERE id = $1 AND NOT email_verified FOR NO KEY UPDATE)
DELETE FROM signin_account WHERE provider_id = 'credential' AND user_id IN (SELECT id FROM unconfirmed)`

const CONFIRM = 'UPDATE signin_user SET email_verified = true WHERE id = $1 AND NOT email_verified RETURNING id'

const SET_PASSWORD = `
INSERT INTO signin_account (id, provider_id, account_id, user_id, password, created_at, updated_at)
VALUES ($1, 'credential', $2, $2, $3, $4, $4)
ON CONFLICT (provider_id, account_id) DO UPDATE SET password = EXCLUDED.password, updated_at = EXCLUDED.updated_at`

const FORGET_WALLETS = `DELETE FROM signin_account WHERE user_id = $1 AND provider_id = 'siwe'`

// A person who signs in here has one id, as user and as subject.
const REVOKE_KEYS = `
UPDATE identity_api_key SET revoked_at = $2 WHERE user_id = $1 AND revoked_at IS NULL RETURNING id`

const OTHERS = 'SELECT 1 FROM signin_user WHERE id <> $1 AND email = $2'

const CHANGE = `
UPDATE signin_user SET email = $3, email_verified = true, updated_at = $4 WHERE id = $1 AND email = $2 RETURNING id`

/**
 * Locks the user's row, so that changes to an account's sign-in ways run one after the other, and each reads what the
 * previous one left. Returns the user's address if it is confirmed.
 */
async function hold(inside: Statements, subject: string): Promise<string | null> {
  const [row] = await inside.run<{ confirmed: string | null }>(HOLD, [subject])
  return row?.confirmed ?? null
}

const HOLD = `
SELECT CASE WHEN email_verified THEN email END AS confirmed FROM signin_user WHERE id = $1 FOR NO KEY UPDATE`
