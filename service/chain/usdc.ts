import { agreeOnUse, authorizationNonce } from './uses.ts'
import type { Clock } from '../kit/clock.ts'
import { DomainError } from '../kit/errors.ts'
import type { Log } from '../kit/log.ts'
import { encodeAuthorizationState, encodeBalanceOf, encodeBatch, encodeTransfer } from './calldata.ts'
import type { Curve, Keccak } from './curve.ts'
import { createCalls } from './calls.ts'
import { createEscrow } from './escrow.ts'
import { findUse, readReceipt } from './events.ts'
import { createFees, createHead } from './head.ts'
import type { Address, Call, Chain, Hex } from './model.ts'
import type { Network } from './networks.ts'
import { isRefusal, reasonOf } from './refusal.ts'
import { createRpc, unavailable, type Rpc } from './rpc.ts'
import { createUpto } from './upto.ts'
import { readAuthorization, readBalances, scanSpending, scanTransfers } from './scan.ts'
import { createSimulation } from './simulation.ts'
import { createTransactions } from './transactions.ts'

export interface ChainOptions {
  network: Network
  /** The RPC's addresses, in the order of preference. */
  urls: readonly string[]
  /** The address that will send the transactions, for the simulation. Null when there is no sponsor. */
  sender: Address | null
  curve: Curve
  keccak: Keccak
  clock: Clock
  log: Log
  timeoutMs?: number
  /** The gas that a transfer may use in the simulation. Contract wallets need more than plain accounts. */
  gasEach?: bigint
  /** The gas that a factory may use beside it, to deploy a wallet (ERC-6492). */
  gasFactory?: bigint
  maxFeePerGasCap?: bigint
  /** How old the newest block may be: half a block. */
  headMaxAgeMs?: number
}

/** USDC on one network. It connects at the first request. */
export function createChain(options: ChainOptions): Chain {
  const { network, clock, log, curve, keccak } = options
  const usdc = network.usdc.address
  const open = (urls: readonly string[]): Rpc =>
    createRpc({ urls, clock, log, ...(options.timeoutMs === undefined ? {} : { timeoutMs: options.timeoutMs }) })
  const rpc = open(options.urls)
  /** Each address as its own client, for answers that count only when two nodes agree. */
  const nodes = [...new Set(options.urls)].map((url) => open([url]))
  const head = createHead(rpc, clock, options.headMaxAgeMs ?? 1_000)
  const sender = options.sender ?? NOBODY
  const { gasEach = GAS_EACH, gasFactory = GAS_FACTORY } = options

  async function readUsdc(data: Hex): Promise<bigint> {
    const word = await rpc.read<Hex>('eth_call', { to: usdc, data }, 'latest')
    if (word === '0x') throw unavailable('eth_call', `there is no USDC at ${usdc}`)
    return BigInt(word)
  }

  return {
    network,
    escrow: createEscrow(rpc, usdc, head),
    upto: createUpto({ rpc, nodes, usdc, head }),
    ...createCalls(rpc, async () => 2n * (await head()).baseFeePerGas + 1n),
    simulate: createSimulation({ network, rpc, head, sender, gasEach, gasFactory }),
    encodeTransfer: (item, payerHasCode) => encodeTransfer(usdc, item, payerHasCode),
    encodeBatch: (items) => encodeBatch(usdc, items),

    ...createTransactions({ rpc, curve, keccak, chainId: network.chainId }),
    receipt: (hash) => readReceipt(rpc, usdc, hash),

    authorization: async (payer, nonce) => ({ used: (await readUsdc(encodeAuthorizationState(payer, nonce))) !== 0n }),
    findUse: async (payer, nonce, from) => findUse(rpc, usdc, { payer, nonce, from, newest: (await head()).number }),
    agreedUse: (search) => agreeOnUse(nodes, authorizationNonce(usdc, search), search),

    transfersTo: (search) => scanTransfers(rpc, usdc, search),
    transfersFrom: (search) => scanSpending(rpc, usdc, search),
    balancesAt: (addresses, block) => readBalances(rpc, usdc, addresses, block),
    authorizationAt: (payer, nonce, block) => readAuthorization(rpc, usdc, { payer, nonce }, block ?? 'latest'),

    head,
    nonceOf: async (address, at) => Number(await rpc.read<Hex>('eth_getTransactionCount', address, at)),
    balanceOf: (address) => readUsdc(encodeBalanceOf(address)),
    nativeBalance: async (address) => BigInt(await rpc.read<Hex>('eth_getBalance', address, 'latest')),
    fees: createFees({ rpc, head, cap: options.maxFeePerGasCap ?? FEE_CAP }),

    async estimateGas(call: Call & { from: Address }) {
      try {
        return BigInt(await rpc.call<Hex>('eth_estimateGas', call))
      } catch (error) {
        if (!isRefusal(error)) throw error
        const reason = error.data === undefined ? null : reasonOf(Buffer.from(error.data.slice(2), 'hex'))
        throw new DomainError('failed', 'call_reverts', 'The network would reject this call.', {
          reason: reason ?? error.message,
        })
      }
    },

    async close() {
      await Promise.all([rpc, ...nodes].map((each) => each.close()))
    },
  }
}

/** An address that has no code and no known private key. */
const NOBODY = '0xc01500700000000000000000000000000000b0d1'
/** Enough for five transfers, because a contract's signature check may need that much. */
const GAS_EACH = 400_000n
const GAS_FACTORY = 400_000n
/** A hundred times the price on Base on a busy day. */
const FEE_CAP = 20_000_000_000n
