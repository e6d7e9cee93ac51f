import type { Browser } from 'playwright-core'
import { LANGUAGES, type Language } from '../../service/kit/language.ts'
import type { CheckoutPage, PaymentState, Receipt } from '../../service/pages/model.ts'
import { createPages, loadBuilt, type Pages } from '../../service/pages/pages.ts'
import { inBrowser, leaveBrowser, openBrowser, picture } from './chromium.ts'

const AT = '2026-11-24T12:00:00.000Z'
const HASH = `0x${'7'.repeat(64)}`
const TOKEN = { name: 'USDC', version: '2' }
const PAGE = {
  available: true,
  quote: { quoteId: 'q', expiresAt: AT },
  lines: { unit: 1_250, quantity: 3, subtotal: 3_750, coupon: 'SPRING', discount: 250.5, total: 3_499.5 },
  prepared: null,
  paymentRequirements: null,
  trackRecord: { customers: 1_200, refundedPercent: 2, disputedPercent: 1 },
  brand: {
    name: 'Rechtsschutzversicherungsgesellschaft Großmann',
    logo: null,
    accent: null,
    colors: null,
    theme: 'auto',
    supportEmail: 'a.very.long.address.of.support@rechtsschutz.example',
    supportUrl: 'https://ada.example/help',
    imprintUrl: 'https://ada.example/imprint',
    termsUrl: 'https://ada.example/terms',
    privacyUrl: 'https://ada.example/privacy',
  },
  checkout: {
    id: 'chk_01m87dk6tcmh3gn4zqkcndtzk4',
    url: 'https://pay.example/p/chk_01m87dk6tcmh3gn4zqkcndtzk4',
    x402Url: 'https://pay.example/p/chk_01m87dk6tcmh3gn4zqkcndtzk4',
    mcp: { url: 'https://pay.example/p/chk_01m87dk6tcmh3gn4zqkcndtzk4/mcp', tool: 'audit' },
    testMode: true,
    product: { name: 'Suchmaschinenoptimierungsbericht', description: 'A report of what to fix first.' },
    price: 1_250,
    pricing: { kind: 'quantity', min: 1, max: 5 },
    coupons: true,
    trialRuns: 3,
    plans: [{ id: 'ten', name: 'Ten runs', price: 12, kind: 'runs', runs: 10 }],
    network: 'Base Sepolia',
    chainId: 84_532,
    recipient: `0x${'a1'.repeat(20)}`,
    asset: { address: `0x${'b2'.repeat(20)}`, ...TOKEN },
    after: { kind: 'file', file: { name: 'A long name of a file to download.pdf', bytes: 123_456 } },
    picture: null,
    fields: ['text', 'textarea', 'select', 'boolean', 'file'].map((type) => ({
      ...{ name: type, label: `The ${type}`, type, required: false, placeholder: null, description: null },
      ...{ options: type === 'select' ? ['Small', 'Large'] : null, default: null, min: null, max: null, pattern: null },
    })),
    redirectUrl: null,
    responseMode: 'lastNode',
    capture: 'escrow',
    runSeconds: 180,
    explorer: 'https://sepolia.basescan.org',
  },
} as unknown as CheckoutPage

type Payment = PaymentState['payment']
type Delivery = NonNullable<PaymentState['delivery']>

/** A payment in any state: what it has beside that of a paid one. */
function payment(
  over: Partial<Payment> = {},
  delivery: Partial<Delivery> | null = {},
  result: PaymentState['result'] = null,
): PaymentState {
  return {
    payment: {
      ...{ id: 'pay_01m87dm055ms2fqtjdaqng48wb', status: 'paid', txHash: HASH, amount: 3_499.5, lines: PAGE.lines! },
      ...{
        refunded: 0,
        refunds: [],
        collect: null,
        network: 'base-sepolia',
        payer: `0x${'c3'.repeat(20)}`,
        reason: null,
      },
      ...{ explorerUrl: `https://sepolia.basescan.org/tx/${HASH}`, testMode: false, capture: 'onPayment' },
      ...{ deadline: null, escrow: null, free: null, pass: null, createdAt: AT, paidAt: AT, redirectUrl: null },
      ...{ token: null, receiptUrl: 'https://pay.example/receipts/pay_1', signedReceipt: 'eyJ', verifyUrl: '/verify' },
      ...over,
    },
    delivery:
      delivery === null
        ? null
        : {
            ...{ status: 'delivered', attempts: 1, lastStatus: null, lastError: null, nextAttemptAt: null },
            ...{ history: null, answer: null, failure: null, progress: [], ...delivery },
          },
    result,
  }
}

