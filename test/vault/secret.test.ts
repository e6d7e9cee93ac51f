import { format, inspect } from 'node:util'
import { deserialize, serialize } from 'node:v8'
import fc from 'fast-check'
import { Secret } from '../../service/vault/secret.ts'

describe('a secret', () => {
  const ways: Readonly<Record<string, (secret: Secret) => unknown>> = {
    'as text': (secret) => String(secret),
    'in a template': (secret) => `it is ${secret as unknown as string}`,
    'added to a text': (secret) => 'x' + (secret as unknown as string),
    'in JSON': (secret) => JSON.stringify(secret),
    'deep in JSON': (secret) => JSON.stringify({ a: [{ secret }] }),
    inspected: (secret) => inspect(secret),
    'inspected deep and whole': (secret) =>
      inspect({ a: { secret } }, { depth: null, showHidden: true, getters: true }),
    'inspected without its own say': (secret) => inspect(secret, { customInspect: false, showHidden: true }),
    'formatted %s': (secret) => format('%s', secret),
    'formatted %o': (secret) => format('%o', secret),
    'formatted %j': (secret) => format('%j', secret),
    cloned: (secret) => inspect(structuredClone({ secret }), { depth: null, showHidden: true }),
    serialised: (secret) => serialize({ secret }).toString('latin1'),
    'serialised and back': (secret) => inspect(deserialize(serialize({ secret })), { depth: null }),
    // oxlint-disable-next-line typescript/no-misused-spread -- the accident that is tested
    spread: (secret) => JSON.stringify({ ...secret }),
    assigned: (secret) => JSON.stringify(Object.assign({}, secret)),
    'as entries': (secret) => JSON.stringify(Object.entries(secret)),
    'by its names': (secret) => JSON.stringify(Reflect.ownKeys(secret)),
    'by its prototype': (secret) => inspect(Object.getOwnPropertyDescriptors(Object.getPrototypeOf(secret))),
    'in an error': (secret) => inspect(new Error(`no ${secret as unknown as string}`, { cause: secret })),
    'as a key': (secret) => JSON.stringify({ [secret as unknown as string]: 1 }),
    'in a URL': (secret) => new URL(`http://a.test/?q=${secret as unknown as string}`).href,
    'in a list': (secret) => [secret].join(),
    'as a number': (secret) => String(Number(secret)),
  }

  it.each(Object.entries(ways))('is not seen %s', (_name, show) => {
    fc.assert(
      fc.property(
        fc.string({ minLength: 12, maxLength: 12, unit: fc.constantFrom('X', 'Y', 'Z', 'Q', '7') }),
        (value) => {
          expect(show(new Secret(value))).not.toContain(value)
        },
      ),
    )
  })

  it('is the mask wherever something must be shown', () => {
    const secret = new Secret('hunter2')
    for (const name of ['as text', 'inspected', 'formatted %s', 'in a list']) {
      expect(ways[name]?.(secret)).toBe('[secret]')
    }
    expect(JSON.stringify({ secret })).toBe('{"secret":"[secret]"}')
  })

  it('is revealed by reveal(), which cannot be replaced', () => {
    const secret = new Secret('hunter2')
    expect(secret.reveal()).toBe('hunter2')
    expect(Object.isFrozen(secret)).toBe(true)
    expect(() => Object.assign(secret, { reveal: () => 'other' })).toThrow(TypeError)
  })
})
