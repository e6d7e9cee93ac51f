import { usdc } from '../../kit/money.ts'
import { field, prompt, type Seed } from './builders.ts'

export function prompts(): Seed[] {
  return [blogOutline, customerReply, sqlExplainer, productDescription]
}

const blogOutline = prompt({
  featured: true,
  slug: 'blog-outline',
  name: 'Blog Outline Writer',
  description: 'Turns a topic into an outline with a hook, sections and a call to action',
  tags: ['writing', 'marketing'],
  inputs: [
    field({ name: 'topic', label: 'Topic', placeholder: 'Why small teams ship faster' }),
    field({
      name: 'audience',
      label: 'Audience',
      type: 'select',
      options: ['beginners', 'practitioners', 'executives'],
    }),
    field({ name: 'sections', label: 'Sections', type: 'number', required: false, min: 2, max: 12, default: 5 }),
  ],
  config: {
    systemPrompt: 'You are an editor who values clear structure over clever words.',
    promptTemplate:
      'Write an outline for a blog post about "{{topic}}" for {{audience}}.\n\nGive it a one-sentence hook, {{sections}} sections with three points each, and a call to action at the end. Answer in Markdown.',
    sourcePrice: usdc(0n),
    examples: [
      {
        title: 'Shipping in small teams',
        inputs: { topic: 'Why small teams ship faster', audience: 'practitioners', sections: 3 },
        output:
          '# Why small teams ship faster\n\n> Every hand-over is a queue.\n\n## Fewer hand-overs\n- …\n\n## One shared picture\n- …\n\n## Small bets\n- …\n\n**Try it:** cut your next project in half.',
        model: null,
      },
    ],
  },
})

const customerReply = prompt({
  slug: 'customer-reply',
  name: 'Customer Reply Drafter',
  description: 'Drafts a kind and precise answer to a message from a customer',
  tags: ['support', 'writing'],
  inputs: [
    field({ name: 'message', label: "The customer's message", type: 'textarea' }),
    field({
      name: 'tone',
      label: 'Tone',
      type: 'select',
      options: ['warm', 'neutral', 'formal'],
      default: 'warm',
    }),
    field({ name: 'facts', label: 'What you know', type: 'textarea', required: false }),
  ],
  config: {
    promptTemplate:
      'A customer wrote:\n\n{{message}}\n\nWhat we know: {{facts}}\n\nWrite a {{tone}} reply of at most 120 words. Answer every question in it, promise nothing that is not known, and end with the next step.',
    sourcePrice: usdc(500_000n),
  },
})

const sqlExplainer = prompt({
  slug: 'sql-explainer',
  name: 'SQL Explainer',
  description: 'Explains a query line by line and suggests how to make it faster',
  tags: ['code', 'sql'],
  pricing: { model: 'per-token', amount: usdc(1_000n) },
  inputs: [
    field({ name: 'query', label: 'Query', type: 'textarea', placeholder: 'SELECT …' }),
    field({
      name: 'database',
      label: 'Database',
      type: 'select',
      options: ['PostgreSQL', 'MySQL', 'SQLite'],
      default: 'PostgreSQL',
    }),
  ],
  config: {
    promptTemplate:
      'Explain this {{database}} query to a developer, clause by clause. Then name the two changes most likely to make it faster, and how to verify each.\n\n```sql\n{{query}}\n```',
    sourcePrice: null,
  },
})

const productDescription = prompt({
  slug: 'product-description',
  name: 'Product Description',
  description: 'Writes a description for a shop from a few facts about a product',
  tags: ['commerce', 'writing'],
  pricing: { model: 'free', amount: null },
  inputs: [
    field({ name: 'product', label: 'Product' }),
    field({ name: 'facts', label: 'Facts', type: 'textarea', placeholder: 'One a line' }),
  ],
  config: {
    promptTemplate: 'Describe {{product}} for an online shop in 80 words. Use only these facts:\n\n{{facts}}',
    sourcePrice: usdc(0n),
  },
})
