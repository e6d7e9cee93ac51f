import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { DomainError } from '../../service/kit/errors.ts'
import { parseKeyring } from '../../service/vault/keyring.ts'
import { Secret } from '../../service/vault/secret.ts'
import { vaultOf, type Vault } from '../../service/vault/vault.ts'

const keyText = (id: string) => `${id}:${randomBytes(32).toString('base64')}`
const FIRST = keyText('first')
const SECOND = keyText('second')
const vault = vaultOf(parseKeyring(FIRST))

/** Whole code points: a secret is text. */
const text = fc.string({ unit: 'binary' })

describe('a sealed secret', () => {
  it('opens with its context to the value that was sealed', () => {
    fc.assert(
      fc.property(text, text, (value, context) => {
        expect(vault.open(vault.seal(new Secret(value), context), context).reveal()).toBe(value)
      }),
    )
  })

  it('does not open with another context', () => {
    fc.assert(
      fc.property(text, text, text, (value, context, other) => {
        fc.pre(context !== other)
        expect(codeOf(vault, vault.seal(new Secret(value), context), other)).toBe('vault_unreadable')
      }),
    )
  })

  it('does not open with any byte of it changed, dropped or added', () => {
    fc.assert(
      fc.property(text, fc.nat(), fc.integer({ min: 1, max: 127 }), (value, where, change) => {
        const token = vault.seal(new Secret(value), 'rda_1/webhookHeaders')
        const at = where % token.length
        const changed = String.fromCharCode(token.charCodeAt(at) ^ change)
        for (const forged of [
          token.slice(0, at) + changed + token.slice(at + 1),
          token.slice(0, at) + token.slice(at + 1),
          token.slice(0, at) + changed + token.slice(at),
        ]) {
          fc.pre(forged !== token)
          expect(['vault_unreadable', 'vault_key_missing']).toContain(codeOf(vault, forged, 'rda_1/webhookHeaders'))
        }
      }),
      { numRuns: 1000 },
    )
  })

  it('does not open with any single byte changed: every byte, one after the other', () => {
    const token = vault.seal(new Secret('a secret of some length'), 'here')
    for (let at = 0; at < token.length; at++) {
      for (const letter of ['A', 'B', '-', '_', '.', '=', '+', ' ', '\0']) {
        const forged = token.slice(0, at) + letter + token.slice(at + 1)
        if (forged === token) continue
        expect(['vault_unreadable', 'vault_key_missing']).toContain(codeOf(vault, forged, 'here'))
      }
    }
  })

  it.each([
    '',
    '.',
    'v1',
    'v1.first',
    'v1.first..',
    'v2.first.AAAAAAAAAAAAAAAA.AAAA',
    'v1.first.AAAAAAAAAAAAAAAA.AAAA',
  ])('is not this: %p', (token) => {
    expect(codeOf(vault, token, 'here')).toBe('vault_unreadable')
    if (!token.startsWith('v1.first.A')) expect(() => vault.needsRotation(token)).toThrow(DomainError)
  })

  it('is different each time, though the secret is the same', () => {
    const tokens = new Set(Array.from({ length: 1000 }, () => vault.seal(new Secret('same'), 'here')))
    expect(tokens.size).toBe(1000)
  })

  it('survives the rotation of its key, until the old key is removed', () => {
    fc.assert(
      fc.property(text, text, (value, context) => {
        const token = vault.seal(new Secret(value), context)
        const rotated = vaultOf(parseKeyring(SECOND, FIRST))
        expect(vault.needsRotation(token)).toBe(false)
        expect(rotated.needsRotation(token)).toBe(true)
        const renewed = rotated.seal(rotated.open(token, context), context)
        expect(rotated.needsRotation(renewed)).toBe(false)

        const later = vaultOf(parseKeyring(SECOND))
        expect(later.open(renewed, context).reveal()).toBe(value)
        expect(codeOf(later, token, context)).toBe('vault_key_missing')
      }),
    )
  })

  it('does not open with another key of the same name', () => {
    const other = vaultOf(parseKeyring(keyText('first')))
    expect(codeOf(other, vault.seal(new Secret('x'), 'here'), 'here')).toBe('vault_unreadable')
  })

  it('reveals nothing about itself when it does not open', () => {
    const token = vault.seal(new Secret('hunter2'), 'here')
    const error = caught(() => vault.open(token, 'there'))
    expect([error.kind, error.message, error.fields]).toEqual(['failed', 'A stored secret could not be opened.', {}])
  })

  it('is refused when it is not valid text', () => {
    expect(caught(() => vault.seal(new Secret('\ud800'), 'here')).code).toBe('secret_not_text')
  })
})

function codeOf(from: Vault, token: string, context: string): string {
  return caught(() => from.open(token, context)).code
}

function caught(work: () => unknown): DomainError {
  try {
    work()
  } catch (error) {
    if (error instanceof DomainError) return error
    throw error
  }
  throw new Error('it was not refused')
}
