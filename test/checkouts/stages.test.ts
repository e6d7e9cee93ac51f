import type { CheckoutPage, PaymentState } from '../../service/pages/model.ts'
import { faultOf } from '../../service/pages/browser/checkout/faults.ts'
import { headlineOf, isOver, stageOf } from '../../service/pages/browser/checkout/state.ts'
import { en } from '../../service/pages/browser/words/en.ts'
import { speak } from '../../service/pages/browser/words/say.ts'

speak('en', en)

const WAITING = { status: 'pending', attempts: 0, lastStatus: null, lastError: null, answer: null, progress: [] }

/** The page's text about a payment follows from the state of its delivery alone. */
describe('the delivery as shown on the page', () => {
  const of = (delivery: Partial<NonNullable<PaymentState['delivery']>>) => ({
    state: {
      payment: { status: 'paid', refunds: [] as PaymentState['payment']['refunds'] },
      delivery: { ...WAITING, ...delivery },
    } as PaymentState,
    slow: false,
    live: true,
  })
  const page = { checkout: { product: { name: 'SEO audit' }, responseMode: 'lastNode' } } as CheckoutPage

  it.each([
    ['starting', { attempts: 0 }, false, 'Payment complete', /^Starting SEO audit/],
    ['starting', { attempts: 1 }, false, 'Payment complete', /^Starting SEO audit/],
    ['retrying', { attempts: 1, lastStatus: 403 }, false, 'Payment complete', /did not accept the order yet/],
    ['working', { attempts: 1, status: 'claimed' }, false, 'Payment complete', /is running/],
    ['answered', { attempts: 1, status: 'delivered', answer: '{}' }, true, 'Payment complete', /order is complete/],
    ['started', { attempts: 1, status: 'delivered' }, true, 'Payment complete', /has started/],
    ['broken', { status: 'unconfirmed', lastStatus: 500 }, true, 'Paid, but your order failed', /reported an error/],
    ['held', { status: 'unconfirmed' }, true, 'Payment complete', /has not confirmed that it finished/],
    ['undelivered', { status: 'stopped', lastStatus: 410 }, true, 'Paid, but not delivered', /no more attempts/],
    [
      'undelivered',
      { status: 'stopped', lastError: 'simulated_failure' },
      true,
      'Paid, but not delivered',
      /^You chose a delivery that fails, so SEO audit was not called/,
    ],
    ['undelivered', { status: 'exhausted' }, true, 'Paid, but not delivered', /no more attempts/],
  ] as const)('%s: %j', (stage, delivery, over, title, text) => {
    const progress = of(delivery)
    expect(stageOf(progress)).toBe(stage)
    expect(isOver(progress)).toBe(over)
    expect(headlineOf(progress, page)).toEqual({ title, text: expect.stringMatching(text) })
  })

  it.each([
    [{ status: 200, error: null }, null],
    [{ status: 404, error: null }, /^HTTP 404: there is no workflow/],
    [{ status: 500, error: null }, /^HTTP 500: it did not accept/],
    [{ status: null, error: 'response_timeout' }, /did not answer in time/],
    [{ status: null, error: 'of_another_version' }, /of_another_version/],
    [{ status: null, error: 'simulated_failure' }, /was not called/],
  ])('an attempt %j', (attempt, fault) => {
    const sentence = faultOf({ at: '2026-01-01T00:00:00.000Z', ...attempt })
    if (fault === null) expect(sentence).toBeNull()
    else expect(sentence).toMatch(fault)
  })
})
