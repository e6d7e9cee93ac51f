import { randomBytes } from 'node:crypto'
import { HDKey, mnemonicToAccount } from 'viem/accounts'
import { getAddress, toHex } from 'viem'
import { loadCurve, loadKeccak } from '../../service/chain/curve.ts'
import { accountOfSeed, checksummed, depositAddresses, depositSigner } from '../../service/chain/keys.ts'
import { createSignatures } from '../../service/chain/eip712.ts'
import { NETWORKS } from '../../service/chain/networks.ts'
import { readConfig } from '../../service/config.ts'
import { testService } from '../harness/service.ts'
import { walletKeys } from './world.ts'

const WORDS = 'test test test test test test test test test test test junk'

describe('the addresses of an account', () => {
  test.each(['native', 'wasm'] as const)(
    'equal those that other wallet programs derive from the same words (%s)',
    async (kind) => {
      const [curve, keccak] = await Promise.all([loadCurve(kind), loadKeccak()])
      const signatures = createSignatures(curve, keccak)
      // At m/44'/60'/0'/0/0; the account's key is three levels up.
      const seed = Buffer.from(SEED_OF_WORDS, 'hex')
      const account = HDKey.fromMasterSeed(seed).derive("m/44'/60'/0'")
      const { signer, xpub } = depositSigner(account.privateExtendedKey, { curve, signatures })
      const book = depositAddresses(xpub, { curve, keccak })
      for (const index of [0, 1, 7, 100_000]) {
        const known = mnemonicToAccount(WORDS, { addressIndex: index })
        expect(checksummed(keccak, book.addressAt(index))).toBe(known.address)
        const authorization = {
          from: book.addressAt(index),
          to: book.treasury,
          value: 1n,
          validAfter: 0n,
          validBefore: 1n,
          nonce: toHex(index, { size: 32 }),
        }
        const { signature } = signer.sign(index, NETWORKS.base, authorization)
        expect(signatures.recover(signatures.digest(NETWORKS.base, authorization), signature)).toBe(authorization.from)
        expect(() => signer.sign(index + 1, NETWORKS.base, authorization)).toThrow('does not belong to the address')
      }
      expect(checksummed(keccak, book.treasury)).toBe(mnemonicToAccount(WORDS, { changeIndex: 1 }).address)
      expect(signer.account).toBe(book.account)
    },
  )

  test('are written with their checksum', async () => {
    const keccak = await loadKeccak()
    for (let count = 0; count < 200; count++) {
      const address = toHex(BigInt(count + 1) * 0x123456789abcdef123456789abcdefn, { size: 20 })
      expect(checksummed(keccak, address)).toBe(getAddress(address))
    }
  })

  test('need a whole public key, and refuse one that could sign', async () => {
    const [curve, keccak] = await Promise.all([loadCurve(), loadKeccak()])
    const xprv = accountOfSeed('00'.repeat(32))
    expect(() => depositAddresses(xprv, { curve, keccak })).toThrow('must be a public key')
    const { WALLET_XPUB } = await walletKeys()
    const broken = WALLET_XPUB.replace(/.$/, WALLET_XPUB.endsWith('2') ? '3' : '2')
    expect(() => depositAddresses(broken, { curve, keccak })).toThrow('incomplete')
  })
})

describe('the configuration of the wallets', () => {
  const faults = (environment: Record<string, string>): readonly string[] => {
    try {
      readConfig(environment)
      return []
    } catch (error) {
      return (error as { faults: string[] }).faults
    }
  }

  test('reports one sentence per fault', async () => {
    const { WALLET_XPRV, WALLET_XPUB } = await walletKeys()
    expect(faults({ WALLET_XPUB: WALLET_XPRV })).toEqual([expect.stringContaining('never one that can sign')])
    expect(faults({ WALLET_XPRV: WALLET_XPUB })).toEqual([expect.stringContaining('extended private key')])
    expect(faults({ WALLET_XPRV, ROLES: 'api' })).toEqual([
      'WALLET_XPRV must not be set where ROLES has no worker: nobody else signs',
    ])
    expect(
      faults({ WITHDRAWAL_LIMIT_PER_DAY: '-1', WITHDRAWAL_ALLOW_LIST: '0x12', IDENTITY_HOOK_SECRET: 'x' }),
    ).toHaveLength(3)
    expect(faults({ WITHDRAWAL_ALLOW_LIST: ' , ' })).toEqual(['WITHDRAWAL_ALLOW_LIST must list at least one address'])
    expect(faults({ WALLET_XPUB, WALLET_XPRV, DEPOSIT_CONFIRMATIONS: '0' })).toEqual([
      expect.stringContaining('DEPOSIT_CONFIRMATIONS'),
    ])
  })

  test('two keys that do not belong together stop the start', async () => {
    const { WALLET_XPUB } = await walletKeys()
    const opening = testService({ WALLET_XPUB, WALLET_XPRV: accountOfSeed('11'.repeat(32)) })
    await expect(opening).rejects.toThrow('WALLET_XPRV does not belong to WALLET_XPUB.')
  })
})

describe("a wallet's address", () => {
  test('is assigned once under concurrent requests, and no two are the same', async () => {
    const service = await testService()
    const owners = Array.from({ length: 20 }, (_, count) => ({
      userId: `usr_${String(count)}`,
      environment: count % 2 === 0 ? ('sandbox' as const) : ('production' as const),
    }))
    const addresses = await Promise.all(
      [...owners, ...owners, ...owners].map((owner) => service.wallets.depositAddress(owner)),
    )
    expect(new Set(addresses).size).toBe(20)
    for (const [place, address] of addresses.entries()) expect(address).toBe(addresses[place % 20])
    await service.close()
  })

  test('is shown as a link and a picture that a phone understands', async () => {
    const service = await testService()
    const person = await service.person()
    const { body, status } = await person.call('GET', '/trpc/wallet.receiving')
    expect(status).toBe(200)
    const { address, network, link, qr } = body.result.data as Record<string, string>
    const { usdc, chainId } = NETWORKS['base-sepolia']
    expect(link).toBe(`ethereum:${usdc.checksummed}@${String(chainId)}/transfer?address=${String(address)}`)
    expect({ network, address }).toEqual({
      network: 'base-sepolia',
      address: (await person.call('GET', '/v1/wallet/balance')).body.wallet.walletAddress,
    })
    expect(qr).toMatch(/^<svg .*<\/svg>$/s)
    await service.close()
  })

  test('is null where a live server has no key to derive it from', async () => {
    const VAULT_KEY = `k:${randomBytes(32).toString('base64')}`
    const live = await testService({ LIVE: 'true', AUTH_SECRET: 'a'.repeat(40), VAULT_KEY })
    expect(await live.wallets.depositAddress({ userId: 'usr_1', environment: 'production' })).toBeNull()
    await live.close()
  })
})

/** PBKDF2 of the words, as BIP-39 has it: the known vector of every development chain. */
const SEED_OF_WORDS =
  '9dfc3c64c2f8bede1533b6a79f8570e5943e0b8fd1cf77107adf7b72cef42185d564a3aee24cab43f80e3c4538087d70fc824eabbad596a23c97b6ee8322ccc0'
