import { randomBytes } from 'node:crypto'
import type { AuthContext, BetterAuthPlugin } from 'better-auth'
import { APIError, createAuthEndpoint } from 'better-auth/api'
import { setSessionCookie } from 'better-auth/cookies'
import { z } from 'zod'
import type { Clock } from '../../kit/clock.ts'
import { DomainError } from '../../kit/errors.ts'
import type { WalletSignatures } from '../ports.ts'
import { madeOnce, ownerOf } from './first.ts'

/**
 * Sign-In with Ethereum on better-auth's parts, with the addresses and bodies of its own plugin. That one
 * makes the user and the wallet's row in two commits: in a trial a crash between them shut the wallet out
 * for ever, three of ten first sign-ins at once were refused, and the refusals told of the database. Here
 * both are one commit, and a wallet is one row by its index.
 */
export function signInWithEthereum(options: WalletOptions) {
  return {
    id: 'siwe',
    endpoints: {
      siweNonce: createAuthEndpoint('/siwe/nonce', { method: 'POST' }, async (context) => {
        const nonce = randomBytes(16).toString('hex')
        await context.context.internalAdapter.createVerificationValue({
          identifier: identifierOf(nonce),
          value: nonce,
          expiresAt: new Date(options.clock.now().getTime() + NONCE_MS),
        })
        return context.json({ nonce })
      }),

      siweVerify: createAuthEndpoint('/siwe/verify', { method: 'POST', body: signedMessage }, async (context) => {
        const { message, signature } = context.body
        const { internalAdapter } = context.context
        const expected = { domain: options.domain, chainIds: options.chainIds, now: options.clock.now() }
        const { address, nonce } = await options.signatures.read(message, signature, expected).catch(refuse)
        // Taken away whoever comes first: the same message signs in once.
        if ((await internalAdapter.consumeVerificationValue(identifierOf(nonce))) === null) {
          throw APIError.from('UNAUTHORIZED', {
            code: 'NONCE_UNKNOWN',
            message: 'The nonce was used or has expired: ask for a new one.',
          })
        }
        const user = await userOf(internalAdapter, address)
        const session = await internalAdapter.createSession(user.id)
        await setSessionCookie(context, { session, user })
        return context.json({ token: session.token, success: true, user: { id: user.id, walletAddress: address } })
      }),
    },
  } satisfies BetterAuthPlugin
}

export interface WalletOptions {
  clock: Clock
  signatures: WalletSignatures
  domain: string
  chainIds: readonly number[]
}

/** A user needs an e-mail address in better-auth; these can never be anybody's. */
const WALLET_EMAIL_DOMAIN = 'wallet.invalid'

const signedMessage = z.object({ message: z.string().max(4_000), signature: z.string().max(10_000) })

async function userOf(adapter: AuthContext['internalAdapter'], address: string) {
  const account = { providerId: 'siwe', accountId: address }
  const email = `${address.toLowerCase()}@${WALLET_EMAIL_DOMAIN}`
  const made = { name: address, email, emailVerified: false }
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
