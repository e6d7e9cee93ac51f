import { onrampFault, onrampFor } from '../../service/kit/onramp.ts'

describe('the address of a place that sells USDC', () => {
  const TEMPLATE = 'https://buy.example/{network}?amount={amount}&to={address}&from=pay'

  it('is filled in, without unknown values', () => {
    expect(onrampFault(TEMPLATE)).toBeNull()
    expect(onrampFor(TEMPLATE, { amount: '5.00', address: '0x1', network: 'base' })).toBe(
      'https://buy.example/base?amount=5.00&to=0x1&from=pay',
    )
    expect(onrampFor(TEMPLATE, { amount: '5.00', address: null, network: 'a&b' })).toBe(
      'https://buy.example/a%26b?amount=5.00&from=pay',
    )
  })

  it.each([
    ['http://buy.example/', /https/],
    ['https://user:word@buy.example/', /https/],
    ['https://{network}.example/', /host/],
    ['https://buy.example/{address}', /question mark/],
    ['https://buy.example/?a={other}', /braces/],
    ['https://buy.example/#{amount}', /fragment/],
  ])('is refused as a setting: %s', (template, fault) => {
    expect(onrampFault(template)).toMatch(fault)
  })
})
