import { randomBytes } from 'node:crypto'
import { toHex } from 'viem'
import type { Hex } from '../../../service/chain/model.ts'
import { networkOf } from '../../../service/chain/networks.ts'
import type { TestAccount } from '../../harness/chain.ts'
import { newToken } from '../token.ts'
import type { Chance } from './chance.ts'
import type { ActRequest, Kind, Reply } from './journal.ts'
import type { World } from './world.ts'

/** How an act of each kind begins: the request to send, and when the client stops repeating it. */
export interface Making {
  make(world: World, name: string, chance: Chance): Promise<ActRequest>
  /** Whether the client takes this response for final. */
  isFinal(reply: Reply): boolean
  once?: boolean
}

/** `gate-draw` follows from `gate-prepaid`, and deposits begin on the chain: see load.ts. */
export const MAKING: Readonly<Record<Exclude<Kind, 'gate-draw' | 'deposit'>, Making>> = {
  checkout: {
    async make(world, name, chance) {
      const { checkout, prices } = world.goods
      const payer = chance.of(world.payers)
      const { payload, nonce } = await sign(world, payer, world.recipient, prices.checkout)
      const body = { input: { act: name }, paymentPayload: payload, token: newToken() }
      return {
        ...request('POST', `/p/${checkout}/pay`, name),
        body,
        nonce,
        amount: prices.checkout,
        address: payer.address,
      }
    },
    isFinal: ({ status, body }) => status === 200 && ['paid', 'failed'].includes(String(body.payment.status)),
  },
  settle: {
    async make(world, name, chance) {
      const amount = BigInt(chance.whole(1_000, 2_000_000))
      const payer = chance.of(world.payers)
      const { payload, nonce, accepted } = await sign(world, payer, SELLER, amount)
      const body = { x402Version: 2, paymentPayload: payload, paymentRequirements: accepted }
      return { ...request('POST', '/facilitator/settle', name), body, nonce, amount, address: payer.address }
    },
    isFinal: ({ status, body }) => status === 200 && body.status !== 'pending',
  },
  run: {
    async make(world, name, chance) {
      const [slug, field, price] = chance.of([
        [world.goods.agentAsset, 'topic', 250_000n],
        [world.goods.toolAsset, 'act', 100_000n],
      ] as const)
      // A third of them use an agent's key, until its limit is reached.
      const key = chance.whole(1, 3) === 1 ? chance.of(world.agents).key : chance.of(world.buyers).key
      const body = { rdaSlug: slug, inputs: { [field]: name } }
      return { ...request('POST', '/v1/run', name, key), body, amount: price, nonce: null, address: null }
    },
    isFinal: ({ status, body }) =>
      status === 200 || status === 403 || (status === 500 && !OURS.has(body.code as string)),
  },
  tool: {
    make(world, name, chance) {
      const body = { act: name }
      const { tool, prices } = world.goods
      const of = request('POST', `/tools/${tool}`, name, chance.of(world.buyers).key)
      return Promise.resolve({ ...of, body, amount: prices.tool, nonce: null, address: null })
    },
    isFinal: ({ status }) => status === 200,
  },
  'tool-x402': {
    async make(world, name, chance) {
      const { tool, prices } = world.goods
      const payer = chance.of(world.payers)
      const { header, nonce } = await sign(world, payer, world.goods.treasury, prices.tool)
      const of = request('POST', `/tools/pay/${tool}`, null, null, paidBy(header))
      return { ...of, body: { act: name }, nonce, amount: prices.tool, address: payer.address }
    },
    isFinal: ({ status, body }) => status === 200 || (status === 409 && body.code === 'answer_given'),
  },
  'gate-exact': {
    async make(world, name, chance) {
      const { gate, prices } = world.goods
      const payer = chance.of(world.payers)
      const { header, nonce } = await sign(world, payer, world.recipient, prices.exact)
      const of = request('GET', `/gate/${gate}/exact?act=${name}`, null, null, paidBy(header))
      return { ...of, body: null, nonce, amount: prices.exact, address: payer.address }
    },
    isFinal: ({ status, body }) => status === 200 || (status === 409 && body.code === 'payment_delivered'),
  },
  'gate-prepaid': {
    async make(world, name, chance) {
      const { gate, prices } = world.goods
      // Few payers, so that the balance left over from one call is used by the next.
      const payer = chance.of(world.payers.slice(0, 3))
      const { header, nonce } = await sign(world, payer, world.recipient, prices.metered)
      const of = request('GET', `/gate/${gate}/metered?act=${name}`, null, null, paidBy(header))
      return { ...of, body: null, nonce, amount: prices.metered, address: payer.address }
    },
    // A payer with enough balance only proved their identity; a signature does that once.
    isFinal: ({ status, body }) =>
      status === 200 || (status === 409 && ['payment_delivered', 'authorization_used'].includes(String(body.code))),
  },
  pay: {
    make(world, name, chance) {
      const key = chance.of([...world.agents, ...world.buyers]).key
      const body = { url: `${world.seller.origin}/goods/${name}`, maxAmount: 0.03 }
      const of = request('POST', '/v1/pay', name, key)
      return Promise.resolve({ ...of, body, amount: 30_000n, nonce: null, address: null })
    },
    // When the response has an id, the payment's state is checked at the end.
    isFinal: ({ status, body }) => status === 200 || status === 403 || typeof body.paymentId === 'string',
  },
  withdraw: {
    make(world, name, chance) {
      const amount = BigInt(chance.whole(10_000, 2_000_000))
      const to = toHex(randomBytes(20))
      const body = { amount: Number(amount) / 1e6, to }
      const of = request('POST', '/v1/wallet/withdraw', name, chance.of(world.buyers).key)
      return Promise.resolve({ ...of, body, amount, nonce: null, address: to })
    },
    isFinal: ({ status }) => status === 200 || status === 402,
  },
}

