import { usdc } from '../../../service/kit/money.ts'
import type {
  AgentConfig,
  Content,
  LanguageModel,
  Pricing,
  PromptConfig,
} from '../../../service/marketplace/model/asset.ts'
import { estimate } from '../../../service/marketplace/rules/asset-estimate.ts'
import { guestPrice, quote } from '../../../service/marketplace/rules/price.ts'
import { limitOf } from '../../../service/marketplace/rules/run.ts'
import { after, nextVersion } from '../../../service/marketplace/rules/asset-state.ts'

describe('versions', () => {
  test.each([
    ['1.0.0', false, '1.0.1'],
    ['1.0.9', false, '1.0.10'],
    ['1.4.7', true, '1.5.0'],
    ['12.99.3', true, '12.100.0'],
  ])('%s, runs change: %s → %s', (version, runsChange, next) => {
    expect(nextVersion(version, runsChange)).toBe(next)
  })
})

describe('states', () => {
  test.each([
    ['publish', 'draft', 'published'],
    ['publish', 'archived', 'published'],
    ['unpublish', 'published', 'draft'],
    ['unpublish', 'draft', 'draft'],
    ['archive', 'draft', 'archived'],
    ['archive', 'published', 'archived'],
  ] as const)('%s takes an asset from %s to %s', (action, from, to) => {
    expect(after(action, from)).toBe(to)
  })
  test('unpublish refuses an archived asset', () => {
    expect(() => after('unpublish', 'archived')).toThrow('archived')
  })
})

describe('the estimate', () => {
  const model = (id: string, inputPrice: bigint, outputPrice: bigint): LanguageModel => ({
    ...{ id, name: id, tier: 'fast' as const },
    ...{ inputPrice: usdc(inputPrice), outputPrice: usdc(outputPrice), outputTokensMax: 1_000 },
  })
  const models = [
    model('free', 0n, 0n),
    model('cheap', 1_000_000n, 2_000_000n),
    model('dear', 30_000_000n, 60_000_000n),
  ]
  const prompt = (pricing: Pricing, allowedModels: string[]): Content => {
    const config: PromptConfig = {
      ...{
        type: 'prompt',
        promptTemplate: 'a',
        systemPrompt: null,
        allowedModels,
        defaultModelId: allowedModels[0] ?? '',
      },
      ...{ sourcePrice: null, examples: [] },
    }
    return { inputs: [], outputs: { type: 'text' }, config, pricing }
  }
  const agent = (pricing: Pricing, timeoutSeconds: number): Content => {
    const none = { names: [], token: null }
    const config: AgentConfig = {
      ...{
        type: 'agent',
        webhookUrl: 'https://a.example',
        webhookMethod: 'POST',
        webhookHeaders: none,
        timeoutSeconds,
      },
      ...{ maxRetries: 0, pollUrl: null, pollIntervalMs: 1000, basePrice: null },
    }
    return { inputs: [], outputs: { type: 'text' }, config, pricing }
  }
  const price = (model: Pricing['model'], amount: bigint): Pricing => ({ model, amount: usdc(amount) })

  test.each([
    ['free', prompt(price('free', 0n), ['free']), 'Free'],
    ['a price per run', agent(price('per-run', 250_000n), 60), '0.25 USDC'],
    ['whole dollars', agent(price('per-run', 5_000_000n), 60), '5.00 USDC'],
    ['the smallest price', agent(price('per-run', 1n), 60), '0.000001 USDC'],
    ['a price per second, up to its time limit', agent(price('per-second', 10_000n), 30), '0.01 - 0.30 USDC'],
    ['a model whose own cost is always less', prompt(price('per-run', 20_000n), ['cheap']), '0.02 USDC'],
    ['a model whose own cost may be more', prompt(price('per-run', 20_000n), ['cheap', 'dear']), '0.02 - 0.13602 USDC'],
    ['a price for 1,000 tokens', prompt(price('per-token', 10_000n), ['free']), '0.004 - 0.03534 USDC'],
  ])('%s', (_, content, text) => {
    expect(estimate(content, models, null).estimatedCost).toBe(text)
  })

  test('starts at the cost of recent runs, and ends there only if that is above the range', () => {
    const perToken = prompt(price('per-token', 10_000n), ['free'])
    expect(estimate(perToken, models, { least: usdc(3_000n), most: usdc(4_000n) }).estimatedCost).toBe(
      '0.003 - 0.03534 USDC',
    )
    expect(estimate(perToken, models, { least: usdc(3_000n), most: usdc(41_000n) }).estimatedCost).toBe(
      '0.003 - 0.041 USDC',
    )
  })

  test('ends at the dearest model; who cannot choose one is listed the default model’s price', () => {
    const content = prompt(price('per-run', 20_000n), ['cheap', 'dear'])
    expect([guestPrice(content, models), estimate(content, models, null).maxCost]).toEqual([20_000n, 136_020n])
  })

  test('does not end below the largest possible charge of a run', () => {
    for (const content of [
      agent(price('per-second', 10_000n), 600),
      prompt(price('per-second', 10_000n), ['cheap']),
      prompt(price('per-token', 10_000n), ['cheap', 'dear']),
      prompt(price('per-run', 1n), ['cheap', 'dear']),
    ]) {
      const model = content.config.type === 'prompt' ? (models.at(-1) ?? null) : null
      const terms = { pricing: content.pricing, model, limitMs: limitOf({ content }) }
      const isAllowed = content.config.type === 'prompt' && content.config.allowedModels.includes('dear')
      const { lock } = quote(isAllowed ? terms : { ...terms, model: null }, 2_000)
      const upper = Number(
        /([\d.]+) USDC$/.exec(estimate(content, models, { least: usdc(1n), most: usdc(1n) }).estimatedCost)?.[1],
      )
      expect(upper * 1e6).toBeGreaterThanOrEqual(Number(lock))
    }
  })
})
