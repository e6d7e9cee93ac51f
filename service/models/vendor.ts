import OpenAI, { APIConnectionTimeoutError, APIError } from 'openai'
import { assertNoTransaction } from '../kit/transaction.ts'
import { ExecutionFailed } from '../marketplace/errors.ts'
import type { LanguageModel } from '../marketplace/model/asset.ts'
import type { Completion, CompletionRequest } from '../marketplace/ports/run.ts'
import { countTokens } from './tokens.ts'

/** Any endpoint with OpenAI's chat completions API. */
export function createVendor({ baseUrl, apiKey }: VendorOptions) {
  const client = new OpenAI({
    baseURL: baseUrl,
    // The client requires a key. An endpoint that needs none ignores it.
    apiKey: apiKey ?? 'none',
    // The client must not retry by itself, because each attempt is paid for.
    maxRetries: 0,
    timeout: TIMEOUT_MS,
    logLevel: 'off',
  })

  return async function complete(request: CompletionRequest): Promise<Completion> {
    assertNoTransaction('a model')
    const { model, system, prompt, signal, onBilled } = request
    let text = ''
    let usage: Completion['usage'] | null = null
    let begun = false
    const used = async (): Promise<Completion['usage']> => usage ?? (await counted(system, prompt, text))
    onBilled?.(used)
    try {
      const stream = await client.chat.completions.create(
        {
          model: model.id,
          messages: [
            ...(system === null ? [] : [{ role: 'system' as const, content: system }]),
            { role: 'user' as const, content: prompt },
          ],
          stream: true,
          stream_options: { include_usage: true },
          ...longest(model),
        },
        { signal },
      )
      begun = true
      let finish: string | null = null
      for await (const chunk of stream) {
        const choice = chunk.choices[0]
        text += choice?.delta.content ?? ''
        if (text.length > TEXT_MAX) throw new ExecutionFailed('model_too_long', 'The model answered with too much.')
        finish = choice?.finish_reason ?? finish
        if (chunk.usage != null) {
          usage = { promptTokens: chunk.usage.prompt_tokens, completionTokens: chunk.usage.completion_tokens }
        }
      }
      signal.throwIfAborted()
      if (finish === null) throw new ExecutionFailed('model_interrupted', 'The model broke off its answer.')
      if (finish === 'content_filter') throw new ExecutionFailed('model_refused', 'The model refused to answer.')
      return { text, usage: await used() }
    } catch (error) {
      if (signal.aborted || error instanceof ExecutionFailed) throw error
      // A request that ran out of time may have been worked on; one that was refused was not.
      if (!begun && !(error instanceof APIConnectionTimeoutError)) onBilled?.(null)
      throw explain(error)
    }
  }
}

interface VendorOptions {
  baseUrl: string
  apiKey: string | undefined
}

const TIMEOUT_MS = 120_000
const TEXT_MAX = 1_048_576

/** Reasoning models also count the tokens of their reasoning, and their limit has another name. */
function longest({ tier, outputTokensMax }: LanguageModel) {
  return tier === 'reasoning' ? { max_completion_tokens: outputTokensMax } : { max_tokens: outputTokensMax }
}

async function counted(system: string | null, prompt: string, text: string): Promise<Completion['usage']> {
  const promptTokens = (await countTokens(prompt)) + (system === null ? 0 : await countTokens(system))
  return { promptTokens, completionTokens: await countTokens(text) }
}

/** The vendor's message may name the operator's accounts and limits, so it goes only to the log. */
function explain(error: unknown): ExecutionFailed {
  if (error instanceof APIConnectionTimeoutError) {
    return new ExecutionFailed('model_timeout', 'The model did not answer in time.', error)
  }
  if (error instanceof APIError && error.status === 429) {
    return new ExecutionFailed('model_busy', 'The model has too much to do right now.', error)
  }
  if (error instanceof APIError && error.status === 400) {
    return new ExecutionFailed('model_refused', 'The model refused this prompt.', error)
  }
  return new ExecutionFailed('model_unavailable', 'The model is not available right now.', error)
}
