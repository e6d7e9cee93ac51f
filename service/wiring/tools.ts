import type { Address } from '../chain/model.ts'
import { textVault } from '../vault/vault.ts'
import { count, createRateLimit } from '../api/limits.ts'
import type { Config } from '../config.ts'
import type { Connections } from '../connections/service/connections.ts'
import { permitsPrivate } from '../outbound/addresses.ts'
import type { Files } from '../files/service.ts'
import type { SellingDeps } from '../sales/service/deps.ts'
import type { Identity } from '../identity/service/identity.ts'
import { DomainError } from '../kit/errors.ts'
import type { Caller } from '../kit/caller.ts'
import { deriveId } from '../kit/ids.ts'
import type { AccessTokens } from './oauth.ts'
import type { Runs } from '../marketplace/service/runs/runs.ts'
import type { Budgets } from '../budgets/service/budgets.ts'
import { callHistoryRoutes, callRoutes } from '../tools/http/calls.ts'
import { createToolDoor, payRoutes } from '../tools/http/pay.ts'
import { callSweepers } from '../tools/jobs.ts'
import { mcpReference } from '../tools/http/mcp-reference.ts'
import { createToolServer } from '../tools/mcp/server.ts'
import type { AssetRunner } from '../tools/ports/calls.ts'
import { createCalls } from '../tools/service/calls/calls.ts'
import { createToolPayments } from '../tools/service/pay/payments.ts'
import { createCallStore } from '../tools/store/calls/store.ts'
import { createSlots } from '../tools/store/calls/slots.ts'
import { openCatalogue } from './tools-catalogue.ts'
import type { Wallets } from '../wallet/service/wallets.ts'
import { demoHosts } from './demo.ts'
import { openMcp, ownerPages } from './mcp.ts'
import type { Platform, Part } from './platform.ts'
import { connectableProviders } from './tools-providers.ts'
import { openUpstreams } from './tools-upstreams.ts'

/** The catalogue, and calls of its tools: by REST, by MCP, and without an account by x402. */
export async function openTools(platform: Platform, deps: ToolsDeps) {
  const { config, clock, log, database, ledger, redis, metrics, vault } = platform
  const { identity, accessTokens, budgets, connections, files, runs, selling } = deps
  const { statements } = database
  const callStore = createCallStore(statements)
  const upstreams = openUpstreams({
    config,
    allowHosts: [...config.ALLOW_HOSTS, ...demoHosts(config)],
    tracer: platform.tracer,
  })
  const plainHttp = (url: URL): boolean => permitsPrivate(upstreams.policy, url)
  const { catalogue, part: cataloguePart } = openCatalogue(platform, {
    measured: { of: (scope) => callStore.stats(scope, clock.now()) },
    upstreams,
  })
  const calls = createCalls({
    catalogue,
    store: callStore,
    upstreams,
    connections: connections.use,
    plainHttp,
    assets: assetsBy(runs),
    ledger,
    locks: budgets,
    slots: createSlots(config.TOOL_CALLS_AT_ONCE, redis, clock),
    clock,
    log,
    failpoints: platform.failpoints,
    timeoutMs: config.TOOL_TIMEOUT_MS,
    providerAtOnce: config.TOOL_PROVIDER_AT_ONCE,
    answerBytesMax: config.TOOL_ANSWER_BYTES_MAX,
    files,
    secrets: textVault(vault),
    fileBytesMax: config.TOOL_FILE_BYTES_MAX,
  })
  const payments = createToolPayments({
    unpaid: calls.unpaid,
    calls: callStore,
    selling,
    clock,
    log,
    ...(config.LIVE ? LIVE : SANDBOX),
    recipient: await recipientOf(config, deps),
    address: config.addresses.tools,
    timeoutMs: config.TOOL_TIMEOUT_MS,
  })
  const door = createToolDoor(payments, config.addresses.facilitator)
  const perMinute = createRateLimit('tool-calls', config.RATE_TOOLS_PER_MINUTE, redis)
  const countCall = ({ keyId, issuer, subject }: Caller): Promise<void> =>
    count(perMinute, keyId ?? `${issuer} ${subject}`)
  const server = createToolServer({
    catalogue,
    calls,
    payments,
    facilitator: config.addresses.facilitator,
    countCall,
    countGuest: (address) => count(platform.guestLimit, address),
    pages: ownerPages(config),
    topUpUrl: config.TOP_UP_URL ?? null,
    version: '1',
  })
  const { address: mcpAddress } = accessTokens
  const mcp = openMcp(platform, { identity, address: mcpAddress, accessTokens, service: server })
  metrics.watch('coinslot_tool_calls_under_way', 'Tool calls in progress in this process', () => calls.underWay())
  return {
    catalogue,
    calls,
    countCall,
    payments,
    providers: connectableProviders(catalogue, upstreams, plainHttp),
    part: {
      ...cataloguePart,
      routes: [
        { surface: 'api', routes: callHistoryRoutes(calls) },
        ...cataloguePart.routes,
        { surface: 'tools', routes: [...payRoutes(payments, door), ...callRoutes(calls, door)] },
      ],
      limits: { 'tool-calls': perMinute },
      mounted: [...cataloguePart.mounted, { role: 'tools', path: new URL(mcpAddress).pathname, handler: mcp.handler }],
      described: [{ role: 'tools', address: mcpAddress, routes: referenceOf(config, mcpAddress) }],
      sweepers: [...callSweepers(calls), ...cataloguePart.sweepers],
      async stop() {
        await mcp.close()
        await calls.stop()
        await cataloguePart.stop()
        await upstreams.close()
      },
    } satisfies Part,
  }
}

function referenceOf(config: Config, address: string) {
  return mcpReference({
    address,
    requestsPerMinute: config.RATE_API_PER_MINUTE,
    callsPerMinute: config.RATE_TOOLS_PER_MINUTE,
    callsAtOnce: config.TOOL_CALLS_AT_ONCE,
    bodyBytes: config.BODY_BYTES_MAX,
    taskAfterMs: config.MCP_TASK_AFTER_MS,
  })
}

const LIVE = { environment: 'production', network: 'base' } as const
const SANDBOX = { environment: 'sandbox', network: 'base-sepolia' } as const

interface ToolsDeps {
  identity: Identity
  accessTokens: AccessTokens
  budgets: Budgets
  connections: Connections
  /** Keeps answers that are too large to be sent. */
  files: Files
  runs: Runs
  selling: SellingDeps
  /** Receives x402 payments, unless the operator names another address. */
  recipient: Address | null
  recipients: Wallets['recipients']
}

/** An address where nobody could spend what is paid stops the start. */
export async function recipientOf(
  config: Config,
  { recipient, recipients }: Pick<ToolsDeps, 'recipient' | 'recipients'>,
): Promise<Address | null> {
  const { TOOLS_RECIPIENT: named } = config
  if (named === undefined) return recipient
  const { network } = config.LIVE ? LIVE : SANDBOX
  await recipients.assertForSales(named, network, 'TOOLS_RECIPIENT')
  return named
}

/**
 * Rejects when the process stops. A run whose request was sent continues in another process, so this one does not wait.
 */
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
      // Before the run has a row there is nothing to cancel, and the run starts immediately.
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

    async find(caller, operation) {
      const run = await runs.find(caller, deriveId('run', operation))
      if (run === null) return null
      const { rdaSlug: slug, endedAt, durationMs, output, cost, failure } = run
      return { slug, result: endedAt === null ? null : { endedAt, durationMs: durationMs ?? 0, output, cost, failure } }
    },
  }
}
