import type { Budgets } from '../budgets/service/budgets.ts'
import type { Platform, Part } from './platform.ts'
import { signatureOf } from '../deliveries/rules/messages.ts'
import type { Deliveries } from '../deliveries/service/deliveries.ts'
import type { Identity } from '../identity/service/identity.ts'
import type { Outflows } from '../outflow/service.ts'
import { runRoutes, toEndEvent } from '../marketplace/http/runs.ts'
import { resumeTopic, runSweepers, runTopics } from '../marketplace/jobs.ts'
import type { AssetsForRuns } from '../marketplace/ports/asset.ts'
import type { Callout, Models, Transforms } from '../marketplace/ports/run.ts'
import { createAgentExecutor } from '../marketplace/service/executors/agent.ts'
import { createPromptExecutor } from '../marketplace/service/executors/prompt.ts'
import { createSigning } from '../marketplace/service/executors/agent.ts'
import { createToolExecutor } from '../marketplace/service/executors/tool.ts'
import { createReports } from '../marketplace/service/runs/reports.ts'
import { createRuns, type Runs } from '../marketplace/service/runs/runs.ts'
import { createFreeRuns, createUnpaidCosts } from '../marketplace/store/runs/free.ts'
import { HEARTBEAT } from '../marketplace/store/runs/open.ts'
import { createRunStore } from '../marketplace/store/runs/runs.ts'
import { createThrottle } from '../marketplace/store/runs/throttle.ts'

/** Runs of assets, and what executes them. */
export function openRuns(platform: Platform, deps: RunsPartDeps): { runs: Runs; part: Part } {
  const { config, clock, log, database, ledger, redis, outbox, outbound } = platform
  const { identity, deliveries, outflow, models, assets, transforms, callout } = deps
  const sign = createSigning({ secretsOf: (owner) => identity.signingSecrets.of(owner), signatureOf, clock })
  const reports = createReports({
    deliveries,
    toEvent: (end) => toEndEvent(end, config.addresses.api),
    mail: (userId, mail) => identity.mailTo(userId, mail),
    freeRunsPerDay: config.FREE_RUNS_PER_DAY,
    log,
  })
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
    guard: deps.budgets,
    outflow,
    clock,
    log,
    lease: (process) => platform.lease(HEARTBEAT + process),
    checkAddress: (url) => outbound.checkAddress(url),
    announce: (inside, announcements) => outbox.add(inside, announcements),
    ...reports,
    feeBps: config.PLATFORM_FEE_BPS,
    waitingMax: config.RUNS_WAITING,
    freeRuns: createFreeRuns(database.statements, {
      perDay: config.FREE_RUNS_PER_DAY,
      perCaller: config.FREE_RUNS_PER_CALLER_DAY,
    }),
    unpaidCosts: createUnpaidCosts(database.statements, {
      caller: config.UNPAID_MODEL_COSTS_PER_CALLER_DAY,
      creator: config.UNPAID_MODEL_COSTS_PER_CREATOR_DAY,
    }),
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

interface RunsPartDeps {
  identity: Identity
  deliveries: Deliveries
  budgets: Budgets
  outflow: Outflows
  assets: AssetsForRuns
  models: Models
  transforms: Transforms
  callout: Callout
}
