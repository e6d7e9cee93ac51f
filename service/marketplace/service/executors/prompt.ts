import { ExecutionFailed } from '../../errors.ts'
import type { PromptConfig } from '../../model/asset.ts'
import type { Executor, Models } from '../../ports/run.ts'
import { render } from '../../rules/template.ts'

/** Puts the inputs into the template and the prompt to the model. */
export function createPromptExecutor(models: Models): Executor {
  return {
    async execute({ asset, inputs, model, departure, onBilled }, signal) {
      const { config } = asset.content
      if (config.type !== 'prompt' || model === null) throw new Error('not a prompt with its model')
      departure.leave()
      const { text, usage } = await models.complete({ ...promptOf(config, inputs), model, signal, onBilled })
      if (text === '') throw new ExecutionFailed('model_silent', 'The model gave no answer.')
      return { output: text, usage }
    },
  }
}

/** The texts that the model gets. */
export function promptOf(
  { promptTemplate, systemPrompt }: PromptConfig,
  inputs: Readonly<Record<string, unknown>>,
): { system: string | null; prompt: string } {
  return {
    system: systemPrompt === null ? null : render(systemPrompt, inputs),
    prompt: render(promptTemplate, inputs),
  }
}
