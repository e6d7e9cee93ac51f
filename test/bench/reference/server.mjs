import { x402Facilitator } from '@x402/core/facilitator'
import { toFacilitatorEvmSigner } from '@x402/evm'
import { ExactEvmScheme } from '@x402/evm/exact/facilitator'
import express from 'express'
import { createWalletClient, http, publicActions } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { baseSepolia } from 'viem/chains'

/** The facilitator of the protocol's own packages, put together as their example does it. Prints its address. */
const { RPC_URL, PRIVATE_KEY } = process.env
const account = privateKeyToAccount(PRIVATE_KEY)
const client = createWalletClient({ account, chain: baseSepolia, transport: http(RPC_URL) }).extend(publicActions)
const signer = toFacilitatorEvmSigner({
  address: account.address,
  getCode: (request) => client.getCode(request),
  readContract: (request) => client.readContract({ ...request, args: request.args ?? [] }),
  verifyTypedData: (request) => client.verifyTypedData(request),
  writeContract: (request) => client.writeContract({ ...request, args: request.args ?? [] }),
  sendTransaction: (request) => client.sendTransaction(request),
  waitForTransactionReceipt: (request) => client.waitForTransactionReceipt(request),
})
const facilitator = new x402Facilitator().register('eip155:84532', new ExactEvmScheme(signer))

const app = express()
app.use(express.json())
for (const verb of ['verify', 'settle']) {
  app.post(`/${verb}`, async (req, res) => {
    const { paymentPayload, paymentRequirements } = req.body
    try {
      res.json(await facilitator[verb](paymentPayload, paymentRequirements))
    } catch (error) {
      res.status(500).json({ error: error.message })
    }
  })
}
const server = app.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${String(server.address().port)}\n`)
})
