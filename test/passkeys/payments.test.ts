import fc from 'fast-check'
import {
  concat,
  decodeAbiParameters,
  decodeFunctionData,
  encodeAbiParameters,
  encodeFunctionData,
  encodePacked,
  getCreate2Address,
  hashTypedData,
  keccak256,
  pad,
  parseAbi,
} from 'viem'
import { parseErc6492Signature } from 'viem/utils'
import type { Hex, SignedAuthorization } from '../../service/chain/model.ts'
import {
  deploymentData,
  keyDeployedBy,
  packSignature,
  readDer,
  SAFE,
  wrapSignature,
} from '../../service/kit/passkey-wallet.ts'
import { withChecksum } from '../../service/kit/keccak.ts'
import { startChain, TYPES } from '../harness/chain.ts'
import { openWorld, request, sentBy, usdcOf, type World } from '../facilitator/world.ts'
import { newPasskey, type Passkey } from './passkey.ts'
import { canonicalAddress, creationCode, placeSafe } from './safe.ts'

const NOT_ALLOWED = 'eip6492_factory_not_allowed'
const SIGNATURE = 'invalid_exact_evm_signature'

describe('a payment by a passkey wallet', () => {
  let world: World
  beforeAll(async () => {
    world = await openWorld({ environment: { SETTLE_WAIT_MS: '10000', PASSKEY_WALLETS: 'true' } })
    await placeSafe(world.chain)
  })
  afterAll(() => world.close())

  const digestOf = (message: Omit<SignedAuthorization, 'signature'>) => {
    const { chainId, usdc } = world.chain.network
    return hashTypedData({
      domain: { name: usdc.name, version: usdc.version, chainId, verifyingContract: usdc.address },
      types: TYPES,
      primaryType: 'TransferWithAuthorization',
      message,
    })
  }

  async function signedBy(passkey: Passkey, { by = passkey, wrapped = true, value = 1_000_000n } = {}) {
    const owner = await world.chain.payer(0n)
    const terms = await owner.authorize(world.chain.network, world.seller, { from: passkey.wallet, value })
    const digest = digestOf(terms)
    const signature = by.sign(digest, world.chain.network, { wrapped: false })
    // Another's signature, in the place of this wallet's own.
    return { ...terms, signature: wrapped ? wrapSignature(passkey.key, signature) : signature }
  }

  async function funded(options?: Parameters<typeof newPasskey>[0]): Promise<Passkey> {
    const passkey = newPasskey(options)
    await world.chain.fund(passkey.wallet, 3_000_000n)
    return passkey
  }

  const settle = async (signed: SignedAuthorization) =>
    (await world.service.post('/settle', request(world.chain, 2, signed))).body as Record<string, unknown>
  const codeOf = (address: Hex) => world.chain.call('eth_getCode', address, 'latest')

  it('deploys the wallet with the first payment, and pays from the same one with the next', async () => {
    const passkey = await funded()
    const sponsor = world.chain.accounts[0]!.address
    const sent = await sentBy(world.chain, sponsor)
    expect(await settle(await signedBy(passkey))).toMatchObject({ success: true, payer: passkey.wallet })
    expect(await sentBy(world.chain, sponsor)).toBe(sent + 1)
    expect(await codeOf(passkey.wallet)).not.toBe('0x')
    expect(await settle(await signedBy(passkey))).toMatchObject({ success: true })
    expect(await settle(await signedBy(passkey, { wrapped: false }))).toMatchObject({ success: true })
    expect(await usdcOf(world.chain, passkey.wallet)).toBe(0n)
    const [most] = await world.database.statements.run<{ gas: string }>(
      'SELECT max(gas)::text AS gas FROM facilitator_transaction',
      [],
    )
    expect(Number(most!.gas)).toBeLessThan(700_000)
  })

  it('is at the address that the factory itself uses', async () => {
    const { key, wallet } = newPasskey()
    const data = deploymentData(key)
    const answer = (await world.chain.call('eth_call', { to: SAFE.factory, data }, 'latest')) as Hex
    expect(`0x${answer.slice(-40)}`).toBe(wallet)
  })

  it('is a Safe with one owner, which is the signer with this key, and no module', async () => {
    const passkey = await funded()
    await settle(await signedBy(passkey))
    const abi = parseAbi(['function getOwners()', 'function getThreshold()', 'function nonce()'])
    const read = async (functionName: 'getOwners' | 'getThreshold') =>
      (await world.chain.call(
        'eth_call',
        { to: passkey.wallet, data: encodeFunctionData({ abi, functionName }) },
        'latest',
      )) as Hex
    expect(
      decodeAbiParameters([{ type: 'address[]' }], await read('getOwners'))[0].map((one) => one.toLowerCase()),
    ).toEqual([SAFE.signer])
    expect(BigInt(await read('getThreshold'))).toBe(1n)
  })

  it.each<[string, () => Promise<SignedAuthorization>, string]>([
    ['the signature of another passkey', async () => signedBy(await funded(), { by: newPasskey() }), SIGNATURE],
    ['a passkey that did not verify its person', async () => signedBy(await funded({ verified: false })), SIGNATURE],
    [
      'a signature for another amount',
      async () => ({ ...(await signedBy(await funded())), value: 2_000_000n }),
      SIGNATURE,
    ],
    [
      'a signature for another nonce',
      async () => ({ ...(await signedBy(await funded())), nonce: keccak256('0x01') }),
      SIGNATURE,
    ],
    [
      'the wallet of another key in the envelope',
      async () => {
        const signed = await signedBy(await funded(), { wrapped: false })
        return { ...signed, signature: wrapSignature(newPasskey().key, signed.signature) }
      },
      'smart_wallet_deployment_failed',
    ],
    [
      'the same factory with another call',
      async () => {
        const passkey = await funded()
        const signed = await signedBy(passkey)
        const { data } = parseErc6492Signature(signed.signature)
        const other = `${data!.slice(0, -1)}1` as Hex
        return {
          ...signed,
          signature: envelope(SAFE.factory, other, parseErc6492Signature(signed.signature).signature),
        }
      },
      NOT_ALLOWED,
    ],
    [
      'another factory with the same call',
      async () => {
        const passkey = await funded()
        const { data, signature } = parseErc6492Signature((await signedBy(passkey)).signature)
        return { ...(await signedBy(passkey)), signature: envelope(SAFE.singleton, data!, signature) }
      },
      NOT_ALLOWED,
    ],
  ])('refuses %s, and sends nothing', async (_, make, reason) => {
    const signed = await make()
    const sponsor = world.chain.accounts[0]!.address
    const sent = await sentBy(world.chain, sponsor)
    const { body } = await world.service.post('/verify', request(world.chain, 2, signed))
    expect(body).toMatchObject({ isValid: false, invalidReason: reason })
    expect(await settle(signed)).toMatchObject({ success: false, errorReason: reason })
    expect(await sentBy(world.chain, sponsor)).toBe(sent)
  })

  it('is refused where the operator has not switched it on', async () => {
    const other = await world.add({ environment: {}, writes: false })
    const { body } = await other.post('/verify', request(world.chain, 2, await signedBy(await funded())))
    expect(body.invalidReason).toBe(NOT_ALLOWED)
  })

  it('is checked by the contract where a network has no precompile for P-256', async () => {
    const chain = await startChain({ hardfork: 'prague' })
    try {
      await placeSafe(chain)
      const passkey = newPasskey()
      await chain.fund(passkey.wallet, 1_000_000n)
      expect(
        await chain.call('eth_call', { to: '0x0000000000000000000000000000000000000100', data: '0x' }, 'latest'),
      ).toBe('0x')
      const from = chain.accounts[0]!.address
      await chain.call('anvil_impersonateAccount', from)
      const gas = '0x4c4b40'
      await chain.call('eth_sendTransaction', { from, to: SAFE.factory, data: deploymentData(passkey.key), gas })
      await chain.mine()
      const digest = keccak256('0x02')
      const data = encodeFunctionData({
        abi: parseAbi(['function isValidSignature(bytes32, bytes) view returns (bytes4)']),
        args: [digest, passkey.sign(digest, chain.network, { wrapped: false })],
      })
      const answer = await chain.call('eth_call', { to: passkey.wallet, data }, 'latest')
      expect(String(answer).slice(0, 10)).toBe('0x1626ba7e')
    } finally {
      await chain.stop()
    }
  })

  it('moves the money once when it is settled twice', async () => {
    const passkey = await funded()
    const signed = await signedBy(passkey)
    await settle(signed)
    await settle(signed)
    expect(await usdcOf(world.chain, passkey.wallet)).toBe(2_000_000n)
  })
})

