import { newId } from '../../../service/kit/ids.ts'
import { startChain } from '../../harness/chain.ts'
import { answerTo, challengeIn } from '../../harness/mpp.ts'
import { testService, type Answer, type TestPerson, type TestService } from '../../harness/service.ts'
import { promptBody } from '../../marketplace/bodies.ts'
import { furnished } from '../../trpc/account.ts'
import type { Targets } from './shots.ts'

export interface Range {
  service: TestService
  port: number
  targets: Targets
  /** The account that sends the fuzzed requests. */
  attacker: TestPerson
  /** The state that must not change: another account's data, and the chain. */
  untouched(): Promise<unknown>
  close(): Promise<void>
}

/** A service with a chain, an attacker with one of everything, and a second account that sends no requests. */
export async function openRange(): Promise<Range> {
  const chain = await startChain()
  const service = await testService({
    BASE_SEPOLIA_RPC_URLS: chain.url,
    SPONSOR_PRIVATE_KEYS: chain.accounts[0]!.privateKey,
    ...Object.fromEntries(LIMITS.map((name) => [`RATE_${name}_PER_MINUTE`, '0'])),
    TOOL_CALLS_AT_ONCE: '0',
    TOOL_PROVIDER_AT_ONCE: '1000',
  })
  const { person: attacker, ids } = await furnished(service)
  const victim = await service.person()
  const post = async (path: string, body: object): Promise<Answer['body']> => {
    const { status, body: answer, text } = await victim.call('POST', `/v1${path}`, { body })
    if (status >= 300) throw new Error(`${path}: ${text}`)
    return answer
  }
  await post('/wallet/deposit', { amount: 10 })
  const { rda } = await post('/rda', promptBody())
  const { agent } = await post('/agents', { name: 'Buyer' })
  const { key } = await post('/keys', { name: 'other' })
  const recipient = `0x${'77'.repeat(20)}` as const
  const terms = { price: 1, network: 'base-sepolia', recipient, product: { name: 'Audit' } }
  const { checkout } = await post('/checkouts', { ...terms, callbackUrl: 'http://127.0.0.1:9/flow' })
  const { paywall } = await post('/paywalls', {
    ...{ slug: 'forecast', name: 'Forecast', upstreamUrl: 'http://127.0.0.1:9', network: 'base-sepolia', recipient },
    routes: [
      { method: 'GET', path: '/*', pricing: { model: 'per-request', amount: 0.01 } },
      { method: 'POST', path: '/*', pricing: { model: 'per-minute', amount: 0.01, minimum: 0.01, maximum: 1 } },
    ],
  })
  const ofVictim = [rda.id, rda.slug, agent.id, key.id, checkout.id, paywall.id].map(String)

  const agents = await attacker.call('POST', '/v1/keys', { body: { name: 'bound', agentId: ids.agent } })
  // Signed by a payer without money: intact or broken, it never moves a cent.
  const poor = await chain.payer(0n)
  const { signature, ...authorization } = await poor.authorize(chain.network, recipient)
  const fields = { ...authorization, value: '1000000', validAfter: '0', validBefore: String(authorization.validBefore) }
  const payload = { signature, authorization: fields }
  const accepted = {
    ...{
      scheme: 'exact',
      network: 'eip155:84532',
      amount: '1000000',
      asset: chain.network.usdc.address,
      payTo: recipient,
    },
    ...{ maxTimeoutSeconds: 60, extra: { name: 'USDC', version: '2' } },
  }
  const unpaid = await service.call('POST', `/p/${String(checkout.id)}`, { body: {} })
  const { value } = await answerTo(poor, chain.network, challengeIn(unpaid.headers))
  const credential = JSON.parse(Buffer.from(value.slice('Payment '.length), 'base64').toString()) as object
  const procedures = Object.entries(
    service.appRouter._def.procedures as unknown as Record<string, { _def: { type: string } }>,
  )
  return {
    service,
    port: Number(new URL(service.origin).port),
    attacker,
    targets: {
      document: (await service.call('GET', '/openapi.json')).body,
      ids: [...Object.values(ids), ...ofVictim, newId('run', new Date()), 'nobody-has-this', 'acme', 'forecast'],
      keys: [attacker.key, attacker.key, attacker.key, String(agents.body.secret)],
      paid: [
        `/p/${String(checkout.id)}`,
        '/gate/forecast/x',
        '/gate/weather/y',
        '/tools/pay/acme-ping',
        '/gate/forecast',
      ],
      payments: [
        { header: 'X-PAYMENT', payload: { x402Version: 1, scheme: 'exact', network: 'base-sepolia', payload } },
        { header: 'PAYMENT-SIGNATURE', payload: { x402Version: 2, accepted, payload } },
        { header: 'Authorization', scheme: 'Payment ', payload: credential },
        { header: 'Payment-Authorization', scheme: 'Payment ', payload: credential },
      ],
      procedures: procedures.map(([name, { _def }]) => ({ name, mutation: _def.type === 'mutation' })),
    },
    async untouched() {
      const paths = [
        '/wallet/balance',
        '/credits',
        '/wallet/transactions',
        '/keys',
        '/agents',
        '/checkouts',
        '/paywalls',
        '/runs',
      ]
      const account = await Promise.all(paths.map(async (path) => (await victim.call('GET', `/v1${path}`)).text))
      const draft = (await victim.call('GET', `/v1/rda/${String(rda.id)}`)).text
      const sponsor = await chain.call('eth_getTransactionCount', chain.accounts[0]!.address, 'latest')
      return [...account, draft, String(sponsor)].map((text) => text.replaceAll(/"lastUsedAt":[^,}]*/g, ''))
    },
    async close() {
      await service.close()
      await chain.stop()
    },
  }
}

const LIMITS = ['API', 'SIGN_IN', 'DRAFT_READS', 'VERIFY', 'SETTLE', 'PAY', 'TOOLS', 'GATE']
