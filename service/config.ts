import { didYouMean, nearest } from './kit/nearest.ts'
import { z } from 'zod'
import { recipientAddress } from './kit/address.ts'
import { usdc } from './kit/money.ts'
import { isLocalAddress } from './kit/http.ts'
import { QUOTAS } from './kit/quota.ts'
import {
  address,
  addresses,
  database,
  dollars,
  ether,
  extendedKey,
  flag,
  list,
  onramp,
  origins,
  pairs,
  privateKeys,
  publicAddresses,
  publishedKeys,
  redis,
  server,
  whole,
} from './kit/schema/settings.ts'

/**
 * All that is set from outside, in one place, checked before anything starts. Nothing else in the service
 * reads the environment. An empty variable counts as unset.
 */
export function readConfig(environment: Readonly<Record<string, string | undefined>>): Config {
  const given = Object.fromEntries(
    Object.entries(environment).filter(([, value]) => value !== undefined && value !== ''),
  )
  const parsed = schema.safeParse(given)
  if (!parsed.success)
    throw new ConfigError(parsed.error.issues.map((issue) => `${issue.path.join('.')} ${issue.message}`))
  return { ...withAddresses(parsed.data), misspelt: misspeltSettings(given) }
}

/**
 * A sentence for each variable that looks like a setting and is none: nothing reads it. A name of one word may be
 * another program's.
 */
function misspeltSettings(environment: Readonly<Record<string, string | undefined>>): string[] {
  const names = Object.keys(schema.shape)
  const known = new Set(names)
  return Object.keys(environment)
    .filter((name) => name.includes('_') && !known.has(name))
    .flatMap((name) => {
      const meant = nearest(name, names)
      if (meant === null && !OURS.test(name)) return []
      return [`${name} is not a setting, so it is ignored.${didYouMean(meant)}`]
    })
}

/** Only our settings begin like this. */
const OURS = /^(RATE|QUOTA|GATE|SETTLE|WITHDRAWALS?)_/

