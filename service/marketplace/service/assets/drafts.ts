import { DomainError, invalid } from '../../../kit/errors.ts'
import type { Id } from '../../../kit/ids.ts'
import type { Environment, Owner } from '../../../kit/owner.ts'
import type { Content, Model, Sealed } from '../../model/asset.ts'
import type { AssetDraft, SecretsInput } from '../../model/asset-draft.ts'
import type { SecretPart } from '../../ports/asset.ts'
import { configOf, faultsOf, isMask, pricingOf } from '../../rules/asset-draft.ts'
import type { AssetDeps } from './deps.ts'

/** Checks drafts and makes them runnable; all faults are reported at once, by field. */
export function createDrafts({ models, transforms, endpoints, secrets: vault }: AssetDeps) {
  return {
    /** `alsoFaulty` are faults that the caller found. */
    async check(draft: AssetDraft, of: Owner, alsoFaulty: Record<string, string> = {}): Promise<void> {
      const faults = { ...alsoFaulty, ...faultsOf(draft, models.list(of.environment)), ...headerFaults(draft) }
      const checks = [...addresses(draft), ...expressions(draft, of)].filter(([field]) => !(field in faults))
      await Promise.all(
        checks.map(async ([field, check]) => {
          const fault = await faultOf(check)
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
  function sealPart(id: Id<'rda'>, part: SecretPart, secrets: SecretsInput | null): Sealed {
    if (secrets === null) return NONE
    if (secrets.texts === null) return secrets.before ?? NONE
    const names = Object.keys(secrets.texts)
    if (names.length === 0) return NONE
    const old = secrets.before === null ? {} : openPart(id, part, secrets.before)
    const clear = Object.entries(secrets.texts).map(([name, text]) => [name, isMask(text) ? (old[name] ?? '') : text])
    return { names, token: vault.seal(JSON.stringify(Object.fromEntries(clear)), `${id}/${part}`) }
  }

  function openPart(id: Id<'rda'>, part: SecretPart, { token }: Sealed): Readonly<Record<string, string>> {
    return token === null ? {} : (JSON.parse(vault.open(token, `${id}/${part}`)) as Record<string, string>)
  }

  function headerFaults({ agentConfig, toolConfig }: AssetDraft): Record<string, string> {
    const faults: Record<string, string> = {}
    const check = (at: string, name: string, value: string): void => {
      try {
        endpoints.checkHeaders({ [name]: value })
      } catch (error) {
        faults[at] = sentenceOf(error)
      }
    }
    for (const [at, headers] of [
      ['agentConfig.webhookHeaders', agentConfig?.webhookHeaders?.texts],
      ['toolConfig.apiHeaders', toolConfig?.apiHeaders?.texts],
    ] as const) {
      for (const [name, value] of Object.entries(headers ?? {})) {
        check(`${at}.${name.slice(0, 64)}`, name, isMask(value) ? '' : value)
      }
    }
    const key = toolConfig?.authConfig
    if (key?.headerName != null) check('toolConfig.authConfig.headerName', key.headerName, '')
    return faults
  }

  function addresses({ agentConfig, toolConfig }: AssetDraft): Check[] {
    const urls = [
      ['agentConfig.webhookUrl', agentConfig?.webhookUrl],
      ['agentConfig.pollUrl', agentConfig?.pollUrl],
      ['toolConfig.apiEndpoint', toolConfig?.apiEndpoint],
    ] as const
    return urls.flatMap(([field, url]) =>
      url == null ? [] : [[field, () => endpoints.checkAddress(url).then(() => null)] as const],
    )
  }

  function expressions({ toolConfig }: AssetDraft, of: Owner): Check[] {
    const texts = [
      ['toolConfig.requestTransform', toolConfig?.requestTransform],
      ['toolConfig.responseTransform', toolConfig?.responseTransform],
    ] as const
    return texts.flatMap(([field, text]) => (text == null ? [] : [[field, () => transforms.check(text, of)] as const]))
  }
}

/** Answers or throws what is wrong with the field. */
type Check = readonly [field: string, check: () => Promise<string | null>]

export type Drafts = ReturnType<typeof createDrafts>

const NONE: Sealed = { names: [], token: null }

async function faultOf(check: Check[1]): Promise<string | null> {
  try {
    return await check()
  } catch (error) {
    return sentenceOf(error)
  }
}

function sentenceOf(error: unknown): string {
  if (error instanceof DomainError && error.kind === 'invalid') return error.message
  throw error
}
