import { Session } from 'node:inspector/promises'
import { signFor } from '../harness/wallet.ts'
import { openWorld as openCheckouts } from '../checkouts/world.ts'
import { guestWorld } from '../marketplace/runs/guest-world.ts'
import { openWorld as openGates } from '../paywall/world.ts'
import { payWorld } from '../tools/calls/pay-world.ts'

/**
 * How often functions of the service ran meanwhile, as V8 counts. Functions that wait are counted once more for each time
 * that they go on, so only those that don't are asked for.
 */
async function callsDuring(work: () => Promise<void>): Promise<(file: string, name: string) => number> {
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  try {
    await session.post('Profiler.takePreciseCoverage')
    await work()
    const { result } = await session.post('Profiler.takePreciseCoverage')
    return (file, name) =>
      result
        .filter(({ url }) => url.endsWith(file))
        .flatMap(({ functions }) => functions)
        .filter(({ functionName }) => functionName === name)
        .reduce((sum, { ranges: [whole] }) => sum + (whole?.count ?? 0), 0)
  } finally {
    await session.post('Profiler.stopPreciseCoverage')
    session.disconnect()
  }
}

type Buy = () => Promise<{ status: number }>

interface Seller {
  /** What buys once, with a payment in hand: only what its request costs is counted. */
  prepare(version: 1 | 2): Promise<Buy>
  close(): Promise<void>
}

const SELLERS: Record<string, () => Promise<Seller>> = {
  async tools() {
    const world = await payWorld()
    world.upstream.respondWith('/notes', { id: 1 }, 201)
    world.upstream.respondWith('/anything', { well: true })
    return {
      async prepare(version) {
        const slug = version === 1 ? 'acme-create-note' : 'acme-get-anything'
        const input = version === 1 ? { title: 'Counted' } : {}
        const payment = await world.sign(await world.chain.payer(1_000_000n), await world.buy(slug, input), version)
        return () => world.buy(slug, input, payment)
      },
      close: () => world.close(),
    }
  },
  async assets() {
    const world = await guestWorld()
    return {
      async prepare(version) {
        const slug = await world.prompt({ slug: `counted-${String(version)}` })
        const payment = await world.payFor(slug, await world.chain.payer(1_000_000n), { version })
        return () => world.runAsGuest(slug, undefined, payment)
      },
      close: () => world.close(),
    }
  },
  async checkouts() {
    const world = await openCheckouts({ chain: true })
    return {
      async prepare(version) {
        const { id } = await world.sell()
        const post = (headers: Record<string, string>) => world.call('POST', `/p/${id}`, { body: {}, headers })
        const payer = await world.chain.payer(1_000_000n)
        const { header, value } = await signFor(world.chain, payer, await post({}), version)
        return () => post({ [header]: value })
      },
      close: () => world.close(),
    }
  },
  async gates() {
    const world = await openGates({ chain: true })
    return {
      async prepare(version) {
        const { gate } = await world.sell([{ path: '/x', pricing: { model: 'per-request', amount: 0.05 } }])
        const payer = await world.chain.payer(1_000_000n)
        const headers = await world.sign(payer, await world.request(`${gate}/x`), version)
        return () => world.request(`${gate}/x`, { headers })
      },
      close: () => world.close(),
    }
  },
}

describe.each(Object.keys(SELLERS))('a paid request to %s', (name) => {
  let seller: Seller
  beforeAll(async () => {
    seller = await SELLERS[name]!()
  })
  afterAll(() => seller.close())

  test.each([1, 2] as const)(
    'in version %i is decoded, hashed and recovered once, and simulated twice',
    async (version) => {
      const buy = await seller.prepare(version)
      const count = await callsDuring(async () => {
        expect((await buy()).status).toBe(200)
      })
      expect({
        decoded: count('x402/payload.ts', 'readVersion'),
        read: count('x402/payload.ts', 'combined'),
        digest: count('chain/eip712.ts', 'digest'),
        recovered: count('chain/eip712.ts', 'recover'),
        // Once before the claim, once before it is submitted.
        simulated: count('methods/exact/rules.ts', 'refuseSimulation'),
      }).toEqual({ decoded: 1, read: 1, digest: 1, recovered: 1, simulated: 2 })
    },
  )
})
