import { DomainError, invalid } from '../../../kit/errors.ts'
import type { Id } from '../../../kit/ids.ts'
import type { Environment, Owner } from '../../../kit/owner.ts'
import type { Content, Model, Sealed } from '../../model/asset.ts'
import type { AssetDraft, GivenSecrets } from '../../model/asset-draft.ts'
import type { Endpoints, SecretKeeping, SecretPart } from '../../ports/asset.ts'
import type { Models, Transforms } from '../../ports/run.ts'
import { configOf, faultsOf, isMask, pricingOf } from '../../rules/asset-draft.ts'

export interface DraftDeps {
  models: Pick<Models, 'list'>
  transforms: Pick<Transforms, 'check'>
  endpoints: Endpoints
  secrets: SecretKeeping
}

/** From what a creator gave to what can be run; or all that is wrong with it, by field, at once. */
export function createDrafts({ models, transforms, endpoints, secrets }: DraftDeps) {
  return {
    /** `alsoFaulty` are faults that the caller found. */
    async check(draft: AssetDraft, of: Owner, alsoFaulty: Record<string, string> = {}): Promise<void> {
      const faults = { ...alsoFaulty, ...faultsOf(draft, models.list(of.environment)), ...headerFaults(draft) }
      const asked = [...addresses(draft), ...expressions(draft, of)].filter(([field]) => !(field in faults))
      await Promise.all(
        asked.map(async ([field, ask]) => {
          const fault = await ask()
          if (fault !== null) faults[field] = fault
        }),
      )
      if (Object.keys(faults).length > 0) throw invalid(faults)
    },

    seal(draft: AssetDraft, environment: Environment, id: Id<'rda'>): Content {
      const catalogue: readonly Model[] = models.list(environment)
      const { agentConfig, toolConfig } = draft
      const headers =
        draft.type === 'agent'
          ? sealPart(id, 'webhookHeaders', agentConfig?.webhookHeaders ?? null)
          : sealPart(id, 'apiHeaders', toolConfig?.apiHeaders ?? null)
      const auth = sealPart(id, 'authConfig', toolConfig?.authConfig?.secrets ?? null)
      const config = configOf(draft, catalogue, { headers, auth })
      const { inputs, outputs, sharesInputs } = draft
      return { inputs, outputs, config, pricing: pricingOf(draft, config, catalogue), sharesInputs }
    },

    open: openPart,
  }

  /** A new list replaces the old one; only masks in it stand for what was there. */
  function sealPart(id: Id<'rda'>, part: SecretPart, texts: GivenSecrets | null): Sealed {
    if (texts === null) return NONE
    if (texts.given === null) return texts.before ?? NONE
    const names = Object.keys(texts.given)
    if (names.length === 0) return NONE
    const old = texts.before === null ? {} : openPart(id, part, texts.before)
    const clear = Object.entries(texts.given).map(([name, text]) => [name, isMask(text) ? (old[name] ?? '') : text])
    return { names, token: secrets.seal(JSON.stringify(Object.fromEntries(clear)), `${id}/${part}`) }
  }

  function openPart(id: Id<'rda'>, part: SecretPart, { token }: Sealed): Readonly<Record<string, string>> {
    return token === null ? {} : (JSON.parse(secrets.open(token, `${id}/${part}`)) as Record<string, string>)
  }

  function headerFaults({ agentConfig, toolConfig }: AssetDraft): Record<string, string> {
    const faults: Record<string, string> = {}
    const look = (at: string, name: string, value: string): void => {
      const fault = refusalOf(() => {
        endpoints.checkHeaders({ [name]: value })
      })
      if (fault !== null) faults[at] = fault
    }
    for (const [at, headers] of [
      ['agentConfig.webhookHeaders', agentConfig?.webhookHeaders?.given],
      ['toolConfig.apiHeaders', toolConfig?.apiHeaders?.given],
    ] as const) {
      for (const [name, value] of Object.entries(headers ?? {})) {
        look(`${at}.${name.slice(0, 64)}`, name, isMask(value) ? '' : value)
      }
    }
    const key = toolConfig?.authConfig
    if (key?.headerName != null) look('toolConfig.authConfig.headerName', key.headerName, '')
    return faults
  }

  function addresses({ agentConfig, toolConfig }: AssetDraft): Asked[] {
    const urls = [
      ['agentConfig.webhookUrl', agentConfig?.webhookUrl],
      ['agentConfig.pollUrl', agentConfig?.pollUrl],
      ['toolConfig.apiEndpoint', toolConfig?.apiEndpoint],
    ] as const
    return urls.flatMap(([field, url]) => (url == null ? [] : [[field, () => addressFault(url)] as const]))
  }

  async function addressFault(url: string): Promise<string | null> {
    try {
      await endpoints.checkAddress(url)
      return null
    } catch (error) {
      return sentenceOf(error)
    }
  }

  function expressions({ toolConfig }: AssetDraft, of: Owner): Asked[] {
    const texts = [
      ['toolConfig.requestTransform', toolConfig?.requestTransform],
      ['toolConfig.responseTransform', toolConfig?.responseTransform],
    ] as const
    return texts.flatMap(([field, text]) => (text == null ? [] : [[field, () => transforms.check(text, of)] as const]))
  }
}

type Asked = readonly [field: string, ask: () => Promise<string | null>]

export type Drafts = ReturnType<typeof createDrafts>

const NONE: Sealed = { names: [], token: null }

function refusalOf(act: () => void): string | null {
  try {
    act()
    return null
  } catch (error) {
    return sentenceOf(error)
  }
}

function sentenceOf(error: unknown): string {
  if (error instanceof DomainError && error.kind === 'invalid') return error.message
  throw error
}
