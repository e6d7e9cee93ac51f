import { usdc } from '../../kit/money.ts'
import { agent, field, type Seed } from './builders.ts'

export function agents(demo: string): Seed[] {
  return [
    agent({
      featured: true,
      slug: 'meeting-minutes',
      name: 'Meeting Minutes',
      description: 'Sorts raw notes of a meeting into decisions, tasks and the rest',
      tags: ['productivity', 'notes'],
      inputs: [field({ name: 'notes', label: 'Notes', type: 'textarea', placeholder: 'One thought a line' })],
      config: {
        webhookUrl: `${demo}/agents/meeting-minutes`,
        basePrice: usdc(50_000n),
        examples: [
          {
            title: 'A weekly meeting',
            inputs: { notes: 'We agreed on the blue cover\nAnn will call the printer\nThe room was too small' },
            output:
              '# Minutes\n\n## Decisions\n\n- We agreed on the blue cover\n\n## Tasks\n\n- [ ] Ann will call the printer\n\n## Other points\n\n- The room was too small',
            model: null,
          },
        ],
      },
    }),
    agent({
      slug: 'keyword-research',
      name: 'Keyword Researcher',
      description: 'Finds the words and pairs of words that a text is about',
      tags: ['seo', 'marketing'],
      longDescription:
        'Takes a moment: the agent accepts the job and is polled until it has a result. Run it with `"async": true` to see the states of a run.',
      pricing: { model: 'per-second', amount: usdc(10_000n) },
      inputs: [field({ name: 'text', label: 'Text', type: 'textarea' })],
      config: {
        webhookUrl: `${demo}/agents/keyword-research`,
        pollUrl: `${demo}/jobs`,
        pollIntervalMs: 500,
        timeoutSeconds: 20,
        examples: [
          {
            title: 'A sentence about coins',
            inputs: { text: 'A coin slot takes coins. The coin slot of an arcade takes tokens.' },
            output:
              '| Keyword | Found |\n| --- | ---: |\n| coin slot | 2 |\n| coin | 2 |\n| slot | 2 |\n| takes | 2 |\n| arcade | 1 |\n| coins | 1 |\n| tokens | 1 |',
            model: null,
          },
        ],
      },
    }),
    agent({
      slug: 'release-notes',
      name: 'Release Notes',
      description: 'Groups commit messages into notes that users can read',
      tags: ['code', 'writing'],
      inputs: [
        field({ name: 'commits', label: 'Commits', type: 'textarea', placeholder: 'feat: dark mode' }),
        field({ name: 'version', label: 'Version', required: false, placeholder: '2.1.0' }),
      ],
      config: { webhookUrl: `${demo}/agents/release-notes`, basePrice: usdc(30_000n) },
    }),
  ]
}
