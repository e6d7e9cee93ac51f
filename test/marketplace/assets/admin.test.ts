import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { createInvoiceStore } from '../../../service/invoices/store.ts'
import { ALLOWED, published } from '../bodies.ts'
import { testService, type TestPerson, type TestService } from '../../harness/service.ts'

describe('npm run admin', () => {
  let service: TestService
  let creator: TestPerson
  let slug: string

  beforeAll(async () => {
    service = await testService(ALLOWED)
    creator = await service.person()
    slug = await published(creator)
  })
  afterAll(async () => {
    await service.close()
  })

  const admin = (...args: string[]) => command('admin', args, { env: { DATABASE_URL: service.testDatabase.url } })

  async function command(
    name: string,
    args: string[],
    { env = {}, cwd = process.cwd() }: { env?: Record<string, string>; cwd?: string },
  ): Promise<{ code: number; output: string; errors: string }> {
    const file = path.resolve(`service/dist/cli/${name}.js`)
    try {
      const { stdout, stderr } = await promisify(execFile)(process.execPath, [file, ...args], {
        env: { PATH: process.env['PATH'] ?? '', ...env },
        cwd,
      })
      return { code: 0, output: stdout, errors: stderr }
    } catch (error) {
      const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string }
      return { code, output: stdout, errors: stderr }
    }
  }

  const look = async () => (await service.call('GET', `/v1/rda/${slug}`)).body.rda as { id: string }

  test("sets and removes the operator's marks", async () => {
    expect(await admin('verify', slug)).toMatchObject({ code: 0, output: `${slug} in sandbox is verified.\n` })
    expect((await admin('feature', (await look()).id)).code).toBe(0)
    expect((await admin('verify-owner', creator.caller.subject)).code).toBe(0)
    expect(await look()).toMatchObject({ verified: true, featured: true, ownerVerified: true, version: '1.0.0' })
    expect((await service.call('GET', '/v1/rdas?featured=true&verified=true')).body.total).toBe(1)
    await admin('unverify', slug)
    await admin('unfeature', slug)
    await admin('unverify-owner', creator.caller.subject)
    expect(await look()).toMatchObject({ verified: false, featured: false, ownerVerified: false })
  })

  test('holds payouts back after a restore, and gives out no address and no invoice number again that was given out after the dump', async () => {
    const { statements } = service.database
    const numbers = () =>
      statements.run<Record<string, bigint>>(
        `SELECT nextval('wallet_address_index_seq') AS wallet, nextval('payment_address_index_seq') AS "order"`,
        [],
      )
    // One account has issued invoices this year, another has not yet.
    const year = new Date().getUTCFullYear()
    await statements.run(
      `INSERT INTO invoicing (user_id, environment, enabled, seller_name, seller_address, seller_tax_id, tax_label, tax_rate,
         prefix, note, updated_at)
       SELECT id, 'production', true, 'A', 'B', 'C', 'VAT', 0, '', '', now() FROM unnest(ARRAY['usr_issued', 'usr_first']) AS id`,
      [],
    )
    await statements.run(`INSERT INTO invoice_counter VALUES ('usr_issued', 'production', $1, 7)`, [year])
    const [before] = await numbers()
    const { code, output } = await admin('restored')
    expect([code, output]).toEqual([0, expect.stringContaining('Payouts are off')])
    const [after] = await numbers()
    const invoices = createInvoiceStore(statements)
    const next = async (userId: string) =>
      await statements.together((inside) => invoices.nextNumber(inside, { userId, environment: 'production' }, year))
    expect([await next('usr_issued'), await next('usr_first')]).toEqual([10_008, 10_001])
    for (const name of ['wallet', 'order'])
      expect(Number(after![name]) - Number(before![name])).toBeGreaterThan(999_999)
    expect((await creator.call('POST', '/v1/wallet/deposit', { body: { amount: 5 } })).status).toBe(200)
    const withdraw = { amount: 1, to: `0x${'12'.repeat(20)}` }
    expect((await creator.call('POST', '/v1/wallet/withdraw', { body: withdraw })).body.code).toBe('payouts_paused')
    expect((await admin('payouts', 'on')).output).toContain('Payouts are on')
  })

  test('switches payouts off also while a newer version is being rolled out, and nothing else', async () => {
    const { statements } = service.database
    const newer = `INSERT INTO _prisma_migrations (id, checksum, finished_at, migration_name) VALUES ('newer', '', now(), '9999_newer')`
    await statements.run(newer, [])
    const [on, off] = [await admin('payouts', 'on'), await admin('payouts', 'off')]
    await statements.run(`DELETE FROM _prisma_migrations WHERE id = 'newer'`, [])
    expect(on).toMatchObject({ code: 2, errors: expect.stringContaining('9999_newer') })
    expect(off).toMatchObject({ code: 0, output: expect.stringContaining('Payouts are off') })
    expect((await admin('payouts', 'on')).output).toContain('Payouts are on')
  })

  test('names an unknown asset, and lists its commands', async () => {
    expect(await admin('verify', 'no-such-asset')).toMatchObject({
      code: 1,
      errors: expect.stringContaining('no-such-asset'),
    })
    expect((await admin('verify', slug, 'production')).code).toBe(1)
    expect(await admin('promote', slug)).toMatchObject({ code: 2, errors: expect.stringContaining('verify-owner') })
    expect((await admin('verify')).code).toBe(2)
  })

  test('names the database that it used, without the password', async () => {
    const url = new URL(service.testDatabase.url)
    const { code, errors } = await admin('payouts', 'on')
    expect({ code, errors }).toEqual({ code: 0, errors: `Database: ${url.pathname.slice(1)} on ${url.host}\n` })
  })

  test.each([
    { file: '.env', line: 'DATABASE_URL=postgres://u:secret@db/coinslot', way: 'set -a; . ./.env; set +a' },
    { file: 'deploy/.env', line: 'DATABASE_URL=postgres://u:secret@db/coinslot', way: '. deploy/.env;' },
    { file: 'deploy/.env', line: 'POSTGRES_PASSWORD=secret', way: 'docker compose -f deploy/compose.yaml run' },
  ])('uses no embedded database beside a $file that names another', async ({ file, line, way }) => {
    const cwd = mkdtempSync(path.join(tmpdir(), 'coinslot-admin-'))
    try {
      mkdirSync(path.join(cwd, '.coinslot'))
      mkdirSync(path.join(cwd, 'deploy'))
      writeFileSync(path.join(cwd, file), `${line}\n`)
      const refusal = { code: 2, output: '', errors: expect.stringContaining(way) }
      expect(await command('admin', ['payouts', 'off'], { cwd })).toEqual(refusal)
      expect(await command('ledger', ['check'], { cwd })).toEqual(refusal)
    } finally {
      rmSync(cwd, { recursive: true })
    }
  })
})
