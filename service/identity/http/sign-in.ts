import { z } from 'zod'
import type { Described } from '../../api/route.ts'
import { timestamp } from '../../kit/wire.ts'
import { PASSWORD_LENGTH, PERSON_NAME_MAX, WALLETS_MAX } from '../rules.ts'
import { emailConfirmation } from '../signin/confirmation.ts'
import { emailToken, emailWanted } from '../signin/email.ts'
import { ownerProof, signedMessage } from '../signin/proof.ts'
import { newWallet, walletToRemove } from '../signin/siwe.ts'

/**
 * The sign-in as the reference shows it, under `/auth`. better-auth serves most of it; its other endpoints are blocked,
 * and a test compares this list with the endpoints that are served.
 */
export function signInReference({ triesPerMinute }: { triesPerMinute: number }): Described[] {
  const limit =
    triesPerMinute === 0
      ? ''
      : ` At most ${String(triesPerMinute)} attempts a minute for each IP address, and as many for each e-mail address.`
  const all: Described[] = [...byEmail(limit), ...byWallet(), ...byProvider(), ...sessions(), ...account()]
  return all.map((one) => ({
    ...one,
    errors: {
      ...(one.body === undefined ? {} : { 403: 'Pages of other sites may not send this request.' }),
      ...one.errors,
    },
  }))
}

const tag = 'Sign-in'
const email = z
  .string()
  .max(254)
  .meta({ format: 'email', examples: ['ada@example.com'] })
const password = z
  .string()
  .min(PASSWORD_LENGTH.min)
  .max(PASSWORD_LENGTH.max)
  .meta({ examples: ['correct horse battery'] })
const name = z
  .string()
  .min(1)
  .max(PERSON_NAME_MAX)
  .meta({ description: 'One line', examples: ['Ada Lovelace'] })
export const user = z.object({
  id: z.string().meta({ examples: ['usr_01k…'] }),
  name: z.string(),
  email: z.string().meta({ description: 'For a wallet account, a placeholder that receives no mail' }),
  emailVerified: z.boolean(),
  createdAt: timestamp,
  updatedAt: timestamp,
})
const token = z.string().meta({ description: 'Send it as `Authorization: Bearer`; also for the API' })
export const session = z.object({ token: z.string(), userId: z.string(), expiresAt: timestamp, createdAt: timestamp })
export const connectedWallet = z.object({ address: z.string(), connectedAt: timestamp })
export const emailOut = z.object({
  email: z.string().nullable(),
  confirmed: z.boolean(),
  hasPassword: z.boolean(),
  byProvider: z.boolean().meta({ description: 'Whether an identity provider signs in to the account' }),
  changeable: z.boolean(),
})
const ownership = {
  password: ownerProof.shape.password.meta({ description: 'The password of the account' }),
  wallet: ownerProof.shape.wallet.meta({
    description:
      'In its place, and required if the account has none: a message as for a sign-in, signed by a connected wallet',
  }),
}
const owner = ownerProof.extend(ownership).optional().meta({
  description: 'Shows that the account is yours; an account with neither needs a session of the last 15 minutes',
})
const done = z.object({ status: z.literal(true) })
const success = z.object({ success: z.literal(true) })

