import { createServer } from 'node:http'
import { evm, Mppx } from 'mppx/server'

/** A seller as the package's own instructions put one together, which settles through the facilitator of x402. */
const { FACILITATOR_URL, CHAIN_ID, CURRENCY, TOKEN_NAME, PAY_TO, PRICE } = process.env
const mppx = Mppx.create({
  secretKey: 'a secret of the seller, which nobody else knows',
  realm:
    'a seller whose name is longer than any host, so that the hash of id and realm takes more than one block of keccak',
  methods: [
    evm.charge({
      currency: CURRENCY,
      chainId: Number(CHAIN_ID),
      decimals: 6,
      recipient: PAY_TO,
      authorization: { name: TOKEN_NAME, version: '2' },
      settle,
    }),
  ],
})

async function settle({ payload, request }) {
  const { signature, ...rest } = payload
  const authorization = Object.fromEntries(Object.entries(rest).filter(([field]) => field !== 'type'))
  const accepted = {
    scheme: 'exact',
    network: `eip155:${CHAIN_ID}`,
    amount: request.amount,
    asset: request.currency,
    payTo: request.recipient,
    maxTimeoutSeconds: 300,
    extra: { name: TOKEN_NAME, version: '2' },
  }
  const paymentPayload = { x402Version: 2, accepted, payload: { signature, authorization } }
  const response = await fetch(`${FACILITATOR_URL}/settle`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ x402Version: 2, paymentPayload, paymentRequirements: accepted }),
  })
  const settled = await response.json()
  if (settled.success !== true) throw new Error(`not settled: ${JSON.stringify(settled)}`)
  return { reference: settled.transaction }
}

const server = createServer(async (incoming, outgoing) => {
  const { method, url, headers } = incoming
  const request = new Request(`http://${headers.host}${url}`, { method, headers })
  const result = await mppx.charge({ amount: PRICE, description: 'A page, “quoted”' })(request)
  const response = result.status === 402 ? result.challenge : result.withReceipt(Response.json({ page: 'worth it' }))
  // The package offers x402 as well, which a buyer may prefer.
  response.headers.delete('payment-required')
  outgoing.writeHead(response.status, Object.fromEntries(response.headers)).end(await response.text())
})
server.listen(0, '127.0.0.1', () => {
  process.send({ origin: `http://127.0.0.1:${String(server.address().port)}` })
})
