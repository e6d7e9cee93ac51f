import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { amount } from '../kit/wire.ts'
import { fromDecimal } from '../kit/money.ts'
import type { LanguageModel } from '../marketplace/model/asset.ts'

/** The operator's own catalogue, or the one that comes along. A faulty file stops the start. */
export function readCatalogue(file: string | undefined): readonly LanguageModel[] {
  if (file === undefined) return BUILT_IN
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

function line(
  id: string,
  name: string,
  tier: LanguageModel['tier'],
  inputPrice: string,
  outputPrice: string,
  outputTokensMax = 4_096,
): LanguageModel {
  return {
    id,
    name,
    tier,
    inputPrice: fromDecimal(inputPrice),
    outputPrice: fromDecimal(outputPrice),
    outputTokensMax,
  }
}

/** USDC for a million tokens in and out. An operator with another vendor, or newer prices, brings a file. */
const BUILT_IN: readonly LanguageModel[] = [
  line('gpt-4o-mini', 'GPT-4o mini', 'fast', '0.15', '0.6'),
  line('gpt-4.1-nano', 'GPT-4.1 nano', 'fast', '0.1', '0.4'),
  line('gpt-4.1-mini', 'GPT-4.1 mini', 'fast', '0.4', '1.6'),
  line('gpt-4.1', 'GPT-4.1', 'balanced', '2', '8'),
  line('gpt-4o', 'GPT-4o', 'balanced', '2.5', '10'),
  line('o4-mini', 'o4-mini', 'reasoning', '1.1', '4.4', 16_384),
]
