import type { ToolId, ToolStats } from '../../model/tool.ts'
import type { FailingTool } from '../../ports/calls.ts'
import type { Scope } from '../../ports/keeping.ts'
import type { CallDeps } from './order.ts'

/** How tools do, by the calls made of them, and the checks of those that fail. */
export function createHealth({ store, catalogue, upstreams, clock, log }: CallDeps) {
  /**
   * A failing tool is hardly called any more, so no call would show that it is well again. Its server is asked instead
   * whether it is there: then the next call decides.
   */
  async function check({ environment, slug, toolId }: FailingTool): Promise<void> {
    const tool = await catalogue.bySlug(environment, slug, null).catch(() => null)
    // Private tools are their owner's to check; a removed one fails for no caller.
    if (tool?.id !== toolId || tool.upstream.kind === 'rda') return
    const there = (await catalogue.isSimulated(tool)) || (await upstreams.isThere(tool.upstream.server))
    if (there) await store.recovered(toolId)
    log.info({ slug, there }, 'a failing tool was checked')
  }

  return {
    stats: (scope: Scope): Promise<ReadonlyMap<ToolId, ToolStats>> => store.stats(scope, clock.now()),
    foldStats: (): Promise<number> => store.foldStats(clock.now()),
    forget: (now: Date): Promise<void> => store.forget(now),
    async checkFailing(now: Date): Promise<void> {
      const failing = await store.takeFailing(now, AT_ONCE)
      await Promise.all(failing.map(check))
    },
  }
}

const AT_ONCE = 16