/** One sentence per fault, all of them at once. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly faults: readonly string[]

  constructor(faults: readonly string[]) {
    super(faults.join('\n'))
    this.faults = faults
  }
}

export const ROLES = ['api', 'tools', 'facilitator', 'pay', 'gate', 'dashboard', 'worker'] as const
export type Role = (typeof ROLES)[number]

const schema = z
  .object({
    PORT: whole(0, 65535).default(4020),
    HOST: z.string().default('0.0.0.0'),
    LIVE: flag.default(false),
    ROLES: list
      .refine((roles) => roles.every((role) => (ROLES as readonly string[]).includes(role)), {
        error: `must list some of ${ROLES.join(', ')}`,
      })
      .transform((roles) => roles as Role[])
      .default([...ROLES]),
    /** Processes behind this one port. */
    WORKERS: z
      .string()
      .regex(/^(auto|[1-9]\d?|1\d\d|2[0-4]\d|25[0-6])$/, 'must be auto or a whole number from 1 to 256')
      .transform((text) => (text === 'auto' ? text : Number(text)))
      .default(1),
    DRAIN_MS: whole(0, 10_000).default(3_000),
    DATA_DIR: z.string().default('.coinslot'),
    DATABASE_URL: database.optional(),
    DATABASE_POOL: whole(2, 500).default(20),
    /** Whether this version starts on the database of a newer one: to go back by one version. */
    NEWER_DATABASE: z.enum(['refused', 'allowed'], { error: 'must be refused or allowed' }).default('refused'),
    REDIS_URL: redis.optional(),

    PUBLIC_API_URL: address.optional(),
    PUBLIC_TOOLS_URL: address.optional(),
    PUBLIC_FACILITATOR_URL: address.optional(),
    PUBLIC_PAY_URL: address.optional(),
    PUBLIC_GATE_URL: address.optional(),
    PUBLIC_DASHBOARD_URL: address.optional(),
    ONRAMP_URL: onramp.optional(),
    RATES_URL: address.optional(),
    CORS_ORIGINS: origins.default([]),
    TRUST_PROXY: list.default([]),

    AUTH_SECRET: z.string().min(32, 'must have at least 32 characters').optional(),
    VAULT_KEY: z.string().optional(),
    VAULT_OLD_KEYS: z.string().optional(),
    /** Which pair of keys signs offers and receipts; the earlier ones stay published. */
    RECEIPT_KEY_VERSION: whole(1, 99).default(1),
    RECEIPT_OLD_JWKS: publishedKeys.default([]),
    OIDC_ISSUER: address.optional(),
    OIDC_AUDIENCE: z.string().optional(),
    OIDC_CLIENT_ID: z.string().optional(),
    OIDC_CLIENT_SECRET: z.string().optional(),
    OIDC_LABEL: z.string().max(40, 'must have at most 40 characters').default('your organisation'),
    SIGNUP_CREDITS: z
      .string()
      .regex(/^\d{1,9}(\.\d{1,6})?$/, 'must be an amount of USDC with at most 6 decimals')
      .default('5'),
    /** Accounts of one mail domain that are given production's free credits in a day of UTC; 0 is none. */
    SIGNUP_GRANTS_PER_DOMAIN_DAY: whole(0, 1_000_000).default(20),
    /** The same for one caller's address. */
    SIGNUP_GRANTS_PER_ADDRESS_DAY: whole(0, 1_000_000).default(10),
    DEMO_API_KEY: z
      .string()
      .regex(/^csk_test_[0-9A-Za-z_-]{16,128}$/, 'must be csk_test_ and 16 to 128 letters, digits, - or _')
      .optional(),
    SMTP_URL: server(/^smtps?$/, 'must be an smtp:// address').optional(),
    MAIL_FROM: z.string().optional(),

    BASE_RPC_URLS: addresses.default([]),
    BASE_SEPOLIA_RPC_URLS: addresses.default([]),
    SPONSOR_PRIVATE_KEYS: privateKeys.default([]),
    /** Of keys that other processes have: the first one is offered as the operator of payments in the escrow. */
    SPONSOR_ADDRESSES: publicAddresses.default([]),
    SPONSOR_LOW_BALANCE: ether.default(5_000_000_000_000_000n),
    GAS_BUDGET_PER_DAY: ether.default(10n ** 18n),
    GAS_BUDGET_PER_PAYER_DAY: ether.default(5n * 10n ** 16n),
    GAS_BUDGET_PER_RECIPIENT_DAY: ether.default(2n * 10n ** 17n),
    /** In ETH, for what strangers ask to be settled from one address in a day; a seller settles for all of its buyers. */
    GAS_BUDGET_PER_CALLER_DAY: ether.default(3n * 10n ** 17n),
    GAS_RESERVE_PERCENT: whole(0, 100).default(20),
    SETTLE_VALUE_MIN: whole(0, 1_000_000).default(100),
    SETTLE_GAS_MAX: whole(100_000, 10_000_000).default(300_000),
    /** May deploy a payer's wallet with its first payment (ERC-6492), at a sponsor's cost. */
    WALLET_FACTORIES: publicAddresses.default([]),
    /** People without a wallet may pay with a passkey, from a Safe that their first payment deploys. */
    PASSKEY_WALLETS: flag.optional(),
    WALLET_DEPLOY_GAS_MAX: whole(50_000, 10_000_000).default(400_000),
    SETTLE_WAIT_MS: whole(0, 600_000).default(20_000),
    SETTLE_CONFIRMATIONS: whole(1, 1_000).default(3),
    SETTLE_BUMP_AFTER_MS: whole(1_000, 3_600_000).default(12_000),

    WALLET_XPUB: extendedKey('xpub').optional(),
    WALLET_XPRV: extendedKey('xprv').optional(),
    DEPOSIT_CONFIRMATIONS: whole(1, 1_000).default(3),
    SWEEP_MINIMUM: dollars.default(usdc(1_000_000n)),
    /** What may leave one account in 24 hours, by withdrawals, paid calls, refunds and purchases together; 0 is no limit. */
    WITHDRAWAL_LIMIT_PER_DAY: dollars.default(usdc(1_000_000_000n)),
    /** The same for all accounts of an environment together; what goes to another account here takes nothing of it. */
    WITHDRAWAL_LIMIT_TOTAL_PER_DAY: dollars.default(usdc(10_000_000_000n)),
    /** Off is the hard stop: no money leaves, and nothing stored in the database can lift it. */
    PAYOUTS: z.enum(['on', 'off'], { error: 'must be on or off' }).default('on'),
    /** A run or template of another account that costs more counts as money that leaves; 0 counts each. */
    PURCHASES_COUNTED_ABOVE: dollars.default(usdc(1_000_000n)),
    /** What an agent without limits may spend in a day on assets of other accounts; 0 is no limit. */
    AGENT_DEFAULT_PER_DAY: dollars.default(usdc(10_000_000n)),
    /** Each withdrawal costs the server gas; 0 is no minimum. */
    WITHDRAWAL_MINIMUM: dollars.default(usdc(1_000_000n)),
    /** Of one account in 24 hours; 0 is no limit. */
    WITHDRAWALS_PER_DAY: whole(0, 1_000_000).default(20),
    REFUNDS_PER_DAY: whole(0, 1_000_000).default(1_000),
    /** Of `POST /v1/pay`: each may cost the gas of a transfer to the payer, however little it pays. */
    PAYMENTS_PER_DAY: whole(0, 1_000_000).default(5_000),
    RECEIPT_MAILS_PER_HOUR: whole(0, 1_000_000).default(500),
    WITHDRAWAL_ALLOW_LIST: list
      .refine((addresses) => addresses.every((one) => recipientAddress.safeParse(one).success), {
        error: 'must list addresses, each 0x and 40 hexadecimal digits with a checksum that fits, or in one case',
      })
      // No address at all would mean every address.
      .refine((addresses) => addresses.length > 0, 'must list at least one address')
      .default([]),
    IDENTITY_HOOK_SECRET: z
      .string()
      .regex(/^whsec_[0-9A-Za-z+/_-]{32,}={0,2}$/, 'must be whsec_ and the base64 of at least 24 bytes')
      .optional(),
    TOP_UP_URL: address.optional(),

    PLATFORM_FEE_BPS: whole(0, 10_000).default(0),
    MODELS_BASE_URL: address.optional(),
    MODELS_API_KEY: z.string().optional(),
    MODELS_FILE: z.string().optional(),

    DEMO_PORT: whole(0, 65_535).optional(),
    TOOLS_SHIPPED: flag.optional(),
    PAY_TIMEOUT_MS: whole(1_000, 180_000).default(60_000),
    PAYER_SEED: z
      .string()
      .regex(/^(0x)?[0-9a-fA-F]{64}$/, 'must be 64 hexadecimal digits')
      .transform((text) => `0x${text.replace(/^0x/, '').toLowerCase()}` as const)
      .optional(),

    ALLOW_PRIVATE_CALLBACKS: flag.optional(),
    ALLOW_HOSTS: list.default([]),

    /** Background runs of one account that are under way at once, over all processes. */
    RUNS_AT_ONCE: whole(1, 100_000).default(8),
    /** The same of all accounts together, for the assets of one creator. */
    RUNS_AT_ONCE_PER_CREATOR: whole(1, 100_000).default(32),
    /** Background runs of one account that may wait. */
    RUNS_WAITING: whole(1, 1_000_000).default(1_000),
    /** Free prompts that a creator's wallet pays for in a day of UTC; 0 is none. */
    FREE_RUNS_PER_DAY: whole(0, 1_000_000).default(200),
    /** The same for one caller. */
    FREE_RUNS_PER_CALLER_DAY: whole(0, 1_000_000).default(20),
    /** Failed runs are not charged, but model vendors may bill them. The most they may cost in a day (UTC), for one caller; 0 is no limit. */
    UNPAID_MODEL_COSTS_PER_CALLER_DAY: dollars.default(usdc(1_000_000n)),
    /** The most that failed runs of one creator's prompts may cost in a day (UTC), for all callers together. */
    UNPAID_MODEL_COSTS_PER_CREATOR_DAY: dollars.default(usdc(10_000_000n)),
    QUOTA_KEYS: whole(1, 1_000_000).default(QUOTAS.keys),
    QUOTA_AGENTS: whole(1, 1_000_000).default(QUOTAS.agents),
    QUOTA_PAYWALLS: whole(1, 1_000_000).default(QUOTAS.paywalls),
    QUOTA_ACTIVE_CHECKOUTS: whole(1, 10_000_000).default(QUOTAS.active_checkouts),
    /** Of one file that a seller uploads, and of all files of an account. */
    FILE_BYTES_MAX: whole(1_024, 100_000_000).default(20_971_520),
    QUOTA_FILE_BYTES: whole(1_024, 1_000_000_000_000).default(209_715_200),
    QUOTA_FILES: whole(1, 1_000_000).default(500),
    /** Of what the customers of an account upload into forms: all of it together, until seven days after the sale. */
    QUOTA_CUSTOMER_FILE_BYTES: whole(1_024, 1_000_000_000_000).default(1_073_741_824),
    QUOTA_CUSTOMER_FILES: whole(1, 1_000_000).default(2_000),
    /** The highest price, in USDC, for which a workflow may run before it is paid. */
    ON_SUCCESS_PRICE_MAX: dollars.default(usdc(100_000_000n)),
    /** The longest time that such a workflow may take. */
    ON_SUCCESS_SECONDS_MAX: whole(10, 86_400).default(3_600),
    QUOTA_EVENT_STREAMS: whole(1, 100_000).default(20),
    QUOTA_CONNECTIONS_PER_ADDRESS: whole(0, 1_000_000).default(100),

    RATE_API_PER_MINUTE: whole(0, 10_000_000).default(600),
    RATE_SIGN_IN_PER_MINUTE: whole(0, 10_000_000).default(20),
    RATE_DRAFT_READS_PER_MINUTE: whole(0, 10_000_000).default(20),
    RATE_VERIFY_PER_MINUTE: whole(0, 10_000_000).default(100),
    RATE_SETTLE_PER_MINUTE: whole(0, 10_000_000).default(50),
    RATE_PAY_PER_MINUTE: whole(0, 10_000_000).default(120),
    RATE_TOOLS_PER_MINUTE: whole(0, 10_000_000).default(60),
    TOOLS_RECIPIENT: recipientAddress.transform((text) => text.toLowerCase() as `0x${string}`).optional(),
    TOOL_CALLS_AT_ONCE: whole(0, 100_000).default(10),
    TOOL_PROVIDER_AT_ONCE: whole(1, 100_000).default(64),
    TOOL_TIMEOUT_MS: whole(100, 120_000).default(60_000),
    TOOL_PROVIDERS_PER_ACCOUNT: whole(1, 100_000).default(20),
    TOOLS_PER_ACCOUNT: whole(1, 1_000_000).default(5_000),
    TOOL_BYTES_PER_ACCOUNT: whole(1024, 1_000_000_000).default(33_554_432),
    TOOL_IMPORTS_PER_HOUR: whole(1, 1_000_000).default(20),
    TOOL_ANSWER_BYTES_MAX: whole(1024, 50_000_000).default(5_242_880),
    TOOL_LARGE_ANSWER_BYTES_MAX: whole(1024, 100_000_000).default(26_214_400),
    TOOL_FILE_BYTES_MAX: whole(1024, 100_000_000).default(10_485_760),
    RATE_GATE_PER_MINUTE: whole(0, 10_000_000).default(1_200),
    GATE_BODY_BYTES_MAX: whole(1024, 1_000_000_000).default(10_485_760),
    GATE_HEADERS_TIMEOUT_MS: whole(100, 120_000).default(60_000),
    GATE_IDLE_TIMEOUT_MS: whole(100, 3_600_000).default(300_000),
    GATE_FACILITATOR_URL: address.optional(),
    GATE_FACILITATOR_TIMEOUT_MS: whole(100, 120_000).default(25_000),
    MCP_TASK_AFTER_MS: whole(1, 120_000).default(5_000),
    STREAM_CHECK_MS: whole(10, 600_000).default(15_000),
    STREAM_LIFE_MS: whole(1_000, 86_400_000).default(3_600_000),
    BODY_BYTES_MAX: whole(1024, 100_000_000).default(262_144),

    BACKUP_DIR: z.string().optional(),

    RETAIN_DELIVERY_DAYS: whole(0, 36_500).default(365),
    RETAIN_DECISION_DAYS: whole(0, 36_500).default(400),
    RETAIN_DRAW_DAYS: whole(0, 36_500).default(90),
    RETAIN_ANSWER_DAYS: whole(0, 36_500).default(30),
    RETAIN_RECONCILIATION_DAYS: whole(0, 36_500).default(90),

    LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'silent']).default('info'),
    METRICS_TOKEN: z.string().optional(),
    METRICS_KEEP_MS: whole(0, 60_000).default(3_000),
    OTEL_EXPORTER_OTLP_ENDPOINT: address.optional(),
    OTEL_EXPORTER_OTLP_HEADERS: pairs.default({}),
    OTEL_SERVICE_NAME: z.string().default('coinslot'),
    OTEL_TRACES_SAMPLER_ARG: z
      .string()
      .regex(/^(0(\.\d{1,6})?|1(\.0{1,6})?)$/, 'must be a share from 0 to 1')
      .transform(Number)
      .default(1),
    TRACE_INCOMING: z.enum(['link', 'continue'], { error: 'must be link or continue' }).default('link'),
  })
  .superRefine((config, context) => {
    const missing = (name: string, why: string): void => {
      context.addIssue({ code: 'custom', path: [name], message: why })
    }
    if (config.LIVE && config.AUTH_SECRET === undefined) missing('AUTH_SECRET', 'must be set when LIVE is true')
    if (config.LIVE && config.VAULT_KEY === undefined) missing('VAULT_KEY', 'must be set when LIVE is true')
    if (config.LIVE && config.DEMO_API_KEY !== undefined) missing('DEMO_API_KEY', 'must not be set when LIVE is true')
    if (config.OIDC_ISSUER !== undefined && config.OIDC_AUDIENCE === undefined && config.OIDC_CLIENT_ID === undefined)
      missing('OIDC_AUDIENCE', 'must be set with OIDC_ISSUER, or OIDC_CLIENT_ID for the sign-in, or both')
    if (config.OIDC_CLIENT_ID !== undefined && config.OIDC_ISSUER === undefined)
      missing('OIDC_ISSUER', 'must be set with OIDC_CLIENT_ID')
    if (config.OIDC_CLIENT_SECRET !== undefined && config.OIDC_CLIENT_ID === undefined)
      missing('OIDC_CLIENT_ID', 'must be set with OIDC_CLIENT_SECRET')
    if (config.WALLET_XPRV !== undefined && !config.ROLES.includes('worker'))
      missing('WALLET_XPRV', 'must not be set where ROLES has no worker: nobody else signs')
    if (config.PAYER_SEED !== undefined && !config.ROLES.includes('worker'))
      missing('PAYER_SEED', 'must not be set where ROLES has no worker: nobody else signs')
    if (config.WORKERS !== 1 && config.REDIS_URL === undefined)
      missing('REDIS_URL', 'must be set with WORKERS: there the processes share their limits and sessions')
    if (config.SMTP_URL !== undefined && config.MAIL_FROM === undefined)
      missing('MAIL_FROM', 'must be set with SMTP_URL')
  })

