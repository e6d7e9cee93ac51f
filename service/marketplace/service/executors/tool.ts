import { DomainError } from '../../../kit/errors.ts'
import type { OutboundRequest } from '../../../outbound/model.ts'
import { ExecutionFailed } from '../../errors/run.ts'
import type { ToolConfig } from '../../model/asset.ts'
import type { AssetsForRuns } from '../../ports/asset.ts'
import type { Callout, Executor, Transforms, Work } from '../../ports/run.ts'
import { textOf } from '../../rules/template.ts'
import { asksByQuery, authHeader, readAnswer, withQuery } from '../../rules/tool.ts'

/** The inputs, transformed, to the creator's API; its answer, transformed, is the output. Never asked twice. */
export function createToolExecutor({ callout, transforms, assets }: ToolParts): Executor {
  async function transform(expression: string | null, input: unknown, which: string): Promise<unknown> {
    if (expression === null) return input
    try {
      return await transforms.apply(expression, input)
    } catch (error) {
      if (!(error instanceof DomainError)) throw error
      throw new ExecutionFailed(error.code, `The tool's ${which} failed: ${error.message}`, error)
    }
  }

  async function send(request: OutboundRequest, signal: AbortSignal): Promise<string> {
    try {
      const { status, body } = await callout.send({ ...request, signal })
      if (status < 200 || status > 299) {
        throw new ExecutionFailed('tool_refused', `The tool answered with the status ${String(status)}.`)
      }
      return body.toString('utf8')
    } catch (error) {
      if (signal.aborted || !(error instanceof DomainError)) throw error
      throw new ExecutionFailed(`tool_${error.code}`, SENTENCES[error.code] ?? 'The call to the tool failed.', error)
    }
  }

  function requestOf(work: Work, config: ToolConfig, payload: unknown): OutboundRequest {
    const { asset, runId } = work
    const own = assets.openSecrets(asset.id, 'apiHeaders', config.apiHeaders)
    const auth = authHeader(
      config.authType,
      config.authHeaderName,
      assets.openSecrets(asset.id, 'authConfig', config.authSecrets),
    )
    const headers: Record<string, string> = { accept: 'application/json', 'x-coinslot-run': runId }
    for (const [name, value] of Object.entries(own)) headers[name.toLowerCase()] = value
    if (auth !== null) headers[auth[0]] = auth[1]
    const common = { method: config.apiMethod, headers, limits: { totalMs: TOTAL_MS, bodyBytes: BODY_BYTES } }
    if (!asksByQuery(config.apiMethod)) {
      const body = JSON.stringify(payload ?? {})
      return { ...common, url: config.apiEndpoint, headers: { 'content-type': 'application/json', ...headers }, body }
    }
    const url = withQuery(config.apiEndpoint, payload)
    if (url === null) {
      const sentence = "The tool's request transform must give an object: its fields are the query."
      throw new ExecutionFailed('transform_invalid', sentence)
    }
    return { ...common, url }
  }

  return {
    async execute(work, signal) {
      const { config } = work.asset.content
      if (config.type !== 'tool') throw new Error('not a tool')
      const payload = await transform(config.requestTransform, work.inputs, 'request transform')
      const answer = readAnswer(await send(requestOf(work, config, payload), signal))
      const result = await transform(config.responseTransform, answer, 'response transform')
      return { output: textOf(result), usage: null }
    },
  }
}

interface ToolParts {
  callout: Callout
  transforms: Transforms
  assets: Pick<AssetsForRuns, 'openSecrets'>
}

const SENTENCES: Readonly<Record<string, string>> = {
  response_timeout: 'The tool did not answer in time.',
  connect_timeout: 'The tool could not be reached.',
  connection_failed: 'The tool could not be reached.',
  response_too_large: 'The tool answered with more than is taken.',
  address_refused: "The tool's address may not be called.",
  redirect_refused: 'The tool answered with a redirect, which is not followed.',
}

const TOTAL_MS = 25_000
const BODY_BYTES = 1_048_576
