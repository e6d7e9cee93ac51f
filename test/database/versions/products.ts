import {
  ago,
  EARLIER,
  ENDED,
  LATER,
  AT,
  CHANGED,
  DAY,
  sha256,
  id,
  json,
  USER,
  CREATOR,
  OWNED,
  PAYER,
  SELLER,
  HASH,
  RDA,
  CHECKOUT,
  PAYWALL,
  TOOL,
  RUN,
  LOST_RUN,
  type Row,
  type Seal,
} from './names.ts'

export function assets(): [string, Row][] {
  const input = { name: 'topic', type: 'text', label: 'Topic', required: true, default: null, options: null }
  const field = { ...input, max: null, min: null, pattern: null, description: null, placeholder: null }
  const prompt = { type: 'prompt', systemPrompt: null, promptTemplate: 'Write about {{topic}}.', sourcePrice: '0' }
  const models = { allowedModels: ['sandbox/echo'], defaultModelId: 'sandbox/echo', freeRunsPerDay: null, examples: [] }
  const content = {
    config: { ...prompt, ...models },
    inputs: [field],
    outputs: { type: 'markdown' },
    pricing: { model: 'per-run', amount: '20000' },
  }
  const of = { environment: 'sandbox', owner_id: CREATOR, ...CHANGED }
  const run = {
    ...{ ...OWNED, subject: USER, rda_id: RDA, rda_slug: 'old-outline', rda_type: 'prompt', rda_version: '1.0.0' },
    ...{ owner_id: CREATOR, payer_id: USER, inputs: json({ topic: 'Ships' }), created_at: EARLIER },
    ...{ model_id: 'sandbox/echo', started_at: EARLIER },
  }
  const ended = { status: 'succeeded', output: 'An outline', ended_at: ENDED, duration_ms: 60, deadline: ENDED }
  return [
    ['rda_creator', { user_id: CREATOR, subject: CREATOR, name: 'Maker' }],
    [
      'rda',
      {
        ...{
          id: RDA,
          slug: 'old-outline',
          type: 'prompt',
          status: 'published',
          name: 'Outline',
          description: 'Outlines',
        },
        ...{ version: '1.0.0', pricing_model: 'per-run', pricing_amount: 20_000, published_at: EARLIER, ...of },
      },
    ],
    ['rda_version', { rda_id: RDA, version: '1.0.0', tags: [], content: json(content), ...AT }],
    ['rda_stats', { rda_id: RDA, runs: 1, succeeded: 1, revenue: 20_000, latency_ms: 60 }],
    ['rda_rating', { rda_id: RDA, user_id: USER, score: 5, made_by: 'op_1', ...AT }],
    ['rda_source_sale', { rda_id: RDA, user_id: USER, price: 20_000, sold_at: EARLIER }],
    ['run', { id: RUN, locked: 20_000, price: 20_000, cost: 20_000, ...run, ...ended }],
    [
      'run',
      { id: LOST_RUN, status: 'running', locked: 30_000, price: 20_000, deadline: ago(10), process: 'gone', ...run },
    ],
    ['run_rate', { rda_id: RDA, since: EARLIER, used: 1 }],
    ['run_free', { at: EARLIER, owner: `sandbox/${USER}`, caller: 'caller', used: 1 }],
  ]
}

