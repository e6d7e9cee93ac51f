import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { withX402Client } from 'agents/x402'
import { evm } from 'mppx/client'
import { McpClient } from 'mppx/mcp/client'
import { privateKeyToAccount } from 'viem/accounts'
import { answer } from '../answer.mjs'

const WALLETS = {
  x402: (client, account) =>
    withX402Client(client, {
      account,
      network: 'eip155:84532',
      confirmationCallback: null,
      maxPaymentValue: 1_000_000n,
    }),
  mpp: (client, account) =>
    McpClient.wrap(client, {
      methods: [evm({ account, networks: [8453, 84532], authorization: { name: 'USDC', version: '2' } })],
    }),
}

answer({
  /** Calls the only tool, or the named one, as a model would: its client pays what is asked. */
  async call({ url, tool, input, privateKey, wallet }) {
    const client = new Client({ name: 'stock', version: '1' })
    await client.connect(new StreamableHTTPClientTransport(new URL(url)))
    try {
      const paying = WALLETS[wallet](client, privateKeyToAccount(privateKey))
      const { tools } = await client.listTools()
      const params = { name: tool ?? tools[0].name, arguments: input }
      const result = await (wallet === 'x402' ? paying.callTool(null, params) : paying.callTool(params))
      return { tools: tools.map(({ name, description }) => ({ name, description })), result }
    } finally {
      await client.close()
    }
  },
})