function byEmail(limit: string): Described[] {
  return [
    {
      method: 'post',
      path: '/sign-up/email',
      tag,
      auth: 'anyone',
      summary: 'Sign up with an e-mail address',
      description: `Creates the account with a wallet and free credits in each environment. On a live server the response is the same whether or not the address is taken: \`token\` is null until the address is confirmed by mail.${limit}`,
      body: z.object({ name, email, password }),
      answers: { 200: z.object({ token: token.nullable(), user }) },
      errors: { 422: 'The address has an account (in the sandbox only).' },
      samples: [
        {
          title: 'Sign up and create an API key',
          text: [
            "curl -s $HOST/auth/sign-up/email -H 'Content-Type: application/json' \\",
            `  -d '{"name":"Ada Lovelace","email":"ada@example.com","password":"correct horse battery"}'`,
            '# {"token":"…","user":{"id":"usr_…",…}}',
            'curl -s $HOST/v1/keys -H "Authorization: Bearer $COINSLOT_SESSION" \\',
            `  -H 'Content-Type: application/json' -d '{"name":"n8n"}'`,
            '# {"key":{"id":"key_…",…},"secret":"csk_test_…"}',
          ].join('\n'),
        },
      ],
    },
    {
      method: 'post',
      path: '/sign-in/email',
      tag,
      auth: 'anyone',
      summary: 'Sign in with an e-mail address',
      description: `The response also sets a session cookie, for browsers.${limit}`,
      body: z.object({ email, password: z.string().max(PASSWORD_LENGTH.max) }),
      answers: { 200: z.object({ token, user }) },
      errors: {
        401: 'The address or the password is wrong.',
        403: 'The address is not confirmed yet: a new confirmation mail was sent, at most five in an hour.',
      },
    },
    {
      method: 'post',
      path: '/send-verification-email',
      tag,
      auth: 'anyone',
      summary: 'Send the confirmation mail again',
      body: z.object({ email }),
      answers: { 200: done },
    },
    {
      method: 'post',
      path: '/verify-email',
      tag,
      auth: 'anyone',
      summary: 'Confirm an e-mail address with the token from the mail, which is valid for 24 hours',
      description:
        'In the browser that signed up, or with a session of the account, without a password; on a live server the browser that signed up is then signed in. Elsewhere `password` is required: the one chosen at sign-up, or a new one, which replaces it and ends all sessions; `token` is then null.',
      body: emailConfirmation,
      answers: { 200: z.object({ token: token.nullable() }) },
      errors: {
        400: 'The link was already used or has expired.',
        403: 'The password is missing, or a page of another site sent this request.',
      },
    },
    {
      method: 'post',
      path: '/request-password-reset',
      tag,
      auth: 'anyone',
      summary: 'Send a password reset mail',
      description: 'The response is the same whether or not the account exists.',
      body: z.object({ email }),
      answers: { 200: done },
    },
    {
      method: 'post',
      path: '/reset-password',
      tag,
      auth: 'anyone',
      summary: 'Choose a new password with the token from the reset mail',
      description: 'All sessions of the account end. The address is confirmed, because the mail was read.',
      body: z.object({ newPassword: password, token: z.string().max(2_000) }),
      answers: { 200: done },
    },
  ]
}

function byWallet(): Described[] {
  const signed = signedMessage.extend({
    message: signedMessage.shape.message.meta({ description: 'The EIP-4361 message that the wallet signed' }),
    signature: signedMessage.shape.signature.meta({ description: 'The signature of a key (EIP-191)' }),
  })
  return [
    {
      method: 'post',
      path: '/siwe/nonce',
      tag,
      auth: 'anyone',
      summary: 'Get a nonce for Sign-In with Ethereum; it works once, within 15 minutes',
      answers: { 200: z.object({ nonce: z.string() }) },
    },
    {
      method: 'post',
      path: '/siwe/verify',
      tag,
      auth: 'anyone',
      summary: 'Sign in with a wallet; the first sign-in creates the account',
      description:
        'The message names this server as `domain` and `URI`, Base or Base Sepolia as the chain, the nonce, and a time within the last minutes.',
      body: signed,
      answers: { 200: z.object({ token, success: z.literal(true), user: z.object({ id: z.string() }) }) },
      errors: { 401: 'The signature does not match the message, or the nonce was used or has expired.' },
    },
    {
      method: 'post',
      path: '/siwe/link',
      tag,
      auth: 'session',
      summary: 'Connect a wallet to your account, so that it signs in to it',
      description: `An account has at most ${String(WALLETS_MAX)} wallets.`,
      body: newWallet.extend({ ...signed.shape, owner }),
      answers: { 200: connectedWallet },
      errors: { 409: 'The wallet signs in to another account, or there are too many.' },
    },
    {
      method: 'get',
      path: '/siwe/wallets',
      tag,
      auth: 'session',
      summary: 'The wallets that sign in to your account',
      answers: { 200: z.object({ wallets: z.array(connectedWallet) }) },
    },
    {
      method: 'post',
      path: '/siwe/unlink',
      tag,
      auth: 'session',
      summary: 'Remove a wallet; the last way to sign in cannot be removed',
      body: walletToRemove.extend({ owner }),
      answers: { 200: success },
      errors: { 404: 'The wallet is not connected.', 409: 'It is the only way to sign in to the account.' },
    },
  ]
}

