import type { Clock } from '../../../kit/clock.ts'
import type { Log } from '../../../kit/log.ts'
import type { Figures } from '../../model/figures.ts'
import type { ToolId } from '../../model/tool.ts'
import type { CallStore, FailingTool, Upstreams } from '../../ports/calls.ts'
import type { CatalogueForCalls } from '../../ports/catalogue.ts'
import type { Scope } from '../../ports/keeping.ts'

/** How tools do, from the calls that were made of them, and what becomes of those that are said to fail. */
export function createHealth({ store, catalogue, upstreams, clock, log }: HealthDeps) {
  /**
   * A tool that fails is hardly called any more, so no call would tell that it is well again. Its server is asked
   * instead whether it is there: then the next call decides.
   */
  async function look({ environment, slug, toolId }: FailingTool): Promise<void> {
    const tool = await catalogue.bySlug(environment, slug, null).catch(() => null)
    // Private ones are their owner's to look after; what is gone fails nobody.
    if (tool?.id !== toolId || tool.upstream.kind === 'rda') return
    const there = (await catalogue.isSimulated(tool)) || (await upstreams.isThere(tool.upstream.server))
    if (there) await store.recovered(toolId)
    log.info({ slug, there }, 'a failing tool was looked at')
  }

  return {
    figures: (scope: Scope): Promise<ReadonlyMap<ToolId, Figures>> => store.figures(scope, clock.now()),
    foldFigures: (): Promise<number> => store.foldFigures(clock.now()),
    forget: (now: Date): Promise<void> => store.forget(now),
    async lookAtFailing(now: Date): Promise<void> {
      const failing = await store.takeFailing(now, AT_ONCE)
      await Promise.all(failing.map((tool) => look(tool)))
    },
  }
}

export interface HealthDeps {
  store: Pick<CallStore, 'figures' | 'foldFigures' | 'forget' | 'takeFailing' | 'recovered'>
  catalogue: Pick<CatalogueForCalls, 'bySlug' | 'isSimulated'>
  upstreams: Pick<Upstreams, 'isThere'>
  clock: Clock
  log: Log
}

const AT_ONCE = 16