export function tools(): [string, Row][] {
  const of = { environment: 'sandbox', owner_id: '' }
  const known = { provider: 'acme', name: 'Note', description: 'Writes a note', deprecated: false, terms: 'note' }
  const called = { environment: 'sandbox', tool_id: TOOL, slug: 'acme-note' }
  const upstream = { kind: 'http', method: 'POST', url: 'https://a.example/notes', parameters: [], body: null }
  const provider = {
    ...{ slug: 'acme', name: 'Acme', description: 'Notes', kind: 'openapi', simulated: true, source_hash: 'h' },
    pricing: json({ bySlug: {}, byMethod: {}, otherwise: '10000' }),
  }
  const call = { id: id('call', 'aged'), user_id: USER, provider: 'acme', cost: 10_000, attempt: 1, duration_ms: 7 }
  return [
    ['tool_provider', { ...provider, ...of, ...CHANGED }],
    [
      'tool',
      {
        ...{ id: TOOL, slug: 'acme-note', price: 10_000, input: '{"type":"object"}', upstream: json(upstream) },
        ...{ content_hash: 'h', change: 0, status: 'removed', ...known, ...of, ...CHANGED },
      },
    ],
    [
      'tool_collection',
      { slug: 'notes', name: 'Notes', description: 'Notes', patterns: ['acme-*'], ...of, ...CHANGED },
    ],
    ['tool_call', { ...called, ...call, ended_at: ENDED }],
    ['tool_answer', { call_id: id('call', 'aged'), kind: 'json', value: '{"a":1}', ...AT }],
    ['tool_figure', { environment: 'sandbox', tool_id: TOOL, day: DAY, latency_class: 1, calls: 1 }],
    ['tool_health', { ...called, streak: 0 }],
    ['tool_import', { environment: 'sandbox', owner_id: USER, window_at: EARLIER, count: 1 }],
    [
      'tool_payment',
      {
        ...{ id: id('call', 'bought'), provider: 'acme', input_hash: HASH, amount: 10_000, network: 'base-sepolia' },
        ...{ digest: sha256('tool'), payer: PAYER, recipient: SELLER, request: '{}', state: 'paid', tx_hash: '0x4' },
        ...{ paid_at: ENDED, leased_until: ENDED, submitted: true, ...called, ...AT },
      },
    ],
    [
      'connection',
      {
        ...{ id: id('con', 'aged'), agent_id: '', provider: 'acme', provider_owner_id: '', name: 'Mine' },
        ...{
          is_default: true,
          kind: 'key',
          state: 'expired',
          schemes: [],
          hosts: [],
          scopes: [],
          ...OWNED,
          ...CHANGED,
        },
      },
    ],
  ]
}

export function checkouts(): [string, Row][] {
  const field = { name: 'site', label: 'Website', type: 'text', required: true }
  const pass = { id: id('pas', 'aged'), checkout_id: CHECKOUT, plan_id: 'ten', plan_name: 'Ten runs', holder: PAYER }
  const request = { payment_id: id('pay', 'bought'), checkout_id: id('chk', 'second'), amount: 10_000, note: 'More' }
  return [
    [
      'checkout',
      {
        ...{ id: CHECKOUT, lifetime: 'persistent', callback_url: 'http://127.0.0.1:9/flow', product_name: 'SEO audit' },
        ...{ price: 10_000, network: 'base-sepolia', recipient: SELLER, fields: json([field]), test_mode: true },
        ...{ response_mode: 'immediately', preflight: false, redeliver_unconfirmed: false, ...OWNED, ...CHANGED },
      },
    ],
    ['checkout_version', { checkout_id: CHECKOUT, version: 1, shown: '{}' }],
    ['checkout_default', { payer: PAYER, network: 'base-sepolia', until: LATER }],
    ['checkout_draft', { token_hash: HASH, checkout_id: CHECKOUT, content: '{}', expires_at: LATER }],
    ['checkout_progress', { payment_id: id('pay', 'bought'), lines: '[]', written: 1, updated_at: EARLIER }],
    ['coupon', { id: id('cpn', 'aged'), code: 'OLD10', percent: 10, used: 1, ...OWNED, ...CHANGED }],
    ['pass', { ...pass, simulated: true, token_hash: HASH, runs: 10, used: 1, ...OWNED, ...AT }],
    ['pass_sale', { sale_id: id('pay', 'bought'), pass_id: id('pas', 'aged'), runs: 10 }],
    ['trial', { checkout_id: CHECKOUT, holder: PAYER, simulated: true, used: 0 }],
    ['trial_day', { checkout_id: CHECKOUT, day: DAY, used: 0 }],
    ['payment_request', { id: id('req', 'aged'), ...request, expires_at: LATER, ...OWNED, ...AT }],
  ]
}

