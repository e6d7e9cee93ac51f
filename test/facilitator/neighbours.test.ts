import { encodeFunctionData, parseAbi } from 'viem'
import { encodeTransfer } from '../../service/chain/calldata.ts'
import type { Hex, SignedAuthorization } from '../../service/chain/model.ts'
import { createSettlementStore } from '../../service/facilitator/store/settlements.ts'
import type { TestChain } from '../harness/chain.ts'
import { openWorld, request, sentBy, until, usdcOf, type World } from './world.ts'

/** Answers say what became of a settlement, however long this machine takes to mine it. */
const PATIENT = { SETTLE_WAIT_MS: '600000' }

describe('settlements that go together', () => {
  let world: World
  beforeAll(async () => {
    world = await openWorld({ chain: { mining: 'manual' }, writes: false, environment: PATIENT })
  })
  afterAll(() => world.close())

  const settle = (signed: SignedAuthorization) => world.service.post('/settle', request(world.chain, 2, signed))
  const states = () =>
    world.database.statements.run<{ state: string; reason: string | null; external: boolean }>(
      'SELECT state, reason, external FROM facilitator_settlement ORDER BY claimed_at',
      [],
    )
  const count = (expected: string) => async () => (await states()).filter(({ state }) => state === expected).length
  const underWay = (least: number) => until(async () => (await count('broadcast')()) >= least)
  /** A transaction of a stranger. This chain mines in the order of sending. */
  async function send(from: Hex, to: Hex, data: Hex): Promise<string> {
    await world.chain.call('anvil_impersonateAccount', from)
    return (await world.chain.call('eth_sendTransaction', { from, to, data, gas: '0x493e0' })) as string
  }

  it('succeed when others of the batch were front-run, cancelled or lack the money', async () => {
    const { chain, seller, service } = world
    const payers = await Promise.all(Array.from({ length: 8 }, () => chain.payer(5_000_000n)))
    const signed = await Promise.all(payers.map((payer) => payer.authorize(chain.network, seller)))
    const settlements = signed.map(settle)
    await until(async () => (await count('claimed')()) === 8)

    const stranger = chain.accounts[1]!.address
    const usdc = chain.network.usdc.address
    const frontRun = await send(stranger, usdc, encodeTransfer(usdc, signed[2]!, false).data)
    await send(stranger, usdc, cancellation(signed[4]!, await payers[4]!.cancel(chain.network, signed[4]!.nonce)))
    await chain.fund(payers[6]!.address, 999_999n)
    service.facilitator.start()
    await underWay(8)

    const answers = await mineAll(world.chain, settlements)
    const outcomes = answers.map(({ body }) => [body.success, body.errorReason] as const)
    expect(outcomes[4]).toEqual([false, 'invalid_exact_evm_nonce_already_used'])
    expect(outcomes[6]).toEqual([false, 'invalid_exact_evm_insufficient_balance'])
    for (const place of [0, 1, 2, 3, 5, 7]) expect(outcomes[place]).toEqual([true, null])
    // Claimed here while it was unused, and submitted by a stranger: the stranger's transaction moved the money.
    expect(answers[2]!.body.txHash).toBe(frontRun)
    const stored = await service.get(`/settlements/base-sepolia/${payers[4]!.address}/${signed[4]!.nonce}`)
    expect(stored.body).toMatchObject({ status: 'failed', txHash: null })
  })

  it('leave a wallet that burns gas to itself', async () => {
    const { chain, payer, seller } = world
    const from = await chain.wallet('burning', { usdc: 5_000_000n })
    const burning = { ...(await payer.authorize(chain.network, seller, { from })), from }
    const refused = await settle(burning)
    expect(refused.body.success).toBe(false)
    expect(refused.body.errorReason).toMatch(/^invalid_exact_evm_/)

    // A plain account when it is claimed, and one that burns gas when its batch is mined.
    const turncoat = await chain.payer(5_000_000n)
    const others = await Promise.all(Array.from({ length: 5 }, () => chain.payer(5_000_000n)))
    const signed = await Promise.all([turncoat, ...others].map((one) => one.authorize(chain.network, seller)))
    const settlements = signed.map(settle)
    await underWay(6)
    await chain.call('anvil_setCode', turncoat.address, await chain.call('eth_getCode', from, 'latest'))
    const answers = await mineAll(world.chain, settlements)
    expect(answers[0]!.body.success).toBe(false)
    for (const { body } of answers.slice(1)) expect(body).toMatchObject({ success: true })
  })

  it('fail when their authorization was used before it was claimed here', async () => {
    const { chain, payer, seller } = world
    const signed = await payer.authorize(chain.network, seller)
    const usdc = chain.network.usdc.address
    await send(chain.accounts[1]!.address, usdc, encodeTransfer(usdc, signed, false).data)
    await chain.mine()
    const { body } = await settle(signed)
    expect(body).toMatchObject({ success: false, errorReason: 'invalid_exact_evm_nonce_already_used', txHash: null })
  })

  it('were never carried by two transactions that moved them', async () => {
    const { chain } = world
    const sent = await sentBy(chain, chain.accounts[0]!.address)
    const rows = await world.database.statements.run('SELECT 1 FROM facilitator_transaction', [])
    expect(rows).toHaveLength(sent)
  })
})

