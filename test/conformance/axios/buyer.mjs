import { x402Client } from '@x402/core/client'
import { decodePaymentResponseHeader } from '@x402/core/http'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { wrapAxiosWithPayment } from '@x402/axios'
import axios from 'axios'
import { privateKeyToAccount } from 'viem/accounts'
import { answer } from '../answer.mjs'

answer({
  /** Pays with the stock client, and shows what it sent so that it can be sent again. */
  async buy({ url, privateKey, request = {} }) {
    const plain = axios.create({ validateStatus: null, responseType: 'text', transformResponse: (text) => text })
    // The wrapper only reacts if a 402 is an error.
    plain.defaults.validateStatus = (status) => status !== 402
    const client = new x402Client().register('eip155:*', new ExactEvmScheme(privateKeyToAccount(privateKey)))
    const api = wrapAxiosWithPayment(plain, client)
    const { method = 'GET', headers = {}, body } = request
    const response = await api.request({ url, method, headers, data: body }).catch((error) => {
      if (error.response === undefined) throw error
      return error.response
    })
    const receipt = response.headers['payment-response']
    return {
      status: response.status,
      body: JSON.parse(response.data),
      receipt: receipt === undefined ? null : decodePaymentResponseHeader(receipt),
      header: { name: 'PAYMENT-SIGNATURE', value: response.config.headers.get('PAYMENT-SIGNATURE') ?? null },
    }
  },
})
