import { getAddress, isHex, recoverMessageAddress, type Hex } from 'viem'
import type { WalletMessage, WalletSignatures } from '../identity/ports.ts'
import { walletRefused } from '../identity/errors.ts'

/**
 * Sign-In with Ethereum (ERC-4361) for wallets that sign with a key, checked without the chain. Only the chain can
 * check the signature of a contract wallet (ERC-1271). This server does not ask it, so such a sign-in is refused.
 */
export const walletSignatures: WalletSignatures = {
  async read(text, signature, expected) {
    const message = parse(text)
    if (message.domain.toLowerCase() !== expected.domain.toLowerCase()) {
      throw walletRefused(`The message is for ${message.domain}, not for this site.`)
    }
    if (!URL.canParse(message.uri) || new URL(message.uri).origin !== expected.origin) {
      throw walletRefused(`The message is for ${message.uri}, not for ${expected.origin}.`)
    }
    if (!expected.chainIds.includes(message.chainId)) {
      throw walletRefused(`The message names chain ${String(message.chainId)}; use ${expected.chainIds.join(' or ')}.`)
    }
    checkTimes(message, expected.now)
    if (!isHex(signature, { strict: true })) throw walletRefused('The signature must be 0x and hexadecimal digits.')
    if (signature.length !== PLAIN_SIGNATURE) {
      throw walletRefused('Contract wallets cannot sign in here yet. Use a wallet with a private key.')
    }
    const signer = await recover(text, signature)
    if (signer !== message.address) {
      throw walletRefused(
        'The signature is not by the address in the message. If it is a contract wallet, use a wallet with a private key.',
      )
    }
    return { address: message.address, nonce: message.nonce }
  },
}

interface Parsed extends WalletMessage {
  domain: string
  uri: string
  chainId: number
  issuedAt: Date
  expiresAt: Date | null
  notBefore: Date | null
}

/**
 * Matches the whole message, as the standard writes it. A parser that searches for its fields anywhere, such as viem's,
 * also finds fields that an attacker wrote into the statement.
 */
const MESSAGE = new RegExp(
  [
    /^(?:[a-zA-Z][a-zA-Z0-9+.-]*:\/\/)?(?<domain>[^\s/?#@]+) wants you to sign in with your Ethereum account:\n/,
    /(?<address>0x[0-9a-fA-F]{40})\n\n(?:[^\n]+\n)?\n/,
    /URI: (?<uri>[^\s]+)\nVersion: 1\nChain ID: (?<chainId>[1-9]\d{0,14})\nNonce: (?<nonce>[a-zA-Z0-9]{8,250})\n/,
    /Issued At: (?<issuedAt>\S+)(?:\nExpiration Time: (?<expiresAt>\S+))?(?:\nNot Before: (?<notBefore>\S+))?/,
    /(?:\nRequest ID: [^\n]*)?(?:\nResources:(?:\n- [^\n]+)*)?$/,
  ]
    .map((part) => part.source)
    .join(''),
)

function parse(text: string): Parsed {
  const fields = text.length <= LONGEST ? MESSAGE.exec(text)?.groups : undefined
  const { domain, uri = '', address, chainId, nonce } = fields ?? {}
  if (domain === undefined || address === undefined || chainId === undefined || nonce === undefined) {
    throw walletRefused('The message is not a Sign-In with Ethereum message, version 1.')
  }
  const issuedAt = time(fields?.['issuedAt'])
  if (issuedAt === null) throw walletRefused('The message has no issue time.')
  return {
    domain,
    uri,
    // The message may have the address with or without checksum. The result always has it.
    address: getAddress(address.toLowerCase()),
    chainId: Number(chainId),
    nonce,
    issuedAt,
    expiresAt: time(fields?.['expiresAt']),
    notBefore: time(fields?.['notBefore']),
  }
}

function time(text: string | undefined): Date | null {
  if (text === undefined) return null
  const date = RFC_3339.test(text) ? new Date(text) : new Date(Number.NaN)
  if (Number.isNaN(date.getTime())) throw walletRefused(`"${text}" is not a time.`)
  return date
}

function checkTimes(message: Parsed, now: Date): void {
  const at = now.getTime()
  if (message.expiresAt !== null && message.expiresAt.getTime() <= at) throw walletRefused('The message has expired.')
  if (message.notBefore !== null && message.notBefore.getTime() > at)
    throw walletRefused('The message is not valid yet.')
  if (message.issuedAt.getTime() > at + CLOCK_TOLERANCE_MS)
    throw walletRefused('The message was issued in the future. Check the clock of your device.')
  if (message.issuedAt.getTime() < at - MESSAGE_AGE_MAX_MS) {
    throw walletRefused('The message was issued more than 5 minutes ago. Ask for a new nonce and sign again.')
  }
}

async function recover(message: string, signature: Hex): Promise<string> {
  try {
    return await recoverMessageAddress({ message, signature })
  } catch {
    // No key can have produced these numbers.
    throw walletRefused('The signature is not valid.')
  }
}

const RFC_3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})$/
/** 65 bytes as text. */
const PLAIN_SIGNATURE = 2 + 65 * 2
const LONGEST = 4_000
const CLOCK_TOLERANCE_MS = 60_000
const MESSAGE_AGE_MAX_MS = 5 * 60_000
