/** A valid request of either version, and the ways in which its form can be wrong. No chain is needed for these. */

const USDC = '0x036CbD53842c5426634e7929541eC2318f3dCF7e'
const SELLER = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const BUYER = '0xF39Fd6e51aad88F6F4ce6aB8827279cffFb92266'

const authorization = {
  from: BUYER,
  to: SELLER,
  value: '1000000',
  validAfter: '0',
  validBefore: '4102444800',
  nonce: `0x${'ab'.repeat(32)}`,
}
const payload = { signature: `0x${'11'.repeat(64)}1b`, authorization }
const terms = {
  scheme: 'exact',
  payTo: SELLER,
  asset: USDC,
  maxTimeoutSeconds: 60,
  extra: { name: 'USDC', version: '2' },
}

export const V1 = {
  x402Version: 1,
  paymentPayload: { x402Version: 1, scheme: 'exact', network: 'base-sepolia', payload },
  paymentRequirements: {
    ...terms,
    network: 'base-sepolia',
    maxAmountRequired: '1000000',
    resource: 'https://seller.example/paid',
    description: '',
    mimeType: '',
  },
}
const v2Terms = { ...terms, network: 'eip155:84532', amount: '1000000' }
export const V2 = {
  x402Version: 2,
  paymentPayload: { x402Version: 2, resource: { url: 'https://seller.example/paid' }, accepted: v2Terms, payload },
  paymentRequirements: v2Terms,
}

type Path = readonly string[]
const signed = (name: string): Path => ['paymentPayload', 'payload', 'authorization', name]

/**
 * The path of a faulty field, which the error must name, and the value that it gets (`undefined`: the field is
 * missing).
 */
const FAULTS: [Path, unknown][] = [
  [['x402Version'], undefined],
  [['x402Version'], 3],
  [['x402Version'], '1'],
  [['paymentPayload'], undefined],
  [['paymentPayload'], 'eyJ4NDAyVmVyc2lvbiI6MX0='],
  [['paymentPayload'], null],
  [['paymentPayload', 'x402Version'], 7],
  [['paymentPayload', 'payload'], undefined],
  [['paymentPayload', 'payload'], []],
  [['paymentPayload', 'payload', 'signature'], undefined],
  [['paymentPayload', 'payload', 'signature'], '0x'],
  [['paymentPayload', 'payload', 'signature'], '0x123'],
  [['paymentPayload', 'payload', 'signature'], '11'.repeat(65)],
  [['paymentPayload', 'payload', 'signature'], 12],
  [['paymentPayload', 'payload', 'authorization'], undefined],
  [['paymentPayload', 'payload', 'authorization'], 'x'],
  [signed('from'), undefined],
  [signed('from'), '0x123'],
  [signed('from'), `${BUYER}00`],
  [signed('to'), 'vitalik.eth'],
  [signed('value'), 1_000_000],
  [signed('value'), '-1'],
  [signed('value'), '1.5'],
  [signed('value'), '1e6'],
  [signed('value'), '0x10'],
  [signed('value'), ''],
  [signed('value'), '007'],
  [signed('value'), String(2n ** 256n)],
  [signed('validAfter'), -1],
  [signed('validAfter'), undefined],
  [signed('validBefore'), 'soon'],
  [signed('validBefore'), null],
  [signed('nonce'), '0x1234'],
  [signed('nonce'), 5],
  [signed('extra'), 'unknown'],
  [['paymentRequirements'], undefined],
  [['paymentRequirements'], 12],
  [['paymentRequirements', 'scheme'], undefined],
  [['paymentRequirements', 'network'], ''],
  [['paymentRequirements', 'network'], 84532],
  [['paymentRequirements', 'payTo'], '0xseller'],
  [['paymentRequirements', 'asset'], undefined],
  [['paymentRequirements', 'asset'], 'USDC'],
  [['paymentRequirements', 'extra'], 'USDC'],
  [['paymentRequirements', 'extra', 'name'], 5],
  [['paymentRequirements', 'maxTimeoutSeconds'], 'soon'],
]

export interface Malformed {
  name: string
  body: unknown
  field: string
}

export const MALFORMED: readonly Malformed[] = [V1, V2].flatMap((sound) => [
  ...FAULTS.map(([path, value]) => ({
    name: `version ${String(sound.x402Version)}, ${path.join('.')} ${value === undefined ? 'missing' : JSON.stringify(value).slice(0, 40)}`,
    body: changed(sound, path, value),
    field: path.join('.'),
  })),
  ...['', '01', '1.0', '-5', 1_000_000, null, undefined].map((value) => {
    const name = sound.x402Version === 1 ? 'maxAmountRequired' : 'amount'
    const path = ['paymentRequirements', name]
    return { name: `${name} ${String(value)}`, body: changed(sound, path, value), field: path.join('.') }
  }),
])

function changed(from: unknown, [first, ...rest]: Path, value: unknown): unknown {
  if (first === undefined) return value
  const fields = { ...(from as Record<string, unknown>) }
  fields[first] = changed(fields[first], rest, value)
  return fields
}
