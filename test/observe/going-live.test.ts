import { execFile, execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { keysOfPhrase, newPhrase } from '../../service/chain/keys.ts'
import type { Finding } from '../../service/cli/checks/model.ts'
import { startChain, type TestChain } from '../harness/chain.ts'
import { testDatabase, type TestDatabase } from '../harness/database.ts'
import { startSmtp } from '../harness/smtp.ts'

const GUIDE = readFileSync(path.resolve(import.meta.dirname, '../../docs/going-live.md'), 'utf8')

/** The rows of the table in docs/going-live.md: what the doctor calls each point, in the order of the steps. */
const POINTS = [...GUIDE.matchAll(/^\| \d[^|]*\| ([^|]+) \| `([^`|]+)`/gm)].map(([, point = '', check = '']) => ({
  point: point.trim(),
  check,
}))

describe('the doctor on the way to real money', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'coinslot-going-live-'))
  const backups = path.join(folder, 'backups')
  const { xpub, xprv, sponsor, payerSeed } = keysOfPhrase(newPhrase())
  let base: TestChain
  let sepolia: TestChain
  let database: TestDatabase
  let front: Front
  let mails: Awaited<ReturnType<typeof startSmtp>>

  beforeAll(async () => {
    ;[base, sepolia, database, mails] = await Promise.all([
      startChain({ chainId: 8453 }),
      startChain(),
      testDatabase(),
      startSmtp(),
    ])
    front = await startFront(folder, 90)
    mkdirSync(backups)
    writeFileSync(path.join(backups, 'coinslot.dump'), 'dump')
    writeFileSync(path.join(folder, 'models.json'), '{"models":[]}')
  })
  afterAll(async () => {
    front.close()
    await Promise.all([base.stop(), sepolia.stop(), database.close(), mails.close()])
    rmSync(folder, { recursive: true, force: true })
  })

  function settings(): Record<string, string> {
    return {
      ...{ LIVE: 'true', AUTH_SECRET: randomBytes(32).toString('base64'), METRICS_TOKEN: 'm'.repeat(20) },
      ...{ VAULT_KEY: `k1:${randomBytes(32).toString('base64')}`, TRUST_PROXY: 'loopback', DATA_DIR: folder },
      ...{ DATABASE_URL: database.url, BASE_RPC_URLS: twice(base), BASE_SEPOLIA_RPC_URLS: twice(sepolia) },
      ...{
        WALLET_XPUB: xpub,
        WALLET_XPRV: xprv,
        SPONSOR_PRIVATE_KEYS: base.accounts[0]!.privateKey,
        PAYER_SEED: payerSeed,
      },
      ...{ SMTP_URL: mails.url, MAIL_FROM: 'pay@example.com', BACKUP_DIR: backups },
      ...{
        MODELS_BASE_URL: 'https://models.example/v1',
        MODELS_API_KEY: 'k',
        MODELS_FILE: path.join(folder, 'models.json'),
      },
      ...publicUrls(front.origin),
    }
  }

  /** Two names of one node, as of two providers. */
  const twice = ({ url }: TestChain): string => `${url},${url.replace('127.0.0.1', 'localhost')}`

  const levels = (findings: readonly Finding[], check: string) =>
    findings
      .filter((finding) => finding.check === check || finding.check.startsWith(`${check} `))
      .map(({ level }) => level)

  test('the guide lists each point that it checks', () => {
    expect(POINTS.map(({ point }) => point)).toEqual([
      ...['Domain', 'Certificate', 'Mail', 'RPC', "Sponsors' gas", 'Wallets', 'Payers', 'Models', 'Tools'],
      ...['Hosts', 'Ledger', 'Backups', 'Upgrades'],
    ])
  })

  test('finds every point in order where all is there', async () => {
    await database.pool.query(TOOL)
    const findings = await doctor(settings(), front.authority)
    for (const { point, check } of POINTS) {
      expect([point, new Set(levels(findings, check))]).toEqual([point, new Set(['ok'])])
    }
  })

  test('names every point that is missing', async () => {
    await database.pool.query(`UPDATE tool SET status = 'removed'`)
    const { LIVE, AUTH_SECRET, VAULT_KEY, DATABASE_URL, DATA_DIR } = settings()
    const bare = { LIVE, AUTH_SECRET, VAULT_KEY, DATABASE_URL, DATA_DIR } as Record<string, string>
    const findings = await doctor({ ...bare, ALLOW_HOSTS: 'billing.internal', PORT: '9' })
    // Without https there is no certificate to speak of; an unsound ledger and missing migrations have tests of their own.
    for (const { point, check } of POINTS.filter(
      ({ point }) => !['Certificate', 'Ledger', 'Upgrades'].includes(point),
    )) {
      expect([point, levels(findings, check)]).toEqual([
        point,
        expect.arrayContaining([expect.stringMatching(/warning|fault/)]),
      ])
    }
  })

  test('names what is configured and does not work', async () => {
    const old = new Date(Date.now() - 30 * 3_600_000)
    utimesSync(path.join(backups, 'coinslot.dump'), old, old)
    const refusing = await startFront(folder, 5)
    try {
      const wrong = { SMTP_URL: 'smtp://user:open-sesame@127.0.0.1:9', SPONSOR_PRIVATE_KEYS: sponsor }
      const findings = await doctor({ ...settings(), ...wrong, ...publicUrls(refusing.origin) }, refusing.authority)
      const findingsOf = (check: string) =>
        findings.filter((each) => each.check === check).map(({ level, says: words }) => [level, words])
      expect(findingsOf('mail')).toEqual([
        ['fault', expect.stringMatching(/^127.0.0.1:9 does not accept this server: .*Check SMTP_URL\.$/)],
      ])
      expect(findingsOf('backups')).toEqual([['fault', expect.stringContaining('is 30.0 hours old')]])
      expect(findingsOf('gas base')).toEqual([['fault', expect.stringContaining('it cannot pay for gas')]])
      expect(findingsOf(`certificate ${refusing.origin}`)).toEqual([
        ['warning', expect.stringContaining('4 more days. Renew it')],
      ])
      expect(JSON.stringify(findings)).not.toContain('open-sesame')
      // Whose authority is not known here: browsers would not open the page either.
      const unknown = await doctor({ ...settings(), ...publicUrls(refusing.origin) })
      const [refused] = unknown.filter(({ check }) => check === `certificate ${refusing.origin}`)
      expect(refused).toMatchObject({ level: 'fault', says: expect.stringContaining('Clients refuse it: ') })
    } finally {
      refusing.close()
    }
  })
})

const TOOL = `
WITH provider AS (
  INSERT INTO tool_provider (environment, owner_id, slug, name, description, kind, simulated, pricing, created_at, updated_at)
  VALUES ('production', '', 'acme', 'Acme', 'Notes', 'openapi', false, '{}', now(), now())
) INSERT INTO tool (id, environment, owner_id, slug, provider, name, description, price, deprecated, terms, input, upstream,
  content_hash, change, created_at, updated_at)
VALUES ('tool_1', 'production', '', 'acme-note', 'acme', 'Note', 'Notes', 0, false, '', '{}', '{}', 'h', 1, now(), now())`

function publicUrls(origin: string): Record<string, string> {
  return {
    ...{ PUBLIC_API_URL: `${origin}/v1`, PUBLIC_TOOLS_URL: `${origin}/tools`, PUBLIC_GATE_URL: `${origin}/gate` },
    ...{ PUBLIC_FACILITATOR_URL: `${origin}/facilitator`, PUBLIC_PAY_URL: `${origin}/p`, PUBLIC_DASHBOARD_URL: origin },
  }
}

interface Front {
  origin: string
  /** The file of the authority that signed its certificate. */
  authority: string
  close(): void
}

/** What stands in front of a server: https with a certificate that is valid for so many days, and the service's health. */
async function startFront(folder: string, days: number): Promise<Front> {
  const at = (name: string): string => path.join(folder, `${String(days)}-${name}`)
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost']
  const files = ['-keyout', at('key.pem'), '-out', at('cert.pem'), '-days', String(days)]
  execFileSync('openssl', ['req', '-x509', ...key, ...names, ...files], { stdio: 'ignore' })
  const options = { key: readFileSync(at('key.pem')), cert: readFileSync(at('cert.pem')) }
  const server = createServer(options, (_request, response) => {
    response.setHeader('x-request-id', 'req_1').end('{"status":"ok"}')
  })
  await new Promise<void>((resolve) => server.listen(0, resolve))
  const { port } = server.address() as AddressInfo
  return {
    origin: `https://localhost:${String(port)}`,
    authority: at('cert.pem'),
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** In a process of its own: which authorities a process trusts is settled at its start. */
async function doctor(environment: Record<string, string>, authority?: string): Promise<readonly Finding[]> {
  const trusted: Record<string, string> = authority === undefined ? {} : { NODE_EXTRA_CA_CERTS: authority }
  const env = { PATH: process.env['PATH'] ?? '', ...trusted, ...environment }
  const output = await new Promise<string>((resolve) => {
    // It exits with 1 where there is a fault, as there is with the tests' quick database server.
    execFile(process.execPath, ['service/dist/cli/doctor.js', '--json'], { env }, (_error, stdout) => resolve(stdout))
  })
  return (JSON.parse(output) as { findings: Finding[] }).findings
}
