import type { Address } from '../../chain/model.ts'
import { NETWORKS, type NetworkName } from '../../chain/networks.ts'
import { assertRecipient } from '../../kit/address.ts'
import { ownerOf, type Caller } from '../../kit/caller.ts'
import { walletMissing } from '../../ledger/errors.ts'
import type { Owner } from '../../kit/owner.ts'
import { NETWORK_OF } from '../model.ts'
import type { DepositAddress } from './addresses.ts'
import type { WalletDeps } from './deps.ts'

/** The addresses that may receive payouts, and each owner's usual one. */
export function createRecipients(deps: WalletDeps, depositAddress: DepositAddress) {
  const { ledger, outflow, store, book, payers, clock, publish } = deps

  /** Throws for an address where nobody could spend what arrives on this network. `refused`: further addresses, and why. */
  async function assertNotLost(
    to: Address,
    network: NetworkName,
    refused: readonly Refused[],
    field?: string,
  ): Promise<void> {
    const usdcs = Object.values(NETWORKS).map(({ usdc }) => usdc.address)
    const [paysSellers, [given]] = await Promise.all([payers.has(to), store.addresses.findAll([to])])
    const isElsewhere = given !== undefined && NETWORK_OF[given.owner.environment] !== network
    const all: Refused[] = [
      ...usdcs.map((address) => [address, 'is the USDC contract: money sent there is lost'] as const),
      ...refused,
      [isElsewhere ? to : null, 'is an address of this service for another network: money sent there is lost'],
      [paysSellers ? to : null, OURS],
    ]
    assertRecipient(to, all, field)
  }

  /** For money that leaves a wallet, which has nothing from it in the treasury. `field`: where the request has the address. */
  async function assertSpendable(
    to: Address,
    network: NetworkName,
    refused: readonly Refused[],
    field?: string,
  ): Promise<void> {
    await assertNotLost(to, network, [...refused, [book?.treasury ?? null, OURS]], field)
  }

  async function read(written: Address, owner: Owner): Promise<Address> {
    const to = written.toLowerCase() as Address
    const own = await depositAddress(owner)
    await assertSpendable(to, NETWORK_OF[owner.environment], [[own, "is this wallet's own address"]])
    outflow.assertAllowed(to)
    return to
  }

  return {
    read,
    assertSpendable,

    /**
     * For an address that what is sold is paid to. The treasury is what the server's own products are paid to. `field`: where the
     * request has it.
     */
    assertForSales: (to: Address, network: NetworkName, field: string): Promise<void> =>
      assertNotLost(to, network, [], field),

    /** Where a seller is paid: their own wallet's address where they name none. */
    async ofSales(owner: Owner, { recipient, network }: NamedRecipient): Promise<Address | null> {
      const own = await depositAddress(owner)
      if (recipient === null || recipient === own) return own
      await assertNotLost(recipient, network, [], 'recipient')
      return recipient
    },

    /** With its checksum. */
    async usual(owner: Owner): Promise<string | null> {
      const address = await store.payoutAddresses.find(owner)
      return address === null ? null : (book?.written(address) ?? address)
    },

    /** Checks the address now, so that its owner sees a refusal, and again at each withdrawal. */
    async setUsual(caller: Caller, written: Address | null): Promise<void> {
      const owner = ownerOf(caller)
      if ((await ledger.wallet(owner)) === null) throw walletMissing()
      const address = written === null ? null : await read(written, owner)
      await store.together(async (inside) => {
        const isNew = await store.payoutAddresses.set(owner, address, clock.now(), inside)
        if (isNew) await publish(inside, { kind: 'wallet.payout_address_changed', owner, address: written })
      })
    },
  }
}

interface NamedRecipient {
  recipient: Address | null
  network: NetworkName
}

type Refused = readonly [address: Address | null, why: string]

const OURS = "is this service's own address"

export type Recipients = ReturnType<typeof createRecipients>
