/* What is asked for besides what the documents declare. */

export const METHODS = [
  'PUT',
  'PATCH',
  'DELETE',
  'HEAD',
  'OPTIONS',
  'TRACE',
  'PROPFIND',
  'get',
  'FOO',
  'CONNECT',
  'QUERY',
]
export const NOTES = [
  'notifications/cancelled',
  'notifications/initialized',
  'completion/complete',
  'logging/setLevel',
  '__proto__',
  '',
]
/** Now and then something that is no path at all. */
export const TARGETS: readonly (string | null)[] = [
  ...Array<null>(8).fill(null),
  ...[
    '*',
    '//',
    '/..',
    '/../../etc/passwd',
    'http://evil.example/v1/me',
    '/v1//me',
    '/V1/ME',
    '/v1/me/',
    '/v1/me;a=b',
    '/%76%31/me',
  ],
  ...[
    '/v1/me?%',
    '/v1/me#a',
    '/\\evil.example',
    '//evil.example/..',
    'https:',
    '/docs/../package.json',
    '/docs/%2e%2e/%2e%2e/package.json',
  ],
]
export const AUTHORIZATIONS = [
  '',
  'Bearer',
  'Bearer ',
  'Bearer x',
  'Basic eDp5',
  `Bearer ${'x'.repeat(9_000)}`,
  'Bearer a.b.c',
  'Bearer \u00ff\u00fe',
]
export const SIGN_IN = [
  ...[
    'POST /auth/sign-up/email',
    'POST /auth/sign-in/email',
    'POST /auth/sign-out',
    'POST /auth/siwe/nonce',
    'POST /auth/siwe/verify',
  ],
  ...[
    'GET /auth/get-session',
    'POST /auth/change-password',
    'POST /auth/request-password-reset',
    'POST /auth/reset-password',
  ],
  ...[
    'POST /auth/update-user',
    'POST /auth/verify-email',
    'GET /auth/list-sessions',
    'POST /auth/revoke-session',
    'GET /auth/ok',
  ],
  ...['POST /auth/siwe/link', 'POST /auth/siwe/unlink', 'GET /auth/siwe/wallets'],
  ...['GET /auth/email', 'POST /auth/email/change', 'POST /auth/email/confirm'],
]
