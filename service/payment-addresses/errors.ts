import { DomainError } from '../kit/errors.ts'
import { toDecimal, type Usdc } from '../kit/money.ts'

/** The same for an id that names nothing, another checkout's, and a wrong token. */
export function addressMissing(): DomainError {
  const sentence = 'There is no such payment address at this checkout. Open the link that you got with the address.'
  return new DomainError('missing', 'payment_address_not_found', sentence)
}

export function tooManyAddresses(): DomainError {
  const sentence =
    'Too many orders of this seller wait for a transfer right now. Pay with a wallet, or try again in half an hour.'
  return new DomainError('limited', 'too_many_payment_addresses', sentence, { retryAfterSeconds: 1_800 })
}

export function orderPaying(): DomainError {
  const sentence =
    'The order is being paid with this money right now. Wait until the payment has ended; what is left can be returned then.'
  return new DomainError('conflict', 'payment_under_way', sentence)
}

export function nothingToReturn(minimum: Usdc): DomainError {
  const sentence = `There is nothing to return yet. From ${toDecimal(minimum)} USDC on, confirmed by the network, money can be returned; try again in a minute if you have just sent it.`
  return new DomainError('conflict', 'nothing_to_return', sentence)
}

export function returnUnderWay(): DomainError {
  const sentence = 'Money from this address is being returned already. Wait until that has ended.'
  return new DomainError('conflict', 'return_under_way', sentence)
}

export function tooManyReturns(most: number): DomainError {
  const sentence = `Money from this address was returned ${String(most)} times already, which is the most. Contact the seller.`
  return new DomainError('conflict', 'too_many_returns', sentence)
}

/** Failed ones cost the server work, too: where USDC refuses the recipient, each fails. */
export function tooManyTries(most: number): DomainError {
  const sentence = `Returns from this address were asked for ${String(most)} times in 24 hours. Check the address that you named, and try again tomorrow.`
  return new DomainError('limited', 'returns_of_the_day', sentence, { retryAfterSeconds: 3_600 })
}

/** The server pays the gas of each. */
export function returnsOfTheDay(): DomainError {
  const sentence =
    'Very many returns were asked for at this seller today. Your money stays at its address: try again tomorrow.'
  return new DomainError('limited', 'returns_of_the_day', sentence, { retryAfterSeconds: 3_600 })
}
