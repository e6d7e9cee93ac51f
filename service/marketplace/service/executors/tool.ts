import { creatorCode } from '../../../kit/error-codes/catalogue.ts'
import { DomainError } from '../../../kit/errors.ts'
import { GUESTS } from '../../../ledger/model.ts'
import type { OutboundRequest } from '../../../outbound/model.ts'
import { ExecutionFailed } from '../../errors.ts'
import type { ToolConfig } from '../../model/asset.ts'
import type { AssetsForRuns } from '../../ports/asset.ts'
import type { Callout, Executor, Transforms, TransformUse, Work } from '../../ports/run.ts'
import { callFailure, withReason } from '../../rules/reason.ts'
import { toolSecondsOf } from '../../rules/run.ts'
import { textOf } from '../../rules/template.ts'
import { asksByQuery, authHeader, readAnswer, withQuery } from '../../rules/tool.ts'

/** Sends the transformed inputs to the creator's API; its transformed answer is the output. Never called twice. */
export function createToolExecutor({ callout, transforms, assets }: ToolDeps): Executor {
  async function transform(work: Work, which: Which, input: unknown): Promise<unknown> {
    const expression = expressionOf(work, which)
    if (expression === null) return input
    try {
      return await transforms.apply(expression, input, useOf(work))
    } catch (error) {
      throw transformFailed(which, error)
    }
  }

  /** Before the creator's API works for an answer that could not be transformed. */
  function assertPatience(work: Work, which: Which): void {
    const expression = expressionOf(work, which)
    if (expression === null) return
    try {
      transforms.assertPatience(expression, useOf(work))
    } catch (error) {
      throw transformFailed(which, error)
    }
  }

  async function send({ request, secrets }: Prepared, work: Work, signal: AbortSignal): Promise<string> {
    const { departure, inputs } = work
    // The creator's own address: that of the request may have the buyer's inputs in its query.
    const addresses = [toolConfigOf(work).apiEndpoint]
    departure.leave()
    try {
      const { status, body } = await callout.send({ ...request, signal })
      if (status < 200 || status > 299) {
        const sentence = `The tool answered with the status ${String(status)}.`
        throw new ExecutionFailed(
          'tool_refused',
          withReason(sentence, body.toString('utf8'), { secrets, addresses, inputs }),
        )
      }
      return body.toString('utf8')
    } catch (error) {
      if (signal.aborted || !(error instanceof DomainError)) throw error
      throw new ExecutionFailed(creatorCode('tool', error.code), callFailure('tool', error.code), error)
    }
  }

  function requestOf(work: Work, config: ToolConfig, payload: unknown): Prepared {
    const { asset, runId } = work
    const own = assets.openSecrets(asset.id, 'apiHeaders', config.apiHeaders)
    const authSecrets = assets.openSecrets(asset.id, 'authConfig', config.authSecrets)
    const auth = authHeader(config.authType, config.authHeaderName, authSecrets)
    const secrets = [...Object.values(own), ...Object.values(authSecrets), ...(auth === null ? [] : [auth[1]])]
    const headers: Record<string, string> = { accept: 'application/json', 'x-coinslot-run': runId }
    for (const [name, value] of Object.entries(own)) headers[name.toLowerCase()] = value
    if (auth !== null) headers[auth[0]] = auth[1]
    const common = { method: config.apiMethod, headers, limits: { ...limitsOf(config), bodyBytes: BODY_BYTES } }
    if (!asksByQuery(config.apiMethod)) {
      const body = JSON.stringify(payload ?? {})
      const typed = { 'content-type': 'application/json', ...headers }
      return { request: { ...common, url: config.apiEndpoint, headers: typed, body }, secrets }
    }
    const url = withQuery(config.apiEndpoint, payload)
    if (url === null) {
      const sentence = "The tool's request transform must return an object: its fields become the query."
      throw new ExecutionFailed('transform_invalid', sentence)
    }
    return { request: { ...common, url }, secrets }
  }

  return {
    async execute(work, signal) {
      const config = toolConfigOf(work)
      const payload = await transform(work, 'request', work.inputs)
      const prepared = requestOf(work, config, payload)
      assertPatience(work, 'response')
      const answer = readAnswer(await send(prepared, work, signal))
      return { output: textOf(await transform(work, 'response', answer)), usage: null }
    },
  }
}

function toolConfigOf({ asset: { content } }: Work): ToolConfig {
  const { config } = content
  if (config.type !== 'tool') throw new Error('not a tool')
  return config
}

type Which = 'request' | 'response'

function expressionOf(work: Work, which: Which): string | null {
  const { requestTransform, responseTransform } = toolConfigOf(work)
  return which === 'request' ? requestTransform : responseTransform
}

function useOf({ asset: { ownerId, environment }, payerId }: Work): TransformUse {
  return { userId: ownerId, environment, buyer: payerId, areGuests: payerId === GUESTS }
}

function transformFailed(which: Which, error: unknown): unknown {
  if (!(error instanceof DomainError)) return error
  return new ExecutionFailed(error.code, `The tool's ${which} transform failed: ${error.message}`, error)
}

interface Prepared {
  request: OutboundRequest
  /** The secrets that it carries. */
  secrets: readonly string[]
}

interface ToolDeps {
  callout: Callout
  transforms: Transforms
  assets: Pick<AssetsForRuns, 'openSecrets'>
}

/** All of it may be spent waiting for the first byte. */
function limitsOf(config: ToolConfig) {
  const ms = toolSecondsOf(config) * 1_000
  return { totalMs: ms, headersMs: ms, idleMs: ms }
}

const BODY_BYTES = 1_048_576
