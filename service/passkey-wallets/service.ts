import type { Address, Chain, Signatures, SignedAuthorization } from '../chain/model.ts'
import { transactionUrl, transferLink, type NetworkName } from '../chain/networks.ts'
import { qrOf } from '../checkouts/service/presenter.ts'
import type { Facilitator } from '../facilitator/service/facilitator.ts'
import { invalid } from '../kit/errors.ts'
import { withChecksum } from '../kit/keccak.ts'
import { keyDeployedBy, walletAddress } from '../kit/passkey-wallet.ts'
import { transferRequest } from '../x402/payload.ts'

export interface PasskeyWalletDeps {
  chains: ReadonlyMap<NetworkName, Chain>
  facilitator: Pick<Facilitator, 'settle'>
  signatures: Pick<Signatures, 'deployment'>
  recipients: {
    /** Throws for an address where nobody could spend what arrives on this network. */
    assertSpendable(to: Address, network: NetworkName, refused: readonly [], field: string): Promise<void>
  }
}

/** What people see and move of the wallets whose only key is a passkey. Nothing of it is stored here. */
export function createPasskeyWallets({ chains, facilitator, signatures, recipients }: PasskeyWalletDeps) {
  function view({ network }: Chain, address: Address, balance: bigint | null) {
    const { chainId, name, usdc } = network
    const link = transferLink(network, withChecksum(address))
    const asset = { address: usdc.checksummed, name: usdc.name, version: usdc.version }
    return { network: name, chainId, units: balance === null ? null : String(balance), asset, link, qr: qrOf(link) }
  }

  return {
    /** A network that does not answer hides nothing of the others. Throws where none does. */
    async look(address: Address) {
      const all = [...chains.values()]
      const reads = all.map((chain) => chain.balanceOf(address))
      const read = await Promise.allSettled(reads)
      if (read.every(({ status }) => status === 'rejected')) await reads[0]
      const networks = all.map((chain, at) => {
        const balance = read[at]
        return view(chain, address, balance?.status === 'fulfilled' ? balance.value : null)
      })
      return { address: withChecksum(address), networks }
    },

    /**
     * Sends the wallet's money where its passkey has signed. Repeated with the same signature, it is the same transfer.
     * The signature names the key, and so only such a wallet's money is moved here, within the budgets for gas.
     */
    async send(chainId: number, signed: SignedAuthorization, caller: string) {
      const chain = [...chains.values()].find(({ network }) => network.chainId === chainId)
      if (chain === undefined) throw invalid({ chainId: 'must be a network of this service' })
      const deployment = signatures.deployment(signed.signature)
      const key =
        deployment === null || deployment === 'malformed' ? null : keyDeployedBy(deployment.factory, deployment.data)
      if (key === null || walletAddress(key) !== signed.from) {
        throw invalid({ signature: 'must be of a passkey wallet, with what deploys it (ERC-6492)' })
      }
      await recipients.assertSpendable(signed.to, chain.network.name, [], 'authorization.to')
      const answer = await facilitator.settle(transferRequest(chain.network, signed), {
        operation: `passkey wallet ${signed.nonce}`,
        ownsResult: true,
        isExternal: true,
        caller,
      })
      return {
        status: answer.status,
        reason: answer.status === 'settled' ? null : answer.reason,
        explorerUrl: transactionUrl(chain.network.name, answer.txHash),
      }
    },
  }
}

export type PasskeyWallets = ReturnType<typeof createPasskeyWallets>