describe('settlements that wait at the same moment', () => {
  let world: World
  beforeAll(async () => {
    world = await openWorld({ chain: { mining: 'manual' }, writes: false, environment: PATIENT })
  })
  afterAll(() => world.close())

  const inState = async (state: string): Promise<number> =>
    (await world.database.statements.run('SELECT FROM facilitator_settlement WHERE state::text = $1', [state])).length

  it('are carried by few transactions, at most 56k gas each to recipients that exist', async () => {
    const { chain, seller } = world
    await chain.fund(seller, 1n)
    const payers = await Promise.all(Array.from({ length: 60 }, () => chain.payer(5_000_000n)))
    const signed = await Promise.all(payers.map((payer) => payer.authorize(chain.network, seller)))
    const before = await usdcOf(chain, seller)
    const settlements = Promise.all(signed.map((one) => world.service.post('/settle', request(chain, 2, one))))
    await until(async () => (await inState('claimed')) === 60)
    // Starts only now, so that the arrival times do not change how the batches are built.
    world.service.facilitator.start()
    await until(async () => {
      await chain.mine()
      return (await inState('settled')) === 60
    })
    const answers = await settlements
    expect(answers.every(({ body }) => body.success === true)).toBe(true)
    expect((await usdcOf(chain, seller)) - before).toBe(60_000_000n)
    const hashes = [...new Set(answers.map(({ body }) => body.txHash as string))]
    expect(hashes.length).toBeLessThan(4)
    const receipts = (await Promise.all(hashes.map((hash) => chain.call('eth_getTransactionReceipt', hash)))) as {
      gasUsed: string
      logs: unknown[]
    }[]
    for (const { gasUsed, logs } of receipts) {
      const items = logs.length / 2
      if (items >= 25) expect(Number(gasUsed) / items).toBeLessThan(56_000)
    }
    expect(receipts.some(({ logs }) => logs.length / 2 >= 25)).toBe(true)
  })
})

describe('settlements of several recipients', () => {
  let world: World
  beforeAll(async () => {
    world = await openWorld({ chain: { mining: 'manual' }, writes: false, environment: PATIENT })
  })
  afterAll(() => world.close())

  it('are taken in turns, each recipient with its oldest first', async () => {
    const { chain, seller, service, database, clock } = world
    const other = (await chain.payer(0n)).address
    const nonces = () =>
      database.statements.run<{ nonce: string }>(
        `SELECT '0x' || encode(nonce, 'hex') AS nonce FROM facilitator_settlement ORDER BY claimed_at`,
        [],
      )
    const settlements: Promise<unknown>[] = []
    const claim = async (to: Hex): Promise<Hex> => {
      const signed = await (await chain.payer(5_000_000n)).authorize(chain.network, to)
      settlements.push(service.post('/settle', request(chain, 2, signed)))
      await until(async () => (await nonces()).length === settlements.length)
      return signed.nonce
    }
    const [first, second, , , third, fourth] = [
      await claim(seller),
      await claim(seller),
      await claim(seller),
      await claim(seller),
      await claim(other),
      await claim(other),
    ]
    const [sponsor, now] = [chain.accounts[0]!.address, clock.now()]
    const work = { sponsor, limit: 4, now, until: now }
    const taken = await createSettlementStore(database.statements).take('base-sepolia', 'another worker', work)
    expect(taken.map(({ authorization: { nonce } }) => nonce)).toEqual([first, third, second, fourth])
    service.facilitator.start()
    await mineAll(chain, settlements)
  })
})

/** Blocks until all are answered: a failure is final only under some blocks more. */
async function mineAll<T>(chain: TestChain, settlements: readonly Promise<T>[]): Promise<T[]> {
  const answered = Promise.all(settlements)
  let isOver = false
  const over = answered.finally(() => (isOver = true))
  await until(async () => {
    await chain.mine()
    return isOver
  })
  return await over
}

function cancellation({ from, nonce }: SignedAuthorization, signature: Hex): Hex {
  return encodeFunctionData({ abi: CANCEL, args: [from, nonce, signature] })
}

const CANCEL = parseAbi(['function cancelAuthorization(address, bytes32, bytes)'])
