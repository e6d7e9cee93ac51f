import fc from 'fast-check'
import { keccak256, toBytes } from 'viem'
import { keccak256 as ownKeccak } from '../../service/kit/keccak.ts'
import {
  isOwnChallenge,
  issueChallenge,
  nonceOf,
  toAuthenticate,
  type Challenge,
  type ChargeTerms,
} from '../../service/mpp/challenge.ts'
import { credentialText, readCredential } from '../../service/mpp/credential.ts'
import { challengeIn } from '../harness/mpp.ts'

const KEY = Buffer.from('k'.repeat(32))
const TERMS: ChargeTerms = {
  amount: 20_000n,
  currency: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
  recipient: '0x00000000000000000000000000000000000000a1',
  chainId: 84532,
  description: 'Weather “today” — "now"',
  resource: 'https://api.example/gate/weather/now?city=Bern',
}
const EXPIRES = new Date('2026-11-23T10:00:00Z')
const issued = (terms: Partial<ChargeTerms> = {}, header: string | null = null): Challenge =>
  issueChallenge({ ...TERMS, ...terms }, KEY, { expires: EXPIRES, header })

describe('a challenge', () => {
  it('is a header that a reader gets every parameter from', () => {
    const challenge = issued({}, 'Payment-Authorization')
    const read = challengeIn(new Headers({ 'www-authenticate': toAuthenticate(challenge) }))
    expect(read).toEqual({
      ...{ id: challenge.id, realm: 'api.example', method: 'evm', intent: 'charge', request: challenge.request },
      ...{ expires: '2026-11-23T10:00:00Z', header: 'Payment-Authorization', opaque: challenge.opaque },
    })
    expect(JSON.parse(Buffer.from(read['request']!, 'base64url').toString())).toEqual({
      ...{ amount: '20000', currency: TERMS.currency, recipient: TERMS.recipient, description: TERMS.description },
      methodDetails: { chainId: 84532, credentialTypes: ['authorization'], decimals: 6 },
    })
  })

  it('is recognised only unchanged, with its own key and resource', () => {
    const challenge = issued()
    expect(isOwnChallenge(challenge, TERMS.resource, KEY)).toBe(true)
    expect(isOwnChallenge(challenge, TERMS.resource, Buffer.alloc(32))).toBe(false)
    expect(isOwnChallenge(challenge, 'https://api.example/gate/other', KEY)).toBe(false)
    const other = Buffer.from(JSON.stringify({ resource: 'https://api.example/gate/other' })).toString('base64url')
    fc.assert(
      fc.property(
        fc.constantFrom<keyof Challenge>('id', 'realm', 'request', 'expires', 'digest', 'header', 'opaque'),
        fc.string({ minLength: 1 }),
        (field, value) => {
          const changed = { ...challenge, [field]: value }
          fc.pre(changed[field] !== challenge[field])
          expect(isOwnChallenge(changed, TERMS.resource, KEY)).toBe(false)
        },
      ),
    )
    expect(isOwnChallenge({ ...challenge, opaque: other }, 'https://api.example/gate/other', KEY)).toBe(false)
  })

  it('differs with every term, so that no two offers share a nonce', () => {
    const ids = [
      issued(),
      issued({ amount: 20_001n }),
      issued({ recipient: '0x00000000000000000000000000000000000000a2' }),
      issued({ chainId: 8453 }),
      issued({ resource: 'https://api.example/gate/other' }),
      issueChallenge(TERMS, KEY, { expires: new Date(EXPIRES.getTime() + 1_000), header: null }),
    ].map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
  })

  it('has a nonce that fits one hash, also where the host is as long as hosts get', () => {
    const host = `${'a'.repeat(60)}.${'b'.repeat(60)}.${'c'.repeat(60)}.example`
    const challenge = issued({ resource: `https://${host}/x` })
    expect(nonceOf(challenge)).toBe(keccak256(toBytes(challenge.id + challenge.realm)))
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 135 }), (data) => {
        expect(Buffer.from(ownKeccak(data)).toString('hex')).toBe(keccak256(data).slice(2))
      }),
    )
  })
})

describe('a credential', () => {
  it.each([
    [undefined, null],
    ['Bearer csk_sandbox_x', null],
    ['Payments abc', null],
    ['Payment', null],
    ['Payment abc', 'abc'],
    ['payment   abc  ', 'abc'],
  ])('is found in %j as %j', (header, text) => {
    expect(credentialText(header)).toBe(text)
  })

  it('names each field that is wrong, and never throws', () => {
    expect(readCredential({ challenge: { id: 'x' }, payload: {} })).toMatchObject({
      faults: expect.arrayContaining([['challenge.realm', expect.any(String)]]),
    })
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const read = readCredential(value)
        if ('faults' in read) expect(read.faults.length).toBeGreaterThan(0)
      }),
    )
  })
})
