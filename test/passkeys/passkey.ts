import { createHash, createSign, generateKeyPairSync } from 'node:crypto'
import type { Hex } from '../../service/chain/model.ts'
import type { Network } from '../../service/chain/networks.ts'
import {
  challengeOf,
  packSignature,
  readDer,
  walletAddress,
  wrapSignature,
  type PublicKey,
} from '../../service/kit/passkey-wallet.ts'

/** A passkey without a browser: a key of P-256 that signs as an authenticator does. */
export interface Passkey {
  key: PublicKey
  wallet: Hex
  /** DER, as browsers give it, with what was signed. */
  assert(challenge: Uint8Array): { authenticatorData: Uint8Array; clientData: string; der: Uint8Array }
  /** The wallet's signature of this digest, with or without what deploys it. */
  sign(digest: Hex, network: Network, options?: { wrapped?: boolean }): Hex
}

export function newPasskey({ host = 'pay.example', verified = true } = {}): Passkey {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
  const coordinate = (text: string): Hex => `0x${Buffer.from(text, 'base64url').toString('hex')}`
  const key = { x: coordinate(x), y: coordinate(y) }
  const wallet = walletAddress(key)
  const assert: Passkey['assert'] = (challenge) => {
    const text = Buffer.from(challenge).toString('base64url')
    const clientData = `{"type":"webauthn.get","challenge":"${text}","origin":"https://${host}","crossOrigin":false}`
    const authenticatorData = Buffer.concat([
      createHash('sha256').update(host).digest(),
      Buffer.from([verified ? 0x05 : 0x01, 0, 0, 0, 7]),
    ])
    const signed = Buffer.concat([authenticatorData, createHash('sha256').update(clientData).digest()])
    return { authenticatorData, clientData, der: createSign('sha256').update(signed).sign(privateKey) }
  }
  return {
    key,
    wallet,
    assert,
    sign(digest, { chainId }, { wrapped = true } = {}) {
      const { der, ...signed } = assert(challengeOf(digest, { wallet, chainId }))
      const signature = packSignature({ ...signed, ...readDer(der)! })!
      return wrapped ? wrapSignature(key, signature) : signature
    },
  }
}
