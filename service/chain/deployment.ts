import type { Deployment, Hex } from './model.ts'
import { EIP6492_END } from './networks.ts'
import { addressOfWord, Words } from './words.ts'

export function isUndeployed(signature: Hex): boolean {
  return signature.toLowerCase().endsWith(EIP6492_END)
}

/**
 * What an ERC-6492 signature is made of: `(address factory, bytes factoryCalldata, bytes signature)` in front of the
 * magic bytes. Null when it is none, or is not encoded like that.
 */
export function deploymentOf(signature: Hex): Deployment | null {
  if (!isUndeployed(signature)) return null
  try {
    const words = new Words(signature.slice(0, -EIP6492_END.length) as Hex)
    const factory = `0x${words.number(0).toString(16).padStart(64, '0')}` as const
    if (!factory.startsWith('0x000000000000000000000000')) return null
    return { factory: addressOfWord(factory), data: bytesAt(words, 32), signature: bytesAt(words, 64) }
  } catch {
    return null
  }
}

function bytesAt(words: Words, at: number): Hex {
  return `0x${words.bytes(words.size(at)).toString('hex')}`
}
