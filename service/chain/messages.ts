import { hashMessage, recoverMessageAddress } from 'viem'
import type { Address, Hex } from './model.ts'

/**
 * The account that has signed this text with its key (EIP-191), in lower case; null when no key can have made the
 * signature. It asks no chain, so it says nothing about contract wallets.
 */
export async function recoverMessage(message: string, signature: Hex): Promise<Address | null> {
  try {
    return (await recoverMessageAddress({ message, signature })).toLowerCase() as Address
  } catch {
    return null
  }
}

/** What a contract wallet is asked about a text (EIP-191). */
export function digestOfMessage(message: string): Hex {
  return hashMessage(message)
}
