import { secondsIn } from '../../nodes/shared/transport.ts'

const NOW = Date.UTC(2026, 10, 27, 8, 0, 0)

describe('Retry-After, for the nodes', () => {
  test.each([
    ['0', 0],
    [' 7 ', 7],
    ['Fri, 27 Nov 2026 08:00:30 GMT', 30],
    ['Fri, 27 Nov 2026 07:59:00 GMT', 0],
    ['999999999', 86_400],
    ['Fri, 31 Dec 9999 23:59:59 GMT', 86_400],
  ])('%j is %j seconds', (header, seconds) => {
    expect(secondsIn(header, NOW)).toBe(seconds)
  })

  test.each(['', '-5', '1.5', 'soon', '5 Nov', '1e9', 'Infinity', undefined, 7, ['7']])('%j is ignored', (header) => {
    expect(secondsIn(header, NOW)).toBeUndefined()
  })
})
