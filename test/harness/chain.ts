import { randomBytes } from 'node:crypto'
import {
  encodeAbiParameters,
  encodeFunctionData,
  keccak256,
  pad,
  parseAbi,
  serializeErc6492Signature,
  toHex,
  type Hex,
} from 'viem'
import { privateKeyToAccount, type PrivateKeyAccount } from 'viem/accounts'
import type { Authorization, SignedAuthorization } from '../../service/chain/model.ts'
import { networkOf, type Network } from '../../service/chain/networks.ts'
import * as code from '../chain/contracts/compiled.ts'
import { PLACES } from '../chain/contracts/places.ts'
import { startAnvil, type Mining, type RpcCall } from './anvil.ts'

export interface TestChain {
  readonly url: string
  readonly network: Network
  /** Four accounts with 10,000 ETH each and the same keys on every chain: sponsors. `fund` gives them USDC. */
  readonly accounts: readonly TestAccount[]
  /** A new account with this much USDC and no ETH. */
  payer(usdc: bigint): Promise<TestAccount>
  /** Sets the account's USDC. Outside of any block: to have it survive a reorg, mine one after it. */
  fund(address: Hex, usdc: bigint): Promise<void>
  fundMany(amounts: readonly { address: Hex; usdc: bigint }[]): Promise<void>
  setBlacklisted(address: Hex, blacklisted: boolean): Promise<void>
  setPaused(paused: boolean): Promise<void>
  /** A contract wallet with this much USDC. `owned`: the owner's signature counts as its own. */
  wallet(kind: keyof typeof WALLETS, options: { owner?: Hex; usdc: bigint }): Promise<Hex>
  /** Gives the `owned` wallet another owner. */
  setOwner(wallet: Hex, owner: Hex): Promise<void>
  /** A factory of `owned` wallets. A hostile one misbehaves as its salt says (Wallets.sol). */
  factory(kind: 'honest' | 'hostile', at?: Hex): Promise<Hex>
  /** A wallet that this factory can make and has not made yet, with this much USDC. */
  undeployed(factory: Hex, options: { owner: Hex; salt?: bigint; usdc: bigint }): Promise<Undeployed>
  /** From now on a code speaks for this account (EIP-7702): one that asks for its key's signature, or refuses all. */
  delegate(address: Hex, to?: 'own-key' | 'refusing'): Promise<void>
  mine(blocks?: number): Promise<void>
  /** Reorganises the newest blocks away, with all their transactions, and mines as many empty ones. */
  reorg(blocks: number): Promise<void>
  call(method: string, ...params: readonly unknown[]): Promise<unknown>
  stop(): Promise<void>
}

export interface Undeployed {
  address: Hex
  /** The wallet's signature in its envelope (ERC-6492). */
  wrap(signature: Hex): Hex
  /** What the factory is called with. */
  data: Hex
}

export interface TestAccount {
  readonly address: Hex
  readonly privateKey: Hex
  /** Signs a transfer; the defaults are 1 USDC, valid from 1970 for an hour, and a random nonce. */
  authorize(network: Network, to: Hex, terms?: Partial<Authorization>): Promise<SignedAuthorization>
  cancel(network: Network, nonce: Hex): Promise<Hex>
}

const WALLETS = {
  owned: code.OWNED_WALLET,
  delegate: code.DELEGATE_WALLET,
  refusing: code.REFUSING_WALLET,
  burning: code.BURNING_WALLET,
  echo: code.ECHO_WALLET,
  verbose: code.VERBOSE_WALLET,
  reverting: code.REVERTING_WALLET,
}

