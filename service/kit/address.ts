import { z } from 'zod'
import { invalid } from './errors.ts'
import { hasSoundChecksum } from './keccak.ts'

/**
 * An address that receives money: on a checkout, a paywall, a withdrawal, in the configuration. Written in one letter
 * case it has no checksum. In mixed case the letters are the checksum (EIP-55), and a wrong one is refused as a typing
 * mistake, because the money would be lost. Bodies of the payment protocols are read as leniently as the reference
 * implementation reads them.
 */
export const recipientAddress = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/, 'must be an address: 0x and 40 hexadecimal digits')
  .refine(hasSoundChecksum, 'has a checksum that does not fit: a letter or digit is wrong')

/** No account: tokens that are sent here are lost, and in a contract's terms it means that nobody is named. */
export const ZERO_ADDRESS = '0x0000000000000000000000000000000000000000'

/**
 * In lower case, with a checksum that was checked when the request was read. `refused`: addresses, and why. `field`: where
 * the request has it.
 */
export function assertRecipient(
  to: string,
  refused: readonly (readonly [string | null, string])[],
  field = 'to',
): void {
  if (to === ZERO_ADDRESS) throw invalid({ [field]: 'must not be the zero address' })
  for (const [address, why] of refused) if (to === address) throw invalid({ [field]: why })
}
