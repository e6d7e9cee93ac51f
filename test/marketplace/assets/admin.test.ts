import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
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

  async function admin(...args: string[]): Promise<{ code: number; output: string }> {
    try {
      const { stdout } = await promisify(execFile)(process.execPath, ['service/dist/cli/admin.js', ...args], {
        env: { PATH: process.env['PATH'] ?? '', DATABASE_URL: service.testDatabase.url },
      })
      return { code: 0, output: stdout }
    } catch (error) {
      const { code, stderr } = error as { code: number; stderr: string }
      return { code, output: stderr }
    }
  }

  const look = async () => (await service.call('GET', `/v1/rda/${slug}`)).body.rda as { id: string }

  test("sets and removes the operator's marks", async () => {
    expect(await admin('verify', slug)).toEqual({ code: 0, output: `${slug} in sandbox is verified.\n` })
    expect((await admin('feature', (await look()).id)).code).toBe(0)
    expect((await admin('verify-owner', creator.caller.subject)).code).toBe(0)
    expect(await look()).toMatchObject({ verified: true, featured: true, ownerVerified: true, version: '1.0.0' })
    expect((await service.call('GET', '/v1/rdas?featured=true&verified=true')).body.total).toBe(1)
    await admin('unverify', slug)
    await admin('unfeature', slug)
    await admin('unverify-owner', creator.caller.subject)
    expect(await look()).toMatchObject({ verified: false, featured: false, ownerVerified: false })
  })

  test('holds payouts back after a restore, and gives out no address again that was given out after the dump', async () => {
    const { statements } = service.database
    const numbers = () =>
      statements.run<Record<string, bigint>>(
        `SELECT nextval('wallet_address_index_seq') AS wallet, nextval('payment_address_index_seq') AS "order"`,
        [],
      )
    const [before] = await numbers()
    const { code, output } = await admin('restored')
    expect([code, output]).toEqual([0, expect.stringContaining('Payouts are off')])
    const [after] = await numbers()
    for (const name of ['wallet', 'order'])
      expect(Number(after![name]) - Number(before![name])).toBeGreaterThan(999_999)
    expect((await creator.call('POST', '/v1/wallet/deposit', { body: { amount: 5 } })).status).toBe(200)
    const withdraw = { amount: 1, to: `0x${'12'.repeat(20)}` }
    expect((await creator.call('POST', '/v1/wallet/withdraw', { body: withdraw })).body.code).toBe('payouts_paused')
    expect((await admin('payouts', 'on')).output).toContain('Payouts are on')
  })

  test('names an unknown asset, and lists its commands', async () => {
    expect(await admin('verify', 'no-such-asset')).toMatchObject({
      code: 1,
      output: expect.stringContaining('no-such-asset'),
    })
    expect((await admin('verify', slug, 'production')).code).toBe(1)
    expect(await admin('promote', slug)).toMatchObject({ code: 2, output: expect.stringContaining('verify-owner') })
    expect((await admin('verify')).code).toBe(2)
  })
})