export type Config = z.output<typeof schema> & {
  addresses: Addresses
  /** A sentence for each variable that is probably meant to be a setting. */
  misspelt: readonly string[]
  ALLOW_PRIVATE_CALLBACKS: boolean
  /** 0 where there are no demo creators. */
  DEMO_PORT: number
  TOOLS_SHIPPED: boolean
}

/** All that must never be read in a log: whole values, the passwords inside of addresses, and the keys that RPC addresses end with. */
export function secretsOf(config: Config): string[] {
  const inside = [config.DATABASE_URL, config.REDIS_URL, config.SMTP_URL].map(passwordOf)
  const paths = [...config.BASE_RPC_URLS, ...config.BASE_SEPOLIA_RPC_URLS].flatMap(keysOf)
  const { AUTH_SECRET, VAULT_KEY, VAULT_OLD_KEYS, DEMO_API_KEY, WALLET_XPRV, IDENTITY_HOOK_SECRET } = config
  const whole = [AUTH_SECRET, DEMO_API_KEY, WALLET_XPRV, IDENTITY_HOOK_SECRET, config.METRICS_TOKEN]
  const vault = [VAULT_KEY, ...(VAULT_OLD_KEYS ?? '').split(',')].flatMap((key) => [
    key?.trim(),
    key?.split(':')[1]?.trim(),
  ])
  const hexadecimal = [...config.SPONSOR_PRIVATE_KEYS, config.PAYER_SEED].flatMap(bothForms)
  const others = [config.MODELS_API_KEY, config.OIDC_CLIENT_SECRET, ...Object.values(config.OTEL_EXPORTER_OTLP_HEADERS)]
  return [...inside, ...paths, ...whole, ...vault, ...hexadecimal, ...others].filter(
    (secret): secret is string => secret !== undefined && secret !== '',
  )
}

