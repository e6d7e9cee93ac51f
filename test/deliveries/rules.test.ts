import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { Webhook } from 'standardwebhooks'
import { toKept } from '../../service/deliveries/rules/messages.ts'
import { deliveryOf } from '../../service/deliveries/rules/messages.ts'
import {
  afterFailure,
  ATTEMPTS,
  dueAt,
  isGivenUp,
  decisionOf,
  type Standing,
} from '../../service/deliveries/rules/schedule.ts'
import { signatureOf } from '../../service/deliveries/rules/messages.ts'
import { isId, newId } from '../../service/kit/ids.ts'
import { isSigningSecret, toSigningSecret } from '../../service/kit/signing-secret.ts'

const now = new Date('2026-01-31T12:00:00.000Z')
const second = 1_000
const minute = 60 * second
const hour = 60 * minute

describe('a signature', () => {
  const vectors = JSON.parse(readFileSync(new URL('vectors.json', import.meta.url), 'utf8')) as {
    secret: string
    id: string
    timestamp: number
    body: string
    signature: string
  }[]

  test.each(vectors)('is that of the golden vector for $id', ({ secret, id, timestamp, body, signature }) => {
    expect(signatureOf([secret], id, timestamp, body)).toBe(signature)
    // The official library says the same: the vectors are not our own opinion.
    const official = new Webhook(secret, secret.startsWith('whsec_') ? undefined : { format: 'raw' })
    expect(official.sign(id, new Date(timestamp * 1000), body)).toBe(signature)
  })

  test('is made with each secret while one replaces the other', () => {
    const [old, next] = [1, 2].map((n) => toSigningSecret(Buffer.alloc(32, n))) as [string, string]
    const both = signatureOf([next, old], 'dlv_1', 1, '{}')
    expect(both).toBe(`${signatureOf([next], 'dlv_1', 1, '{}')} ${signatureOf([old], 'dlv_1', 1, '{}')}`)
  })

  test('is refused without a secret, or with an invalid one', () => {
    expect(() => signatureOf([], 'dlv_1', 1, '{}')).toThrow('no signing secret')
    expect(() => signatureOf(['whsec_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'], 'dlv_1', 1, '{}')).toThrow(
      'not a signing secret',
    )
  })

  test.each([
    ['24 bytes', toSigningSecret(Buffer.alloc(24)), true],
    ['64 bytes', toSigningSecret(Buffer.alloc(64)), true],
    ['23 bytes', toSigningSecret(Buffer.alloc(23)), false],
    ['65 bytes', toSigningSecret(Buffer.alloc(65)), false],
    ['base64 without the prefix, which is the key itself', Buffer.alloc(32).toString('base64'), true],
    ['23 characters', 'x'.repeat(23), false],
    ['24 characters', 'x'.repeat(24), true],
    ['75 characters', 'x'.repeat(75), true],
    ['76 characters', 'x'.repeat(76), false],
    ['spaces inside', 'correct horse battery staple ~!', true],
    ['a space at the start', ` ${'x'.repeat(30)}`, false],
    ['a space at the end', `${'x'.repeat(30)} `, false],
    ['a letter beyond ASCII', `${'x'.repeat(30)}é`, false],
    ['a tab', `${'x'.repeat(12)}\t${'x'.repeat(12)}`, false],
    ['a line break at its end', `${'x'.repeat(30)}\n`, false],
    ['the other alphabet', `whsec_${Buffer.alloc(32, 255).toString('base64url')}`, false],
    ['loose last bits', 'whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAB=', false],
    ['a line break', `${toSigningSecret(Buffer.alloc(32))}\n`, false],
  ])('a secret of %s', (_, secret, good) => {
    expect(isSigningSecret(secret)).toBe(good)
  })
})

