import type { AuthContext } from 'better-auth'
import { APIError } from 'better-auth/api'
import { z } from 'zod'
import type { Clock } from '../../kit/clock.ts'
import { DomainError } from '../../kit/errors.ts'
import type { ConnectedWallets, WalletSignatures } from '../ports.ts'
import { isNobodys, isWayIn } from '../rules.ts'

export interface ProofOptions {
  clock: Clock
  signatures: WalletSignatures
  wallets: ConnectedWallets
  dashboard: string
  chainIds: readonly number[]
  /** Null if none is configured. */
  provider: { issuer: string } | null
  canMail: boolean
}

export type Proofs = ReturnType<typeof createProofs>

/** What a person proves beside a session: that a wallet is theirs, or that the account is. */
export function createProofs({ clock, signatures, wallets, canMail, ...options }: ProofOptions) {
  const { host: domain, origin } = new URL(options.dashboard)
  const { chainIds, provider } = options
  /** The wallet that signed this message, for this site, in time, and not used before. */
  async function walletOf({ message, signature }: SignedMessage, adapter: Adapter): Promise<string> {
    const expected = { domain, origin, chainIds, now: clock.now() }
    const { address, nonce } = await signatures.read(message, signature, expected).catch(refuse)
    // The first request consumes the nonce: the same message counts once.
    if ((await adapter.consumeVerificationValue(identifierOf(nonce))) === null) {
      throw APIError.from('UNAUTHORIZED', REFUSALS.nonce)
    }
    return address
  }

  async function isByProvider(adapter: Adapter, id: string): Promise<boolean> {
    const accounts = await adapter.findAccounts(id)
    return accounts.some(
      (one) => one.providerId === 'oidc' && isWayIn({ ...one, hasPassword: false }, provider?.issuer ?? null),
    )
  }

  return {
    walletOf,

    /** Whether the identity provider signs in to the account. */
    isByProvider,

    /**
     * A change of how an account is signed in to needs the password, or a fresh signature of a connected wallet: the thief of a
     * session could otherwise put a way in of their own in the place of the owner's. Without a password a new session does
     * too, where an identity provider signs in, or nothing else can be asked for.
     */
    async assertOwner(context: AuthContext, { password, wallet }: OwnerProof): Promise<void> {
      const { internalAdapter, session } = context
      if (session === null) throw APIError.from('UNAUTHORIZED', REFUSALS.session)
      const { id } = session.user
      const hash = (await internalAdapter.findCredentialAccount(id))?.password
      if (wallet !== undefined) {
        const address = await walletOf(wallet, internalAdapter)
        if ((await wallets.of(id)).some((one) => one.address === address)) return
        throw APIError.from('FORBIDDEN', REFUSALS.other)
      }
      if (hash != null) {
        if (await context.password.verify({ hash, password: password ?? '' })) return
        throw APIError.from('BAD_REQUEST', REFUSALS.password)
      }
      const isFresh = clock.now().getTime() - new Date(session.session.createdAt).getTime() <= FRESH_MS
      const hasWallet = (await wallets.of(id)).length > 0
      const byProvider = await isByProvider(internalAdapter, id)
      if (isFresh && (byProvider || !hasWallet)) return
      if (!hasWallet) throw APIError.from('FORBIDDEN', REFUSALS.session)
      if (byProvider) throw APIError.from('FORBIDDEN', REFUSALS.walletOrSession)
      const { email, emailVerified } = session.user
      const canReset = canMail && emailVerified && !isNobodys(email)
      throw APIError.from('FORBIDDEN', canReset ? REFUSALS.walletOrReset : REFUSALS.wallet)
    },
  }
}

type Adapter = AuthContext['internalAdapter']
type SignedMessage = z.output<typeof signedMessage>
type OwnerProof = z.output<typeof ownerProof>

export const signedMessage = z.object({ message: z.string().max(4_000), signature: z.string().max(10_000) })

export const ownerProof = z.object({ password: z.string().max(128).optional(), wallet: signedMessage.optional() })

const REFUSALS = {
  nonce: { code: 'NONCE_UNKNOWN', message: 'The nonce was used or has expired: request a new one.' },
  password: { code: 'INVALID_PASSWORD', message: 'The password is wrong. Try again.' },
  wallet: {
    code: 'WALLET_PROOF_REQUIRED',
    message: 'This change needs a signature. Sign a message with a wallet that is connected to your account.',
  },
  walletOrSession: {
    code: 'WALLET_PROOF_REQUIRED',
    message:
      'This change needs a signature of a wallet that is connected to your account. Or sign out, sign in with your identity provider, and make the change within 15 minutes.',
  },
  walletOrReset: {
    code: 'WALLET_PROOF_REQUIRED',
    message:
      'This change needs a signature. Sign a message with a wallet that is connected to your account, or sign out, set a password by “Forgot your password?”, and use it.',
  },
  other: {
    code: 'WALLET_PROOF_REQUIRED',
    message: 'The wallet that signed is not connected to your account. Choose one that is, and sign again.',
  },
  session: {
    code: 'SESSION_NOT_FRESH',
    message: 'You signed in too long ago to change this. Sign out, sign in, and make the change within 15 minutes.',
  },
}

function refuse(error: unknown): never {
  if (!(error instanceof DomainError)) throw error
  throw APIError.from('UNAUTHORIZED', { code: error.code.toUpperCase(), message: error.message })
}

export function identifierOf(nonce: string): string {
  return `siwe:${nonce}`
}

const FRESH_MS = 15 * 60_000
