import fc, { type Arbitrary } from 'fast-check'

/** JSON as text: NaN, numbers without end and half a surrogate have no value that could be serialised. */
export type Text = string

/** What no field should take, or only after a close look. */
export function nastyValue(ids: readonly string[]): Arbitrary<Text> {
  return fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...LITERALS) },
    { weight: 3, arbitrary: fc.constantFrom(...STRINGS).map((text) => JSON.stringify(text)) },
    { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }).map((text) => JSON.stringify(text)) },
    { weight: 1, arbitrary: fc.double().map((value) => (Number.isFinite(value) ? JSON.stringify(value) : 'NaN')) },
    { weight: 1, arbitrary: fc.constantFrom(...ids).map((id) => JSON.stringify(id)) },
    { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.stringify(value)) },
    { weight: 1, arbitrary: fc.integer({ min: 10, max: 3_000 }).map((deep) => '['.repeat(deep) + ']'.repeat(deep)) },
    {
      weight: 1,
      arbitrary: fc.integer({ min: 10, max: 3_000 }).map((deep) => `${'{"a":'.repeat(deep)}1${'}'.repeat(deep)}`),
    },
  )
}

/** What stands where a word or an address is wanted: in a path, a query, a header. */
export function nastyWord(ids: readonly string[]): Arbitrary<string> {
  return fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...ids) },
    { weight: 3, arbitrary: fc.constantFrom(...WORDS) },
    { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 30 }).map((text) => encode(text)) },
    { weight: 1, arbitrary: fc.string({ minLength: 1, maxLength: 30 }).map((text) => encode(text)) },
  )
}

/** Half a surrogate has no UTF-8. */
export function wellFormed(text: string): string {
  return Buffer.from(text).toString()
}

function encode(text: string): string {
  return encodeURIComponent(wellFormed(text))
}

const LITERALS: readonly Text[] = [
  ...['null', 'true', 'false', '0', '-0', '-1', '1', '1e308', '-1e308', '1e400', '1e-7', '0.0000001', '1.0000001'],
  ...['9007199254740993', '9007199255', '9007199254.000001', '123456789012345678901234567890', '1.0000000000000001'],
  ...[
    'NaN',
    'Infinity',
    '-Infinity',
    'undefined',
    '01',
    '+1',
    '.5',
    '5.',
    '0x10',
    '1_000',
    "'a'",
    '"\\ud800"',
    '"\\udc00\\ud800"',
  ],
  ...['"\\u0000"', '"a\\u0000b"', '"\\u202e"', '[]', '{}', '[[]]', '[null]', '[{}]', '{"__proto__":{"polluted":true}}'],
  ...[
    '{"constructor":{"prototype":{"polluted":true}}}',
    '{"toString":1}',
    '{"length":4294967296}',
    '{"then":1}',
    '{"$ne":1}',
  ],
]

const STRINGS: readonly string[] = [
  ...['', ' ', '\t', '\n', '\u0000', '\u007f', '\ufeff', '\u2028', 'İ', 'ﬁ', 'e\u0301', '👩‍👩‍👧', '𝟭', '１', '١'],
  ...['NaN', 'Infinity', '1', '-1', '1e5', '0x1', '1,5', 'true', 'null', '[object Object]', '__proto__', 'constructor'],
  ...[
    "' OR 1=1 --",
    "'; DROP TABLE ledger_account; --",
    '{{7*7}}',
    '${7*7}',
    '%s%s%n',
    '<script>',
    '$(sleep 5)',
    '(a+)+$',
  ],
  ...['../../etc/passwd', '..\\..\\', 'C:\\', '/', '.', '..', '*', '**', 'a\r\nX-Injected: 1', '%00', '%2e%2e%2f'],
  ...[
    'http://169.254.169.254/',
    'http://[::ffff:a9fe:a9fe]/',
    'http://2852039166/',
    'http://0x7f.1/',
    'http://127.0.0.1:9/',
  ],
  ...[
    'file:///etc/passwd',
    'gopher://127.0.0.1/',
    'http://a:b@127.0.0.1:9/',
    'http://127.0.0.1:99999/',
    'http://',
    'http:///x',
  ],
  ...['javascript:alert(1)', 'data:text/html,x', 'https://127.0.0.1:9/\u0000', 'http://[::1]:9/', 'HTTP://127.0.0.1:9'],
  ...[
    '2026-13-45',
    '9999-12-31T23:59:59Z',
    '+275760-09-13T00:00:00.001Z',
    '-000001-01-01T00:00:00Z',
    '0000-01-01T00:00:00Z',
  ],
  ...[
    '2026-01-31T12:00:00Z',
    '1970-01-01T00:00:00Z',
    `0x${'0'.repeat(40)}`,
    `0x${'f'.repeat(40)}`,
    `0x${'F'.repeat(64)}`,
  ],
  ...[`0x${'11'.repeat(20)}`, `0x${'g'.repeat(40)}`, '0x', 'base', 'base-sepolia', 'eip155:84532', 'eip155:1', 'exact'],
  ...['x'.repeat(256), 'x'.repeat(10_000), '🪙'.repeat(5_000), 'a-'.repeat(60), 'sandbox/echo', 'a'.repeat(63)],
]

const WORDS: readonly string[] = [
  ...[
    '',
    '.',
    '..',
    '%2e',
    '%2e%2e',
    '%2e%2e%2f%2e%2e%2fetc%2fpasswd',
    '..%2f..%2f',
    '%252e%252e',
    '%c0%ae%c0%ae%c0%af',
  ],
  ...['%00', 'a%00b', '%0d%0aX-Injected:%201', '%E0%A4%A', '%', '%zz', '%ed%a0%80', '%f4%90%80%80', '%ff', '%u0000'],
  ...[
    '__proto__',
    'constructor',
    'toString',
    'hasOwnProperty',
    'null',
    'undefined',
    'NaN',
    '-1',
    '0',
    '1e9',
    '99999999999',
  ],
  ...[
    "'%20OR%201=1--",
    '%27',
    '%22',
    '%3Cscript%3E',
    '*',
    '~',
    ';a=b',
    ':id',
    '{id}',
    'a%2Fb',
    'a%5Cb',
    'assets',
    'payments',
  ],
  ...[
    'x'.repeat(300),
    'x'.repeat(5_000),
    '%F0%9F%AA%99'.repeat(50),
    'rda_',
    'chk_',
    'pay_',
    'mcp',
    'pay',
    'eip155:84532',
  ],
]
