import type { Address, Hex } from '../../chain/model.ts'
import { NETWORKS, type NetworkName } from '../../chain/networks.ts'
import { send } from '../../transfers/service/send.ts'
import type { WalletDeps } from './deps.ts'

interface Outgoing {
  network: NetworkName
  from: Address
  to: Address
  amount: bigint
  nonce: Hex
  validBefore: bigint
  /** The name under which the facilitator settles the transfer. */
  operation: string
}

/**
 * The treasury as other capabilities use it. They choose and store the terms; the treasurer checks the balance and
 * signs.
 */
export function createTreasurer(deps: WalletDeps) {
  const { book, signer, chains, store } = deps
  const signs = book !== null && signer?.account === book.account

  return {
    address: (): Address | null => book?.treasury ?? null,

    /** The balance on this network, less open withdrawals. */
    async available(network: NetworkName): Promise<bigint> {
      const chain = chains.get(network)
      if (book === null || chain === undefined) return 0n
      const [balance, outgoing] = await Promise.all([
        chain.balanceOf(book.treasury),
        store.withdrawals.outgoing(book.treasury, network),
      ])
      return balance - outgoing
    },

    /** For a worker: the setting that the operator must add before it can send. Null when nothing is missing. */
    lacks(network: NetworkName): string | null {
      if (book === null) return 'This server has no treasury: WALLET_XPUB and WALLET_XPRV must be set.'
      if (!signs) return 'This worker cannot sign for the treasury: WALLET_XPRV must be set.'
      return chains.has(network) ? null : noRpc(network)
    },

    /**
     * Signs the transfer and has it settled. The same terms always give the same bytes, so it may be repeated. Returns
     * the hash if it is known. Only the chain decides whether the money has moved.
     */
    async send({ network, from, to, amount, nonce, validBefore, operation }: Outgoing): Promise<Hex | null> {
      // Another treasury's key would sign another authorization, and so transfer a second time.
      if (!signs || signer === null || book.treasury !== from) return null
      const authorization = { from, to, value: amount, validAfter: 0n, validBefore, nonce }
      const signed = signer.sign('treasury', NETWORKS[network], authorization)
      return await send(deps, { kind: 'treasury', network: NETWORKS[network], signed, operation })
    },
  }
}

function noRpc(network: NetworkName): string {
  return `This server has no RPC for ${network}: ${network === 'base' ? 'BASE' : 'BASE_SEPOLIA'}_RPC_URLS must be set.`
}
