import { ZERO } from '../kit/money.ts'
import type { LanguageModel } from '../marketplace/model/asset.ts'
import type { Completion, CompletionRequest } from '../marketplace/ports/run.ts'
import { countTokens } from './tokens.ts'

/** Says the prompt back, word for word: enough to try everything around a model. */
export async function echo({ system, prompt, signal }: CompletionRequest): Promise<Completion> {
  signal.throwIfAborted()
  const completionTokens = await countTokens(prompt)
  const promptTokens = completionTokens + (system === null ? 0 : await countTokens(system))
  return { text: prompt, usage: { promptTokens, completionTokens } }
}

export const ECHO: LanguageModel = {
  id: 'sandbox/echo',
  name: 'Echo',
  tier: 'fast',
  inputPrice: ZERO,
  outputPrice: ZERO,
  outputTokensMax: 65_536,
}
