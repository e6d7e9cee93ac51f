import type { TestPerson } from '../harness/service.ts'

/* Bodies that POST /rda accepts, one of each type; a test changes the fields it is about. */

let count = 0

/** Never the same twice. */
export function slugOf(name: string): string {
  return `${name}-${String(++count)}`
}

export function promptBody(changes: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    slug: slugOf('summary'),
    type: 'prompt',
    name: 'Summarizer',
    description: 'Sums up an article in a few sentences',
    inputSchema: [
      { name: 'article', label: 'Article', type: 'text', required: true, placeholder: 'Paste it here' },
      { name: 'tone', label: 'Tone', type: 'select', required: false, options: ['plain', 'formal'] },
    ],
    promptConfig: { promptTemplate: 'Sum up in a {{tone}} tone: {{article}}', allowedModels: ['sandbox/echo'] },
    ...changes,
  }
}

export function agentBody(changes: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    slug: slugOf('researcher'),
    type: 'agent',
    name: 'Researcher',
    description: 'Looks things up and reports',
    inputSchema: [{ name: 'topic', label: 'Topic', type: 'text', required: true }],
    agentConfig: {
      webhookUrl: 'http://127.0.0.1:9/agent',
      webhookHeaders: { Authorization: 'Bearer creators-own-secret' },
      basePrice: 0.25,
    },
    ...changes,
  }
}

export function toolBody(changes: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    slug: slugOf('weather'),
    type: 'tool',
    name: 'Weather',
    description: 'The weather of a city',
    inputSchema: [{ name: 'city', label: 'City', type: 'text', required: true }],
    toolConfig: {
      apiEndpoint: 'http://127.0.0.1:9/weather',
      apiMethod: 'GET',
      apiHeaders: { 'X-Client': 'creators-client-id' },
      authType: 'api_key',
      authConfig: { headerName: 'X-API-Key', apiKey: 'creators-api-key' },
      responseTransform: 'temperature',
      basePrice: 0.01,
    },
    ...changes,
  }
}

/** Where the bodies' servers would be, if there were any: the only private address that the operator allows. */
export const ALLOWED = { ALLOW_HOSTS: '127.0.0.1:9', ALLOW_PRIVATE_CALLBACKS: 'false' }

/** Creates and publishes an asset; returns its slug. */
export async function published(creator: TestPerson, body: Record<string, unknown> = promptBody()): Promise<string> {
  const slug = String(body['slug'])
  const created = await creator.call('POST', '/v1/rda', { body })
  if (created.status !== 201) throw new Error(created.text)
  const answer = await creator.call('POST', `/v1/rda/${slug}/publish`)
  if (answer.status !== 200) throw new Error(answer.text)
  return slug
}

/** Deposits enough money and runs the prompt. */
export async function run(person: TestPerson, slug: string): Promise<void> {
  await person.call('POST', '/v1/wallet/deposit', { body: { amount: 1 } })
  const { status, text } = await person.call('POST', '/v1/run', {
    body: { rdaSlug: slug, inputs: { article: 'Once upon a time' } },
  })
  if (status !== 200) throw new Error(text)
}