/** A chain for one test in well under a second, with USDC, Multicall3 and the escrow at their real addresses. */
export async function startChain(
  options: { chainId?: 8453 | 84532; mining?: Mining; port?: number; hardfork?: string } = {},
): Promise<TestChain> {
  const { chainId = 84532, mining = 'automine', ...rest } = options
  const network = networkOf(`eip155:${String(chainId)}`)!
  const anvil = await startAnvil({ chainId, mining, ...rest })
  const token = network.usdc.address
  const write = (slot: Hex, value: Hex): RpcCall => store(token, slot, value)
  const accounts = SPONSORS.map(accountOf)
  await anvil.request(
    ...fixtures(network),
    ...accounts.map(({ address }) => ({ method: 'anvil_setBalance', params: [address, toHex(10n ** 22n)] })),
    { method: 'anvil_mine', params: ['0x1'] },
  )

  const balanceSlot = (address: Hex): Hex =>
    keccak256(encodeAbiParameters([{ type: 'address' }, { type: 'uint256' }], [address, 9n]))
  const fundMany: TestChain['fundMany'] = async (amounts) => {
    await anvil.request(...amounts.map(({ address, usdc }) => write(balanceSlot(address), word(usdc))))
  }
  return {
    url: anvil.url,
    network,
    accounts,
    async payer(usdc) {
      const account = accountOf(toHex(randomBytes(32)))
      await fundMany([{ address: account.address, usdc }])
      return account
    },
    fund: (address, usdc) => fundMany([{ address, usdc }]),
    fundMany,
    async setBlacklisted(address, blacklisted) {
      const slot = balanceSlot(address)
      const [before] = await anvil.request({ method: 'eth_getStorageAt', params: [token, slot, 'latest'] })
      const balance = BigInt(before as Hex) & (BLACKLISTED - 1n)
      await anvil.request(write(slot, word(blacklisted ? balance | BLACKLISTED : balance)))
    },
    async setPaused(paused) {
      await anvil.request(write(word(1n), word(paused ? 1n << 160n : 0n)))
    },
    async wallet(kind, { owner, usdc }) {
      const address = toHex(randomBytes(20))
      await anvil.request(
        { method: 'anvil_setCode', params: [address, WALLETS[kind]] },
        store(address, word(0n), pad(owner ?? '0x', { size: 32 })),
        write(balanceSlot(address), word(usdc)),
      )
      return address
    },
    async setOwner(wallet, owner) {
      await anvil.request(store(wallet, word(0n), pad(owner, { size: 32 })))
    },
    async factory(kind, address = toHex(randomBytes(20))) {
      const runtime = kind === 'honest' ? code.WALLET_FACTORY : code.HOSTILE_FACTORY
      await anvil.request({ method: 'anvil_setCode', params: [address, runtime] })
      return address
    },
    async undeployed(factory, { owner, salt = 0n, usdc }) {
      const args = [owner, word(salt)] as const
      const data = encodeFunctionData({ abi: FACTORY, functionName: 'addressOf', args })
      const [answer] = await anvil.request({ method: 'eth_call', params: [{ to: factory, data }, 'latest'] })
      const address = `0x${(answer as Hex).slice(-40)}` as const
      await fundMany([{ address, usdc }])
      const callData = encodeFunctionData({ abi: FACTORY, functionName: 'make', args })
      return {
        address,
        data: callData,
        wrap: (signature) => serializeErc6492Signature({ address: factory, data: callData, signature }),
      }
    },
    async delegate(address, to = 'own-key') {
      const speaker = to === 'own-key' ? OWN_KEY : REFUSING
      await anvil.request(
        { method: 'anvil_setCode', params: [OWN_KEY, code.DELEGATE_WALLET] },
        { method: 'anvil_setCode', params: [REFUSING, code.REFUSING_WALLET] },
        { method: 'anvil_setCode', params: [address, `0xef0100${speaker.slice(2)}`] },
      )
    },
    async mine(blocks = 1) {
      await anvil.request({ method: 'anvil_mine', params: [toHex(blocks)] })
    },
    async reorg(blocks) {
      await anvil.request({ method: 'anvil_reorg', params: [blocks, []] })
    },
    call: async (method, ...params) => (await anvil.request({ method, params }))[0],
    stop: anvil.stop,
  }
}

