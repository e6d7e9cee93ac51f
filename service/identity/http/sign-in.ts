import { z } from 'zod'
import type { Described } from '../../api/route.ts'
import { timestamp } from '../../kit/wire.ts'
import { PASSWORD_LENGTH, PERSON_NAME_MAX, WALLETS_MAX } from '../rules.ts'
import { emailToken, emailWanted } from '../signin/email.ts'
import { connectedAddress, signedMessage } from '../signin/siwe.ts'

/**
 * The sign-in as the reference shows it, under `/auth`. better-auth serves most of it; its other endpoints are blocked,
 * and a test compares this list with the endpoints that are served.
 */
export function signInReference({ triesPerMinute }: { triesPerMinute: number }): Described[] {
  const limit =
    triesPerMinute === 0
      ? ''
      : ` At most ${String(triesPerMinute)} tries a minute for an address, and as many for an e-mail address.`
  const all: Described[] = [...byEmail(limit), ...byWallet(), ...byProvider(), ...sessions(), ...account()]
  return all.map((one) => ({
    ...one,
    errors: { ...(one.body === undefined ? {} : { 403: 'A page of another site may not send this.' }), ...one.errors },
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
  email: z.string().meta({ description: 'Of a wallet, an address that receives nothing' }),
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
  changeable: z.boolean(),
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
      description: `Makes the account with a wallet and free credits in each environment. On a live server the answer is the same whether the address is taken or not: \`token\` is null until the link of a mail was followed.${limit}`,
      body: z.object({ name, email, password }),
      answers: { 200: z.object({ token: token.nullable(), user }) },
      errors: { 422: 'The address has an account (in the sandbox only).' },
      samples: [
        {
          title: 'From nothing to an API key',
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
      description: `The answer sets a session cookie too, for browsers.${limit}`,
      body: z.object({ email, password: z.string().max(PASSWORD_LENGTH.max) }),
      answers: { 200: z.object({ token, user }) },
      errors: { 401: 'The address or the password is wrong.', 403: 'The address is not confirmed yet.' },
    },
    {
      method: 'post',
      path: '/send-verification-email',
      tag,
      auth: 'anyone',
      summary: 'Send the mail that confirms an address again',
      body: z.object({ email }),
      answers: { 200: done },
    },
    {
      method: 'get',
      path: '/verify-email',
      tag,
      auth: 'anyone',
      summary: 'Confirm an address: where the link of the mail leads, good for a day',
      query: z.object({ token: z.string().max(2_000), callbackURL: z.string().max(2_048).optional() }),
      answers: {},
      errors: { 302: 'To the dashboard, signed in on a live server.', 401: 'The link is used or too old.' },
    },
    {
      method: 'post',
      path: '/request-password-reset',
      tag,
      auth: 'anyone',
      summary: 'Send a mail that lets its reader choose a new password',
      description: 'The answer does not tell whether there is such an account.',
      body: z.object({ email }),
      answers: { 200: done },
    },
    {
      method: 'post',
      path: '/reset-password',
      tag,
      auth: 'anyone',
      summary: 'Choose a new password with the token of that mail',
      description: 'All sessions of the account end.',
      body: z.object({ newPassword: password, token: z.string().max(2_000) }),
      answers: { 200: done },
    },
  ]
}

function byWallet(): Described[] {
  const signed = signedMessage.extend({
    message: signedMessage.shape.message.meta({ description: 'The EIP-4361 message that the wallet signed' }),
    signature: signedMessage.shape.signature.meta({
      description: 'Of a key (EIP-191) or of a contract (ERC-1271, ERC-6492)',
    }),
  })
  return [
    {
      method: 'post',
      path: '/siwe/nonce',
      tag,
      auth: 'anyone',
      summary: 'A nonce for Sign-In with Ethereum, good for 15 minutes and once',
      answers: { 200: z.object({ nonce: z.string() }) },
    },
    {
      method: 'post',
      path: '/siwe/verify',
      tag,
      auth: 'anyone',
      summary: 'Sign in with a wallet; the first time makes the account',
      description:
        'The message names this server as `domain` and `URI`, Base or Base Sepolia as the chain, the nonce, and a time within the last minutes.',
      body: signed,
      answers: { 200: z.object({ token, success: z.literal(true), user: z.object({ id: z.string() }) }) },
      errors: { 401: 'The signature does not fit, or the nonce was used or has expired.' },
    },
    {
      method: 'post',
      path: '/siwe/link',
      tag,
      auth: 'session',
      summary: 'Connect a wallet to your account, so that it signs in to it',
      description: `An account has at most ${String(WALLETS_MAX)} wallets.`,
      body: signed,
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
      summary: 'Remove a wallet; never the last way into the account',
      body: connectedAddress,
      answers: { 200: success },
      errors: { 404: 'The wallet is not connected.', 409: 'It is the only way into the account.' },
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
      description: 'For browsers: the answer sets a cookie, and the provider leads back to this server.',
      body: z.object({
        next: z
          .string()
          .max(2_048)
          .optional()
          .meta({ description: 'The page of the dashboard to come back to; `/` when absent' }),
      }),
      answers: { 200: z.object({ url: z.string().meta({ description: 'Send the browser there' }) }) },
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
      summary: 'Your session and who you are; null without one',
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
      summary: 'End all your sessions, this one too',
      answers: { 200: done },
    },
    {
      method: 'post',
      path: '/revoke-other-sessions',
      tag,
      auth: 'session',
      summary: 'End all your sessions but this one',
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
      summary: 'Your e-mail address, and whether it can be changed here',
      answers: {
        200: emailOut,
      },
    },
    {
      method: 'post',
      path: '/email/change',
      tag,
      auth: 'session',
      summary: 'Send a mail to another address, which becomes yours once its link was followed',
      body: emailWanted.extend({
        email,
        password: emailWanted.shape.password.meta({ description: 'Where the account has one' }),
      }),
      answers: { 200: success },
    },
    {
      method: 'post',
      path: '/email/confirm',
      tag,
      auth: 'session',
      summary: 'Take the address that the mail was sent to, with the token of its link',
      body: emailToken,
      answers: { 200: z.object({ email: z.string() }) },
      errors: { 409: 'Another account signs in by this address.' },
    },
  ]
}
