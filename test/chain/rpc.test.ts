import type { Log } from '../../service/kit/log.ts'
import { createRpc, type Rpc } from '../../service/chain/rpc.ts'
import { TestClock } from '../harness/clock.ts'
import { startChain, type TestChain } from '../harness/chain.ts'
import { honest, startRelay, type Behaviour, type Relay } from './relay.ts'
const opened: Rpc[] = []

const refuse =
  (status: number, error: unknown): Behaviour =>
  (questions, isBatch) => {
    const answers = questions.map(({ id }) => ({ jsonrpc: '2.0', id, error }))
    return { status, body: isBatch ? answers : answers[0] }
  }

const DEAD = 'http://127.0.0.1:9'
const faults: [string, Behaviour][] = [
  ['never answers', () => 'hang'],
  ['answers 500', () => ({ status: 500, body: 'oh' })],
  ['answers 429 in its own form', () => ({ status: 429, body: { message: 'slow down' } })],
  ['has an internal error', refuse(200, { code: -32603, message: 'Internal error' })],
  ['is rate limited', refuse(200, { code: -32005, message: 'daily limit' })],
  ['lacks the newest block', refuse(200, { code: -32000, message: 'header not found' })],
  ['answers with neither result nor error', () => ({ status: 200, body: {} })],
]

describe('several RPCs', () => {
  let local: TestChain
  let good: Relay
  let bad: Relay
  let clock: TestClock
  let lines: string[]

  beforeAll(async () => {
    local = await startChain()
    good = await startRelay(local.url)
    bad = await startRelay(local.url)
  })
  beforeEach(() => {
    clock = new TestClock()
    lines = []
    for (const relay of [good, bad]) {
      relay.behave(honest)
      relay.requests.length = 0
    }
  })
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((rpc) => rpc.close()))
  })
  afterAll(async () => {
    await Promise.all([good.stop(), bad.stop()])
    await local.stop()
  })

  function open(urls: string[], timeoutMs = 5_000): Rpc {
    const append = (_fields: unknown, text: string): void => void lines.push(text)
    const log: Log = { info: append, warn: append, error: append }
    const rpc = createRpc({ urls, clock, log, timeoutMs })
    opened.push(rpc)
    return rpc
  }

  describe('fail-over', () => {
    it.each(faults)('uses the next address where one %s', async (_name, behaviour) => {
      bad.behave(behaviour)
      const rpc = open([bad.url, DEAD, good.url], 1_500)
      expect(await rpc.call('eth_chainId')).toBe('0x14a34')
      expect(lines).toHaveLength(2)
    })

    it.each(faults)('is "unavailable", with a retry time, where every address %s', async (_name, behaviour) => {
      bad.behave(behaviour)
      await expect(open([DEAD, bad.url], 300).call('eth_chainId')).rejects.toMatchObject({
        kind: 'unavailable',
        code: 'rpc_unavailable',
        fields: { retryAfterSeconds: 5 },
      })
    })

    it('returns a refusal of the call itself without trying another RPC', async () => {
      const call = open([bad.url, good.url]).call('eth_sendRawTransaction', '0x1234')
      await expect(call).rejects.toMatchObject({ name: 'RpcRefusal' })
      expect(good.requests).toEqual([])
    })

    it('skips a failed address for a while, and then prefers it again', async () => {
      bad.behave(() => 'hang')
      const rpc = open([bad.url, good.url], 1_500)
      await rpc.call('eth_chainId')
      await Promise.all(Array.from({ length: 10 }, () => rpc.call('eth_chainId')))
      expect(bad.requests).toHaveLength(1)
      bad.behave(honest)
      clock.forward(3_000)
      await rpc.call('eth_chainId')
      expect(bad.requests).toHaveLength(2)
      expect(lines).toEqual(['an RPC fails or answers incorrectly', 'an RPC answers again'])
    })

    it('still uses a failed address when there is no other', async () => {
      bad.behave(() => ({ status: 500, body: '' }))
      const rpc = open([bad.url])
      await expect(rpc.call('eth_chainId')).rejects.toMatchObject({ code: 'rpc_unavailable' })
      bad.behave(honest)
      expect(await rpc.call('eth_chainId')).toBe('0x14a34')
    })
  })

  describe('small questions of the same moment', () => {
    const [one, two] = ['0x1111111111111111111111111111111111111111', '0x2222222222222222222222222222222222222222']
    const askAll = (rpc: Rpc): Promise<unknown[]> =>
      Promise.all([
        rpc.read('eth_getBalance', one, 'latest'),
        rpc.read('eth_getTransactionCount', two, 'latest'),
        rpc.read('eth_getTransactionReceipt', `0x${'00'.repeat(32)}`),
      ])

    it('are sent in one batch', async () => {
      expect(await askAll(open([good.url]))).toEqual(['0x0', '0x0', null])
      expect(good.requests).toEqual([['eth_getBalance', 'eth_getTransactionCount', 'eth_getTransactionReceipt']])
    })

    it('are sent one by one to an RPC without batches', async () => {
      good.behave((questions, isBatch) =>
        isBatch ? { status: 200, body: { error: { code: -32600, message: 'no batches' } } } : honest(questions, false),
      )
      const rpc = open([good.url])
      expect(await askAll(rpc)).toEqual(['0x0', '0x0', null])
      expect(await askAll(rpc)).toEqual(['0x0', '0x0', null])
      expect(good.requests.map((each) => each.length)).toEqual([3, 1, 1, 1, 1, 1, 1])
    })

    it('are retried one by one: the next RPC gets only those that failed', async () => {
      bad.behave((questions) => ({
        status: 200,
        body: questions.map(({ id, method }) =>
          method === 'eth_getBalance'
            ? { jsonrpc: '2.0', id, result: '0x7' }
            : { jsonrpc: '2.0', id, error: { code: -32005, message: 'limit' } },
        ),
      }))
      expect(await askAll(open([bad.url, good.url]))).toEqual(['0x7', '0x0', null])
      expect(good.requests).toEqual([['eth_getTransactionCount', 'eth_getTransactionReceipt']])
    })
  })
})
