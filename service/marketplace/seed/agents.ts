import { usdc } from '../../kit/money.ts'
import { agent, field, page, type Seed } from './parts.ts'

export function agents(demo: string): Seed[] {
  return [
    {
      creator: 'fathom',
      featured: true,
      draft: {
        ...page(
          'meeting-minutes',
          'Meeting Minutes',
          'Sorts raw notes of a meeting into decisions, tasks and the rest',
          ['productivity', 'notes'],
        ),
        type: 'agent',
        inputs: [field({ name: 'notes', label: 'Notes', type: 'textarea', placeholder: 'One thought a line' })],
        agentConfig: agent({ webhookUrl: `${demo}/agents/meeting-minutes`, basePrice: usdc(50_000n) }),
      },
    },
    {
      creator: 'fathom',
      featured: false,
      draft: {
        ...page('keyword-research', 'Keyword Researcher', 'Finds the words and pairs of words that a text is about', [
          'seo',
          'marketing',
        ]),
        longDescription:
          'Takes a moment: the agent accepts the job, and is asked for its result until it has one. Run it with `"async": true` to see the states of a run.',
        type: 'agent',
        pricing: { model: 'per-second', amount: usdc(10_000n) },
        inputs: [field({ name: 'text', label: 'Text', type: 'textarea' })],
        agentConfig: agent({
          webhookUrl: `${demo}/agents/keyword-research`,
          pollUrl: `${demo}/jobs`,
          pollIntervalMs: 500,
          timeoutSeconds: 20,
        }),
      },
    },
    {
      creator: 'fathom',
      featured: false,
      draft: {
        ...page('release-notes', 'Release Notes', 'Groups commit messages into notes that users can read', [
          'code',
          'writing',
        ]),
        type: 'agent',
        inputs: [
          field({ name: 'commits', label: 'Commits', type: 'textarea', placeholder: 'feat: dark mode' }),
          field({ name: 'version', label: 'Version', required: false, placeholder: '2.1.0' }),
        ],
        agentConfig: agent({ webhookUrl: `${demo}/agents/release-notes`, basePrice: usdc(30_000n) }),
      },
    },
  ]
}
