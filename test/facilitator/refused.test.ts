import type { Hex } from '../../service/chain/model.ts'
import type { TestAccount } from '../harness/chain.ts'
import { generator } from '../harness/random.ts'
import { honest, startRelay, type Behaviour, type Question, type Relay } from '../chain/relay.ts'
import { openWorld, request, sentBy, until, usdcOf, type World } from './world.ts'

/** Nodes with a rule of their own: they take no transaction that names one of these accounts. */
function refusing(accounts: readonly string[], onTransaction: (raw: Hex) => void = () => undefined): Behaviour {
  return (questions, isBatch) => {
    const [question] = questions
    if (question?.method !== 'eth_sendRawTransaction') return honest(questions, isBatch)
    const raw = rawOf(question)
    if (!accounts.some((account) => raw.includes(account.slice(2).toLowerCase()))) return honest(questions, isBatch)
    onTransaction(raw)
    const error = { code: -32000, message: 'transaction rejected by policy' }
    return { status: 200, body: { jsonrpc: '2.0', id: question.id, error } }
  }
}

function rawOf({ params }: Question): Hex {
  return params[0] as Hex
}

describe('a transaction that every node refuses', () => {
  let world: World
  let relay: Relay
  beforeEach(async () => {
    world = await openWorld({ chain: { mining: 'manual' }, services: 0 })
    relay = await startRelay(world.chain.url)
    // Fees are raised a dozen times before a nonce is given up: each pass is long enough for one of them.
    await world.add({ environment: { BASE_SEPOLIA_RPC_URLS: relay.url, SETTLE_BUMP_AFTER_MS: '3000' } })
  })
  afterEach(async () => {
    await world.close()
    await relay.stop()
  })

  const sponsor = () => world.chain.accounts[0]!.address
  async function buyers(count: number): Promise<Buyer[]> {
    const accounts = await Promise.all(Array.from({ length: count }, () => world.chain.payer(5_000_000n)))
    return await Promise.all(
      accounts.map(async (account) => ({
        account,
        payment: request(world.chain, 2, await account.authorize(world.chain.network, world.seller)),
      })),
    )
  }
  async function rowOf({ account }: Buyer): Promise<Row | undefined> {
    const [row] = await world.database.statements.run<Row>(
      'SELECT state, reason, attempts, final, ours, external FROM facilitator_settlement WHERE payer = $1',
      [Buffer.from(account.address.slice(2), 'hex')],
    )
    return row
  }
  const leaseIsNew = async (): Promise<boolean> => {
    const [row] = await world.database.statements.run<{ until: Date }>(
      `SELECT until FROM lease WHERE name LIKE 'sponsor %'`,
      [],
    )
    return row !== undefined && row.until.getTime() > world.clock.now().getTime() + 2_500
  }
  /** Steps that are shorter than a lease: the worker keeps it, and takes a turn after each. */
  async function pass(mines = true): Promise<void> {
    world.clock.forward(3_500)
    if (mines) await world.chain.mine()
    await until(leaseIsNew)
  }
  const passUntil = (holds: () => Promise<boolean>) =>
    until(async () => {
      await pass()
      return holds()
    })
  const isEnded = async (all: readonly Buyer[]): Promise<boolean> => {
    const rows = await Promise.all(all.map(rowOf))
    return rows.every((row) => row?.state === 'settled' || row?.state === 'failed')
  }
  const signedTransactions = async () =>
    await world.database.statements.run<{ nonce: bigint; state: string; isNothing: boolean }>(
      `SELECT nonce, state, target = sponsor AS "isNothing" FROM facilitator_transaction ORDER BY nonce`,
      [],
    )

  it('does not delay the others: its nonce is abandoned, and its payment fails with a reason', async () => {
    const [refused, beside, behind] = (await buyers(3)) as [Buyer, Buyer, Buyer]
    relay.behave(refusing([refused.account.address]))
    const settlements = [refused, beside].map(({ payment }) => world.services[0]!.post('/settle', payment))
    await until(async () => (await rowOf(refused))?.state === 'signed')
    settlements.push(world.services[0]!.post('/settle', behind.payment))
    await passUntil(() => isEnded([refused, beside, behind]))
    const [, besideRow, behindRow] = [await rowOf(refused), await rowOf(beside), await rowOf(behind)]
    expect([besideRow?.state, behindRow?.state]).toEqual(['settled', 'settled'])
    // Once with the others and once alone: the batch may have been refused for another one's sake.
    expect(await rowOf(refused)).toMatchObject({
      state: 'failed',
      reason: 'invalid_exact_evm_transaction_failed',
      ours: true,
      attempts: 2,
    })
    await passUntil(async () => (await rowOf(refused))?.final === true)
    expect((await settlements[0])!.body).toMatchObject({ success: false })
    expect((await world.services[0]!.post('/settle', refused.payment)).body).toMatchObject({
      success: false,
      errorReason: 'invalid_exact_evm_transaction_failed',
    })
    expect(await usdcOf(world.chain, world.seller)).toBe(2_000_000n)
    expect(await usdcOf(world.chain, refused.account.address)).toBe(5_000_000n)
    const all = await signedTransactions()
    expect(all.map(({ nonce }) => Number(nonce))).toEqual(all.map((_row, place) => place))
    expect(all.filter(({ isNothing }) => isNothing)).toHaveLength(2)
    expect(await sentBy(world.chain, sponsor())).toBe(all.length)
  })

  it('is paid all the same when it reaches a block by another way, before its replacement does', async () => {
    const [refused, behind] = (await buyers(2)) as [Buyer, Buyer]
    let original: Hex | undefined
    relay.behave((questions, isBatch) => {
      const [question] = questions
      const isLate = original !== undefined && question?.method === 'eth_sendRawTransaction'
      // No node takes the replacement either, until the test lets it.
      const shunned = isLate ? [refused.account.address, sponsor()] : [refused.account.address]
      return refusing(shunned, (raw) => (original ??= raw))(questions, isBatch)
    })
    const settlement = world.services[0]!.post('/settle', refused.payment)
    await passUntil(async () => (await signedTransactions()).some(({ isNothing }) => isNothing))
    expect((await rowOf(refused))?.state).toBe('signed')
    await world.chain.call('eth_sendRawTransaction', original)
    await passUntil(() => isEnded([refused]))
    relay.behave(honest)
    expect(await rowOf(refused)).toMatchObject({ state: 'settled', external: false, attempts: 1 })
    expect((await settlement).body.status).toMatch(/settled|pending/)
    const next = world.services[0]!.post('/settle', behind.payment)
    await passUntil(() => isEnded([behind]))
    expect((await next).body).toMatchObject({ success: true })
    expect(await usdcOf(world.chain, world.seller)).toBe(2_000_000n)
    expect(await sentBy(world.chain, sponsor())).toBe(2)
  })

  it('is also abandoned when nodes accept it but no block includes it, after the last fee raise', async () => {
    const [stuck, behind] = (await buyers(2)) as [Buyer, Buyer]
    // A pool that says yes and forgets.
    relay.behave((questions, isBatch) => {
      const [question] = questions
      if (question?.method === 'eth_getTransactionByHash') {
        return { status: 200, body: { jsonrpc: '2.0', id: question.id, result: { hash: question.params[0] } } }
      }
      const isStuck =
        question?.method === 'eth_sendRawTransaction' &&
        rawOf(question).includes(stuck.account.address.slice(2).toLowerCase())
      return isStuck
        ? { status: 200, body: { jsonrpc: '2.0', id: question.id, result: `0x${'0'.repeat(64)}` } }
        : honest(questions, isBatch)
    })
    const settlements = [world.services[0]!.post('/settle', stuck.payment)]
    await until(async () => (await rowOf(stuck))?.state === 'broadcast')
    settlements.push(world.services[0]!.post('/settle', behind.payment))
    await until(async () => (await rowOf(behind))?.state === 'broadcast')
    await passUntil(async () => (await rowOf(behind))?.state === 'settled')
    await passUntil(async () => (await rowOf(stuck))?.state === 'failed')
    await Promise.all(settlements)
    expect(await usdcOf(world.chain, world.seller)).toBe(1_000_000n)
    expect(await usdcOf(world.chain, stuck.account.address)).toBe(5_000_000n)
  }, 120_000)

  it.each([11, 29])(
    'pays once or fails for each payment, whatever nodes refuse and others submit (seed %i)',
    async (seed) => {
      const random = generator(seed)
      const all = await buyers(14)
      const refused = all.filter(() => random() < 0.4)
      const originals = new Set<Hex>()
      relay.behave(
        refusing(
          refused.map(({ account }) => account.address),
          (raw) => originals.add(raw),
        ),
      )
      const settlements: Promise<unknown>[] = []
      for (const buyer of all) {
        settlements.push(world.services[0]!.post('/settle', buyer.payment))
        if (random() < 0.5) await until(async () => (await rowOf(buyer)) !== undefined)
      }
      await until(async () => {
        world.clock.forward(1_000)
        // Anyone who has seen a refused transaction may bring it to a block, also after it was replaced.
        for (const raw of originals)
          if (random() < 0.1) await world.chain.call('eth_sendRawTransaction', raw).catch(() => undefined)
        if (random() < 0.7) await world.chain.mine()
        return isEnded(all)
      })
      await Promise.all(settlements)
      const rows = await Promise.all(all.map(rowOf))
      const paid = rows.filter((row) => row?.state === 'settled').length
      expect(paid).toBeGreaterThanOrEqual(all.length - refused.length)
      expect(await usdcOf(world.chain, world.seller)).toBe(BigInt(paid) * 1_000_000n)
      for (const [place, { account }] of all.entries()) {
        const isPaid = rows[place]!.state === 'settled'
        expect(await usdcOf(world.chain, account.address)).toBe(isPaid ? 4_000_000n : 5_000_000n)
        if (!isPaid) expect(rows[place]).toMatchObject({ reason: expect.any(String) as string })
      }
    },
    120_000,
  )
})

interface Buyer {
  account: TestAccount
  payment: ReturnType<typeof request>
}

interface Row {
  state: string
  reason: string | null
  attempts: number
  final: boolean
  ours: boolean
  external: boolean
}