function passwordOf(address: string | undefined): string | undefined {
  return address === undefined ? undefined : decodeURIComponent(new URL(address).password)
}

function keysOf(address: string): string[] {
  const { pathname, searchParams } = new URL(address)
  return [...pathname.split('/'), ...searchParams.values()].filter((part) => part.length >= 16)
}

function bothForms(key: string | undefined): string[] {
  return key === undefined ? [] : [key, key.replace(/^0x/, '')]
}

export interface Addresses {
  api: string
  tools: string
  facilitator: string
  pay: string
  /** Of all products, on the host of the hosted forms. */
  receipts: string
  /** The MCP addresses of accounts, on the same host. */
  storefront: string
  gate: string
  dashboard: string
}

function withAddresses(config: z.output<typeof schema>): Omit<Config, 'misspelt'> {
  const demoPort = config.DEMO_PORT ?? (config.PORT === 0 ? 0 : (config.PORT + 1) % 65_536)
  const DEMO_PORT = config.LIVE ? 0 : demoPort
  const addresses = addressesOf(config)
  return {
    ...config,
    ALLOW_PRIVATE_CALLBACKS: config.ALLOW_PRIVATE_CALLBACKS ?? (!config.LIVE && isReachedLocally(addresses)),
    DEMO_PORT,
    // Not in a test, whose sandbox has no demo either.
    TOOLS_SHIPPED: config.TOOLS_SHIPPED ?? (config.LIVE || DEMO_PORT !== 0),
    addresses,
  }
}

function addressesOf(config: z.output<typeof schema>): Addresses {
  const own = `http://localhost:${String(config.PORT)}`
  return {
    api: config.PUBLIC_API_URL ?? `${own}/v1`,
    tools: config.PUBLIC_TOOLS_URL ?? `${own}/tools`,
    facilitator: config.PUBLIC_FACILITATOR_URL ?? `${own}/facilitator`,
    pay: config.PUBLIC_PAY_URL ?? `${own}/p`,
    receipts: `${new URL(config.PUBLIC_PAY_URL ?? own).origin}/receipts`,
    storefront: `${new URL(config.PUBLIC_PAY_URL ?? own).origin}/m`,
    gate: config.PUBLIC_GATE_URL ?? `${own}/gate`,
    dashboard: config.PUBLIC_DASHBOARD_URL ?? own,
  }
}

/** Whether all of them name this machine. Others reach it all the same where it listens at more than loopback. */
export function isReachedLocally(addresses: Addresses): boolean {
  return Object.values(addresses).every(isLocalAddress)
}
