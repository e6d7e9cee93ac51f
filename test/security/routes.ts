import type { Thing as Furnished } from '../trpc/account.ts'
import { promptBody } from '../marketplace/bodies.ts'

export type Thing = Furnished | 'paidCall' | 'toolCall'

/** The request for a row: whose id is in its path or body, and the other fields of a valid request. */
export interface RouteRequest {
  /** The thing of the attacked account; other accounts must not find it. */
  thing?: Thing
  /** The field for its id when the id is not in the path. */
  at?: string
  params?: Readonly<Record<string, string>>
  body?: Readonly<Record<string, unknown>>
  query?: string
  /** Where a list is in the response: it holds nothing of another account. */
  listed?: string
}

const PRICE = { price: 1, network: 'base-sepolia', recipient: `0x${'11'.repeat(20)}`, testMode: true }
const CHECKOUT = { callbackUrl: 'http://127.0.0.1:9/own', product: { name: 'Own' }, ...PRICE }
const PAYWALL = {
  ...{ slug: 'of-their-own', name: 'Own', upstreamUrl: 'http://127.0.0.1:9', network: 'base-sepolia', testMode: true },
  routes: [{ method: 'GET', path: '/*', pricing: { model: 'free' } }],
}
const CHECKED = { kind: 'run', target: 'anything', amount: 1 }
/** A settlement that was never requested, a checkout that was never created. */
const NOWHERE = { network: 'base-sepolia', payer: `0x${'33'.repeat(20)}`, nonce: `0x${'44'.repeat(32)}` }

/**
 * Every declared route, and its response to
 *
 * 1. a caller without a key,
 * 2. a key that was revoked, or has expired,
 * 3. another account, and the same account in its other environment,
 * 4. a key of an agent of the account itself,
 * 5. another site's page, in the browser of a signed-in user.
 *
 * A route that is missing here fails the first test.
 */
