import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseEnv, promisify } from 'node:util'
import { HDKey, mnemonicToAccount, privateKeyToAccount } from 'viem/accounts'
import { loadCurve, loadKeccak } from '../../service/chain/curve.ts'
import { checksummed, depositAddresses } from '../../service/chain/keys.ts'
import { runChecks } from '../../service/cli/checks/all.ts'
import { readConfig } from '../../service/config.ts'
import { startEmbedded } from '../../service/database/embedded/database.ts'
import { startChain, type TestChain } from '../harness/chain.ts'
import { freePort } from '../harness/ports.ts'
import { ServiceProcess } from '../harness/process.ts'
import { startSmtp } from '../harness/smtp.ts'
import { until } from '../harness/until.ts'
import { startHook, takeFirstPayment } from './first-payment.ts'

const run = promisify(execFile)

describe('npm run setup', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'coinslot-setup-'))
  const file = path.join(folder, '.env')
  const phraseFile = path.join(folder, 'phrase')
  let base: TestChain
  let sepolia: TestChain
  let database: Awaited<ReturnType<typeof startEmbedded>>
  beforeAll(async () => {
    base = await startChain({ chainId: 8453 })
    sepolia = await startChain()
    database = await startEmbedded({ dataDir: path.join(folder, 'postgres') })
  })
  afterAll(async () => {
    await Promise.all([base.stop(), sepolia.stop()])
    await database.stop()
    rmSync(folder, { recursive: true })
  })

  test('a fresh folder becomes a live server that takes its first payment, unattended and within five minutes', async () => {
    const [mails, hook] = await Promise.all([startSmtp(), startHook()])
    const port = String(await freePort())
    const { code, output } = await setup(
      ...['--yes', '--file', file, '--phrase-file', phraseFile, '--live', 'true', '--port', port],
      ...['--database-url', database.url, '--public-url', `http://127.0.0.1:${port}/`],
      ...['--base-rpc-urls', base.url, '--base-sepolia-rpc-urls', sepolia.url],
      ...['--smtp-url', mails.url, '--mail-from', 'pay@example.com'],
    )
    // The sponsor has no gas yet, and nothing listens: the doctor says so.
    expect([code, output]).toEqual([1, expect.stringMatching(/FAULT {4}address http:/)])
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(statSync(phraseFile).mode & 0o777).toBe(0o600)

    const settings = valuesOf(file)
    const phrase = readFileSync(phraseFile, 'utf8').trim()
    for (const secret of [phrase, ...SECRETS.map((name) => settings[name] ?? '')]) {
      expect(secret).not.toBe('')
      expect(output).not.toContain(secret)
    }
    // Any wallet program restores the same keys from the phrase.
    const deposit = mnemonicToAccount(phrase, { accountIndex: 0, addressIndex: 3 }).address
    const [curve, keccak] = await Promise.all([loadCurve('native'), loadKeccak()])
    const book = depositAddresses(settings['WALLET_XPUB'] ?? '', { curve, keccak })
    expect(checksummed(keccak, book.addressAt(3))).toBe(deposit)
    expect(HDKey.fromExtendedKey(settings['WALLET_XPRV'] ?? '').publicExtendedKey).toBe(settings['WALLET_XPUB'])
    const sponsor = mnemonicToAccount(phrase, { accountIndex: 1 }).address
    expect(privateKeyToAccount(settings['SPONSOR_PRIVATE_KEYS'] as `0x${string}`).address).toBe(sponsor)
    expect(settings['SPONSOR_ADDRESSES']).toBe(sponsor)

    for (const chain of [base, sepolia]) await chain.call('anvil_setBalance', sponsor, '0xde0b6b3a7640000')
    // The workflow is on this machine too: a host of the operator's own, as step 6 of docs/going-live.md has it.
    const service = new ServiceProcess({ ...settings, ALLOW_HOSTS: hook.host })
    try {
      await service.waitFor('"ready"')
      expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(200)
      const { findings } = await runChecks(() => readConfig(settings))
      const faults = findings.filter(({ level }) => level === 'fault').map(({ says }) => says)
      // A real server has a proxy with a certificate in front.
      expect(faults.filter((says) => !says.includes('real money needs https'))).toEqual([])
      await takeFirstPayment(`http://127.0.0.1:${port}`, { base, mails: mails.received, hook })
      const check = ['service/launch/cli.mjs', 'ledger', 'check']
      const env = { PATH: process.env['PATH'] ?? '', ...settings }
      // It fails until the monitor has read the chain, whose blocks have to be deep enough.
      await base.mine(5)
      const { stdout } = await until(() => run(process.execPath, check, { env }).catch(() => null))
      expect(stdout).toContain('the ledger is sound')
      expect(stdout).toContain('The ledger and the chain agree.')
    } finally {
      service.kill('SIGTERM')
      await service.ended()
      await mails.close()
      hook.close()
    }
  }, 300_000)

  test("keeps the file's values, creates no second keys, and adds missing settings", async () => {
    const own = path.join(folder, 'own.env')
    const text = `# mine\nAUTH_SECRET='kept as it is, with spaces and # signs'\nPAYER_SEED=${'7'.repeat(64)}\n`
    writeFileSync(own, text)
    const first = await setup('--yes', '--compose', '--file', own, '--domain', 'pay.example.com')
    expect(first.code).toBe(0)
    const after = readFileSync(own, 'utf8')
    expect(after.startsWith(text)).toBe(true)
    expect(valuesOf(own)).toMatchObject({
      AUTH_SECRET: 'kept as it is, with spaces and # signs',
      DOMAIN: 'pay.example.com',
    })
    expect(after).not.toContain('WALLET_XPRV')
    expect(statSync(own).mode & 0o777).toBe(0o600)
    const again = await setup('--yes', '--compose', '--file', own, '--domain', 'other.example.com')
    expect([again.code, readFileSync(own, 'utf8')]).toEqual([0, after])
  })

  test('writes every setting that compose requires', async () => {
    const own = path.join(folder, 'compose.env')
    const phrase = path.join(folder, 'compose-phrase')
    await setup('--yes', '--compose', '--file', own, '--domain', 'pay.example.com', '--phrase-file', phrase)
    const compose = readFileSync('deploy/compose.yaml', 'utf8')
    const required = [...compose.matchAll(/\$\{([A-Z_]+):\?/g)].map(([, name = '']) => name)
    expect(required.length).toBeGreaterThan(3)
    expect(Object.keys(valuesOf(own))).toEqual(expect.arrayContaining(required))
  })

  test('fills in what a copy of the example file leaves empty', async () => {
    const own = path.join(folder, 'copied.env')
    const example = readFileSync('deploy/.env.example', 'utf8')
    writeFileSync(own, example)
    const phrase = path.join(folder, 'copied-phrase')
    const mails = ['--smtp-url', 'smtp://mail.example.com', '--mail-from', 'pay@example.com']
    const { code } = await setup('--yes', '--compose', '--file', own, '--phrase-file', phrase, ...mails)
    expect([code, readFileSync(own, 'utf8').startsWith(example)]).toEqual([0, true])
    const settings = valuesOf(own)
    for (const name of ['POSTGRES_PASSWORD', 'WALLET_XPUB', ...SECRETS])
      expect([name, settings[name]]).not.toEqual([name, ''])
    expect(settings).toMatchObject({ SMTP_URL: 'smtp://mail.example.com', DOMAIN: 'pay.example.com', LIVE: 'false' })
  })

  test.each([
    [['--yes'], '--phrase-file must name a file'],
    [['--yes', '--phrase-file', 'p', '--live', 'maybe'], 'LIVE must be true or false'],
    [['--yes', '--phrase-file', 'p', '--mail-from', "O'Neil <a@b.example>"], "MAIL_FROM must have no quotation mark '"],
    [[], 'There is no terminal to ask in'],
  ])('refuses %j and writes nothing', async (words, sentence) => {
    const own = path.join(folder, 'refused.env')
    const { code, output } = await setup(
      ...words.map((word) => (word === 'p' ? path.join(folder, 'refused') : word)),
      '--file',
      own,
    )
    expect([code, output]).toEqual([2, expect.stringContaining(sentence)])
    expect(() => statSync(own)).toThrow()
    expect(() => statSync(path.join(folder, 'refused'))).toThrow()
  })
})

const SECRETS = ['AUTH_SECRET', 'VAULT_KEY', 'METRICS_TOKEN', 'WALLET_XPRV', 'PAYER_SEED', 'SPONSOR_PRIVATE_KEYS']

function valuesOf(file: string): Record<string, string> {
  return parseEnv(readFileSync(file, 'utf8')) as Record<string, string>
}

async function setup(...words: string[]): Promise<{ code: number; output: string }> {
  const program = ['--import', './service/launch/typescript.mjs', 'service/cli/setup.ts', ...words]
  const environment = { PATH: process.env['PATH'] ?? '' }
  return await run(process.execPath, program, { env: environment }).then(
    ({ stdout, stderr }) => ({ code: 0, output: stdout + stderr }),
    (error: unknown) => {
      const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string }
      return { code, output: stdout + stderr }
    },
  )
}
