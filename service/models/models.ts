import type { LanguageModel } from '../marketplace/model/asset.ts'
import type { Models, Completion, CompletionRequest } from '../marketplace/ports/run.ts'
import { readCatalogue } from './catalogue.ts'
import { countTokens } from './tokens.ts'
import type { createVendor } from './vendor.ts'
import { ZERO } from '../kit/money.ts'

/** The models that prompts can run on, by environment. */
export function createModels({ baseUrl, apiKey, file }: ModelsOptions): Models {
  const vendor = baseUrl === undefined ? null : openVendor(baseUrl, apiKey)
  const inProduction: readonly LanguageModel[] = vendor === null ? [] : readCatalogue(file)
  const inSandbox: readonly LanguageModel[] = [ECHO]
  const list: Models['list'] = (environment) => (environment === 'sandbox' ? inSandbox : inProduction)
  return {
    list,
    find: (environment, id) => list(environment).find((model) => model.id === id) ?? null,
    countTokens,
    async complete(request) {
      if (request.model.id === ECHO.id) return await echo(request)
      if (vendor === null) throw new Error(`there is no vendor for ${request.model.id}`)
      return await (
        await vendor
      )(request)
    },
  }
}

/** The client library is large, so it is loaded only when a vendor is configured. */
async function openVendor(baseUrl: string, apiKey: string | undefined): Promise<ReturnType<typeof createVendor>> {
  const { createVendor } = await import('./vendor.ts')
  return createVendor({ baseUrl, apiKey })
}

interface ModelsOptions {
  baseUrl: string | undefined
  apiKey: string | undefined
  file: string | undefined
}

/** Returns the prompt. The first line of the answer says that no model ran. */
async function echo({ system, prompt, signal }: CompletionRequest): Promise<Completion> {
  signal.throwIfAborted()
  const completionTokens = await countTokens(prompt)
  const promptTokens = completionTokens + (system === null ? 0 : await countTokens(system))
  return { text: prompt === '' ? '' : echoed(prompt), usage: { promptTokens, completionTokens } }
}

/** The line is ours, and no tokens of the model. */
export function echoed(prompt: string): string {
  return `Sandbox echo: below is the prompt itself, not a model's answer. Real models answer in production, on a live server with MODELS_BASE_URL and MODELS_API_KEY (docs/going-live.md, Models).\n\n${prompt}`
}

const ECHO: LanguageModel = {
  id: 'sandbox/echo',
  name: 'Echo (returns the prompt)',
  tier: 'fast',
  inputPrice: ZERO,
  outputPrice: ZERO,
  outputTokensMax: 65_536,
}
