import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import type { Request } from 'express'
import fc from 'fast-check'
import { parseJson, readBody } from '../../service/api/json.ts'
import { shapeOf } from '../../service/kit/json-shape.ts'

const parse = (text: string): unknown => parseJson(Buffer.from(text))

describe('JSON on the way in', () => {
  test('equals the result of JSON.parse for any JSON that JavaScript writes', () => {
    fc.assert(fc.property(fc.json(), (text) => expect(parse(text)).toEqual(JSON.parse(text))))
  })

  test('ends a text at its own quote, whatever quotes and backslashes are in it', () => {
    const part = fc.constantFrom('"', '\\', '\\"', '{', '}', '1e400', '9007199254740993', 'a')
    fc.assert(
      fc.property(fc.array(fc.array(part).map((parts) => parts.join(''))), (texts) => {
        expect(shapeOf(JSON.stringify(texts))).toEqual({ mayRound: false })
        expect(shapeOf(JSON.stringify([...texts, 1.5e300]))).toEqual({ mayRound: true })
      }),
      { numRuns: 1_000 },
    )
  })

  test('keeps every number that JavaScript writes', () => {
    const finite = fc.double({ noNaN: true, noDefaultInfinity: true })
    fc.assert(
      fc.property(finite, (value) => Object.is(parse(JSON.stringify(value)), JSON.parse(JSON.stringify(value)))),
    )
  })

  test.each([
    '1.0000000000000000001',
    '9007199254740993',
    '0.1000000000000000055',
    '1e400',
    '1e-400',
    '9007199254.0000001',
  ])('does not read %s as a number, since it would be rounded', (literal) => {
    const { amount } = parse(`{"amount": ${literal}}`) as { amount: unknown }
    expect(typeof amount).toBe('object')
    // In free-form data it still goes through as the nearest number.
    expect(JSON.stringify({ amount })).toBe(JSON.stringify({ amount: Number(literal) }))
  })

  test.each(['1.50000000000000000000', '100000000000000000000', '1e2', '0.1e1', '-0.0', '1234567890123456e-1'])(
    'reads %s as the number that it equals',
    (literal) => {
      expect(parse(literal)).toBe(Number(literal))
    },
  )

  test('a string of digits stays a string', () => {
    expect(parse('{"card": "4111111111111111111111"}')).toEqual({ card: '4111111111111111111111' })
  })
})

describe('a body', () => {
  test('whose client left before it was read is refused, and nobody waits for it', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
    client.write('POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nhalf')
    const [incoming] = (await once(server, 'request')) as [Request]
    const left = new Promise((resolve) => incoming.once('close', resolve))
    client.destroy()
    await left
    await expect(readBody(incoming, 100)).rejects.toMatchObject({ kind: 'invalid', code: 'bad_request' })
    server.close()
  })
})

describe('JSON that is refused', () => {
  const fieldsOf = (text: string): unknown => {
    try {
      parse(text)
      return null
    } catch (error) {
      return (error as { code?: string; fields?: unknown }).fields
    }
  }

  test('nests at most 128 levels deep, not counting brackets inside strings', () => {
    const nested = (depth: number): string => '[{"a":'.repeat(depth / 2) + '"[[[[\\"[["' + '}]'.repeat(depth / 2)
    expect(() => parse(nested(128))).not.toThrow()
    const details = { body: 'is nested too deeply: at most 128 levels are allowed' }
    expect(fieldsOf(nested(130))).toEqual({ details })
    expect(fieldsOf('['.repeat(200_000))).toEqual({ details })
  })

  test('has numbers of at most 1100 characters', () => {
    expect(parse(`{"a":1${'0'.repeat(300)}}`)).toEqual({ a: 1e300 })
    expect(fieldsOf(`{"a":1${'0'.repeat(1_100)}1}`)).toEqual({
      details: { body: 'must have numbers of at most 1100 characters' },
    })
  })

  test.each([
    ['{"a": 1,\n  "b": x}', 2, 8],
    ['{"a" 1}', 1, 6],
    ['', 1, 1],
    ['[1, 2', 1, 6],
  ])('says where it is wrong: %j', (text, line, column) => {
    const details = { body: `must be JSON: see line ${String(line)}, column ${String(column)}` }
    expect(fieldsOf(text)).toEqual({ details, line, column })
  })

  test('may not repeat a key where a number has to be read digit for digit', () => {
    expect(fieldsOf('{"a":1.0000000000000000001,"a":2}')).toMatchObject({ line: 1 })
  })
})
