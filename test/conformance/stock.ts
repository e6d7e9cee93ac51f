import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Hex } from '../../service/chain/model.ts'
import type { Network } from '../../service/chain/networks.ts'

export type Version = 1 | 2

/** A program of the stock packages: a process of its own, so that it contains none of our code, only its settings. */
export interface Seller {
  origin: string
  stop(): Promise<void>
}

export interface Buyer {
  /** `request` holds the request options, as for `fetch`; a GET when absent. */
  /**
   * With `hold` the payment is signed and not sent. With `signsIn` it signs in where it may, and pays where that is not
   * enough: version 2's program only.
   */
  buy(input: {
    url: string
    privateKey: Hex
    request?: RequestInit
    hold?: boolean
    signsIn?: boolean
    /** A node, for schemes whose client reads the chain. */
    rpc?: string
    /** What it pays by where there is a choice: version 2's program only. */
    scheme?: string
  }): Promise<Purchase>
  sign(input: SignInput): Promise<StockPayload>
  /** The reference facilitator's reason against a request; version 2's program knows both versions. */
  judge(input: ReferenceInput): Promise<string | null>
  /** As the reference facilitator settles it with this key, on this chain. */
  settle(input: ReferenceInput): Promise<{ success: boolean; errorReason?: string; amount?: string }>
  /** Version 2's program only. */
  verify(input: Evidence): Promise<Verified>
  /** What the stock client lists or finds at a facilitator; only version 2's program can. */
  discover(input: { facilitator: string; list?: object; search?: object }): Promise<unknown>
  /** How the stock packages judge a description; only version 2's program can. */
  describe(input: { bazaar: unknown; url: string }): Promise<unknown>
  /** Calls a tool over MCP, and pays what is asked; only the program of models' wallets can. */
  call(input: {
    url: string
    tool?: string
    input: object
    privateKey: Hex
    wallet: 'x402' | 'mpp'
  }): Promise<ToolCallResult>
  stop(): Promise<void>
}

interface ReferenceInput {
  rpc: string
  privateKey: Hex
  chainId: number
  body: unknown
  factories?: readonly Hex[]
}

export interface ToolCallResult {
  tools: { name: string; description: string }[]
  result: Record<string, unknown>
}

/** A 402 and what was received for its payment. */
export interface Evidence {
  required: unknown
  receipt: unknown
  typed: unknown
  payer: Hex
  document: unknown
}

export interface Verified {
  offers: { typed: Recovered; json: Record<string, unknown>; accepted: boolean[] }
  receipts: { typed: Recovered; json: Record<string, unknown> }
  matches: boolean[]
}

interface Recovered {
  signer: Hex
  payload: Record<string, unknown>
}

export interface Purchase {
  status: number
  body: unknown
  /** Of x402. A receipt of MPP has `reference` and `method` instead. */
  receipt: {
    success: boolean
    transaction: Hex
    network: string
    payer: string
    /** What was taken, where that may be less than what was signed for. */
    amount?: string
    reference?: Hex
    extensions?: { 'offer-receipt'?: { info: { receipt: unknown } } }
  } | null
  header: { name: string; value: string }
  /** The headers that fetch the receipt. Version 2's program only. */
  proof?: Record<string, string>
}

export interface SignInput {
  privateKey: Hex
  requirements: Requirements
  terms: Partial<Record<'from' | 'validAfter' | 'validBefore' | 'nonce', string>>
  /** Wraps the signature as that of a wallet which this factory would still have to deploy. */
  factory: Hex | null
  /** What the factory is called with, where it is to deploy the wallet. */
  factoryData?: Hex
}

export interface Requirements {
  network: string
  payTo: string
  asset: string
  extra: object
  [field: string]: unknown
}

export interface StockPayload {
  network?: string
  accepted?: Requirements
  payload: { signature: Hex; authorization: Record<'from' | 'to' | 'value' | 'nonce', string> }
}

export async function startSeller(
  version: Version,
  shop: { facilitator: string; network: string; payTo: string; price: string },
): Promise<Seller> {
  const child = start(version, 'seller', {
    FACILITATOR_URL: shop.facilitator,
    NETWORK: shop.network,
    PAY_TO: shop.payTo,
    PRICE: shop.price,
  })
  return { origin: await originOf(child), stop: () => stop(child) }
}

/** Sells by MPP alone. */
export async function startMppSeller(shop: {
  facilitator: string
  network: Network
  payTo: string
  price: string
}): Promise<Seller> {
  const child = start('mpp', 'seller', {
    FACILITATOR_URL: shop.facilitator,
    CHAIN_ID: String(shop.network.chainId),
    CURRENCY: shop.network.usdc.checksummed,
    TOKEN_NAME: shop.network.usdc.name,
    PAY_TO: shop.payTo,
    PRICE: shop.price,
  })
  return { origin: await originOf(child), stop: () => stop(child) }
}

async function originOf(child: ChildProcess): Promise<string> {
  const ended = once(child, 'exit').then(() => Promise.reject(new Error('the seller ended before it listened')))
  const [{ origin }] = (await Promise.race([once(child, 'message'), ended])) as [{ origin: string }]
  return origin
}

/** The stock clients: of both versions of x402, of MPP, and of MCP with a wallet. */
export type Client = Version | 'axios' | 'mpp' | 'models'

export function startBuyer(version: Client): Buyer {
  const child = start(version, 'buyer', {})
  const waiting = new Map<number, { resolve(result: unknown): void; reject(error: Error): void }>()
  child.on('message', ({ id, result, error }: { id: number; result?: unknown; error?: string }) => {
    const pending = waiting.get(id)
    waiting.delete(id)
    if (error === undefined) pending?.resolve(result)
    else pending?.reject(new Error(error))
  })
  child.on('exit', () => {
    for (const pending of waiting.values()) pending.reject(new Error('the buyer ended before it answered'))
  })
  let count = 0
  const send = <Result>(verb: string, input: object): Promise<Result> =>
    new Promise((resolve, reject) => {
      const id = count++
      waiting.set(id, { resolve: resolve, reject })
      child.send({ id, verb, input })
    })
  return {
    buy: (input) => send('buy', input),
    sign: (input) => send('sign', input),
    judge: (input) => send('judge', input),
    settle: (input) => send('settle', input),
    verify: (input) => send('verify', input),
    discover: (input) => send('discover', input),
    describe: (input) => send('describe', input),
    call: (input) => send('call', input),
    stop: () => stop(child),
  }
}

function start(version: Client, part: 'seller' | 'buyer', environment: Record<string, string>): ChildProcess {
  const file = fileURLToPath(
    new URL(`./${typeof version === 'number' ? `v${String(version)}` : version}/${part}.mjs`, import.meta.url),
  )
  return fork(file, { execArgv: [], env: { PATH: process.env['PATH'], ...environment } })
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}