/** Before sales had one table each product had its own; both forms are here, and a version writes the one that it has. */
export function sales(): [string, Row][] {
  const bought = {
    ...{ id: id('pay', 'bought'), state: 'paid', amount: 10_000, network: 'base-sepolia', recipient: SELLER },
    ...{ payer: PAYER, simulated: true, input_hash: HASH, tx_hash: 'simulated:pay', ended_at: ENDED, ...OWNED, ...AT },
  }
  const disputed = { sale_id: bought.id, amount: 10_000, ...OWNED, ...AT }
  const input = { site: 'a' }
  return [
    ['checkout_payment', { ...bought, checkout_id: CHECKOUT, input: json(input) }],
    ['sale', { ...bought, product: 'checkout', subject: CHECKOUT, details: json({ input }) }],
    [
      'sale_answer',
      { sale_id: bought.id, meta: '{"status":200,"headers":[]}', body: Buffer.from('hi'), stored_at: ENDED },
    ],
    [
      'sale_notice',
      { sale_id: bought.id, kind: 'sale', at: EARLIER, announcement: '1', alone: true, waits: false, ...OWNED },
    ],
    ['coupon_use', { sale_id: bought.id, coupon_id: id('cpn', 'aged'), payer: PAYER, simulated: true, ...AT }],
    [
      'refund',
      {
        ...{ id: id('rfd', 'aged'), requested_by: 'seller', way: 'simulated', state: 'confirmed', ended_at: ENDED },
        ...{ ...disputed, amount: 4_000 },
      },
    ],
    [
      'refund_policy',
      {
        ...{ window_days: 14, answer_days: 5, unanswered: 'close', partial_refunds: true, agents: 'asked' },
        ...{ per_sale: 1, per_day: 1, updated_at: EARLIER, ...OWNED },
      },
    ],
    [
      'dispute',
      {
        ...{ id: id('dsp', 'aged'), state: 'closed', reason: 'other', opened_by: 'buyer', payer: PAYER },
        ...{ unanswered: 'close', answer_days: 5, answer_by: ENDED, ended_at: ENDED, ...disputed },
      },
    ],
    [
      'invoice',
      {
        ...{
          sale_id: bought.id,
          year: 2026,
          sequence: 1,
          number: 'A-2026-0001',
          seller: '{}',
          buyer: '{}',
          lines: '[]',
        },
        ...{ issued_at: EARLIER, ...OWNED },
      },
    ],
    ['invoice_counter', { year: 2026, last: 1, ...OWNED }],
    [
      'invoicing',
      {
        ...{ enabled: false, seller_name: 'Old', seller_address: 'Street 1', seller_tax_id: '', tax_label: 'VAT' },
        ...{ tax_rate: 1900, prefix: 'A', note: '', updated_at: EARLIER, ...OWNED },
      },
    ],
  ]
}

export function gates(seal: Seal, secret: string): [string, Row][] {
  const of = { paywall_id: PAYWALL, network: 'base-sepolia', payer: PAYER }
  const paid = {
    ...{ id: id('pay', 'gated'), paywall_id: PAYWALL, kind: 'request', state: 'paid', route: 'GET /a', amount: 10_000 },
    ...{
      endpoint: 'GET /a',
      network: 'base-sepolia',
      recipient: SELLER,
      payer: PAYER,
      simulated: false,
      request: '{}',
    },
    ...{
      digest: sha256('gate'),
      line_hash: HASH,
      tx_hash: '0x5',
      delivery: 'whole',
      expires_at: ENDED,
      ended_at: ENDED,
    },
  }
  const draw = { call: 'call_1', route: 'GET /a', amount: 3, at: EARLIER }
  return [
    [
      'paywall',
      {
        ...{
          id: PAYWALL,
          slug: 'old',
          name: 'Old',
          upstream_url: 'https://a.example',
          routes: '[]',
          recipient: SELLER,
        },
        ...{ network: 'base-sepolia', test_mode: true, status: 'active', milestones: [], header_names: [], version: 1 },
        ...{
          headers_sealed: seal('[]', `${PAYWALL}/upstreamHeaders`),
          secret_sealed: seal(secret, `${PAYWALL}/secret`),
        },
        ...{ earlier: '[]', ...OWNED, ...CHANGED },
      },
    ],
    ['paywall_payment', { ...paid, ...OWNED, ...AT }],
    ['paywall_answer', { payment_id: paid.id, status: 200, headers: '[]', body: Buffer.from('hi'), kept_at: ENDED }],
    ['paywall_customer', { paywall_id: PAYWALL, payer: PAYER, payments: 1, revenue: 10_000, first_at: EARLIER }],
    [
      'paywall_tier',
      { paywall_id: PAYWALL, route: 'GET /a', payer: PAYER, window_start: EARLIER, taken: 1, paid: 1, tier: 0 },
    ],
    ['paywall_balance', { ...of, available: 6, held: 1, paid: 10, drawn: 3 }],
    ['paywall_token', { hash: HASH, ...of }],
    ['paywall_hold', { call: 'call_2', route: 'GET /a', amount: 1, minimum: 0, until: LATER, ...of }],
    ['paywall_draw', { ...draw, ...of }],
    ['paywall_draw_day', { ...of, day: '2026-11-01', route: 'GET /a', count: 1, amount: 1 }],
    ['paywall_day', { paywall_id: PAYWALL, day: DAY, route: 'GET /a', outcome: 'paid', count: 1, amount: 10_000 }],
    ['paywall_pass', { paywall_id: PAYWALL, payer: PAYER, path: HASH, paid_at: EARLIER }],
    ['paywall_sign_in', { nonce: HASH, used_at: EARLIER }],
  ]
}