function byProvider(): Described[] {
  return [
    {
      method: 'post',
      path: '/oidc/start',
      tag,
      auth: 'anyone',
      summary: 'Begin a sign-in with the configured OpenID Connect provider',
      description: 'For browsers: the response sets a cookie, and the provider redirects back to this server.',
      body: z.object({
        next: z
          .string()
          .max(2_048)
          .optional()
          .meta({ description: 'The dashboard page to return to; `/` when absent' }),
      }),
      answers: { 200: z.object({ url: z.string().meta({ description: 'Redirect the browser to this address' }) }) },
      errors: { 404: 'No provider is configured.', 503: 'The provider cannot be reached.' },
    },
  ]
}

function sessions(): Described[] {
  return [
    {
      method: 'get',
      path: '/get-session',
      tag,
      auth: 'session',
      summary: 'Get your session and user; null without a session',
      answers: { 200: z.object({ session, user }).nullable() },
    },
    {
      method: 'get',
      path: '/list-sessions',
      tag,
      auth: 'session',
      summary: 'Your sessions',
      answers: { 200: z.array(session) },
    },
    {
      method: 'post',
      path: '/revoke-session',
      tag,
      auth: 'session',
      summary: 'End one of your sessions',
      body: z.object({ token: z.string().max(2_000).meta({ description: 'Of GET /auth/list-sessions' }) }),
      answers: { 200: done },
    },
    {
      method: 'post',
      path: '/revoke-sessions',
      tag,
      auth: 'session',
      summary: 'End all your sessions, including this one',
      answers: { 200: done },
    },
    {
      method: 'post',
      path: '/revoke-other-sessions',
      tag,
      auth: 'session',
      summary: 'End all your sessions except this one',
      answers: { 200: done },
    },
    {
      method: 'post',
      path: '/sign-out',
      tag,
      auth: 'session',
      summary: 'End this session',
      answers: { 200: success },
    },
  ]
}

function account(): Described[] {
  return [
    {
      method: 'post',
      path: '/change-password',
      tag,
      auth: 'session',
      summary: 'Change your password',
      body: z.object({
        currentPassword: z.string().max(PASSWORD_LENGTH.max),
        newPassword: password,
        revokeOtherSessions: z.boolean().optional(),
      }),
      answers: { 200: z.object({ token: token.nullable(), user }) },
    },
    {
      method: 'post',
      path: '/update-user',
      tag,
      auth: 'session',
      summary: 'Change your name',
      body: z.object({ name }),
      answers: { 200: done },
    },
    {
      method: 'get',
      path: '/email',
      tag,
      auth: 'session',
      summary: 'Get your e-mail address and whether this server can change it',
      answers: {
        200: emailOut,
      },
    },
    {
      method: 'post',
      path: '/email/change',
      tag,
      auth: 'session',
      summary: 'Change your e-mail address: send a confirmation mail to the new one',
      body: emailWanted.extend({ ...ownership, email }),
      answers: { 200: success },
    },
    {
      method: 'post',
      path: '/email/confirm',
      tag,
      auth: 'session',
      summary: 'Confirm the new e-mail address with the token from the mail',
      body: emailToken,
      answers: { 200: z.object({ email: z.string() }) },
      errors: { 409: 'Another account already uses this address.' },
    },
  ]
}
