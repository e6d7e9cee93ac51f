import { execFileSync } from 'node:child_process'
import { retryAfterMs as inClient } from '../../service/client/request.ts'
import { retryAfterMs } from '../../service/kit/retry-after.ts'

const NOW = Date.UTC(2026, 10, 27, 8, 0, 0)
const DAY_MS = 86_400_000

const CASES: [header: string, ms: number | null][] = [
  ['0', 0],
  ['7', 7_000],
  [' 120 ', 120_000],
  ['Fri, 27 Nov 2026 08:00:30 GMT', 30_000],
  ['Fri, 27 Nov 2026 07:59:00 GMT', 0],
  ['', null],
  ['-5', null],
  ['1.5', null],
  ['soon', null],
  ['5 Nov', null],
  ['2026-11-27T08:00:30Z', null],
  ['Infinity', null],
  ['1e9', null],
  ['0x10', null],
]

describe('Retry-After', () => {
  test.each(CASES)('of %j is read as %j ms by the service and the client', (header, ms) => {
    expect(retryAfterMs(header, { now: NOW, maxMs: DAY_MS })).toBe(ms)
    expect(inClient(header, NOW)).toBe(ms ?? 0)
  })

  test.each([
    ['Friday, 27-Nov-26 08:00:30 GMT', 30_000],
    ['Fri Nov 27 08:00:30 2026', 30_000],
    ['Fri Nov  6 08:00:30 2026', 0],
  ])('is read in the obsolete form %j too', (header, ms) => {
    expect(retryAfterMs(header, { now: NOW, maxMs: DAY_MS })).toBe(ms)
  })

  test.each(['99999999999999999999', 'Fri, 31 Dec 9999 23:59:59 GMT'])(
    'of %j is no longer than its reader waits',
    (header) => {
      expect(retryAfterMs(header, { now: NOW, maxMs: 60_000 })).toBe(60_000)
    },
  )

  test('is the same for the Python client', () => {
    const script = [
      'import json, sys, time',
      'sys.path.insert(0, "service/client/python")',
      'from coinslot import answers',
      'time.time = lambda: float(sys.argv[1])',
      'headers = json.loads(sys.argv[2])',
      'make = lambda text: type("R", (), {"headers": {"retry-after": text}})()',
      'print(json.dumps([answers._retry_after(make(text)) for text in headers]))',
    ].join('\n')
    const headers = JSON.stringify(CASES.map(([header]) => header))
    const printed = execFileSync('python3', ['-c', script, String(NOW / 1_000), headers], { encoding: 'utf8' })
    expect(JSON.parse(printed)).toEqual(CASES.map(([, ms]) => (ms ?? 0) / 1_000))
  })
})