const SELLER: Hex = '0x00000000000000000000000000000000000000c2'
/** Faults of the service itself: the run may not even have begun. */
const OURS: ReadonlySet<string> = new Set(['internal', 'internal_error'])

/** With a token that the buyer chose: it fetches a lost response, and no thief has it. */
function paidBy(header: string): Record<string, string> {
  return { 'payment-signature': header, 'x-payment-token': newToken() }
}

export function request(
  method: 'GET' | 'POST',
  path: string,
  idempotencyKey: string | null,
  key: string | null = null,
  headers: Readonly<Record<string, string>> = {},
): Pick<ActRequest, 'method' | 'path' | 'headers'> {
  return {
    method,
    path,
    headers: {
      ...headers,
      ...(idempotencyKey === null ? {} : { 'idempotency-key': idempotencyKey }),
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
    },
  }
}

/** Signs an offer as a wallet does, in the form of version 2. */
export async function sign(
  { chain }: Pick<World, 'chain'>,
  payer: TestAccount,
  to: Hex,
  amount: bigint,
  terms: { validBefore?: bigint } = {},
) {
  const { usdc, caip2 } = networkOf(chain.network.caip2)!
  const accepted = {
    scheme: 'exact',
    network: caip2,
    asset: usdc.checksummed,
    payTo: to,
    amount: String(amount),
    maxTimeoutSeconds: 300,
    extra: { name: usdc.name, version: usdc.version },
  }
  const signed = await payer.authorize(chain.network, to.toLowerCase() as Hex, { value: amount, ...terms })
  const { signature, ...rest } = signed
  const authorization = Object.fromEntries(Object.entries(rest).map(([name, value]) => [name, String(value)]))
  const payload = { x402Version: 2, accepted, payload: { signature, authorization } }
  return { payload, accepted, nonce: rest.nonce, header: Buffer.from(JSON.stringify(payload)).toString('base64') }
}
