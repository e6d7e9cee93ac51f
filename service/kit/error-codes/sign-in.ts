/** The addresses under `/auth`: signing up and in, sessions, passwords, e-mail addresses and wallets. */
export const SIGN_IN = {
  credential_account_not_found: [
    'The account has no password: its owner signs in by a wallet or an identity provider.',
    'Sign in the same way as before. A password can be set through the link for a forgotten one.',
  ],
  cross_site_navigation_login_blocked: [
    'A page of another site tried to sign this browser in.',
    'Open the sign-in page itself, and try again there.',
  ],
  email_already_verified: ['The e-mail address was confirmed before.', 'Nothing is left to do. Sign in.'],
  email_change_unavailable: [
    'This server sends no mail, so it cannot confirm a new address.',
    'Operators: set the SMTP server. The address stays as it is until then.',
  ],
  email_not_verified: [
    'The e-mail address was not confirmed yet.',
    'Follow the link in the mail. Each sign-in with the right password sends a new one, a few in an hour.',
  ],
  email_of_provider: [
    'An identity provider manages the e-mail address of this account.',
    'Change it there, then sign in with the provider again.',
  ],
  email_same: ['The new e-mail address is the present one.', 'Enter another address.'],
  email_sign_up_unavailable: [
    'This server sends no mail, so an address cannot be confirmed.',
    'Sign in with a wallet. Operators: set the SMTP server.',
  ],
  email_taken: ['Another account has this e-mail address.', 'Use another address, or sign in to that account.'],
  failed_to_create_session: ['The session could not be stored. You are not signed in.', 'Try again in a moment.'],
  failed_to_create_user: ['The account could not be stored.', 'Try again in a moment.'],
  failed_to_get_session: ['The session has ended, or could not be read.', 'Sign in again.'],
  invalid_callback_url: [
    'The address to go to afterwards is not one of this site.',
    'Use an address of the dashboard, or leave `callbackURL` out.',
  ],
  invalid_email: ['The text is not a complete e-mail address.', 'Correct it: it has one @ and a domain.'],
  invalid_email_or_password: [
    'The e-mail address and the password do not belong together.',
    'Try again, or ask for a link for a new password. The sign-in does not say whether an address has an account.',
  ],
  invalid_name: ['The name is longer than a name may be.', 'Enter a shorter one.'],
  invalid_origin: [
    'The request came from a page of another site.',
    'Open the dashboard itself. An operator can add the origin to CORS_ORIGINS.',
  ],
  invalid_password: ['The password of the account is another one.', 'Enter the present password again.'],
  invalid_redirect_url: [
    'The address to go to afterwards is not one of this site.',
    'Use an address of the dashboard, or leave `redirectTo` out.',
  ],
  invalid_token: [
    'The link was used, has expired, or lost a part.',
    'Request a new link, and open it completely. A sign-in with the right password sends a new one for an unconfirmed address.',
  ],
  invalid_user: ['The link belongs to another account than the one signed in.', 'Sign out, then open the link again.'],
  last_way_in: [
    'The wallet is the only way to sign in to the account.',
    'Connect another wallet, or add an e-mail address and a password, before you remove it.',
  ],
  missing_or_null_origin: [
    'A request with the cookie of a session lacks the header `Origin`.',
    'Send it from the dashboard, or use `Authorization: Bearer` instead of the cookie.',
  ],
  nonce_unknown: [
    'The nonce in the signed message was used, or has expired.',
    'Request a new one at `/auth/siwe/nonce`, and sign a new message.',
  ],
  other_account: ['The link belongs to another account than the one signed in.', 'Sign in to that one to use it.'],
  password_required: [
    'The address is confirmed in another browser than the one that signed up.',
    'Send the password chosen at sign-up, or a new one, which replaces it.',
  ],
  password_reset_unavailable: [
    'This server sends no mail, so it cannot send a link for a new password.',
    'Ask the operator of the server, who can set the SMTP server.',
  ],
  password_too_long: ['The password has more characters than it may have.', 'Choose a shorter one.'],
  password_too_short: ['The password has fewer characters than it must have.', 'Choose a longer one.'],
  refused: ['The sign-in refused the request. The sentence of the answer says why.', 'Correct what it names.'],
  session_not_fresh: [
    'The session is too old for a change of how an account is signed in to.',
    'Sign out and in, then make the change.',
  ],
  token_expired: ['The link has expired.', 'Request a new one.'],
  too_many_tries: ['The password was tried too often.', 'Try again in an hour.'],
  too_many_wallets: ['The account has as many wallets as it may have.', 'Remove one first.'],
  unauthorized: ['The request has no session, or the session has ended.', 'Sign in, and send its token or cookie.'],
  user_already_exists_use_another_email: [
    'Another account has this e-mail address.',
    'Sign in to it, or use another address.',
  ],
  validation_error: [
    'A field is missing or has the wrong form. The sentence of the answer names it.',
    'Compare the body with the reference at /docs/sign-in.',
  ],
  wallet_proof_required: [
    'To change how an account is signed in to, its owner must prove a wallet that is connected to it.',
    'Sign a message with that wallet, as for a sign-in, and send it as `owner`. Without the wallet: sign in again with the identity provider, or set a password with the link for a forgotten one.',
  ],
  wallet_taken: ['The wallet signs in to another account.', 'Sign in with it, or connect another wallet.'],
} as const
