import { assertVersion, invalid, versionConflict } from '../../../kit/errors.ts'
import { deriveId, type Id } from '../../../kit/ids.ts'
import { ZERO } from '../../../kit/money.ts'
import { accountOf, ownerOf, type Caller } from '../../../kit/caller.ts'
import type { Asset, AssetStatus, Creator } from '../../model/asset.ts'
import { pageOf, type AssetDraft, type AssetEdit } from '../../model/asset-draft.ts'
import { assetMissing } from '../../errors.ts'
import { edited } from '../../rules/asset-draft.ts'
import { after, FIRST_VERSION, nextVersion, type Action } from '../../rules/asset-state.ts'
import type { AssetDeps } from './deps.ts'
import type { Drafts } from './drafts.ts'

/** What creators do with their own assets. */
export function createWriting({ store, clock, changed, drafts }: WritingDeps) {
  return {
    own,

    /** The id follows from the operation: a repeated request finds the asset that it made. */
    async create(caller: Caller, draft: AssetDraft, operation: Id<'op'>): Promise<Asset> {
      const owner = creatorOf(caller)
      const { environment } = caller
      const id = deriveId('rda', operation)
      const before = await store.find(environment, id)
      if (before !== null) return owned(before.asset, owner.userId)
      const taken = await store.slugTaken(environment, draft.slug)
      await drafts.check(draft, { userId: owner.userId, environment }, taken ? SLUG_TAKEN : {})
      const content = drafts.seal(draft, environment, id)
      const now = clock.now()
      const asset: Asset = {
        ...pageOf(draft),
        id,
        environment,
        status: 'draft',
        version: FIRST_VERSION,
        content,
        pricing: content.pricing,
        verified: false,
        featured: false,
        trending: false,
        stats: NO_STATS,
        owner,
        createdAt: now,
        updatedAt: now,
        publishedAt: null,
        publishedVersion: null,
      }
      if ((await store.add(asset)) === 'slug-taken') throw invalid(SLUG_TAKEN)
      return asset
    },

    /** Makes a new version of it. An edit that names the version it was made from loses against an earlier one. */
    async edit(caller: Caller, identifier: string, edit: AssetEdit, from: string | null): Promise<Asset> {
      const owner = creatorOf(caller)
      if (Object.keys(edit).length === 0) throw invalid({ body: 'must change something' })
      for (let attempt = 1; ; attempt++) {
        const asset = await own(caller, identifier)
        assertVersion(THING, { from, now: asset.version })
        const draft = edited(asset, edit)
        await drafts.check(draft, ownerOf(caller))
        const content = drafts.seal(draft, caller.environment, asset.id)
        const version = nextVersion(asset.version, runsChange(edit))
        const next: Asset = {
          ...asset,
          ...pageOf(draft),
          content,
          pricing: content.pricing,
          updatedAt: clock.now(),
          version,
          publishedVersion: asset.status === 'published' ? version : asset.publishedVersion,
          owner: { ...owner, verified: asset.owner.verified },
        }
        if (await store.save(next, asset.version)) {
          if (next.status === 'published') await listed(next)
          return next
        }
        // Two edits at the same moment: this one is made again from what the other left.
        if (attempt === ATTEMPTS) throw versionConflict(THING, asset.version)
      }
    },

    publish: (caller: Caller, identifier: string) => move(caller, identifier, 'publish'),
    unpublish: (caller: Caller, identifier: string) => move(caller, identifier, 'unpublish'),
    archive: (caller: Caller, identifier: string) => move(caller, identifier, 'archive'),
  }

  async function move(caller: Caller, identifier: string, action: Action): Promise<Asset> {
    for (let attempt = 1; ; attempt++) {
      const asset = await own(caller, identifier)
      const status: AssetStatus = after(action, asset.status)
      if (status === asset.status) {
        // A process of the version before may have moved it, and does not say so to catalogues.
        await listed(asset)
        return asset
      }
      // What was a public address when the draft was made may be none by now.
      if (status === 'published') await drafts.check(edited(asset, {}), ownerOf(caller))
      const now = clock.now()
      if (await store.setStatus(asset.id, asset.status, status, now)) {
        const moved = { ...asset, status, updatedAt: now }
        await listed(moved)
        return status === 'published' ? { ...moved, publishedAt: now, publishedVersion: asset.version } : moved
      }
      if (attempt === ATTEMPTS) throw versionConflict(THING, asset.version)
    }
  }

  /** Its runs are offered to buyers without an account, or are not any more. */
  async function listed({ owner, ...asset }: Asset): Promise<void> {
    await changed({ ...asset, ownerId: owner.userId })
  }

  async function own(caller: Caller, identifier: string): Promise<Asset> {
    const { userId, environment } = accountOf(caller)
    const found = await store.find(environment, identifier)
    if (found === null) throw assetMissing()
    return owned(found.asset, userId)
  }
}

function owned(asset: Asset, userId: string): Asset {
  if (asset.owner.userId !== userId) throw assetMissing()
  return asset
}

function creatorOf(caller: Caller): Creator {
  const { userId } = accountOf(caller)
  return { userId, subject: caller.subject, name: caller.user?.name ?? null, verified: false }
}

interface WritingDeps extends Pick<AssetDeps, 'store' | 'clock' | 'changed'> {
  drafts: Drafts
}

/** Whether runs of the new version may differ from runs of the old one. */
function runsChange(edit: AssetEdit): boolean {
  const { inputs, outputs, pricing, sharesInputs, promptConfig, agentConfig, toolConfig } = edit
  const parts = [inputs, outputs, pricing, sharesInputs, promptConfig, agentConfig, toolConfig]
  return parts.some((part) => part !== undefined)
}

const THING = 'marketplace asset'
const SLUG_TAKEN = { slug: 'is taken by another asset: choose another slug' }
const ATTEMPTS = 5
const NO_STATS = {
  totalRuns: 0,
  totalRevenue: ZERO,
  successRate: 0,
  averageLatency: 0,
  averageRating: 0,
  totalRatings: 0,
}
