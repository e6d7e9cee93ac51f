import { serializeErc6492Signature } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { decodeXPaymentResponse, wrapFetchWithPayment } from 'x402-fetch'
import { exact } from 'x402/schemes'
import { answer } from '../answer.mjs'

answer({
  /** Pays with the stock client, and shows what it sent so that it can be sent again. */
  async buy({ url, privateKey, request = {}, hold = false }) {
    let header = null
    const listening = (input, init) => {
      const sent = new Request(input, init)
      header = sent.headers.get('x-payment') ?? header
      // Signed, and not sent: the test sends it.
      if (hold && header !== null) return Response.json({ held: true })
      return fetch(sent)
    }
    const response = await wrapFetchWithPayment(listening, privateKeyToAccount(privateKey))(url, request)
    const receipt = response.headers.get('x-payment-response')
    return {
      status: response.status,
      body: await response.json(),
      receipt: receipt === null ? null : decodeXPaymentResponse(receipt),
      header: { name: 'X-PAYMENT', value: header },
    }
  },

  /** What the stock client signs for these requirements; `terms` stand in the signed message instead of its own. */
  async sign({ privateKey, requirements, terms, factory, factoryData = '0x12' }) {
    const account = privateKeyToAccount(privateKey)
    const payment = exact.evm.preparePaymentHeader(account.address, 1, requirements)
    Object.assign(payment.payload.authorization, terms)
    const signed = await exact.evm.signPaymentHeader(account, requirements, payment)
    const { signature } = signed.payload
    if (factory !== null)
      signed.payload.signature = serializeErc6492Signature({ address: factory, data: factoryData, signature })
    return signed
  },
})
