import type { Address } from '../../chain/model.ts'
import type { Clock } from '../../kit/clock.ts'
import type { Owner } from '../../kit/owner.ts'
import type { AddressBook, AddressStore } from '../ports.ts'

/** A wallet's own address on chain, in lower case; null where the server has no addresses. */
export type DepositAddress = (owner: Owner) => Promise<Address | null>

/** Assigned at the first request and never changed, so each process looks it up once. */
export function createDepositAddress({ store, book, clock }: DepositAddressDeps): DepositAddress {
  const known = new Map<string, Address>()

  return async (owner) => {
    if (book === null) return null
    const key = `${owner.environment} ${owner.userId}`
    const remembered = known.get(key)
    if (remembered !== undefined) return remembered
    const { address } =
      (await store.find(owner)) ??
      (await store.give(owner, book.account, (index) => book.addressAt(index), clock.now()))
    if (known.size >= REMEMBERED_MAX) known.clear()
    known.set(key, address)
    return address
  }
}

interface DepositAddressDeps {
  store: AddressStore
  book: AddressBook | null
  clock: Clock
}

const REMEMBERED_MAX = 100_000
