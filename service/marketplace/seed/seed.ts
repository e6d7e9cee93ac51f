import type { Clock } from '../../kit/clock.ts'
import { DomainError } from '../../kit/errors.ts'
import { newId, type Id } from '../../kit/ids.ts'
import type { Caller, Person, User } from '../../kit/caller.ts'
import type { Asset } from '../model/asset.ts'
import type { AssetDraft, AssetEdit } from '../model/asset-draft.ts'
import type { Assets } from '../service/assets/assets.ts'
import { agents } from './agents.ts'
import { CREATORS, type Seed } from './builders.ts'
import { prompts } from './prompts.ts'
import { tools } from './tools.ts'

/**
 * Puts the sandbox's first assets in, each once: what is there already stays as it is, except for where its creator's
 * server is. Safe in several processes at the same time, and after a crash in the middle.
 */
export async function seed({ assets, signUp, clock, demo }: SeedDeps): Promise<void> {
  for (const one of [...prompts(), ...agents(demo), ...tools(demo)]) {
    const caller = callerOf(await signUp(personOf(one)))
    const { draft, featured } = one
    const there = await find(assets, draft.slug, caller)
    if (there === null) {
      if (!(await create(assets, caller, draft, newId('op', clock.now())))) continue
    } else {
      if (there.owner.userId !== caller.user?.id) continue
      if (addressOf(there) !== addressIn(draft)) await assets.edit(caller, draft.slug, moved(draft), null)
      if (there.status !== 'draft') continue
    }
    // Published last: what is still a draft at the next start was not finished.
    await assets.mark('sandbox', draft.slug, 'verified', true)
    if (featured) await assets.mark('sandbox', draft.slug, 'featured', true)
    await assets.publish(caller, draft.slug)
  }
  for (const { subject } of Object.values(CREATORS)) await assets.markCreator(subject, true)
}

interface SeedDeps {
  assets: Assets
  signUp(person: Person): Promise<User>
  clock: Clock
  /** Where the demo creators' servers are. */
  demo: string
}

async function find(assets: Assets, slug: string, caller: Caller): Promise<Asset | null> {
  try {
    return (await assets.get(slug, caller, '')).asset
  } catch (error) {
    if (error instanceof DomainError && error.kind === 'missing') return null
    throw error
  }
}

/** The demo servers listen beside the service: on another port when it is started on another one. */
function addressOf({ content: { config } }: Asset): string | null {
  if (config.type === 'prompt') return null
  return config.type === 'agent' ? config.webhookUrl : config.apiEndpoint
}

function addressIn({ agentConfig, toolConfig }: AssetDraft): string | null {
  return agentConfig?.webhookUrl ?? toolConfig?.apiEndpoint ?? null
}

function moved({ agentConfig, toolConfig }: AssetDraft): AssetEdit {
  if (agentConfig !== null) return { agentConfig: { webhookUrl: agentConfig.webhookUrl, pollUrl: agentConfig.pollUrl } }
  return { toolConfig: { apiEndpoint: toolConfig?.apiEndpoint ?? null } }
}

/** False when the slug is taken: by another process, which finishes it, or by a person, who keeps it. */
async function create(assets: Assets, caller: Caller, draft: AssetDraft, operation: Id<'op'>): Promise<boolean> {
  try {
    await assets.create(caller, draft, operation)
    return true
  } catch (error) {
    const details = error instanceof DomainError ? error.fields['details'] : undefined
    if (typeof details === 'object' && details !== null && 'slug' in details) return false
    throw error
  }
}

function personOf({ creator }: Seed): Person {
  return { issuer: 'coinslot-demo', ...CREATORS[creator], email: null, emailConfirmed: false }
}

function callerOf(user: User): Caller {
  const { subject, issuer } = user
  return { user, subject, issuer, environment: 'sandbox', via: 'session', keyId: null, agentId: null }
}
