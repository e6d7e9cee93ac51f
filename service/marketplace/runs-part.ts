import type { Deliveries } from '../deliveries/service/deliveries.ts'
import { signatureOf } from '../deliveries/rules/signature.ts'
import type { Identity } from '../identity/service.ts'
import { deriveId } from '../kit/ids.ts'
import type { Statements } from '../kit/transaction.ts'
import type { Owner } from '../kit/owner.ts'
import { runRoutes, toEndEvent } from './http/runs.ts'
import { resumeTopic, runSweepers, runTopics } from './jobs/runs.ts'
import type { AssetsForRuns } from './ports/asset.ts'
import type { Callout, EndedRun, Models, Transforms } from './ports/run.ts'
import { createAgentExecutor } from './service/executors/agent.ts'
import { createPromptExecutor } from './service/executors/prompt.ts'
import { createToolExecutor } from './service/executors/tool.ts'
import { createRuns, type Runs } from './service/runs.ts'
import { createRunStore } from './store/runs.ts'
import { PRESENCE } from './store/runs/open.ts'
import { createFreeRuns } from './store/runs/free.ts'
import { createThrottle } from './store/runs/throttle.ts'
import type { Budgets } from '../budgets/service/budgets.ts'
import type { Platform, Part } from '../compose/platform.ts'

/** Runs of assets, and what does them. */
export function openRuns(
  platform: Platform,
  { identity, deliveries, ...given }: RunsGiven,
): { runs: Runs; part: Part } {
  const { config, clock, log, database, ledger, redis, outbox, outbound } = platform
  const { models, assets, transforms, callout } = given

  /** Creators know their own account's signature; what signs along while a secret is replaced is signed with too. */
  async function sign(owner: Owner, id: string, body: string): Promise<Record<string, string>> {
    const { secret, previous } = await identity.signingSecrets.of(owner)
    const seconds = Math.floor(clock.now().getTime() / 1000)
    const secrets = previous === null ? [secret] : [secret, previous.secret]
    return {
      'webhook-id': id,
      'webhook-timestamp': String(seconds),
      'webhook-signature': signatureOf(secrets, id, seconds, body),
    }
  }

  /** One look for all of them: most have nobody who listens. */
  async function tellEndpoints(inside: Statements, ended: readonly EndedRun[]): Promise<void> {
    const owners = new Map(ended.map(({ run }) => [keyOf(ownerOf(run)), ownerOf(run)]))
    const listeners = await deliveries.listeners(inside, [...owners.values()], ['run.completed', 'run.failed'])
    const listening = new Set(listeners.map(keyOf))
    for (const end of ended) {
      const owner = ownerOf(end.run)
      if (!listening.has(keyOf(owner))) continue
      await deliveries.event(inside, { id: deriveId('evt', end.id), owner, ...toEndEvent(end, config.addresses.api) })
    }
  }

  async function tellOfEnds(inside: Statements, ended: readonly EndedRun[]): Promise<void> {
    for (const end of ended) {
      const { id, run } = end
      if (run.webhookUrl === null) continue
      await deliveries.write(inside, {
        id: deriveId('dlv', id),
        owner: ownerOf(run),
        subject: id,
        to: { url: run.webhookUrl },
        body: JSON.stringify(toEndEvent(end, config.addresses.api)),
      })
    }
    await tellEndpoints(inside, ended)
  }

  const runs = createRuns({
    store: createRunStore(database.statements),
    assets,
    models,
    executors: {
      prompt: createPromptExecutor(models),
      agent: createAgentExecutor({ callout, sign, assets, clock }),
      tool: createToolExecutor({ callout, transforms, assets }),
    },
    throttle: createThrottle(database.statements, clock, redis),
    ledger,
    locks: given.budgets,
    clock,
    log,
    heartbeat: (process) => platform.lease(PRESENCE + process),
    checkAddress: (url) => outbound.checkAddress(url),
    announce: (inside, announcements) => outbox.add(inside, announcements),
    tellOfEnds,
    feeBps: config.PLATFORM_FEE_BPS,
    waitingMax: config.RUNS_WAITING,
    freeRuns: createFreeRuns(database.statements, {
      perDay: config.FREE_RUNS_PER_DAY,
      perCaller: config.FREE_RUNS_PER_CALLER_DAY,
    }),
    async tellOfFreeRuns({ userId, environment }, asset, resetsAt) {
      const until = resetsAt.toISOString()
      const id = `free-runs-${environment}-${asset?.id ?? userId}-${until}`
      const times =
        asset === null
          ? `Your free prompts (${environment}) have been run ${String(config.FREE_RUNS_PER_DAY)} times today`
          : `Your free prompt "${asset.name}" (${environment}) has been run as often today as its freeRunsPerDay allows`
      // What is not mailed is not worth a run: the refusal stands either way.
      await identity
        .mailTo(userId, {
          id,
          subject: 'Your free runs are used up for today',
          text: `${times}, which is what you pay for in a day.\n\nFurther free runs are refused until ${until}. Set a price, or another freeRunsPerDay of the prompt, to let them go on.\n`,
        })
        .catch((error: unknown) => log.warn({ err: error }, 'a creator could not be told that free runs are used up'))
    },
  })
  return {
    runs,
    part: {
      routes: [{ surface: 'api', routes: runRoutes(runs, config.addresses.api) }],
      topics: [
        ...runTopics(runs, { perAccount: config.RUNS_AT_ONCE, perTarget: config.RUNS_AT_ONCE_PER_CREATOR }),
        resumeTopic(runs, { perAccount: config.RUNS_AT_ONCE }),
      ],
      sweepers: runSweepers(runs),
      stop: () => runs.stop(),
    },
  }
}

function ownerOf({ userId, environment }: EndedRun['run']): Owner {
  return { userId, environment }
}

function keyOf({ userId, environment }: Owner): string {
  return `${environment} ${userId}`
}

interface RunsGiven {
  identity: Identity
  deliveries: Deliveries
  budgets: Budgets
  assets: AssetsForRuns
  models: Models
  transforms: Transforms
  callout: Callout
}