export function accountOf(privateKey: Hex): TestAccount {
  const account: PrivateKeyAccount = privateKeyToAccount(privateKey)
  const domain = (network: Network) => ({
    name: network.usdc.name,
    version: network.usdc.version,
    chainId: network.chainId,
    verifyingContract: network.usdc.address,
  })
  return {
    address: account.address.toLowerCase() as Hex,
    privateKey,
    async authorize(network, to, terms = {}) {
      const authorization: Authorization = {
        from: account.address.toLowerCase() as Hex,
        to,
        value: 1_000_000n,
        validAfter: 0n,
        validBefore: BigInt(Math.floor(Date.now() / 1000) + 3600),
        nonce: toHex(randomBytes(32)),
        ...terms,
      }
      const signature = await account.signTypedData({
        domain: domain(network),
        types: TYPES,
        primaryType: to === PLACES.collector ? 'ReceiveWithAuthorization' : 'TransferWithAuthorization',
        message: authorization,
      })
      return { ...authorization, signature }
    },
    cancel: (network, nonce) =>
      account.signTypedData({
        domain: domain(network),
        types: TYPES,
        primaryType: 'CancelAuthorization',
        message: { authorizer: account.address, nonce },
      }),
  }
}

const AUTHORIZATION = [
  { name: 'from', type: 'address' },
  { name: 'to', type: 'address' },
  { name: 'value', type: 'uint256' },
  { name: 'validAfter', type: 'uint256' },
  { name: 'validBefore', type: 'uint256' },
  { name: 'nonce', type: 'bytes32' },
] as const

export const TYPES = {
  TransferWithAuthorization: AUTHORIZATION,
  ReceiveWithAuthorization: AUTHORIZATION,
  CancelAuthorization: [
    { name: 'authorizer', type: 'address' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const

const FACTORY = parseAbi([
  'function make(address owner, bytes32 salt)',
  'function addressOf(address owner, bytes32 salt) view returns (address)',
])

/** The token's storage as on the real chain: see Usdc.sol for the slots. */
function fixtures(network: Network): RpcCall[] {
  const token = network.usdc.address
  const placed = (address: string, runtime: string): RpcCall => ({
    method: 'anvil_setCode',
    params: [address, runtime],
  })
  return [
    placed(token, code.PROXY),
    placed(PLACES.implementation, code.USDC),
    placed(PLACES.checker, code.CHECKER),
    placed(PLACES.multicall, code.MULTICALL),
    placed(PLACES.escrow, code.AUTH_CAPTURE_ESCROW),
    placed(PLACES.collector, code.PAYMENT_COLLECTOR),
    placed(PLACES.refundCollector, code.REFUND_COLLECTOR),
    placed(PLACES.permit2, code.PERMIT2),
    placed(PLACES.uptoProxy, code.UPTO_PROXY),
    store(token, keccak256(toHex('org.zeppelinos.proxy.admin')), word(1n)),
    store(token, keccak256(toHex('org.zeppelinos.proxy.implementation')), pad(PLACES.implementation, { size: 32 })),
    store(token, word(4n), shortText(network.usdc.name)),
    store(token, word(5n), shortText('USDC')),
    store(token, word(6n), word(6n)),
  ]
}

function store(address: string, slot: Hex, value: Hex): RpcCall {
  return { method: 'anvil_setStorageAt', params: [address, slot, value] }
}

function word(value: bigint): Hex {
  return toHex(value, { size: 32 })
}

/** How Solidity stores a text of less than 32 bytes: its bytes first, twice its length last. */
function shortText(text: string): Hex {
  return `${toHex(text, { size: 32 }).slice(0, -2)}${(text.length * 2).toString(16).padStart(2, '0')}` as Hex
}

/** Not anvil's own ten accounts: deriving those from their mnemonic takes longer than all the rest. */
const SPONSORS = [1, 2, 3, 4].map((place) => keccak256(toHex(`coinslot sponsor ${String(place)}`)))
const BLACKLISTED = 1n << 255n
const OWN_KEY = '0xc0150070000000000000000000000000000000dd'
const REFUSING = '0xc0150070000000000000000000000000000000ee'
