import type { Address } from '../../chain/model.ts'
import type { Clock } from '../../kit/clock.ts'
import type { Owner } from '../../kit/owner.ts'
import type { AddressBook, AddressStore } from '../ports.ts'

/** A wallet's own address on chain, in lower case; null where the server has none to give. */
export type DepositAddress = (owner: Owner) => Promise<Address | null>

/** Given when it is first asked for and never changed, so each is looked up once in a process. */
export function createDepositAddress(parts: {
  store: AddressStore
  book: AddressBook | null
  clock: Clock
}): DepositAddress {
  const { store, book, clock } = parts
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

const REMEMBERED_MAX = 100_000
