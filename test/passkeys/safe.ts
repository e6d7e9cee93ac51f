import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import path from 'node:path'
import { getCreate2Address, pad, toHex, type Hex } from 'viem'
import { SAFE } from '../../service/kit/passkey-wallet.ts'
import type { TestChain } from '../harness/chain.ts'

/*
 * The contracts of passkey wallets, as their authors publish them. They are under the (L)GPL, so they are fetched when
 * they are needed, with the integrity that npm records, and nothing of them is in this repository.
 */
const PACKAGES = {
  contracts: {
    name: '@safe-global/safe-contracts@1.4.1',
    integrity: 'fP1jewywSwsIniM04NsqPyVRFKPMAuirC3ftA/TA4X3Zc5EnwQp/UCJUU2PL/37/z/jMo8UUaJ+pnFNWmMU7dQ==',
  },
  passkey: {
    name: '@safe-global/safe-passkey@0.2.0',
    integrity: 'B9IpVvwXLvK3m+BRhn9z8kCbEizFmua4YmaUBZ9yr0xM9YsX2PRTnxbFvC7pLph1OQ2u+9O2V3FEmPiS10YEIw==',
  },
} as const

const CODES = {
  singleton: ['contracts', 'Safe.sol/Safe'],
  factory: ['contracts', 'proxies/SafeProxyFactory.sol/SafeProxyFactory'],
  fallbackHandler: ['contracts', 'handler/CompatibilityFallbackHandler.sol/CompatibilityFallbackHandler'],
  proxy: ['contracts', 'proxies/SafeProxy.sol/SafeProxy'],
  signer: ['passkey', '4337/SafeWebAuthnSharedSigner.sol/SafeWebAuthnSharedSigner'],
  verifier: ['passkey', 'verifiers/FCLP256Verifier.sol/FCLP256Verifier'],
} as const

/** The code that creates a contract. */
export function creationCode(contract: keyof typeof CODES): Hex {
  const [from, name] = CODES[contract]
  const file = path.join(unpacked(PACKAGES[from]), `build/artifacts/contracts/${name}.json`)
  return (JSON.parse(readFileSync(file, 'utf8')) as { bytecode: Hex }).bytecode
}

/** Where Safe's own factory of contracts puts it, on every network. */
export function canonicalAddress(contract: keyof typeof CODES): Hex {
  const salt = pad('0x', { size: 32 })
  return getCreate2Address({ from: SINGLETON_FACTORY, salt, bytecode: creationCode(contract) }).toLowerCase() as Hex
}

const SINGLETON_FACTORY = '0x914d7Fec6aaC8cd542e72Bca78B30650d45643d7'

/**
 * Puts the contracts at their real addresses. The creating code of each runs there, since the signer remembers its own
 * address. npm has version 0.2.0 of it; the deployed 0.2.1 also emits an event and checks that SHA-256 gave an answer.
 */
export async function placeSafe(chain: TestChain, { verifier = true } = {}): Promise<void> {
  for (const contract of ['singleton', 'factory', 'fallbackHandler', 'signer', 'verifier'] as const) {
    if (contract === 'verifier' && !verifier) continue
    const at = SAFE[contract]
    await chain.call('anvil_setCode', at, creationCode(contract))
    const runtime = await chain.call('eth_call', { to: at }, 'latest')
    await chain.call('anvil_setCode', at, runtime)
    // What its constructor stores: the singleton can never be set up as a wallet itself.
    if (contract === 'singleton') await chain.call('anvil_setStorageAt', at, word(4n), word(1n))
  }
}

function word(value: bigint): Hex {
  return toHex(value, { size: 32 })
}

function unpacked({ name, integrity }: { name: string; integrity: string }): string {
  const cache = process.env['XDG_CACHE_HOME'] ?? path.join(homedir(), '.cache')
  const folder = path.join(cache, 'coinslot-safe', integrity.slice(0, 16).replaceAll(/[^0-9A-Za-z]/g, '_'))
  if (existsSync(folder)) return path.join(folder, 'package')
  const partial = mkdtempSync(path.join(tmpdir(), 'safe-'))
  const packed = execFileSync('npm', ['pack', name, '--silent', '--pack-destination', partial], { encoding: 'utf8' })
  const file = path.join(partial, packed.trim())
  const hash = createHash('sha512').update(readFileSync(file)).digest('base64')
  if (hash !== integrity) throw new Error(`${name} has another content than expected`)
  mkdirSync(path.join(cache, 'coinslot-safe'), { recursive: true })
  const whole = `${folder}.${String(process.pid)}`
  mkdirSync(whole, { recursive: true })
  execFileSync('tar', ['xzf', file, '-C', whole])
  // Another test may have been faster.
  if (existsSync(folder)) rmSync(whole, { recursive: true })
  else renameSync(whole, folder)
  rmSync(partial, { recursive: true })
  return path.join(folder, 'package')
}