const escrow = (state: NonNullable<Payment['escrow']>['state'], voidedTx: string | null = null): Partial<Payment> => ({
  capture: 'escrow',
  escrow: { contract: `0x${'d4'.repeat(20)}`, captureBy: AT, state, authorizedTx: HASH, voidedTx },
})
const refunds = (['sent', 'confirmed', 'failed'] as const).map((state) => ({
  ...{ id: `rfd_${state}`, state, amount: 1_000, txHash: state === 'confirmed' ? HASH : null },
  explorerUrl: state === 'confirmed' ? `https://sepolia.basescan.org/tx/${HASH}` : null,
}))
const LATE = { status: 'created', paidAt: null, deadline: AT } as const
const failed = (code: string): Partial<Payment> => ({ status: 'failed', reason: { code, sentence: 'No.' } })
const history = [
  { at: AT, status: 404, error: null },
  { at: AT, status: null, error: 'connect_timeout' },
]
const pass = { id: 'pas_1', plan: { id: 'ten', name: 'Ten runs' }, status: 'active', runs: 10, runsLeft: 9 } as const
const PAYMENTS: readonly (readonly PaymentState[])[] = [
  [
    payment({ status: 'settling', paidAt: null }, null),
    payment({ ...LATE, capture: 'onSuccess' }, { status: 'claimed' }),
    payment({ ...LATE, ...escrow('waiting') }, { status: 'claimed' }),
    payment({ status: 'settling', paidAt: null, ...escrow('voiding') }, { status: 'stopped' }),
    payment({ ...failed('workflow_timeout'), ...escrow('voided', HASH) }, null),
    payment({ ...failed('workflow_failed'), ...escrow('reclaimable') }, null),
    payment(failed('invalid_exact_evm_insufficient_balance'), null),
    payment({}, { status: 'pending' }),
    payment({}, { status: 'claimed', progress: [{ text: 'Measuring '.repeat(20), percent: 40, at: AT }] }),
  ],
  [
    payment({ testMode: true }, { status: 'pending', attempts: 2, lastStatus: 404, nextAttemptAt: AT, history }),
    payment({ testMode: true }, { status: 'stopped', lastError: 'simulated_failure', history }),
    payment({}, { status: 'delivered', answer: 'Done' }),
    payment({ redirectUrl: 'https://a-long-name-of-a-shop.example/thanks' }, {}),
    payment({}, { status: 'unconfirmed' }),
    payment({}, { status: 'unconfirmed', lastStatus: 500 }),
    payment({}, { status: 'exhausted', lastStatus: 500 }),
    payment({}, { status: 'stopped', lastStatus: 500, failure: 'The site could not be reached. '.repeat(10) }),
    payment({ refunded: 2_000, refunds }, {}),
    payment({ refunded: 3_499.5, refunds: refunds.slice(0, 1) }, { status: 'stopped', lastError: 'payment_refunded' }),
    payment({ refunded: 3_499.5, refunds: refunds.slice(1) }, { status: 'pending', attempts: 2, lastStatus: 500 }),
    payment({ pass: { ...pass, until: AT, token: 'pst_1' } }, null, { kind: 'link', url: 'https://a.example/b' }),
    payment({}, null, { kind: 'file', name: 'A long name of a file.pdf', mediaType: 'a/b', bytes: 9, url: '/f' }),
  ],
]

