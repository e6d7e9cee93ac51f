import { openShopIn, PRODUCTS, type Product, type Shop } from '../harness/shop.ts'
import { walkOf } from '../harness/walk.ts'
import { signedRequest } from '../harness/wallet.ts'
import { guestWorld, type GuestWorld } from '../marketplace/runs/guest-world.ts'
import { startUpstream, type Upstream } from '../paywall/upstream.ts'

/**
 * How many files a paid request passes, from the socket to its answer: what somebody reads who follows one. Not counted:
 * kit/ and wiring/, the words and the wires that all of them share, and timers. A longer walk needs a reason, a shorter one a lower number.
 */
const MOST: Readonly<Record<Product, number>> = { checkout: 103, gate: 89, tool: 101, asset: 110 }

describe('the walk of a paid request', () => {
  let world: GuestWorld
  let upstream: Upstream
  let shop: Shop
  beforeAll(async () => {
    ;[world, upstream] = await Promise.all([
      // Nothing runs beside it, except what settles it.
      guestWorld(
        {
          ROLES: 'api,pay,gate,tools,facilitator',
          WALLET_XPRV: '',
          RATE_GATE_PER_MINUTE: '0',
          RATE_TOOLS_PER_MINUTE: '0',
        },
        {},
        ({ facilitator }) => facilitator.start(),
      ),
      startUpstream(),
    ])
    const { service, creator } = world
    shop = await openShopIn(service, creator, upstream)
  })
  afterAll(async () => {
    await upstream.close()
    await world.close()
  })

  it.each(PRODUCTS)('is no longer than before: %s', async (product) => {
    const { url, requestOf } = shop[product]
    const signed = async () =>
      await signedRequest({ chain: world.chain, payer: await world.chain.payer(1_000_000n) }, url, requestOf('bought'))
    const payments = [await signed(), await signed(), await signed(), await signed()]
    const buy = async () => {
      // What is remembered for a moment only is read again, however fast this machine is.
      world.service.clock.forward(60_000)
      const answer = await fetch(url, payments.pop())
      expect([answer.status, await answer.text()]).toEqual([200, expect.any(String)])
    }
    await buy()
    const walk = (await walkOf(buy)).filter((file) => !/^(kit|wiring)\/|^queue\/sweepers/.test(file))
    const parts = new Map<string, number>()
    for (const [folder = ''] of walk.map((file) => file.split('/'))) parts.set(folder, (parts.get(folder) ?? 0) + 1)
    const list = [...parts].map(([folder, files]) => `${folder} ${String(files)}`).join(', ')
    console.log(`a paid ${product} passes ${String(walk.length)} files: ${list}`)
    // Where it is longer, what it passes is shown.
    expect(walk.length > MOST[product] ? walk : []).toEqual([])
  })
})
