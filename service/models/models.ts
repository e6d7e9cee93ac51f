import type { LanguageModel } from '../marketplace/model/language-model.ts'
import type { Models } from '../marketplace/ports/run.ts'
import { readCatalogue } from './catalogue.ts'
import { ECHO, echo } from './echo.ts'
import { countTokens } from './tokens.ts'
import { createVendor } from './vendor.ts'

/** What there is to run prompts on, by environment. */
export function createModels({ baseUrl, apiKey, file }: ModelsOptions): Models {
  const vendor = baseUrl === undefined ? null : createVendor({ baseUrl, apiKey })
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
      return await vendor(request)
    },
  }
}

interface ModelsOptions {
  baseUrl: string | undefined
  apiKey: string | undefined
  file: string | undefined
}
