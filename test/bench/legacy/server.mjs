import express from 'express'
import { createWalletClient, http, publicActions } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { baseSepolia } from 'viem/chains'
import { settle, verify } from 'x402/facilitator'

/** The facilitator of the protocol's first packages, put together as their example does it. Prints its address. */
const { RPC_URL, PRIVATE_KEY } = process.env
const account = privateKeyToAccount(PRIVATE_KEY)
const client = createWalletClient({ account, chain: baseSepolia, transport: http(RPC_URL) }).extend(publicActions)
const steps = { verify, settle }

const app = express()
app.use(express.json())
for (const verb of ['verify', 'settle']) {
  app.post(`/${verb}`, async (req, res) => {
    const { paymentPayload, paymentRequirements } = req.body
    try {
      res.json(await steps[verb](client, paymentPayload, paymentRequirements))
    } catch (error) {
      res.status(500).json({ error: error.message })
    }
  })
}
const server = app.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${String(server.address().port)}\n`)
})
