import { usdc } from '../../kit/money.ts'
import { field, page, prompt, type Seed } from './parts.ts'

export function prompts(): Seed[] {
  return [blogOutline, customerReply, sqlExplainer, productDescription]
}

const blogOutline: Seed = {
  creator: 'inkwell',
  featured: true,
  draft: {
    ...page(
      'blog-outline',
      'Blog Outline Writer',
      'Turns a topic into an outline with a hook, sections and a call to action',
      ['writing', 'marketing'],
    ),
    type: 'prompt',
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
    promptConfig: prompt({
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
    }),
  },
}

const customerReply: Seed = {
  creator: 'inkwell',
  featured: false,
  draft: {
    ...page(
      'customer-reply',
      'Customer Reply Drafter',
      'Drafts a kind and precise answer to a message from a customer',
      ['support', 'writing'],
    ),
    type: 'prompt',
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
    promptConfig: prompt({
      promptTemplate:
        'A customer wrote:\n\n{{message}}\n\nWhat we know: {{facts}}\n\nWrite a {{tone}} reply of at most 120 words. Answer every question in it, promise nothing that is not known, and end with the next step.',
      sourcePrice: usdc(500_000n),
    }),
  },
}

const sqlExplainer: Seed = {
  creator: 'inkwell',
  featured: false,
  draft: {
    ...page('sql-explainer', 'SQL Explainer', 'Explains a query line by line and says what would make it faster', [
      'code',
      'sql',
    ]),
    type: 'prompt',
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
    promptConfig: prompt({
      promptTemplate:
        'Explain this {{database}} query to a developer, clause by clause. Then name the two changes most likely to make it faster, and how to verify each.\n\n```sql\n{{query}}\n```',
      sourcePrice: null,
    }),
  },
}

const productDescription: Seed = {
  creator: 'inkwell',
  featured: false,
  draft: {
    ...page(
      'product-description',
      'Product Description',
      'Writes a description for a shop from a few facts about a product',
      ['commerce', 'writing'],
    ),
    type: 'prompt',
    pricing: { model: 'free', amount: null },
    inputs: [
      field({ name: 'product', label: 'Product' }),
      field({ name: 'facts', label: 'Facts', type: 'textarea', placeholder: 'One a line' }),
    ],
    promptConfig: prompt({
      promptTemplate: 'Describe {{product}} for an online shop in 80 words. Use only these facts:\n\n{{facts}}',
      sourcePrice: usdc(0n),
    }),
  },
}
