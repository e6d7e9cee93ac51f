import { randomBytes } from 'node:crypto'
import type { AuthContext, BetterAuthPlugin } from 'better-auth'
import { APIError, createAuthEndpoint, sessionMiddleware } from 'better-auth/api'
import { setSessionCookie } from 'better-auth/cookies'
import { z } from 'zod'
import type { Clock } from '../../kit/clock.ts'
import type { ConnectedWallets } from '../ports.ts'
import { walletEmailOf, WALLETS_MAX } from '../rules.ts'
import { identifierOf, ownerProof, signedMessage, type Proofs } from './proof.ts'
import { madeOnce, ownerOf } from './user.ts'

/**
 * Sign-In with Ethereum, built on better-auth with the addresses and bodies of its own plugin. That plugin creates the
 * user and the wallet's row in two commits: in a trial, a crash between them locked the wallet out for ever, three of
 * ten simultaneous first sign-ins were refused, and the refusals exposed database details. Here both are one commit,
 * and a unique index allows one row per wallet.
 */
export function signInWithEthereum({ clock, wallets, proofs }: WalletOptions) {
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
        const address = await proofs.walletOf(context.body, internalAdapter)
        const user = await userOf(internalAdapter, address)
        const session = await internalAdapter.createSession(user.id)
        await setSessionCookie(context, { session, user })
        return context.json({ token: session.token, success: true, user: { id: user.id, walletAddress: address } })
      }),

      siweLink: createAuthEndpoint(
        '/siwe/link',
        { method: 'POST', body: newWallet, use: [sessionMiddleware] },
        async (context) => {
          const { internalAdapter, session } = context.context
          await proofs.assertOwner(context.context, context.body.owner ?? {})
          const address = await proofs.walletOf(context.body, internalAdapter)
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
        { method: 'POST', body: walletToRemove, use: [sessionMiddleware] },
        async (context) => {
          await proofs.assertOwner(context.context, context.body.owner ?? {})
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
  wallets: ConnectedWallets
  proofs: Proofs
}

type Adapter = AuthContext['internalAdapter']

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

const NONCE_MS = 15 * 60_000

const owner = ownerProof.optional()

export const newWallet = signedMessage.extend({ owner })

export const walletToRemove = z.object({
  address: z.string().regex(/^0x[0-9a-fA-F]{40}$/, 'must be an Ethereum address'),
  owner,
})
