import { Receipt } from 'mppx'
import { evm, Mppx } from 'mppx/client'
import { privateKeyToAccount } from 'viem/accounts'
import { answer } from '../answer.mjs'

answer({
  /** Pays with the stock client of the Machine Payments Protocol, and shows what it sent so that it can be sent again. */
  async buy({ url, privateKey, request = {}, hold = false }) {
    let header = null
    const listening = (input, init) => {
      const sent = new Request(input, init)
      const authorization = sent.headers.get('authorization')
      const other = sent.headers.get('payment-authorization')
      if (other !== null) header = { name: 'Payment-Authorization', value: other }
      else if (authorization?.startsWith('Payment ')) header = { name: 'Authorization', value: authorization }
      // Signed, and not sent: the test sends it.
      if (hold && header !== null) return Response.json({ held: true })
      return fetch(sent)
    }
    const account = privateKeyToAccount(privateKey)
    const client = Mppx.create({
      methods: [evm({ account, networks: [8453, 84532], authorization: { name: 'USDC', version: '2' } })],
      fetch: listening,
      polyfill: false,
    })
    const response = await client.fetch(url, request)
    const receipt = response.headers.get('payment-receipt')
    return {
      status: response.status,
      body: await response.json(),
      receipt: receipt === null ? null : Receipt.deserialize(receipt),
      header,
    }
  },
})
