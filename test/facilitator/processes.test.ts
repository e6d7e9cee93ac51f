import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { keccak256, toHex } from 'viem'
import { startChain, type TestChain } from '../harness/chain.ts'
import { testDatabase, type TestDatabase } from '../harness/database.ts'
import { ServiceProcess } from '../harness/process.ts'
import { request, sentBy, until, usdcOf, type Answer } from './world.ts'

/** The two processes share only the database and the chain: no memory, no pool, no event loop. */
describe('one payment, a hundred concurrent calls at two processes', () => {
  let chain: TestChain
  let database: TestDatabase
  let folder: string
  let processes: ServiceProcess[] = []
  let origins: string[]

  beforeAll(async () => {
    // No block comes by itself: callers of both processes are waiting when the outcome does.
    ;[chain, database] = await Promise.all([startChain({ mining: 'manual' }), testDatabase({ poolMax: 2 })])
    folder = mkdtempSync(path.join(tmpdir(), 'coinslot-processes-'))
    const environment = {
      DATABASE_URL: database.url,
      DATABASE_POOL: '8',
      PORT: '0',
      HOST: '127.0.0.1',
      ROLES: 'facilitator,worker',
      LOG_LEVEL: 'info',
      BASE_SEPOLIA_RPC_URLS: chain.url,
      SPONSOR_PRIVATE_KEYS: chain.accounts[0]!.privateKey,
      RATE_SETTLE_PER_MINUTE: '0',
    }
    processes = [1, 2].map(() => new ServiceProcess({ ...environment, DATA_DIR: folder }))
    origins = await Promise.all(processes.map(originOf))
  })
  afterAll(async () => {
    for (const each of processes) each.kill('SIGKILL')
    await Promise.all(processes.map((each) => each.ended()))
    await database.close()
    await chain.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  const newPayment = async () => {
    const payer = await chain.payer(5_000_000n)
    const seller = chain.accounts[3]!.address
    return { payer: payer.address, body: request(chain, 2, await payer.authorize(chain.network, seller)) }
  }
  type Payment = Awaited<ReturnType<typeof newPayment>>

  /** Fifty to each; a block when the transaction is on its way. */
  const settleByHundred = async ({ body }: Payment, headers: Record<string, string> = {}): Promise<Answer[]> => {
    const text = JSON.stringify(body)
    const settlements = Promise.all(
      Array.from({ length: 100 }, (_, place) => settle(origins[place % 2]!, text, headers)),
    )
    await until(async () => (await inPool(chain)) > 0)
    await chain.mine()
    return await settlements
  }
  const state = async ({ payer }: Payment) => ({
    paid: await usdcOf(chain, payer),
    sellerBalance: await usdcOf(chain, chain.accounts[3]!.address),
    sent: await sentBy(chain, chain.accounts[0]!.address),
  })
  /** One transaction was mined, none is pending, it is the reported one, and it moved the money once. */
  const expectOne = async (payment: Payment, before: Awaited<ReturnType<typeof state>>, hash: string) => {
    // Another one of the same would be in the pool or, mined now, in the sponsor's count.
    await chain.mine()
    expect(await inPool(chain)).toBe(0)
    expect(await state(payment)).toEqual({
      paid: before.paid - 1_000_000n,
      sellerBalance: before.sellerBalance + 1_000_000n,
      sent: before.sent + 1,
    })
    expect(await usesBy(chain, payment.payer)).toEqual([
      { transactionHash: hash, nonce: payment.body.paymentPayload.payload.authorization.nonce },
    ])
  }

  it('is one transaction: one caller gets the success, and 99 get its hash', async () => {
    const payment = await newPayment()
    const before = await state(payment)
    const answers = await settleByHundred(payment)
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
    const successes = answers.filter(({ body }) => body.success)
    expect(successes).toHaveLength(1)
    const hash = successes[0]!.body.transaction as string
    expect(successes[0]!.body).toMatchObject({ txHash: hash, status: 'settled', payer: payment.payer })
    const others = answers.filter(({ body }) => !body.success)
    expect(others).toHaveLength(99)
    for (const { body } of others) {
      expect(['settlement_pending', 'invalid_exact_evm_nonce_already_used']).toContain(body.errorReason)
      expect(body).toMatchObject({ success: false, transaction: '', txHash: hash, settled: false })
    }
    await expectOne(payment, before, hash)
  })

  it('is one answer for all of them with one Idempotency-Key', async () => {
    const payment = await newPayment()
    const before = await state(payment)
    const answers = await settleByHundred(payment, { 'idempotency-key': 'one-sale' })
    const [first] = answers
    expect(first!.body).toMatchObject({ success: true, status: 'settled', payer: payment.payer })
    for (const { status, body } of answers) {
      expect(status).toBe(200)
      expect(body).toEqual(first!.body)
    }
    await expectOne(payment, before, first!.body.transaction as string)
  })
})

/** Where it listens, once it says that it is ready. */
async function originOf(process: ServiceProcess): Promise<string> {
  const output = await process.waitFor(READY)
  const line = output.split('\n').find((each) => READY.test(`${each}\n`))!
  const { port } = JSON.parse(line) as { port: number }
  return `http://127.0.0.1:${String(port)}`
}

const READY = /^\{.*"msg":"ready".*\}\n/m

async function settle(origin: string, body: string, headers: Record<string, string>): Promise<Answer> {
  const response = await fetch(`${origin}/facilitator/settle`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  })
  return { status: response.status, headers: response.headers, body: await response.json() }
}

async function inPool(chain: TestChain): Promise<number> {
  const { pending, queued } = (await chain.call('txpool_status')) as { pending: string; queued: string }
  return Number(pending) + Number(queued)
}

/** Every authorization of this payer that the token has seen used. */
async function usesBy(chain: TestChain, payer: string): Promise<{ transactionHash: string; nonce: string }[]> {
  const logs = await chain.call('eth_getLogs', {
    address: chain.network.usdc.address,
    topics: [AUTHORIZATION_USED, `0x${payer.slice(2).padStart(64, '0')}`],
    fromBlock: 'earliest',
  })
  return (logs as { transactionHash: string; topics: string[] }[]).map(({ transactionHash, topics }) => ({
    transactionHash,
    nonce: topics[2]!,
  }))
}

const AUTHORIZATION_USED = keccak256(toHex('AuthorizationUsed(address,bytes32)'))
