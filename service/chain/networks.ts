/**
 * The networks that the service supports, as data. The model and rules of any capability may import this file and
 * model.ts beside it, because neither imports anything further.
 */
export const NETWORKS = {
  base: {
    name: 'base',
    caip2: 'eip155:8453',
    chainId: 8453,
    live: true,
    explorer: 'https://basescan.org',
    usdc: {
      address: '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913',
      checksummed: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
      name: 'USD Coin',
      version: '2',
    },
  },
  'base-sepolia': {
    name: 'base-sepolia',
    caip2: 'eip155:84532',
    chainId: 84532,
    live: false,
    explorer: 'https://sepolia.basescan.org',
    usdc: {
      address: '0x036cbd53842c5426634e7929541ec2318f3dcf7e',
      checksummed: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
      name: 'USDC',
      version: '2',
    },
  },
} as const satisfies Record<NetworkName, Network>

/**
 * The escrow of the scheme `auth-capture`, version 1.1, at the same addresses on every network. The collector takes the
 * payer's money by an authorization (EIP-3009 `ReceiveWithAuthorization`).
 */
export const ESCROW = {
  address: '0xf96815976523e00e65be8f34ca5e64b4f41eb19c',
  collector: '0x8612dfdc421f80336cd14e8ef9cb1e765db5ab88',
} as const

/**
 * The contracts of the scheme `upto`, at the same addresses on every network: Permit2, which moves a token by the payer's
 * signature, and the one that lets the facilitator named in it take as much as was used.
 */
export const UPTO = {
  permit2: '0x000000000022d473030f116ddee9f6b43ac78ba3',
  proxy: '0x4020a4f3b7b90cca423b9fabcc0ce57c6c240002',
} as const

/** Longer than any reorganization of these networks, and than a node lags. */
const REORG_SECONDS = 120n

/** Nothing that was signed until `end` is given up before this second is over, by the clock of the chain. */
export function givenUpAfter(end: bigint): bigint {
  return end + REORG_SECONDS
}

/** How many blocks confirm this one, which is the first of them. The head of one node may be older than a block of another. */
export function depthOf(block: bigint, head: bigint): bigint {
  return head < block ? 1n : head - block + 1n
}

export function isConfirmed(block: bigint, head: bigint, confirmations: number): boolean {
  return depthOf(block, head) >= BigInt(confirmations)
}

/** The newest block that has enough confirmations. Below zero where there is none yet. */
export function newestConfirmed(head: bigint, confirmations: number): bigint {
  return head - BigInt(confirmations) + 1n
}

/** About how many blocks come in this time, on every network. */
export function blocksIn(ms: number): bigint {
  return ms <= 0 ? 0n : BigInt(Math.ceil(ms / BLOCK_MS))
}

const BLOCK_MS = 2_000

/** A block that is not after the given moment. The search for a later transfer starts there. */
export function blockBefore(head: { number: bigint; timestamp: bigint }, at: Date): bigint {
  const blocks = blocksIn(Number(head.timestamp) * 1_000 - at.getTime()) + BLOCKS_SPARE
  return head.number > blocks ? head.number - blocks : 0n
}

/** A margin, because the clocks of a chain and a server differ. */
const BLOCKS_SPARE = 60n

/**
 * A block before an authorization was signed, of which only its end is known, however late one looks: it was valid for
 * minutes, and no network makes more than one block a second.
 */
export function blockBeforeSigning(head: { number: bigint; timestamp: bigint }, validBefore: bigint): bigint {
  const since = head.timestamp > validBefore ? head.timestamp - validBefore : 0n
  const blocks = since + SIGNED_BLOCKS
  return head.number > blocks ? head.number - blocks : 0n
}

/** Half a day of blocks. */
const SIGNED_BLOCKS = 21_600n

/** A block before the oldest transfer that a restored database can have lost. */
export function blockBeforeDump(head: { number: bigint }): bigint {
  const blocks = blocksIn(DUMP_MS)
  return head.number > blocks ? head.number - blocks : 0n
}

/** Older dumps are not restored. */
const DUMP_MS = 60 * 86_400_000

/** Multicall3 is at the same address on every network. */
export const MULTICALL = '0xca11bde05977b3631167028862be2a173976ca11'

/** Finds a network by its name in version 1 (`base`) or in version 2 (`eip155:8453`). */
export function networkOf(name: string): Network | null {
  return BY_NAME.get(name) ?? null
}

export type NetworkName = 'base' | 'base-sepolia'

export interface Network {
  readonly name: NetworkName
  readonly caip2: `eip155:${number}`
  readonly chainId: number
  /** Whether its USDC is real money. */
  readonly live: boolean
  /** The block explorer: `{explorer}/tx/{hash}`. */
  readonly explorer: string
  readonly usdc: {
    /** In lower case, like every address that the chain adapter returns. Compare with `===`. */
    readonly address: `0x${string}`
    /** With its checksum, for people and for programs that compare texts. */
    readonly checksummed: `0x${string}`
    /** The name and version of its EIP-712 domain; the name differs between the two networks. */
    readonly name: string
    readonly version: string
  }
}

/** A link for a transfer of USDC to this address, in the format of phone wallets (EIP-681). The amount in micro-USDC. */
export function transferLink({ usdc: token, chainId }: Network, to: string, amount: bigint | null = null): string {
  const value = amount === null ? '' : `&uint256=${String(amount)}`
  return `ethereum:${token.checksummed}@${String(chainId)}/transfer?address=${to}${value}`
}

const BY_NAME: ReadonlyMap<string, Network> = new Map(
  Object.values(NETWORKS).flatMap((network): [string, Network][] => [
    [network.name, network],
    [network.caip2, network],
  ]),
)

/** The 32 bytes at the end of every ERC-6492 signature, which stands for a wallet that is not deployed yet. */
export const EIP6492_END = '6492'.repeat(16)

/** What is no transaction stands for one: of a simulated payment, or of one that is on no chain. */
export function isTransaction(txHash: string | null): txHash is `0x${string}` {
  return txHash?.startsWith('0x') === true
}

/** Where people look at a transaction. */
export function transactionUrl(network: NetworkName, txHash: string | null): string | null {
  return isTransaction(txHash) ? `${NETWORKS[network].explorer}/tx/${txHash}` : null
}
