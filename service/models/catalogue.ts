import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { amount } from '../kit/wire.ts'
import type { LanguageModel } from '../marketplace/model/asset.ts'

/** The operator's catalogue, or the built-in one. The service does not start with an invalid file. */
export function readCatalogue(file: string | undefined): readonly LanguageModel[] {
  if (file === undefined) return BUILT_IN.models
  const parsed = catalogue.safeParse(readJson(file))
  if (parsed.success) return parsed.data.models
  const faults = parsed.error.issues.map(({ path, message }) => `MODELS_FILE ${path.join('.')} ${message}`)
  throw new CatalogueError(`${faults.join('; ')}.`)
}

class CatalogueError extends Error {}

function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    throw new CatalogueError(`MODELS_FILE names ${file}, which is not a file of JSON.`)
  }
}

const catalogue = z.strictObject({
  models: z
    .array(
      z.strictObject({
        id: z.string().min(1).max(200),
        name: z.string().min(1).max(200),
        tier: z.enum(['fast', 'balanced', 'reasoning']),
        inputPrice: amount,
        outputPrice: amount,
        outputTokensMax: z.int().min(1).max(1_000_000).default(4_096),
      }),
    )
    .min(1)
    .refine((models) => new Set(models.map(({ id }) => id)).size === models.length, 'has an id twice'),
})

/** USDC for a million tokens in and out. An operator sets MODELS_FILE for another vendor or newer prices. */
const BUILT_IN = catalogue.parse({
  models: [
    { id: 'gpt-4o-mini', name: 'GPT-4o mini', tier: 'fast', inputPrice: 0.15, outputPrice: 0.6 },
    { id: 'gpt-4.1-nano', name: 'GPT-4.1 nano', tier: 'fast', inputPrice: 0.1, outputPrice: 0.4 },
    { id: 'gpt-4.1-mini', name: 'GPT-4.1 mini', tier: 'fast', inputPrice: 0.4, outputPrice: 1.6 },
    { id: 'gpt-4.1', name: 'GPT-4.1', tier: 'balanced', inputPrice: 2, outputPrice: 8 },
    { id: 'gpt-4o', name: 'GPT-4o', tier: 'balanced', inputPrice: 2.5, outputPrice: 10 },
    { id: 'o4-mini', name: 'o4-mini', tier: 'reasoning', inputPrice: 1.1, outputPrice: 4.4, outputTokensMax: 16_384 },
  ],
})
