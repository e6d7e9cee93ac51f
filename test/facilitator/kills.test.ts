import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { escrowBody, escrowed, escrowTerms, payEscrow, seller } from '../harness/escrow.ts'
import { ownSale, payUpto, uptoBody, uptoTerms } from '../harness/upto.ts'
import { bundled } from '../harness/process.ts'
import type { Order } from './child/mortal.ts'
import { openWorld, request, sentBy, until, usdcOf, type World } from './world.ts'

const PLACES = [
  'settlement claimed',
  'transaction signed',
  'transaction sent',
  'transaction broadcast',
  'transaction mined',
  'settlement settled',
  'settlement offered',
]

const MORTAL = fileURLToPath(new URL('./child/mortal.ts', import.meta.url))

describe('a process that is killed', () => {
  let world: World
  beforeAll(async () => {
    world = await openWorld({ services: 0 })
  })
  afterAll(() => world.close())

  it.each(PLACES)('at "%s": every authorization ends, true to the chain, none twice', async (dieAt) => {
    const { chain, seller, database } = world
    const before = await usdcOf(chain, seller)
    const payers = await Promise.all([1, 2, 3].map(() => chain.payer(1_500_000n)))
    const signed = await Promise.all(payers.map((payer) => payer.authorize(chain.network, seller)))
    const bodies = signed.map((one) => request(chain, 2, one))
    await die({ database: database.url, rpc: chain.url, key: chain.accounts[0]!.privateKey, bodies, dieAt })

    // The successor may not take over at once: the dead process could merely be slow.
    world.clock.forward(30_000)
    const successor = await world.add()
    await until(async () => {
      const rows = await database.statements.run<{ state: string }>(
        `SELECT state FROM facilitator_settlement WHERE state NOT IN ('settled', 'failed')`,
        [],
      )
      return rows.length === 0
    })
    const [settled] = await database.statements.run<{ n: bigint }>(
      `SELECT count(*) AS n FROM facilitator_settlement WHERE state = 'settled' AND payer = ANY($1)`,
      [payers.map(({ address }) => Buffer.from(address.slice(2), 'hex'))],
    )
    expect((await usdcOf(chain, seller)) - before).toBe(settled!.n * 1_000_000n)

    // No caller has got a success yet: the next callers do, each once. Payments that were never claimed are settled
    // now.
    for (const success of [true, false]) {
      const answers = await Promise.all(bodies.map((body) => successor.post('/settle', body)))
      expect(answers.map(({ body }) => body.success as boolean)).toEqual([success, success, success])
    }
    // No payer's money allowed a second transfer in full: none was tried, none was made.
    expect((await usdcOf(chain, seller)) - before).toBe(3_000_000n)
    const failed = await database.statements.run(`SELECT 1 FROM facilitator_settlement WHERE state = 'failed'`, [])
    expect(failed).toHaveLength(0)
    await successor.close()
  })

  // A message to the escrow has no success to hand out.
  it.each(PLACES.slice(0, -1))('at "%s": a capture happens once', async (dieAt) => {
    const { chain, database } = world
    const signer = chain.accounts[2]!
    const operator = chain.accounts[0]!.address
    const now = Math.floor(world.clock.now().getTime() / 1000)
    const terms = escrowTerms(chain, { operator, receiver: world.seller, signer: signer.address }, { now })
    const paid = await payEscrow(chain, await chain.payer(1_000_000n), terms, { now })
    const first = await world.add()
    expect((await first.post('/settle', paid.body)).body).toMatchObject({ success: true })
    await first.close()
    const sent = await sentBy(chain, operator)
    const expected = { capturable: 1_000_000n, refundable: 0n }
    const body = escrowBody(terms, await seller(chain, signer, operator).capture(paid, 300_000n, expected))
    await die({ database: database.url, rpc: chain.url, key: chain.accounts[0]!.privateKey, bodies: [body], dieAt })

    world.clock.forward(30_000)
    const successor = await world.add()
    const answers = await Promise.all([body, body].map((one) => successor.post('/settle', one)))
    expect(answers.map((answer) => answer.body.success as boolean)).toEqual([true, true])
    expect(await escrowed(chain, paid.info)).toMatchObject({ capturable: 700_000n, refundable: 300_000n })
    expect(await sentBy(chain, operator)).toBe(sent + 1)
    await successor.close()
  })

  it.each(PLACES)('at "%s": what was used of a permit is taken once', async (dieAt) => {
    const { chain, database, seller: receiver } = world
    const facilitator = chain.accounts[0]!.address
    const terms = uptoTerms(chain, { facilitator, receiver })
    const payer = await chain.payer(1_000_000n)
    const deadline = BigInt(Math.floor(world.clock.now().getTime() / 1_000) + 300)
    const { payload, extensions } = await payUpto(chain, payer, terms, { deadline, sponsored: { deadline } })
    const body = uptoBody(terms, payload, extensions, 400_000n)
    const sent = await sentBy(chain, facilitator)
    await die({ database: database.url, rpc: chain.url, key: chain.accounts[0]!.privateKey, bodies: [body], dieAt })

    world.clock.forward(30_000)
    const successor = await world.add()
    const { settle } = ownSale(successor.facilitator)
    for (const success of [true, false]) expect(await settle(body)).toMatchObject({ success })
    expect(await usdcOf(chain, payer.address)).toBe(600_000n)
    expect(await sentBy(chain, facilitator)).toBe(sent + 1)
    await successor.close()
  })
})

async function die(order: Order): Promise<void> {
  const child = fork(bundled(MORTAL))
  const dead = new Promise<NodeJS.Signals | null>((resolve) => {
    child.once('exit', (_code, signal) => {
      resolve(signal)
    })
  })
  child.send(order)
  expect(await dead).toBe('SIGKILL')
}
