import { randomBytes } from 'node:crypto'
import type { AuthContext, BetterAuthPlugin } from 'better-auth'
import { APIError, createAuthEndpoint, sessionMiddleware } from 'better-auth/api'
import { setSessionCookie } from 'better-auth/cookies'
import { z } from 'zod'
import type { Clock } from '../../kit/clock.ts'
import { DomainError } from '../../kit/errors.ts'
import type { ConnectedWallets, WalletSignatures } from '../ports.ts'
import { walletEmailOf, WALLETS_MAX } from '../rules.ts'
import { madeOnce, ownerOf } from './user.ts'

/**
 * Sign-In with Ethereum, built on better-auth with the addresses and bodies of its own plugin. That plugin creates the
 * user and the wallet's row in two commits: in a trial, a crash between them locked the wallet out for ever, three of
 * ten simultaneous first sign-ins were refused, and the refusals exposed database details. Here both are one commit,
 * and a unique index allows one row per wallet.
 */
export function signInWithEthereum({ clock, signatures, wallets, domain, origin, chainIds }: WalletOptions) {
  /** The wallet that signed this message, for this site, in time, and not used before. */
  async function proven({ message, signature }: SignedMessage, adapter: Adapter): Promise<string> {
    const expected = { domain, origin, chainIds, now: clock.now() }
    const { address, nonce } = await signatures.read(message, signature, expected).catch(refuse)
    // The first request consumes the nonce: the same message counts once.
    if ((await adapter.consumeVerificationValue(identifierOf(nonce))) === null) {
      throw APIError.from('UNAUTHORIZED', {
        code: 'NONCE_UNKNOWN',
        message: 'The nonce was used or has expired: request a new one.',
      })
    }
    return address
  }

  return {
    id: 'siwe',
    endpoints: {
      siweNonce: createAuthEndpoint('/siwe/nonce', { method: 'POST' }, async (context) => {
        const nonce = randomBytes(16).toString('hex')
        await context.context.internalAdapter.createVerificationValue({
          identifier: identifierOf(nonce),
          value: nonce,
          expiresAt: new Date(clock.now().getTime() + NONCE_MS),
        })
        return context.json({ nonce })
      }),

      siweVerify: createAuthEndpoint('/siwe/verify', { method: 'POST', body: signedMessage }, async (context) => {
        const { internalAdapter } = context.context
        const address = await proven(context.body, internalAdapter)
        const user = await userOf(internalAdapter, address)
        const session = await internalAdapter.createSession(user.id)
        await setSessionCookie(context, { session, user })
        return context.json({ token: session.token, success: true, user: { id: user.id, walletAddress: address } })
      }),

      siweLink: createAuthEndpoint(
        '/siwe/link',
        { method: 'POST', body: signedMessage, use: [sessionMiddleware] },
        async (context) => {
          const { internalAdapter, session } = context.context
          const address = await proven(context.body, internalAdapter)
          const wallet = await wallets.connect(session.user.id, address, clock.now())
          if (wallet === 'taken' || wallet === 'full') throw APIError.from('CONFLICT', REFUSALS[wallet])
          return context.json(wallet)
        },
      ),

      siweWallets: createAuthEndpoint('/siwe/wallets', { method: 'GET', use: [sessionMiddleware] }, async (context) =>
        context.json({ wallets: await wallets.of(context.context.session.user.id) }),
      ),

      siweUnlink: createAuthEndpoint(
        '/siwe/unlink',
        { method: 'POST', body: connectedAddress, use: [sessionMiddleware] },
        async (context) => {
          const did = await wallets.disconnect(context.context.session.user.id, context.body.address, clock.now())
          if (did === 'missing') throw APIError.from('NOT_FOUND', REFUSALS[did])
          if (did === 'last') throw APIError.from('CONFLICT', REFUSALS[did])
          return context.json({ success: true })
        },
      ),
    },
  } satisfies BetterAuthPlugin
}

export interface WalletOptions {
  clock: Clock
  signatures: WalletSignatures
  wallets: ConnectedWallets
  domain: string
  origin: string
  chainIds: readonly number[]
}

type Adapter = AuthContext['internalAdapter']
type SignedMessage = z.output<typeof signedMessage>

const REFUSALS = {
  taken: {
    code: 'WALLET_TAKEN',
    message: 'This wallet signs in to another account, so it cannot be connected to this one.',
  },
  full: {
    code: 'TOO_MANY_WALLETS',
    message: `An account has at most ${String(WALLETS_MAX)} wallets: remove one first.`,
  },
  missing: { code: 'WALLET_NOT_FOUND', message: 'This wallet is not connected to your account.' },
  last: {
    code: 'LAST_WAY_IN',
    message: 'This wallet is the only way to sign in to your account: connect another one before you remove it.',
  },
}

async function userOf(adapter: Adapter, address: string) {
  const account = { providerId: 'siwe', accountId: address }
  const made = { name: address, email: walletEmailOf(address), emailVerified: false }
  return (await ownerOf(adapter, account)) ?? (await madeOnce(adapter, made, account))
}

function refuse(error: unknown): never {
  if (!(error instanceof DomainError)) throw error
  throw APIError.from('UNAUTHORIZED', { code: error.code.toUpperCase(), message: error.message })
}

function identifierOf(nonce: string): string {
  return `siwe:${nonce}`
}

const NONCE_MS = 15 * 60_000

export const signedMessage = z.object({ message: z.string().max(4_000), signature: z.string().max(10_000) })

export const connectedAddress = z.object({
  address: z.string().regex(/^0x[0-9a-fA-F]{40}$/, 'must be an Ethereum address'),
})
