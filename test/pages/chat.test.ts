import { isHeldUp, type Turn } from '../../service/pages/browser/chat/model.ts'

const NOW = Date.parse('2030-01-01T12:00:00Z')
const turn = (status: Turn['status'], minutesAgo: number): Turn => ({
  ...{ turn: 1, status, message: 'And my chair?', answer: null, isCut: false },
  ...{ paymentId: 'pay_1', token: 't', receiptUrl: 'https://pay.example/r' },
  at: new Date(NOW - minutesAgo * 60_000).toISOString(),
})

describe('the next message of a chat', () => {
  test.each<[string, boolean, Turn[], string | null]>([
    ['waits while one is on its way', true, [], 'And my chair?'],
    ['waits for the answer to the one before', true, [turn('answered', 20), turn('working', 9)], null],
    ['goes on after ten minutes without one, as at the service', false, [turn('working', 10)], null],
    ['follows an answer or a failure', false, [turn('answered', 1), turn('failed', 0)], null],
  ])('%s', (_, isWaiting, turns, sending) => {
    expect(isHeldUp({ turns, sending }, NOW)).toBe(isWaiting)
  })
})
