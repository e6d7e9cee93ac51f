import fc, { type Arbitrary } from 'fast-check'
import type { Draft, HeaderLine } from './draft.ts'
import { wellFormed } from './values.ts'

/** One request as it goes over the wire. */
export interface Shot {
  kind: string
  bytes: Buffer
  /** Less comes than was announced, and then the end. */
  ends: boolean
}

/** Most have none of it: one oddity at a time is what tells where it is not looked for. */
export function oddHeaders(): Arbitrary<readonly HeaderLine[]> {
  return fc.oneof(
    { weight: 8, arbitrary: fc.constant<HeaderLine[]>([]) },
    { weight: 1, arbitrary: fc.constantFrom<HeaderLine>(...ODD).map((line) => [line]) },
    {
      weight: 1,
      arbitrary: fc.string({ unit: 'binary', maxLength: 60 }).map((text): HeaderLine[] => {
        return [
          [
            'Idempotency-Key',
            Buffer.from(wellFormed(text))
              .toString('latin1')
              .replaceAll(/[\r\n\0]/g, '?'),
          ],
        ]
      }),
    },
  )
}

type Broken = (text: string) => Buffer

export function brokenBody(): Arbitrary<Broken> {
  const as =
    (change: (text: string) => string): Broken =>
    (text) =>
      Buffer.from(change(text))
  return fc.oneof(
    { weight: 20, arbitrary: fc.constant(as((text) => text)) },
    {
      weight: 1,
      arbitrary: fc.constantFrom<Broken>(
        as((text) => text.slice(0, text.length / 2)),
        as((text) => text + text),
        as((text) => `\ufeff${text}`),
        as((text) => text.replace('{', '{"__proto__":{"polluted":true},')),
        as((text) => text.replace(/"(\w+)":/, '"$1":null,"$1":')),
        as(() => '['.repeat(100_000)),
        as(() => ''),
        as(() => ' '),
        as((text) => `[${text}]`),
        (text) => Buffer.from(text, 'utf16le'),
        (text) => Buffer.concat([Buffer.from(text.slice(0, -1)), Buffer.from([0xff, 0xc0, 0x80]), Buffer.from('}')]),
        () => Buffer.alloc(300_000, 'x'),
        () => Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0]),
      ),
    },
  )
}

type Framing = 'length' | 'chunked' | 'short' | 'long' | 'chunks broken' | 'chunks endless'

export function framing(): Arbitrary<Framing> {
  const odd = fc.constantFrom<Framing>('chunked', 'chunked', 'short', 'long', 'chunks broken', 'chunks endless')
  return fc.oneof({ weight: 15, arbitrary: fc.constant<Framing>('length') }, { weight: 1, arbitrary: odd })
}

export function assemble(
  draft: Draft,
  odd: readonly HeaderLine[],
  broken: Broken,
  framing: Framing,
  typeless: boolean,
): Shot {
  const { kind, method, target } = draft
  const body = draft.body === null ? null : broken(wellFormed(draft.body))
  const headerLines = [...draft.headers, ...odd]
  const has = (name: string): boolean => headerLines.some((line) => line[0].toLowerCase() === name)
  const headers: HeaderLine[] = [['Host', '127.0.0.1'], ['Connection', 'close'], ...headerLines]
  if (body !== null && !has('content-type') && !(typeless && odd.length > 0))
    headers.push(['Content-Type', 'application/json'])
  let content = body ?? Buffer.alloc(0)
  let ends = false
  if (body !== null) {
    if (framing === 'length' || framing === 'short' || framing === 'long') {
      const length = content.length + (framing === 'short' ? 5 : framing === 'long' ? -Math.min(2, content.length) : 0)
      headers.push(['Content-Length', String(length)])
      ends = framing === 'short'
    } else {
      headers.push(['Transfer-Encoding', 'chunked'])
      const size = framing === 'chunks broken' ? '-1;x=y' : content.length.toString(16)
      const last = framing === 'chunks endless' ? '' : '0\r\n\r\n'
      content = Buffer.concat([Buffer.from(`${size}\r\n`), content, Buffer.from(`\r\n${last}`)])
      ends = framing === 'chunks endless'
      // No bytes are a last chunk too.
      if (body.length === 0) ends = true
    }
  }
  // Announced by an odd header, and never sent.
  const announced = headerLines.find(([name]) => name === 'Content-Length')?.[1] ?? ''
  const chunks = headerLines.some(([name, value]) => name === 'Transfer-Encoding' && value.endsWith(' chunked'))
  if (Number(announced) > content.length || (body === null && chunks)) ends = true
  const lines = [`${method} ${target} HTTP/1.1`, ...headers.map(([name, value]) => `${name}: ${value}`), '', '']
  return { kind, bytes: Buffer.concat([Buffer.from(lines.join('\r\n'), 'latin1'), content]), ends }
}

const ODD: readonly HeaderLine[] = [
  ...(
    [
      'text/plain',
      'application/xml',
      'application/json; charset=utf-16',
      'multipart/form-data; boundary=x',
      '',
      '\u00ff',
    ] as const
  ).map((type): HeaderLine => ['Content-Type', type]),
  ...(['text/html', 'text/event-stream', '*/*;q=0', ',', 'x'.repeat(1_000)] as const).map((type): HeaderLine => [
    'Accept',
    type,
  ]),
  ...(['production', 'sandbox', 'PRODUCTION', '', 'sandbox, production'] as const).map((name): HeaderLine => [
    'Coinslot-Environment',
    name,
  ]),
  ...(['a', 'a', 'x'.repeat(256), ' ', '\u00e9'] as const).map((key): HeaderLine => ['Idempotency-Key', key]),
  ...(['gzip', 'br, gzip', 'identity, gzip', 'x'] as const).map((coding): HeaderLine => ['Content-Encoding', coding]),
  ...(['https://evil.example', 'null', 'x', ''] as const).map((origin): HeaderLine => ['Origin', origin]),
  ...(['wait=0', 'wait=-1', 'wait=9999', 'wait', 'respond-async'] as const).map((what): HeaderLine => ['Prefer', what]),
  ['Authorization', 'Bearer second'],
  ['Content-Length', '5'],
  ['Content-Length', '-1'],
  ['Content-Length', '1e3'],
  ['Content-Length', '99999999999999999999'],
  ['Transfer-Encoding', 'gzip, chunked'],
  ['Transfer-Encoding', 'xchunked'],
  ['Expect', '100-continue'],
  ['Expect', 'something'],
  ['Upgrade', 'websocket'],
  ['Upgrade', 'h2c'],
  ['X-Forwarded-For', '1.2.3.4, x'],
  ['X-Http-Method-Override', 'DELETE'],
  ['Cookie', 'coinslot.session_token=x; coinslot.session_token=y'],
  ['Cookie', 'a=b; '.repeat(500)],
  ['X-Large', 'x'.repeat(20_000)],
  ['Range', 'bytes=0-1,2-3'],
  ['Host', 'evil.example'],
  ['Accept-Encoding', 'br;q=x'],
  ['X-Nul', 'a\u0000b'],
  ['X-Folded', 'a\r\n b'],
  ['Bad Name', 'x'],
  ['', 'x'],
]
