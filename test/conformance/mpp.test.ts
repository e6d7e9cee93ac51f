import { execFile } from 'node:child_process'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { openWorld, type World } from '../paywall/world.ts'
import { usdcOf } from '../facilitator/world.ts'
import { startBuyer, type Buyer } from './stock.ts'

const run = promisify(execFile)
const installed = fileURLToPath(new URL('./mpp/node_modules', import.meta.url))
const bin = path.join(installed, 'mppx', 'dist', 'bin.js')

describe('a gate for clients of the Machine Payments Protocol', () => {
  let world: World
  let buyer: Buyer
  beforeAll(async () => {
    world = await openWorld({ chain: true })
    buyer = startBuyer('mpp')
  })
  afterAll(async () => {
    await buyer.stop()
    await world.close()
  })

  const pricing = { model: 'per-request', amount: 0.02 }

  it('has no fault that their validator finds', async () => {
    const { gate } = await world.sell([{ path: '/weather', pricing, description: 'The weather' }])
    // Paying is not part of it: the validator knows no chain of ours. The stock client pays below.
    const result = await run(process.execPath, [bin, 'validate', gate, '--output-json'], {
      env: { PATH: process.env['PATH'], HOME: '/nonexistent' },
    }).catch((error: unknown) => error as { stdout: string })
    const { summary, discovery, endpoints } = JSON.parse(result.stdout) as Validation
    const checks = endpoints.flatMap(({ challenge, errorHandling, payment }) => [
      ...challenge,
      ...errorHandling,
      ...payment,
    ])
    const faults = checks.filter(({ severity }) => severity === 'fail')
    expect({ faults, found: discovery.found }).toEqual({ faults: [], found: true })
    expect(summary.failed).toBe(0)
    expect(summary.passed).toBeGreaterThan(8)
  }, 60_000)

  it('is paid beside a client’s own Authorization, which reaches the API; the payment does not', async () => {
    const { gate } = await world.sell([{ path: '/private', pricing }])
    const payer = await world.chain.payer(1_000_000n)
    const request = { headers: { authorization: 'Bearer of-the-api' } }
    const { status, header, receipt } = await buyer.buy({
      url: `${gate}/private`,
      privateKey: payer.privateKey,
      request,
    })
    expect([status, header.name]).toEqual([200, 'Payment-Authorization'])
    expect(receipt).toMatchObject({ method: 'evm', reference: expect.stringMatching(/^0x/), status: 'success' })
    expect(await usdcOf(world.chain, payer.address)).toBe(980_000n)
    const { headers } = world.upstream.requests.at(-1)!
    expect(headers).toMatchObject({ authorization: 'Bearer of-the-api' })
    expect(headers).not.toHaveProperty('payment-authorization')
  })

  it('keeps a credential in Authorization to itself', async () => {
    const { gate } = await world.sell([{ path: '/open', pricing }])
    const payer = await world.chain.payer(1_000_000n)
    const { status, header } = await buyer.buy({ url: `${gate}/open`, privateKey: payer.privateKey })
    expect([status, header.name]).toEqual([200, 'Authorization'])
    expect(world.upstream.requests.at(-1)!.headers).not.toHaveProperty('authorization')
  })
})

interface Validation {
  summary: { passed: number; failed: number }
  discovery: { found: boolean }
  endpoints: Record<'challenge' | 'errorHandling' | 'payment', { label: string; severity: string }[]>[]
}
