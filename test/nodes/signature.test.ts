import { createHmac, randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { Webhook } from 'standardwebhooks'
import { verify, type Signed } from '../../nodes/shared/signature.ts'

interface Vector {
  secret: string
  id: string
  timestamp: number | string
  body: string
  signature: string
}

/** The service's own: what it signs and what is checked here are held to the same bytes. */
const VECTORS = JSON.parse(
  readFileSync(path.resolve(import.meta.dirname, '../deliveries/vectors.json'), 'utf8'),
) as Vector[]

const SECRET = `whsec_${Buffer.alloc(24, 7).toString('base64')}`
const NOW = 1_800_000_000_000

describe('a delivery', () => {
  it('has golden vectors', () => expect(VECTORS.length).toBeGreaterThan(2))

  it.each(VECTORS)('signed by the service as $id is genuine', ({ secret, id, timestamp, body, signature }) => {
    const signed = { id, timestamp: String(timestamp), signature, body: Buffer.from(body) }
    expect(verify(signed, [secret], Number(timestamp) * 1000)).toEqual({ genuine: true, id })
    const changed = Buffer.from(`${body} `)
    expect(verify({ ...signed, body: changed }, [secret], Number(timestamp) * 1000)).toMatchObject({ genuine: false })
  })

  it('signed by the official library is genuine', () => {
    const body = '{"payment":{"amount":5},"input":{"name":"Ünï\\u0000"}}'
    const at = new Date(NOW)
    const signature = new Webhook(SECRET).sign('dlv_1', at, body)
    expect(verify(signed({ body: Buffer.from(body), signature }), [SECRET], NOW)).toEqual({
      genuine: true,
      id: 'dlv_1',
    })
  })

  it('is verified by its raw bytes, also when they are not text', () => {
    const body = randomBytes(64)
    expect(verify(signed({ body }), [SECRET], NOW).genuine).toBe(true)
    expect(verify({ ...signed({ body }), body: Buffer.from(body.toString()) }, [SECRET], NOW).genuine).toBe(false)
  })

  it.each(['id', 'timestamp', 'signature'] as const)('without its %s is not', (name) => {
    for (const missing of [undefined, '']) {
      expect(verify({ ...signed(), [name]: missing }, [SECRET], NOW)).toMatchObject({
        genuine: false,
        cause: 'unsigned',
        reason: `This delivery is not signed: webhook-${name} missing.`,
      })
    }
  })

  it.each([-301, 301])('%d seconds away is stale, though its signature is right', (seconds) => {
    const old = signed({ timestamp: String(NOW / 1000 - seconds) })
    expect(verify(old, [SECRET], NOW)).toMatchObject({ genuine: false, cause: 'stale' })
  })

  it.each([-300, 300, 0])('%d seconds away is not stale', (seconds) => {
    expect(verify(signed({ timestamp: String(NOW / 1000 - seconds) }), [SECRET], NOW).genuine).toBe(true)
  })

  it.each(['1.8e9', '0x6b49d200', ' 1800000000', '-1', 'yesterday', '1800000000.5'])(
    'with the timestamp %j is not, though it was signed so',
    (timestamp) => {
      expect(verify(signed({ timestamp }), [SECRET], NOW)).toMatchObject({ genuine: false, cause: 'unsigned' })
    },
  )

  it.each([
    ['another secret', [`whsec_${Buffer.alloc(24, 8).toString('base64')}`]],
    ['an empty secret', ['whsec_']],
    ['no secret at all', []],
  ])('is not genuine by %s', (_, secrets) => {
    expect(verify(signed(), secrets, NOW)).toMatchObject({ genuine: false, cause: 'mismatch' })
  })

  it.each([
    'v1,',
    'v1',
    ',',
    ' ',
    'v1,AAAA',
    `v2,${mac('dlv_1', NOW / 1000, BODY())}`,
    mac('dlv_1', NOW / 1000, BODY()),
  ])('signed %j is not genuine', (signature) =>
    expect(verify(signed({ signature }), [SECRET], NOW).genuine).toBe(false),
  )

  it('is genuine by any signature of several, and by any secret of two', () => {
    const other = `whsec_${Buffer.alloc(32, 9).toString('base64')}`
    const right = signed().signature ?? ''
    expect(verify(signed({ signature: `v1,bm8= ${right} v1a,bm8=` }), [SECRET], NOW).genuine).toBe(true)
    expect(verify(signed(), [other, SECRET], NOW).genuine).toBe(true)
    expect(verify(signed(), [SECRET, other], NOW).genuine).toBe(true)
  })

  it.each([
    ['id', { id: 'dlv_2' }],
    ['timestamp', { timestamp: String(NOW / 1000 + 1) }],
  ])('cannot be sent again under another %s', (_, changed) => {
    expect(verify({ ...signed(), ...changed }, [SECRET], NOW).genuine).toBe(false)
  })
})

function signed(changes: Partial<Signed> = {}): Signed {
  const { id = 'dlv_1', timestamp = String(NOW / 1000), body = BODY() } = changes
  return { id, timestamp, body, signature: `v1,${mac(id, timestamp, body)}`, ...changes }
}

function mac(id: string, timestamp: string | number, body: Buffer): string {
  const key = Buffer.from(SECRET.slice('whsec_'.length), 'base64')
  return createHmac('sha256', key)
    .update(`${id}.${String(timestamp)}.`)
    .update(body)
    .digest('base64')
}

function BODY(): Buffer {
  return Buffer.from('{"payment":{"amount":5}}')
}
