import type { Address } from '../chain/model.ts'
import { createRateLimit, type RateLimit } from '../api/limits.ts'
import { mountMcp } from '../api/mcp.ts'
import type { SellingDeps } from '../sales/service/deps.ts'
import type { Caller } from '../kit/caller.ts'
import type { Identity } from '../identity/service.ts'
import { loadOrMakeSecret } from '../identity/signin/secret.ts'
import { DomainError } from '../kit/errors.ts'
import { deriveId } from '../kit/ids.ts'
import type { Runs } from '../marketplace/service/runs/runs.ts'
import type { Budgets } from '../budgets/service/budgets.ts'
import { callHistoryRoutes, callRoutes } from './http/calls.ts'
import { payRoutes } from './http/pay.ts'
import { callSweepers } from './jobs/calls.ts'
import { mcpReference } from './http/mcp-reference.ts'
import { createToolServer } from './mcp/server.ts'
import type { AssetRunner } from './ports/calls.ts'
import { createCalls, type Calls } from './service/calls.ts'
import type { Catalogue } from './service/catalogue.ts'
import { createToolPayments, type ToolPayments } from './service/pay.ts'
import { createCallStore } from './store/calls.ts'
import { createSlots } from './store/calls/slots.ts'
import { openCatalogue } from './catalogue-part.ts'
import { demoHosts } from '../demo/part.ts'
import type { Platform, Part } from '../compose/platform.ts'
import { openUpstreams } from './upstreams-part.ts'

/** The tools: what there is, and the calling of it by REST, by MCP and for strangers who pay each call. */
export async function openTools(platform: Platform, given: ToolsGiven): Promise<Tools> {
  const { config, clock, log, database, ledger, redis, metrics } = platform
  const { identity, budgets, runs, selling, recipient } = given
  const { statements } = database
  const callStore = createCallStore(statements)
  const upstreams = openUpstreams({
    config,
    allowHosts: [...config.ALLOW_HOSTS, ...demoHosts(config)],
    tracer: platform.tracer,
  })
  const { catalogue, part: cataloguePart } = openCatalogue(platform, {
    measured: { of: (scope) => callStore.figures(scope, clock.now()) },
    upstreams,
  })
  const calls = createCalls({
    catalogue,
    store: callStore,
    upstreams,
    assets: assetsBy(runs),
    ledger,
    locks: budgets,
    slots: createSlots(config.TOOL_CALLS_AT_ONCE, redis, clock),
    clock,
    log,
    failpoints: platform.failpoints,
    timeoutMs: config.TOOL_TIMEOUT_MS,
    providerAtOnce: config.TOOL_PROVIDER_AT_ONCE,
  })
  const environment = config.LIVE ? 'production' : 'sandbox'
  const payments = createToolPayments({
    unpaid: calls.unpaid,
    calls: callStore,
    selling,
    clock,
    log,
    environment,
    network: config.LIVE ? 'base' : 'base-sepolia',
    recipient: config.TOOLS_RECIPIENT ?? recipient,
    address: config.addresses.tools,
    timeoutMs: config.TOOL_TIMEOUT_MS,
  })
  const perMinute = createRateLimit('tool-calls', config.RATE_TOOLS_PER_MINUTE, redis)
  const server = createToolServer({
    catalogue,
    calls,
    countCall: (caller) => count(perMinute, caller),
    topUpUrl: config.TOP_UP_URL ?? null,
    log,
    version: '1',
  })
  const mcpAddress = `${config.addresses.tools}/mcp`
  const mcp = await openMcp(platform, identity, mcpAddress, server)
  metrics.watch('coinslot_tool_calls_under_way', 'Calls of tools that this process is at', () => calls.underWay())
  return {
    catalogue,
    calls,
    payments,
    part: {
      routes: [
        { surface: 'api', routes: callHistoryRoutes(calls) },
        ...(cataloguePart.routes ?? []),
        { surface: 'tools', routes: [...payRoutes(payments, config.addresses.facilitator), ...callRoutes(calls)] },
      ],
      limits: { 'tool-calls': perMinute },
      mounted: [
        ...(cataloguePart.mounted ?? []),
        { role: 'tools', path: new URL(mcpAddress).pathname, handler: mcp.handler },
      ],
      described: [
        {
          role: 'tools',
          address: mcpAddress,
          routes: mcpReference({
            address: mcpAddress,
            requestsPerMinute: config.RATE_API_PER_MINUTE,
            callsPerMinute: config.RATE_TOOLS_PER_MINUTE,
            callsAtOnce: config.TOOL_CALLS_AT_ONCE,
            bodyBytes: config.BODY_BYTES_MAX,
          }),
        },
      ],
      sweepers: [...callSweepers(calls), ...(cataloguePart.sweepers ?? [])],
      ...(cataloguePart.ready === undefined ? {} : { ready: cataloguePart.ready }),
      async start() {
        await cataloguePart.start?.()
      },
      async stop() {
        await mcp.close()
        await calls.stop()
        await cataloguePart.stop?.()
        await upstreams.close()
      },
    },
  }
}

async function openMcp(
  { config, clock, log, redis }: Platform,
  identity: Identity,
  address: string,
  server: ReturnType<typeof createToolServer>,
) {
  return mountMcp({
    clock,
    log,
    redis,
    address,
    identify: (authorization, request) =>
      identity.identify({
        authorization: authorization ?? '',
        environmentHeader: request.get('coinslot-environment'),
        now: clock.now(),
      }),
    limit: createRateLimit('mcp', config.RATE_API_PER_MINUTE, redis),
    bodyBytesMax: config.BODY_BYTES_MAX,
    origins: [...config.CORS_ORIGINS, new URL(config.addresses.dashboard).origin],
    sessionSecret: config.AUTH_SECRET ?? (await loadOrMakeSecret(config.DATA_DIR)),
    ...server,
  })
}

interface Tools {
  catalogue: Catalogue
  calls: Calls
  payments: ToolPayments
  part: Part
}

interface ToolsGiven {
  identity: Identity
  budgets: Budgets
  runs: Runs
  selling: SellingDeps
  /** Where strangers' payments go, unless the operator names another address. */
  recipient: Address | null
}

async function count(perMinute: RateLimit, { keyId, issuer, subject }: Caller): Promise<void> {
  const { refusal } = await perMinute(keyId ?? `${issuer} ${subject}`)
  if (refusal !== null) throw refusal
}

/** A run whose request has left goes on when its caller leaves; a process that stops does not wait for its end here. */
function stopped(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const stop = (): void => {
      if (signal.reason instanceof DomainError && signal.reason.code === 'stopping') reject(signal.reason)
    }
    signal.addEventListener('abort', stop, { once: true })
    stop()
  })
}

function assetsBy(runs: Runs): AssetRunner {
  return {
    async run({ caller, slug, toolNames, inputs, maxCost, operation, keyed, enter, signal }) {
      // Before the run has a row there is nothing to cancel, and it begins at once.
      const cancel = (): void => void runs.cancel(caller, deriveId('run', operation)).catch(() => undefined)
      signal.addEventListener('abort', cancel, { once: true })
      try {
        const input = {
          identifier: slug,
          inputs,
          modelId: null,
          maxCost,
          webhookUrl: null,
          background: false,
          toolNames,
        }
        const run = runs.run(caller, input, { operation, keyed, enter })
        const { output, cost, failure } = await Promise.race([run, stopped(signal)])
        return { output, cost, failure }
      } finally {
        signal.removeEventListener('abort', cancel)
      }
    },
  }
}