/** The parts of the pages that overflow, texts that were not filled in, and keys in place of texts. */
const FAULTS = `
[
  ...(document.documentElement.scrollWidth > innerWidth
    ? ['too wide: ' + [...document.querySelectorAll('.state *')].filter((each) => each.getBoundingClientRect().right > innerWidth + 1).at(-1)?.outerHTML.slice(0, 300)]
    : []),
  ...[...document.querySelectorAll('button, a, input, select, h1, h2, h3, dt, dd, .step, .notice, .badge')]
    .filter((each) => {
      const { width, left, right } = each.getBoundingClientRect()
      const isCut = getComputedStyle(each).overflowX === 'hidden' && each.scrollWidth > each.clientWidth + 1
      return width > 1 && (left < -1 || right > innerWidth + 1 || (isCut && width > 2))
    })
    .map((each) => 'cut: ' + each.outerHTML.slice(0, 200)),
  ...[...document.querySelectorAll('.state')].flatMap(
    (each) => each.innerText.match(/\\{\\w+\\}|\\bundefined\\b|\\b(?:common|ahead|terms|price|pay|form|progress|refund|fault|report|invoice|error|gate|verify|message)\\.[a-z]\\w+/g) ?? [],
  ),
]`

inBrowser('every state of the pages', () => {
  let browser: Browser
  let pages: Pages
  let style: string
  beforeAll(async () => {
    const built = await loadBuilt()
    browser = await openBrowser()
    pages = createPages(built, {
      clock: { now: () => new Date(AT) },
      assetsPath: '/p/assets',
      previewPath: '/pages/assets',
    })
    style = String(built.assets.files.get(built.assets.styles[0]!)!.plain)
  })
  afterAll(() => leaveBrowser(browser))

  function statesIn(lang: Language): readonly (readonly string[])[] {
    const reader = { lang, accepted: undefined }
    const receipt: Receipt = {
      ...{ id: 'pay_01m87dm055ms2fqtjdaqng48wb', name: 'Suchmaschinenoptimierung', status: 'refunded', amount: 3_000 },
      ...{ network: 'base-sepolia', txHash: HASH, paidAt: AT, refunds, dispute: { state: 'open', answer: null } },
      brand: PAGE.brand!,
    }
    const error = (status: number, code: string) => pages.missing({ status, code, sentence: 'No.' }, reader)
    const charged = { ...PAGE, checkout: { ...PAGE.checkout, testMode: false } }
    const others = [
      pages.checkout(PAGE, reader),
      pages.checkout(charged, reader),
      pages.checkout({ ...PAGE, available: false }, reader),
      pages.gate({ ...PAGE, checkout: { ...PAGE.checkout, fields: [] } }, '/gate/assets', reader),
      pages.verify(
        { 'did:web:pay.example': 'https://pay.example/.well-known/did.json' },
        'https://pay.example',
        reader,
      ),
      pages.receipt(receipt, { jws: { signature: 'eyJ' }, verifyUrl: '/verify' }, reader),
      ...(['paid', 'failed', 'settling'] as const).map((status) => pages.payment(null, payment({ status }), reader)),
      ...[
        error(404, 'checkout_not_found'),
        error(404, 'receipt_not_found'),
        error(429, 'rate_limited'),
        error(500, 'x'),
      ],
    ]
    const shown = PAYMENTS.map((states) =>
      states.map((state) =>
        pages.payment({ ...PAGE, checkout: { ...PAGE.checkout, testMode: state.payment.testMode } }, state, reader),
      ),
    )
    return [others, ...shown].map((group) => group.map(({ content }) => content))
  }

  it.each(LANGUAGES)('fits the texts of %s, on a phone and on a desktop', async (language) => {
    const page = await browser.newPage()
    for (const [group, documents] of statesIn(language).entries()) {
      const bodies = documents.map(
        (each) => /<div id="root">([\s\S]*?)<\/div>\s*(?:<noscript>|<\/body>)/.exec(each)?.[1],
      )
      expect(bodies).not.toContain(undefined)
      await page.setContent(
        `<!doctype html><html lang="${language}"><style>${style}</style><body>${bodies
          .map((body) => `<div class="state">${body!}</div>`)
          .join('<hr>')}</body></html>`,
      )
      for (const [size, width] of [
        ['phone', 360],
        ['desktop', 1280],
      ] as const) {
        await page.setViewportSize({ width, height: 800 })
        await picture(page, `states-${language}-${String(group)}-${size}`, { fullPage: true })
        expect([language, group, size, await page.evaluate(FAULTS)]).toEqual([language, group, size, []])
      }
    }
    await page.close()
  })
})
