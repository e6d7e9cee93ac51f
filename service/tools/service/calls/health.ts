import type { ToolId, ToolStats } from '../../model/tool.ts'
import type { FailingTool } from '../../ports/calls.ts'
import type { Scope } from '../../ports/keeping.ts'
import type { CallDeps } from './order.ts'

/** Measures how well tools work by their calls, and checks failing tools. */
export function createHealth({ store, catalogue, upstreams, clock, log }: CallDeps) {
  /**
   * A failing tool gets few calls, so calls alone would not show that it works again. Instead its server is asked
   * whether it is there. If it is, the next call decides.
   */
  async function check({ environment, slug, toolId }: FailingTool): Promise<void> {
    const tool = await catalogue.bySlug(environment, slug, null).catch(() => null)
    // Private tools are left to their owner, and a removed tool has no callers.
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