describe('the contracts of a passkey wallet', () => {
  it('are at the addresses derived from the published code', () => {
    expect(canonicalAddress('singleton')).toBe(SAFE.singleton)
    expect(canonicalAddress('factory')).toBe(SAFE.factory)
    expect(canonicalAddress('fallbackHandler')).toBe(SAFE.fallbackHandler)
  })

  it("put the wallet at the address derived from its proxy's published code", () => {
    const { key, wallet } = newPasskey()
    const [, initializer] = decodeFunctionData({ abi: FACTORY, data: deploymentData(key) }).args
    const salt = keccak256(encodePacked(['bytes32', 'uint256'], [keccak256(initializer), 0n]))
    const bytecode = concat([creationCode('proxy'), pad(SAFE.singleton, { size: 32 })])
    expect(getCreate2Address({ from: SAFE.factory, salt, bytecode }).toLowerCase()).toBe(wallet)
    expect(withChecksum('0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed')).toBe(
      '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
    )
  })

  const bytes = fc.uint8Array({ minLength: 37, maxLength: 200 })
  const number = fc.bigInt({ min: 1n, max: 2n ** 255n })

  it('get signatures packed as by an ABI encoder', () => {
    const fields = fc.string({ minLength: 1, maxLength: 300 }).filter((text) => !/[{}\n]/.test(text))
    fc.assert(
      fc.property(bytes, fields, number, number, (authenticatorData, text, r, s) => {
        const clientData = `{"type":"webauthn.get","challenge":"${'A'.repeat(43)}",${text}}`
        const packed = packSignature({ authenticatorData, clientData, r, s })!
        const inner = `0x${packed.slice(2 + 2 * (65 + 32))}` as const
        expect(BigInt(`0x${packed.slice(2 + 130, 2 + 194)}`)).toBe(BigInt(inner.length / 2 - 1))
        const types = [{ type: 'bytes' }, { type: 'string' }, { type: 'uint256' }, { type: 'uint256' }] as const
        expect(inner).toBe(
          encodeAbiParameters(types, [`0x${Buffer.from(authenticatorData).toString('hex')}`, text, r, s]),
        )
        const { key } = PASSKEY
        expect(wrapSignature(key, packed)).toBe(envelope(SAFE.factory, deploymentData(key), packed))
      }),
    )
  })

  it('are deployed by exactly one call of the factory', () => {
    const { key } = PASSKEY
    const data = deploymentData(key)
    expect(keyDeployedBy(SAFE.factory, data)).toEqual(key)
    fc.assert(
      fc.property(fc.nat(data.length - 3), fc.integer({ min: 1, max: 15 }), (at, by) => {
        const digit = (parseInt(data[2 + at]!, 16) ^ by).toString(16)
        const other = `${data.slice(0, 2 + at)}${digit}${data.slice(3 + at)}` as Hex
        const read = keyDeployedBy(SAFE.factory, other)
        // Another digit of the key is another wallet; any other digit is no passkey wallet.
        expect(read).not.toEqual(key)
        if (read !== null) expect(deploymentData(read)).toBe(other)
      }),
    )
    expect(keyDeployedBy(SAFE.factory, `${data}00`)).toBeNull()
  })

  it('get signatures of authenticators only', () => {
    const random = fc.uint8Array({ maxLength: 80 })
    fc.assert(fc.property(random, (der) => expect(() => readDer(der)).not.toThrow()))
    for (let count = 0; count < 200; count++) {
      const { der } = PASSKEY.assert(new Uint8Array(32))
      const { r, s } = readDer(der)!
      expect(encodeDer(r, s)).toEqual(Buffer.from(der))
      expect(readDer(Buffer.concat([der, Buffer.from([0])]))).toBeNull()
      expect(readDer(der.subarray(0, -1))).toBeNull()
    }
  })

  const PASSKEY = newPasskey()
})

const FACTORY = parseAbi(['function createProxyWithNonce(address singleton, bytes initializer, uint256 saltNonce)'])

function envelope(factory: Hex, data: Hex, signature: Hex): Hex {
  const types = [{ type: 'address' }, { type: 'bytes' }, { type: 'bytes' }] as const
  return `${encodeAbiParameters(types, [factory, data, signature])}${'6492'.repeat(16)}`
}

function encodeDer(r: bigint, s: bigint): Buffer {
  const integer = (value: bigint): Buffer => {
    const hex = value.toString(16)
    const bytes = Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex')
    const signed = bytes[0]! >= 0x80 ? Buffer.concat([Buffer.from([0]), bytes]) : bytes
    return Buffer.concat([Buffer.from([2, signed.length]), signed])
  }
  const both = Buffer.concat([integer(r), integer(s)])
  return Buffer.concat([Buffer.from([0x30, both.length]), both])
}
