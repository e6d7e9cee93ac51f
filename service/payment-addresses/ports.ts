import type { Address, Authorization, Hex, SignedAuthorization } from '../chain/model.ts'
import type { Network, NetworkName } from '../chain/networks.ts'
import type { AddressReturn, PaymentAddress, UnsearchedAddress } from './model.ts'

/** Derives addresses publicly, without any key that could move money. */
export interface PaymentAddressBook {
  readonly account: string
  readonly treasury: Address
  paymentAddressAt(index: number): Address
  /** With its checksum. */
  written(address: Address): string
}

/** Signs for them. Only a worker has one. */
export interface PaymentAddressSigner {
  readonly account: string
  sign(by: { order: number }, network: Network, authorization: Authorization): SignedAuthorization
}

export interface PaymentAddressStore {
  /** The address of this id, also where it was there already. Throws where the seller has too many open ones. */
  add(wanted: NewAddress): Promise<PaymentAddress>
  find(id: string): Promise<PaymentAddress | null>
  /** The ids of those that are among these addresses. */
  idsOf(addresses: readonly Address[]): Promise<ReadonlyMap<Address, PaymentAddress['id']>>
  /** Those whose balance is to be read now. Sellers take turns, each with the longest waiting first. */
  due(network: NetworkName, now: Date, limit: number): Promise<readonly PaymentAddress[]>
  /** Has its balance read soon. */
  lookSoon(id: string, now: Date): Promise<void>
  /** Where another process has changed the state meanwhile, the balance is read again instead. */
  looked(of: PaymentAddress, seen: SeenAddress): Promise<void>
  /** Those whose senders are still to be searched. Sellers take turns. An order that ended before `since` is left as it is. */
  unsearched(network: NetworkName, since: Date, limit: number): Promise<readonly UnsearchedAddress[]>
  /** Changes nothing where another process has stored them meanwhile. */
  sentBy(of: PaymentAddress, read: { senders: readonly Address[]; upTo: bigint }): Promise<void>
  /** Fixes the end of the next attempt. Null when it is not open any more, or when money is being returned. */
  begin(of: PaymentAddress, validBefore: bigint): Promise<PaymentAddress | null>
  /** From the state that it was read in. Null when another process was faster. */
  end(
    of: PaymentAddress,
    how: { state: 'paid' | 'closed'; reason: string | null; balance: bigint | null; now: Date },
  ): Promise<PaymentAddress | null>
  reopen(of: PaymentAddress, reason: string | null): Promise<void>
  note(of: PaymentAddress, reason: string | null): Promise<void>

  returnsOf(id: string): Promise<readonly AddressReturn[]>
  /** Those that this account's key signs. Sellers take turns. */
  openReturns(
    network: NetworkName,
    account: string,
    limit: number,
  ): Promise<readonly { place: PaymentAddress; sent: AddressReturn }[]>
  /**
   * `check` decides with the address locked, with all its returns and the number of returns of the seller's addresses
   * since `since` that have not failed; it throws to refuse. An open address is closed for it.
   */
  addReturn(
    { id, since }: { id: string; since: Date },
    check: (of: PaymentAddress, returns: readonly AddressReturn[], ofSeller: number) => NewReturn,
  ): Promise<AddressReturn>
  endReturn(sent: AddressReturn, how: { state: 'settled' | 'failed'; hash: Hex | null; now: Date }): Promise<void>
}

export interface SeenAddress extends Pick<PaymentAddress, 'lookAt'> {
  balance: bigint
  /** Null where they stay as they were. */
  fromBlock: bigint | null
  searchTo: bigint | null
  now: Date
}

export interface NewAddress extends Pick<
  PaymentAddress,
  'id' | 'owner' | 'checkoutId' | 'network' | 'account' | 'amount' | 'bought' | 'expiresAt' | 'createdAt'
> {
  derive(index: number): Address
}

export interface NewReturn extends Pick<AddressReturn, 'recipient' | 'amount' | 'nonce' | 'validBefore' | 'createdAt'> {
  /** Why an open address closes. */
  closes: string
}
