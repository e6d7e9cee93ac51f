import { serializeTransaction } from 'viem'
import { DomainError } from '../kit/errors.ts'
import type { Curve, Keccak } from './curve.ts'
import { addressOf } from './eip712.ts'
import type { Address, BroadcastFault, Hex, SignedTransaction, UnsignedTransaction } from './model.ts'
import { broadcastFault, isRefusal, type RpcRefusal } from './refusal.ts'
import type { Rpc } from './rpc.ts'

/** Signs transactions without a network request, and broadcasts signed ones. */
export function createTransactions({ rpc, curve, keccak, chainId }: TransactionDeps) {
  const hashOf = (raw: Hex): Hex => `0x${keccak.hex(bytesOf(raw))}`

  async function isKnown(hash: Hex): Promise<boolean> {
    return (await rpc.read('eth_getTransactionByHash', hash)) !== null
  }

  return {
    isKnown,

    addressOf: (key: Hex): Address => addressOf(keccak, curve.publicKey(bytesOf(key))),

    signTransaction({ key, nonce, to, data, gas, fees }: UnsignedTransaction): SignedTransaction {
      const transaction = { type: 'eip1559', chainId, nonce, to, data, gas, value: 0n, ...fees } as const
      const hash = keccak.bytes(bytesOf(serializeTransaction(transaction)))
      const { signature, recovery } = curve.sign(hash, bytesOf(key))
      const digits = Buffer.from(signature).toString('hex')
      const raw = serializeTransaction(transaction, {
        r: `0x${digits.slice(0, 64)}`,
        s: `0x${digits.slice(64)}`,
        yParity: recovery,
      })
      return { raw, hash: hashOf(raw) }
    },

    async broadcast(raw: Hex): Promise<'sent' | 'known'> {
      try {
        await rpc.callAny({ method: 'eth_sendRawTransaction', params: [raw] }, isOwnRule)
        return 'sent'
      } catch (error) {
        if (!isRefusal(error)) throw error
        const fault = broadcastFault(error.message)
        if (fault === 'known') return 'known'
        // The nonce is already used, possibly by this very transaction.
        if (fault === 'nonce_too_low' && (await isKnown(hashOf(raw)))) return 'known'
        throw refused(fault, error.message)
      }
    },
  }
}

interface TransactionDeps {
  rpc: Rpc
  curve: Curve
  keccak: Keccak
  chainId: number
}

/** A node may have rules that another one does not have. What is wrong with fees, nonce or funds is wrong everywhere. */
function isOwnRule({ message }: RpcRefusal): boolean {
  return broadcastFault(message) === 'transaction_refused'
}

function refused(fault: BroadcastFault, reason: string): DomainError {
  return new DomainError('failed', fault, 'The network did not accept the transaction.', { reason })
}

function bytesOf(hex: Hex): Buffer {
  return Buffer.from(hex.slice(2), 'hex')
}