export const ROUTES: Readonly<Record<string, readonly [statuses: string, request?: RouteRequest]>> = {
  'api GET /me': ['401 401 200 200 200'],
  'api POST /me': ['401 401 200 403 403'],
  'api PATCH /me': ['401 401 200 403 403', { body: { handle: null } }],
  'api GET /keys': ['401 401 200 403 200', { listed: 'keys' }],
  'api POST /keys': ['401 401 400 403 403', { thing: 'agent', at: 'agentId', body: { name: 'stolen' } }],
  'api DELETE /keys/:id': ['401 401 404 403 403', { thing: 'key' }],
  'api GET /signing-secret': ['401 401 200 403 200'],
  'api POST /signing-secret': ['401 401 200 403 403'],

  'api GET /webhook-endpoints': ['401 401 200 403 200', { listed: 'webhookEndpoints' }],
  'api POST /webhook-endpoints': [
    '401 401 201 403 403',
    { body: { url: 'http://127.0.0.1:9/own', events: ['run.completed'] } },
  ],
  'api GET /webhook-endpoints/:id': ['401 401 404 403 404', { thing: 'endpoint' }],
  'api PATCH /webhook-endpoints/:id': ['401 401 404 403 403', { thing: 'endpoint', body: { events: ['run.failed'] } }],
  'api DELETE /webhook-endpoints/:id': ['401 401 404 403 403', { thing: 'endpoint' }],
  'api POST /webhook-endpoints/:id/rotate-secret': ['401 401 404 403 403', { thing: 'endpoint' }],
  'api POST /webhook-endpoints/:id/test': ['401 401 404 403 403', { thing: 'endpoint' }],
  'api GET /webhook-endpoints/:id/events': ['401 401 404 403 404', { thing: 'endpoint' }],
  'api POST /webhook-endpoints/:id/events/confirm': [
    '401 401 404 403 403',
    { thing: 'endpoint', body: { deliveries: [{ id: 'dlv_1', status: 200 }] } },
  ],
  'api POST /webhook-endpoints/:id/events/replay': [
    '401 401 404 403 403',
    { thing: 'endpoint', body: { since: '2026-01-31T12:00:00Z' } },
  ],
  'api GET /deliveries': ['401 401 200 403 200', { listed: 'deliveries' }],
  'api GET /deliveries/:id': ['401 401 404 403 404', { thing: 'delivery' }],
  'api POST /deliveries/:id/redeliver': ['401 401 404 403 403', { thing: 'delivery' }],
  'api POST /deliveries/:id/claim': ['401 401 404 403 403', { thing: 'delivery' }],

  'api GET /agents': ['401 401 200 403 200', { listed: 'agents' }],
  'api POST /agents': ['401 401 201 403 403', { body: { name: 'Own' } }],
  'api GET /agents/:id': ['401 401 404 403 404', { thing: 'agent' }],
  'api PATCH /agents/:id': ['401 401 404 403 403', { thing: 'agent', body: { name: 'stolen' } }],
  'api DELETE /agents/:id': ['401 401 404 403 403', { thing: 'agent' }],
  'api GET /agents/:id/policy': ['401 401 404 403 404', { thing: 'agent' }],
  'api POST /agents/:id/check': ['401 401 404 403 403', { thing: 'agent', body: CHECKED }],
  'api POST /agents/:id/simulate': ['401 401 404 403 403', { thing: 'agent', body: { policy: {} } }],
  'api GET /agents/:id/decisions': ['401 401 404 403 404', { thing: 'agent' }],
  'api GET /agents/:id/spending': ['401 401 404 403 404', { thing: 'agent' }],
  'api GET /approvals': ['401 401 200 403 200', { listed: 'approvals' }],
  'api GET /approvals/:id': ['401 401 404 200 404', { thing: 'approval' }],
  'api POST /approvals/:id/approve': ['401 401 404 403 403', { thing: 'approval' }],
  'api POST /approvals/:id/refuse': ['401 401 404 403 403', { thing: 'approval' }],
  'api GET /approvals/:id/page': ['404 404 404 404 404', { thing: 'approval', query: '?ticket=guessed' }],
  'api POST /approvals/:id/page/approve': ['404 404 404 404 404', { thing: 'approval', query: '?ticket=guessed' }],
  'api POST /approvals/:id/page/refuse': ['404 404 404 404 404', { thing: 'approval', query: '?ticket=guessed' }],
  'api POST /pay': ['401 401 400 400 403', { body: { url: 'http://127.0.0.1:9/', maxAmount: 1 } }],
  'api GET /pay': ['401 401 200 200 200', { listed: 'payments' }],
  'api GET /pay/:id': ['401 401 404 404 404', { thing: 'paidCall' }],

  'api GET /wallet/balance': ['401 401 200 200 200'],
  'api POST /wallet/deposit': ['401 401 200 403 403', { body: { amount: 1 } }],
  'api GET /wallet/transactions': ['401 401 200 403 200', { listed: 'transactions' }],
  'api POST /wallet/withdraw': ['401 401 402 403 403', { body: { amount: 1_000, to: `0x${'22'.repeat(20)}` } }],
  'api GET /wallet/withdrawals': ['401 401 200 403 200', { listed: 'withdrawals' }],
  'api GET /payments': ['401 401 200 403 200', { listed: 'payments' }],
  'api GET /payments/:id': ['401 401 404 403 404', { thing: 'payment' }],
  'api POST /payments/:id/outcome': ['401 401 404 403 403', { thing: 'payment', body: { status: 'succeeded' } }],
  'api POST /payments/:id/progress': ['401 401 404 403 403', { thing: 'payment', body: { text: 'Half' } }],
  'api POST /payments/:id/requests': ['401 401 404 403 403', { thing: 'payment', body: { amount: 1, note: 'More' } }],
  'api GET /payments/:id/requests': ['401 401 404 403 404', { thing: 'payment' }],
  'api POST /payments/:id/refund': ['401 401 404 403 403', { thing: 'payment', body: { reason: 'stolen' } }],
  'api POST /payments/:id/receipt': ['401 401 404 403 403', { thing: 'payment' }],
  'api POST /payments/:id/refunds/:refundId/signature': [
    '401 401 404 403 403',
    { thing: 'payment', params: { refundId: 'rfd_none' }, body: { signature: `0x${'00'.repeat(65)}` } },
  ],
  'api GET /disputes': ['401 401 200 403 200', { listed: 'disputes' }],
  'api GET /disputes/:id': ['401 401 404 403 404', { thing: 'dispute' }],
  'api POST /disputes/:id/answer': ['401 401 404 403 403', { thing: 'dispute', body: { action: 'decline' } }],
  'api GET /invoicing': ['401 401 200 403 200'],
  'api PATCH /invoicing': ['401 401 200 403 403', { body: {} }],
  'api GET /invoices': ['401 401 200 403 200', { listed: 'invoices' }],
  'api GET /invoices/:payment/pdf': ['401 401 404 403 404', { params: { payment: 'pay_nobodys' } }],
  'api GET /brand': ['401 401 200 403 200'],
  'api PATCH /brand': ['401 401 200 403 403', { body: {} }],
  'api GET /refund-policy': ['401 401 200 403 200'],
  'api PATCH /refund-policy': ['401 401 200 403 403', { body: {} }],
  'api GET /wallet/withdrawals/:id': ['401 401 404 403 404', { thing: 'withdrawal' }],
  'api GET /wallet/alert': ['401 401 200 403 200'],
  'api POST /wallet/alert': ['401 401 200 403 403', { body: { below: 1 } }],
  'api GET /credits': ['401 401 200 200 200'],
  'api POST /hooks/identity': ['401 401 401 401 401', { body: { type: 'wallet.funds_deposited', data: {} } }],

  'api POST /files': ['401 401 415 403 403', { query: '?name=own.bin&purpose=picture', body: {} }],
  'api GET /files': ['401 401 200 403 200', { listed: 'files' }],
  'api GET /files/:id': ['401 401 404 403 404', { thing: 'file' }],
  'api DELETE /files/:id': ['401 401 404 403 403', { thing: 'file' }],

  'api POST /checkouts': ['401 401 201 403 403', { body: CHECKOUT }],
  'api GET /checkouts': ['401 401 200 403 200', { listed: 'checkouts' }],
  'api GET /checkouts/:id': ['401 401 404 403 404', { thing: 'checkout' }],
  'api PATCH /checkouts/:id': ['401 401 404 403 403', { thing: 'checkout', body: { price: 9 } }],
  'api DELETE /checkouts/:id': ['401 401 404 403 403', { thing: 'checkout' }],
  'api GET /connections': ['401 401 200 403 200', { listed: 'connections' }],
  'api POST /connections': ['401 401 404 403 403', { thing: 'provider', at: 'provider', body: { secret: 'stolen' } }],
  'api POST /connections/authorize': [
    '401 401 404 403 403',
    { thing: 'connection', at: 'connectionId', body: { provider: 'acme' } },
  ],
  'api GET /connections/:id': ['401 401 404 403 404', { thing: 'connection' }],
  'api PATCH /connections/:id': ['401 401 404 403 403', { thing: 'connection', body: { name: 'Stolen' } }],
  'api DELETE /connections/:id': ['401 401 404 403 403', { thing: 'connection' }],
  'api POST /connections/:id/test': ['401 401 404 403 403', { thing: 'connection' }],
  'api POST /coupons': ['401 401 201 403 403', { body: { code: 'OWN', percent: 10 } }],
  'api GET /coupons': ['401 401 200 403 200', { listed: 'coupons' }],
  'api GET /coupons/:id': ['401 401 404 403 404', { thing: 'coupon' }],
  'api PATCH /coupons/:id': ['401 401 404 403 403', { thing: 'coupon', body: { max: 1 } }],
  'api POST /coupons/:id/archive': ['401 401 404 403 403', { thing: 'coupon' }],
  'api POST /checkouts/:id/heartbeat': ['401 401 404 403 403', { thing: 'checkout' }],
  'api POST /checkouts/:id/rotate-secret': ['401 401 404 403 403', { thing: 'checkout' }],
  'api GET /checkouts/:id/payments': ['401 401 404 403 404', { thing: 'checkout' }],
  'api POST /checkouts/:id/test-payment': ['401 401 404 403 403', { thing: 'checkout', body: {} }],

  'api GET /passes': ['401 401 200 403 200', { listed: 'passes' }],
  'api GET /passes/:id': ['401 401 404 403 404', { thing: 'pass' }],
  'api POST /passes/:id/end': ['401 401 404 403 403', { thing: 'pass' }],

  'api GET /rdas': ['200 401 200 200 200', { listed: 'rdas' }],
  'api GET /rda/:identifier': ['404 401 404 404 404', { thing: 'asset' }],
  'api GET /models': ['200 401 200 200 200'],
  'api POST /rda': ['401 401 201 403 403', { body: promptBody({ slug: 'of-their-own' }) }],
  'api PATCH /rda/:identifier': ['401 401 404 403 403', { thing: 'asset', body: { name: 'stolen' } }],
  'api POST /rda/:identifier/publish': ['401 401 404 403 403', { thing: 'asset' }],
  'api POST /rda/:identifier/unpublish': ['401 401 404 403 403', { thing: 'asset' }],
  'api POST /rda/:identifier/archive': ['401 401 404 403 403', { thing: 'asset' }],
  'api POST /rda/:identifier/rate': ['401 401 404 403 403', { thing: 'asset', body: { score: 1 } }],
  'api GET /rda/:identifier/reviews': ['404 401 404 404 404', { thing: 'asset' }],
  'api POST /rda/:identifier/reviews/:review/reply': [
    '401 401 404 403 403',
    { thing: 'asset', params: { review: 'op_none' }, body: { text: 'stolen' } },
  ],
  'api POST /rda/:identifier/source': ['401 401 404 403 403', { thing: 'asset', body: {} }],
  'api GET /rda/:identifier/runs': ['401 401 404 403 404', { thing: 'asset' }],
  'api POST /rda/:slug/run': ['404 404 404 404 404', { params: { slug: 'nobodys' }, body: { inputs: {} } }],
  'api POST /run': ['401 401 404 202 403', { thing: 'asset', at: 'rdaSlug', body: { inputs: { article: 'x' } } }],
  'api GET /runs': ['401 401 200 200 200', { listed: 'runs' }],
  'api GET /runs/:id': ['401 401 404 404 404', { thing: 'run' }],
  'api POST /runs/:id/cancel': ['401 401 404 404 403', { thing: 'run' }],
  'api GET /runs/:id/events': ['401 401 404 404 404', { thing: 'run' }],
  'api GET /tool-calls': ['401 401 200 200 200', { listed: 'calls' }],
  'api GET /tool-calls/:callId': ['401 401 404 404 404', { thing: 'toolCall' }],

  'api POST /paywalls': ['401 401 201 403 403', { body: PAYWALL }],
  'api GET /paywalls': ['401 401 200 403 200', { listed: 'paywalls' }],
  'api GET /paywalls/:id': ['401 401 404 403 404', { thing: 'paywall' }],
  'api PATCH /paywalls/:id': ['401 401 404 403 403', { thing: 'paywall', body: { name: 'stolen' } }],
  'api DELETE /paywalls/:id': ['401 401 404 403 403', { thing: 'paywall' }],
  'api POST /paywalls/:id/rotate-secret': ['401 401 404 403 403', { thing: 'paywall' }],
  'api GET /paywalls/:id/payments': ['401 401 404 403 404', { thing: 'paywall' }],
  'api GET /paywalls/:id/analytics': ['401 401 404 403 404', { thing: 'paywall' }],

  // Public routes: they need no identity and return no account's data.
  'facilitator GET /health': ['200 200 200 200 200'],
  'facilitator GET /supported': ['200 200 200 200 200'],
  'facilitator GET /discovery/resources': ['200 200 200 200 200'],
  'facilitator GET /discovery/search': ['200 200 200 200 200', { query: '?query=anything' }],
  'facilitator GET /discovery/merchant': ['200 200 200 200 200', { query: `?payTo=${NOWHERE.payer}` }],
  'facilitator POST /verify': ['400 400 400 400 400', { body: {} }],
  'facilitator POST /settle': ['400 400 400 400 400', { body: {} }],
  'facilitator GET /settlements/:network/:payer/:nonce': ['404 404 404 404 404', { params: NOWHERE }],
  'pay GET /:chk': ['404 404 404 404 404', { params: { chk: 'chk_nobodys' } }],
  'pay POST /:chk': ['404 404 404 404 404', { params: { chk: 'chk_nobodys' }, body: {} }],
  'pay POST /:chk/quote': ['404 404 404 404 404', { params: { chk: 'chk_nobodys' }, body: {} }],
  'pay POST /:chk/pay': [
    '404 404 404 404 404',
    { params: { chk: 'chk_nobodys' }, body: { input: {}, simulate: true } },
  ],
  'pay POST /:chk/drafts': [
    '404 404 404 404 404',
    { params: { chk: 'chk_nobodys' }, body: { token: `tok_${'a'.repeat(43)}`, content: '{}' } },
  ],
  'pay POST /:chk/files': ['404 404 404 404 404', { params: { chk: 'chk_nobodys' } }],
  'pay GET /:chk/files/:file': ['404 404 404 404 404', { params: { chk: 'chk_nobodys', file: 'file_nobodys' } }],
  'pay POST /:chk/addresses': ['404 404 404 404 404', { params: { chk: 'chk_nobodys' }, body: {} }],
  'pay GET /:chk/addresses/:adr': ['404 404 404 404 404', { params: { chk: 'chk_nobodys', adr: 'adr_nobodys' } }],
  'pay POST /:chk/addresses/:adr/return': [
    '404 404 404 404 404',
    { params: { chk: 'chk_nobodys', adr: 'adr_nobodys' }, body: { to: `0x${'33'.repeat(20)}` } },
  ],
  'pay GET /:chk/draft': ['400 400 400 400 400', { params: { chk: 'chk_nobodys' } }],
  'pay GET /pictures/:id': ['404 404 404 404 404', { thing: 'file' }],
  'pay GET /:chk/chat': ['404 404 404 404 404', { params: { chk: 'chk_nobodys' } }],
  'pay GET /:chk/pass': ['404 404 404 404 404', { params: { chk: 'chk_nobodys' } }],
  'receipts GET /verify': ['200 200 200 200 200'],
  'receipts GET /:pay': ['404 404 404 404 404', { params: { pay: 'pay_nobodys' } }],
  'receipts GET /:pay/receipt.pdf': ['404 404 404 404 404', { params: { pay: 'pay_nobodys' } }],
  'receipts GET /:pay/invoice': ['404 404 404 404 404', { params: { pay: 'pay_nobodys' } }],
  'receipts POST /:pay/invoice': [
    '404 404 404 404 404',
    { params: { pay: 'pay_nobodys' }, body: { name: 'Own', address: 'Own', country: 'DE' } },
  ],
  'receipts POST /:pay/mail': ['404 404 404 404 404', { params: { pay: 'pay_nobodys' } }],
  'receipts GET /:pay/invoice.pdf': ['404 404 404 404 404', { params: { pay: 'pay_nobodys' } }],
  'receipts GET /:pay/dispute': ['404 404 404 404 404', { params: { pay: 'pay_nobodys' } }],
  'receipts POST /:pay/dispute': ['404 404 404 404 404', { params: { pay: 'pay_nobodys' }, body: { reason: 'other' } }],
  'receipts POST /refunds': ['400 400 400 400 400', { body: {} }],
  'receipts GET /refunds/:key': ['404 404 404 404 404', { params: { key: 'nobodys' } }],
  'pay GET /:chk/qr.svg': ['404 404 404 404 404', { params: { chk: 'chk_nobodys' } }],
  'pay POST /:chk/payments/:pay/requests/:request/refuse': [
    '404 404 404 404 404',
    { params: { chk: 'chk_nobodys', pay: 'pay_nobodys', request: 'prq_nobodys' } },
  ],
  'pay GET /:chk/payments/:pay/file': ['404 404 404 404 404', { params: { chk: 'chk_nobodys', pay: 'pay_nobodys' } }],
  'pay GET /:chk/payments/:pay': ['404 404 404 404 404', { params: { chk: 'chk_nobodys', pay: 'pay_nobodys' } }],

  'tools GET /': ['200 401 200 200 200', { listed: 'tools' }],
  'tools GET /providers': ['200 401 200 200 200', { listed: 'providers' }],
  'tools GET /collections': ['200 401 200 200 200'],
  'tools GET /:slug': ['404 401 404 200 404', { thing: 'tool' }],
  'tools POST /pay/:slug': ['404 404 404 404 404', { thing: 'tool', body: {} }],
  'tools GET /answers/:id': ['404 404 404 404 404', { thing: 'file', query: '?token=guessed' }],
  'tools GET /pay/:slug/calls/:id': ['404 404 404 404 404', { params: { slug: 'acme-ping', id: 'call_nobodys' } }],
  'tools POST /:slug': ['401 401 404 200 403', { thing: 'tool', body: {} }],
}

