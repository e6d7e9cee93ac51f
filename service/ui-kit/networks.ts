/** Display names by the API's network names. */
export const NETWORK_NAMES = { base: 'Base', 'base-sepolia': 'Base Sepolia' } as const

/**
 * What a wallet needs to add an unknown network. The page gives it to the wallet, and never contacts these addresses
 * itself.
 */
const NETWORKS: Readonly<Record<number, { name: string; rpc: string; explorer: string; test: boolean }>> = {
  8453: { name: NETWORK_NAMES.base, rpc: 'https://mainnet.base.org', explorer: 'https://basescan.org', test: false },
  84532: {
    name: NETWORK_NAMES['base-sepolia'],
    rpc: 'https://sepolia.base.org',
    explorer: 'https://sepolia.basescan.org',
    test: true,
  },
}

export function networkName(chainId: number): string {
  return NETWORKS[chainId]?.name ?? `network ${String(chainId)}`
}

/** The tokens of a test network are worth nothing and are given away. */
export function isTestNetwork(chainId: number): boolean {
  return NETWORKS[chainId]?.test === true
}

/** Where test USDC is given away: by its issuer. */
export const FAUCET = 'https://faucet.circle.com/'

/** The parameter of `wallet_addEthereumChain`. */
export function chainToAdd(chainId: number): unknown {
  const network = NETWORKS[chainId]
  return {
    chainId: `0x${chainId.toString(16)}`,
    chainName: networkName(chainId),
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: network === undefined ? [] : [network.rpc],
    blockExplorerUrls: network === undefined ? [] : [network.explorer],
  }
}
