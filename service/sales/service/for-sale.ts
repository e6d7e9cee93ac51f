import { DomainError } from '../../kit/errors.ts'

/** What is for sale now, or why it is not. A buyer gets what was bought before in either case. */
export type ForSale<Item> = Item | DomainError

export async function forSale<Item>(item: Promise<Item>): Promise<ForSale<Item>> {
  try {
    return await item
  } catch (error) {
    if (error instanceof DomainError) return error
    throw error
  }
}

/** Throws where it is not for sale. */
export function itemIn<Item>(item: ForSale<Item>): Item {
  if (item instanceof DomainError) throw item
  return item
}