/**
 * Routes with a check of their own, by path, and the test that covers each. The first test fails where one is missing.
 */
export const MOUNTED: Readonly<Record<string, string>> = {
  '/': 'the dashboard’s one document, the same for everybody: test/security/headers.test.ts',
  '/.well-known/did.json': 'public keys, the same for everybody',
  '/.well-known/oauth-authorization-server': 'the same for everybody',
  '/.well-known/oauth-protected-resource': 'the same for everybody',
  '/.well-known/mcp.json': 'the same for everybody',
  '/auth': 'test/identity, and here: what changes something asks for the origin',
  '/gate': 'test/paywall: payments, not accounts; and here: gates that are not there',
  '/gate/assets': 'files of the build',
  '/llms.txt': 'the same for everybody',
  '/m/:handle/mcp': 'test/storefront/mcp.test.ts',
  '/oauth': 'test/oauth',
  '/p/:chk/mcp': 'test/checkouts/mcp.test.ts',
  '/embed.js': 'a script for all sites, which knows no account',
  '/p/assets': 'files of the build',
  '/preview-assets': 'files of the build',
  '/tools/mcp': 'here',
  '/trpc/changes': 'here',
  '/trpc/files': 'test/files/files.test.ts',
  '/trpc': 'here, and test/trpc/authorization.test.ts',
}