describe('the schedule', () => {
  const waits = [0, 5 * second, 30 * second, 2 * minute, 10 * minute, hour, 3 * hour, 6 * hour, 12 * hour, 24 * hour]

  test('has its ten attempts, none early, each at most a tenth late', () => {
    expect(ATTEMPTS).toBe(waits.length)
    waits.forEach((wait, place) => {
      expect(dueAt(place, now, 0)!.getTime() - now.getTime()).toBe(wait)
      expect(dueAt(place, now, 1)!.getTime() - now.getTime()).toBe(Math.round(wait * 1.1))
    })
    expect(dueAt(waits.length, now, 0)).toBeNull()
  })

  test.each([
    [200, '', 'confirmed'],
    [204, null, 'confirmed'],
    [299, 'x', 'confirmed'],
    [200, '{"duplicate": false}', 'confirmed'],
    [200, '[{"duplicate": true}]', 'confirmed'],
    [200, '"duplicate"', 'confirmed'],
    [200, '{"duplicate": true', 'confirmed'],
    [200, '{"duplicate": true}', 'failed'],
    [202, ' {"run": 1, "duplicate":true} ', 'failed'],
    [410, '', 'gone'],
    [301, '', 'failed'],
    [404, '', 'failed'],
    [500, '', 'failed'],
    [null, null, 'failed'],
  ] as const)('%s with %j is %s', (status, answer, decision) => {
    expect(decisionOf({ status, answer, retryAfter: false }, false)).toBe(decision)
  })

  test.each([
    [200, false, 'confirmed'],
    [302, false, 'failed'],
    [400, false, 'gone'],
    [404, true, 'gone'],
    [408, false, 'failed'],
    [425, false, 'failed'],
    [429, false, 'failed'],
    [500, true, 'gone'],
    [503, false, 'gone'],
    [503, true, 'failed'],
    [null, false, 'failed'],
  ] as const)('where errors are final, %s (Retry-After: %s) is %s', (status, retryAfter, decision) => {
    expect(decisionOf({ status, answer: '', retryAfter }, true)).toBe(decision)
  })

  const standing: Standing = { state: 'pending', place: 0, onUnconfirmed: 'hold' }

  test('continues after a failure, and ends exhausted', () => {
    expect(afterFailure(standing, 'failed', now, 0)).toEqual({
      state: 'pending',
      place: 1,
      dueAt: new Date(now.getTime() + 5 * second),
      reopened: false,
      notice: null,
    })
    const last = { ...standing, place: ATTEMPTS - 1 }
    expect(afterFailure(last, 'failed', now, 0)).toMatchObject({
      state: 'exhausted',
      dueAt: null,
      notice: 'delivery.exhausted',
    })
  })

  test('ends at a 410', () => {
    expect(afterFailure(standing, 'gone', now, 0)).toMatchObject({
      state: 'stopped',
      dueAt: null,
      notice: 'delivery.stopped',
    })
  })

  test('of a claimed delivery ends at a failure: its owner decides', () => {
    for (const decision of ['failed', 'gone'] as const) {
      expect(afterFailure({ ...standing, state: 'claimed' }, decision, now, 0)).toMatchObject({
        state: 'unconfirmed',
        dueAt: null,
        reopened: false,
        notice: 'delivery.unconfirmed',
      })
    }
  })

  test('of a claimed delivery continues with a reopened claim if chosen, up to the same end', () => {
    const claimed: Standing = { state: 'claimed', place: 2, onUnconfirmed: 'redeliver' }
    expect(afterFailure(claimed, 'failed', now, 0)).toEqual({
      state: 'pending',
      place: 3,
      dueAt: new Date(now.getTime() + 2 * minute),
      reopened: true,
      notice: null,
    })
    expect(afterFailure({ ...claimed, place: ATTEMPTS - 1 }, 'failed', now, 0)).toMatchObject({
      state: 'unconfirmed',
      notice: 'delivery.unconfirmed',
    })
  })

  test('disables an endpoint after exactly five days of failures', () => {
    const since = new Date(now.getTime() - 5 * 24 * hour)
    expect(isGivenUp(since, now)).toBe(true)
    expect(isGivenUp(new Date(since.getTime() + 1), now)).toBe(false)
  })
})

describe('the stored part of an answer', () => {
  test('is cut between characters', () => {
    const answer = Buffer.from('añ€😀', 'utf8')
    const cuts = Array.from({ length: answer.length + 1 }, (_, bytes) => toKept(answer, bytes))
    expect(cuts).toEqual(['', 'a', 'a', 'añ', 'añ', 'añ', 'añ€', 'añ€', 'añ€', 'añ€', 'añ€😀'])
  })

  test('contains no NUL or invalid bytes', () => {
    expect(toKept(Buffer.from([0x61, 0x00, 0xff, 0x62]), 10)).toBe('a\ufffd\ufffdb')
    const noise = createHash('sha256').update('noise').digest()
    expect(toKept(noise, 20)).not.toContain('\0')
  })
})

describe('the id of an event for one endpoint', () => {
  const event = newId('evt', now)

  test('is the same each time, another for another endpoint or event, and sorts by the event', () => {
    const id = deliveryOf(event, 'whe_a')
    expect(isId('dlv', id)).toBe(true)
    expect(deliveryOf(event, 'whe_a')).toBe(id)
    expect(deliveryOf(event, 'whe_b')).not.toBe(id)
    expect(deliveryOf(newId('evt', now), 'whe_a')).not.toBe(id)
    expect(id.slice(4, 14)).toBe(event.slice(4, 14))
  })
})
