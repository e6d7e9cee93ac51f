import { readFileSync } from 'node:fs'
import { readConfig, secretsOf } from '../../service/config.ts'
import { createLog } from '../../service/api/log.ts'
import { tagContext, within } from '../../service/kit/context.ts'
import { DomainError } from '../../service/kit/errors.ts'

const PRIVATE_KEY = `0x${'5e'.repeat(32)}`
const SETTINGS = {
  DATABASE_URL: 'postgres://coinslot:p%40ss-of-the-database@db.example/coinslot',
  REDIS_URL: 'rediss://:password-of-redis@redis.example',
  MAIL_FROM: 'coins@mail.example',
  SMTP_URL: 'smtp://mailer:password-of-mail@smtp.example',
  AUTH_SECRET: 'the secret behind every session and quote',
  VAULT_KEY: `k1:${Buffer.alloc(32, 7).toString('base64')}`,
  VAULT_OLD_KEYS: `k0:${Buffer.alloc(32, 9).toString('base64')}`,
  DEMO_API_KEY: 'csk_test_demonstration-key',
  SPONSOR_PRIVATE_KEYS: PRIVATE_KEY,
  PAYER_SEED: 'a7'.repeat(32),
  IDENTITY_HOOK_SECRET: `whsec_${Buffer.alloc(32, 3).toString('base64')}`,
  OIDC_ISSUER: 'https://login.example',
  OIDC_CLIENT_ID: 'coinslot',
  OIDC_CLIENT_SECRET: 'secret-of-the-sign-in',
  WALLET_XPRV: `xprv${'7'.repeat(107)}`,
  MODELS_API_KEY: 'sk-of-the-model-vendor',
  METRICS_TOKEN: 'token-of-the-metrics',
  BASE_RPC_URLS: 'https://rpc.example/v3/0123456789abcdef0123456789abcdef',
  OTEL_EXPORTER_OTLP_HEADERS: 'api-key=key-of-the-collector',
}
/** How they would stand in a line, were nothing cut. */
const VALUES = [
  'p@ss-of-the-database',
  'password-of-redis',
  'password-of-mail',
  SETTINGS.AUTH_SECRET,
  SETTINGS.VAULT_KEY.slice(3),
  SETTINGS.VAULT_OLD_KEYS.slice(3),
  SETTINGS.DEMO_API_KEY,
  PRIVATE_KEY,
  PRIVATE_KEY.slice(2),
  SETTINGS.PAYER_SEED,
  SETTINGS.IDENTITY_HOOK_SECRET,
  'sk-of-the-model-vendor',
  'secret-of-the-sign-in',
  SETTINGS.WALLET_XPRV,
  'token-of-the-metrics',
  '0123456789abcdef0123456789abcdef',
  'key-of-the-collector',
]

describe('the log', () => {
  let lines: string[] = []
  const log = createLog('debug', secretsOf(readConfig(SETTINGS)), { write: (line) => void lines.push(line) })
  beforeEach(() => {
    lines = []
  })

  test.each(VALUES)('never contains a configured secret, in any place: %s', (secret) => {
    log.info({ deep: [{ deeper: { text: `it was ${secret}, quoted "${secret}"` } }] }, `and ${secret}`)
    log.error({ err: new Error(`refused ${secret}`, { cause: new Error(secret) }) }, 'failed')
    log.warn({ address: `https://host.example/?x=${encodeURIComponent(secret)}` }, 'address')
    expect(lines).toHaveLength(3)
    for (const line of lines) {
      expect(line).not.toContain(secret)
      expect(line).not.toContain(JSON.stringify(secret).slice(1, -1))
      expect(line).not.toContain(encodeURIComponent(secret))
      expect(() => JSON.parse(line) as unknown).not.toThrow()
    }
  })

  test.each([
    ['an API key', 'csk_live_0123456789abcdefghij'],
    ['an access token', 'cat_0123456789abcdefghijABCDEFGHIJ0123456789-_-abcd'],
    ['a signing secret', 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
    ['an extended private key', `xprv${'9'.repeat(107)}`],
    ['a JSON Web Token', 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl'],
    ['a bearer token', 'Bearer abcdefghijklmnop', 'abcdefghijklmnop'],
    ['a password in an address', 'https://me:open-sesame@host.example/x', 'open-sesame'],
    ['a key in a query', 'GET /mcp?key=not-of-any-form&view=all', 'not-of-any-form'],
  ])('cuts %s by its form', (_what, text, secret = text) => {
    log.info({ lines: `first\n${text}\n\t${text}` }, '')
    log.info({ list: [text], nested: { much: { deeper: { than: { usual: text } } } } }, `saw ${text}`)
    log.error({ err: new DomainError('failed', 'internal', text).causedBy(new Error(text)) }, 'failed')
    for (const line of lines) expect(line).not.toContain(secret)
    expect(lines.join('')).toContain('[redacted]')
  })

  test.each([
    'authorization',
    'Cookie',
    'set-cookie',
    'password',
    'apiKey',
    'api_key',
    'accessToken',
    'X-Payment-Token',
  ])('cuts a field called %s at any depth, also a list and one with quotes in it', (name) => {
    log.info({ [name]: 'opensesame1', a: { b: { c: { d: { [name]: ['opensesame2', 'quoted "opensesame3'] } } } } }, '')
    expect(lines.join('')).not.toContain('opensesame')
    expect(JSON.parse(lines[0]!)).toMatchObject({
      [name]: '[redacted]',
      a: { b: { c: { d: { [name]: '[redacted]' } } } },
    })
  })

  it("covers every setting with a secret's name", () => {
    const names = readFileSync('service/config.ts', 'utf8').matchAll(/^ {4}([A-Z][A-Z_]+): /gm)
    const secret = [...names]
      .map(([, name]) => name!)
      .filter((name) => /SECRET|_KEYS?$|TOKEN|SEED|XPRV|HEADERS$/.test(name) && name !== 'QUOTA_KEYS')
    expect(secret.length).toBeGreaterThan(8)
    for (const name of secret) expect(Object.keys(SETTINGS)).toContain(name)
  })

  it('masks mail addresses, and keeps ids, hashes and stacks', () => {
    const hash = `0x${'ab'.repeat(32)}`
    const unredacted = {
      txHash: hash,
      runId: 'run_01jd0000000000000000000000',
      keyId: 'key_1',
      stack: 'node_modules/@trpc/server',
    }
    log.info({ to: 'someone.else@mail.example', ...unredacted }, 'told someone.else@mail.example')
    expect(JSON.parse(lines[0]!)).toMatchObject({
      to: 's***@mail.example',
      ...unredacted,
      msg: 'told s***@mail.example',
    })
  })

  it("includes the context's tags, and a line's own fields win", () => {
    const run = 'run_01jd0000000000000000000000'
    within({ tags: { requestId: 'req_1' } }, () => {
      tagContext(run)
      log.info({ requestId: 'req_2' }, 'inside')
      log.info({}, 'again')
    })
    log.info({}, 'outside')
    const [inside, again, outside] = lines.map((line) => JSON.parse(line) as Record<string, unknown>)
    expect(inside).toMatchObject({ requestId: 'req_2', runId: run })
    expect(again).toMatchObject({ requestId: 'req_1', runId: run })
    expect(outside).not.toHaveProperty('requestId')
  })
})
