import { randomBytes } from 'node:crypto'
import { keccak256, stringToHex } from 'viem'
import type { Network } from '../../service/chain/networks.ts'

interface Terms {
  network: Network
  amount: string
  recipient: string
  realm: string
  now: Date
}

/** The values of `WWW-Authenticate` for a path's kind of seller, between challenges of other schemes. */
export function challengesOf(what: string, { network, amount, recipient, realm, now }: Terms): string[] {
  const request = {
    amount,
    currency: what === 'asset' ? '0x00000000000000000000000000000000000000bb' : network.usdc.checksummed,
    recipient: what === 'nobody' ? '0x0000000000000000000000000000000000000000' : recipient,
    methodDetails: {
      chainId: what === 'network' ? 8453 : network.chainId,
      decimals: 6,
      credentialTypes: [what === 'permit2' ? 'permit2' : 'authorization'],
      ...(what === 'splits' ? { splits: [{ amount: '1', recipient }] } : {}),
    },
  }
  const seconds = what === 'short' ? 20 : what === 'over' ? -1 : 300
  const parameters = {
    id: what === 'repeat' ? 'always-the-same' : randomBytes(32).toString('base64url'),
    realm,
    method: what === 'tempo' ? 'tempo' : 'evm',
    intent: what === 'session' ? 'session' : 'charge',
    request: what === 'garbage' ? 'e30' : Buffer.from(JSON.stringify(request)).toString('base64url'),
    description: 'a "quoted" text, with a comma',
    expires: new Date(now.getTime() + seconds * 1_000).toISOString(),
    ...(what === 'own-header' ? { header: 'Payment-Authorization' } : {}),
    ...(what === 'host-header' ? { header: 'Host' } : {}),
    opaque: Buffer.from('{"order":"7"}').toString('base64url'),
  }
  const quoted = Object.entries(parameters).map(([name, value]) => `${name}="${value.replace(/["\\]/g, '\\$&')}"`)
  const other = 'Payment id="t", realm="t", method="tempo", intent="charge", request="e30"'
  return ['Bearer realm="x, Payment id=\\"no\\""', `${other}, Payment ${quoted.join(', ')}, Basic realm=basic`]
}

/** The payment in a credential, as the body for a facilitator. Throws unless it answers its challenge exactly. */
export function paymentIn(credential: string): { accepted: object; payload: object } {
  const { challenge, payload, source } = JSON.parse(
    Buffer.from(credential.slice('Payment '.length), 'base64url').toString(),
  ) as { challenge: Record<string, string>; payload: Record<string, string>; source: string }
  const { amount, currency, recipient, methodDetails } = JSON.parse(
    Buffer.from(challenge['request'] ?? '', 'base64url').toString(),
  )
  const { type, signature, ...authorization } = payload
  const network = `eip155:${methodDetails.chainId as number}`
  const right = [
    type === 'authorization',
    source === `did:pkh:${network}:${authorization['from']!}`,
    authorization['nonce'] === keccak256(stringToHex(`${challenge['id']!}${challenge['realm']!}`)),
    authorization['validAfter'] === '0',
    Number(authorization['validBefore']) === Math.floor(Date.parse(challenge['expires']!) / 1_000),
    challenge['description'] === 'a "quoted" text, with a comma',
    challenge['opaque'] === Buffer.from('{"order":"7"}').toString('base64url'),
  ]
  if (right.includes(false)) throw new Error(`a wrong credential: ${JSON.stringify([right, challenge, payload])}`)
  const accepted = {
    scheme: 'exact',
    network,
    amount,
    asset: currency,
    payTo: recipient,
    maxTimeoutSeconds: 300,
    extra: { name: methodDetails.chainId === 8453 ? 'USD Coin' : 'USDC', version: '2' },
  }
  return { accepted, payload: { authorization, signature } }
}
