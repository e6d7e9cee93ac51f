import { testService, type Answer, type Hooks, type TestPerson, type TestService } from '../../harness/service.ts'
import { agentBody, promptBody, toolBody } from '../bodies.ts'
import { CreatorServer } from './creator.ts'

/** The service, a creator with a server of their own, and callers with money. */
export interface RunWorld {
  service: TestService
  creator: TestPerson
  server: CreatorServer
  caller(balance?: number): Promise<TestPerson>
  /** Publishes a prompt that returns its one input, `say`; returns its slug. */
  prompt(changes?: Record<string, unknown>): Promise<string>
  agent(config: Record<string, unknown>, changes?: Record<string, unknown>): Promise<string>
  tool(config: Record<string, unknown>, changes?: Record<string, unknown>): Promise<string>
  run(
    person: TestPerson,
    slug: string,
    more?: Record<string, unknown>,
    headers?: Record<string, string>,
  ): Promise<Answer>
  wallet(person: TestPerson): Promise<Wallet>
  /** Repeats the request until its result fulfils the condition. */
  until<T>(read: () => Promise<T>, holds: (value: T) => boolean): Promise<T>
  close(): Promise<void>
}

export interface Wallet {
  balance: number
  availableBalance: number
  pendingLocks: Record<string, number>
  totalLocked: number
  totalSpent: number
}

export async function runWorld(environment: Record<string, string> = {}, hooks: Hooks = {}): Promise<RunWorld> {
  const server = await new CreatorServer().listen()
  const service = await testService({ ALLOW_HOSTS: '127.0.0.1', RATE_API_PER_MINUTE: '0', ...environment }, hooks)
  const creator = await service.person()

  async function publish(body: Record<string, unknown>): Promise<string> {
    const created = await creator.call('POST', '/v1/rda', { body })
    if (created.status !== 201) throw new Error(created.text)
    const published = await creator.call('POST', `/v1/rda/${String(body['slug'])}/publish`)
    if (published.status !== 200) throw new Error(published.text)
    return String(body['slug'])
  }

  return {
    service,
    creator,
    server,
    async caller(balance = 10) {
      const person = await service.person()
      if (balance > 0) await person.call('POST', '/v1/wallet/deposit', { body: { amount: balance } })
      return person
    },
    prompt: (changes = {}) =>
      publish(
        promptBody({
          inputSchema: [{ name: 'say', label: 'Say', type: 'textarea', required: true }],
          promptConfig: { promptTemplate: '{{say}}', allowedModels: ['sandbox/echo'] },
          pricing: { model: 'per-run', amount: 0.02 },
          ...changes,
        }),
      ),
    agent: (config, changes = {}) =>
      publish(agentBody({ agentConfig: { webhookUrl: server.url('/agent'), basePrice: 0.25, ...config }, ...changes })),
    tool: (config, changes = {}) =>
      publish(
        toolBody({
          toolConfig: { apiEndpoint: server.url('/tool'), apiMethod: 'POST', basePrice: 0.01, ...config },
          ...changes,
        }),
      ),
    run: (person, slug, more = {}, headers = {}) =>
      person.call('POST', '/v1/run', { body: { rdaSlug: slug, inputs: { say: 'hello' }, ...more }, headers }),
    wallet: async (person) => (await person.call('GET', '/v1/wallet/balance')).body.wallet as Wallet,
    async until(read, holds) {
      for (;;) {
        const value = await read()
        if (holds(value)) return value
        await new Promise(setImmediate)
      }
    },
    async close() {
      await service.close()
      await server.close()
    },
  }
}
