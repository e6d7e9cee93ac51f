import { randomBytes } from 'node:crypto'
import { accountOfSeed, checksummed, depositAddresses, depositSigner } from '../chain/keys.ts'
import type { Config } from '../config.ts'
import { DomainError } from '../kit/errors.ts'
import { loadOrMakeSecretFile } from '../kit/secret-file.ts'
import type { AddressBook, Signer } from '../wallet/ports.ts'
import type { Chains } from './chains.ts'

/**
 * Every process gets the public key, only a worker the private key. The sandbox creates its own, so that addresses are
 * real at once; a live server without keys gives no addresses.
 */
export async function openKeys(config: Config, chains: Chains): Promise<WalletKeys> {
  const given =
    config.WALLET_XPRV ??
    (config.WALLET_XPUB === undefined && !config.LIVE ? await sandboxAccount(config.DATA_DIR) : undefined)
  const own = given === undefined ? null : depositSigner(given, chains)
  const xpub = config.WALLET_XPUB ?? own?.xpub
  if (xpub === undefined) return { book: null, signer: null }
  if (own !== null && own.xpub !== xpub) {
    throw new DomainError('failed', 'wallet_key', 'WALLET_XPRV does not belong to WALLET_XPUB.')
  }
  return {
    book: { ...depositAddresses(xpub, chains), written: (address) => checksummed(chains.keccak, address) },
    signer: config.ROLES.includes('worker') ? (own?.signer ?? null) : null,
  }
}

export interface WalletKeys {
  book: AddressBook | null
  signer: Signer | null
}

/** The sandbox's own account, created once per data folder. */
export async function sandboxAccount(dataDir: string): Promise<string> {
  const seed = await loadOrMakeSecretFile(dataDir, {
    name: 'wallet.seed',
    code: 'wallet_seed_file',
    generate: () => randomBytes(32).toString('hex'),
    fault: (text) =>
      /^[0-9a-f]{64}$/.test(text)
        ? null
        : 'does not contain a seed of 64 hexadecimal digits. Restore the file: deposits at its addresses need it.',
  })
  return accountOfSeed(seed)
}

/** Signs sessions, tokens and links: AUTH_SECRET, or the sandbox's own in `<dataDir>/auth.secret`. */
export async function authSecretOf({
  AUTH_SECRET,
  DATA_DIR,
}: Pick<Config, 'AUTH_SECRET' | 'DATA_DIR'>): Promise<string> {
  if (AUTH_SECRET !== undefined) return AUTH_SECRET
  return await loadOrMakeSecretFile(DATA_DIR, {
    name: 'auth.secret',
    code: 'auth_secret_file',
    generate: () => randomBytes(32).toString('base64url'),
    fault: (text) =>
      text.length < 32
        ? 'does not contain a secret. Remove the file to create a new one; users must then sign in again.'
        : null,
  })
}
