import { creatorCode } from '../../../kit/error-codes/catalogue.ts'
import { setTimeout as wait } from 'node:timers/promises'
import type { Clock } from '../../../kit/clock.ts'
import { DomainError } from '../../../kit/errors.ts'
import type { OutboundResponse } from '../../../outbound/model.ts'
import { ExecutionFailed } from '../../errors.ts'
import type { AgentConfig } from '../../model/asset.ts'
import type { AssetsForRuns } from '../../ports/asset.ts'
import type { Callout, Executed, Executor, Sign, Work } from '../../ports/run.ts'
import { isTrouble, pollAddress, readReply, type Reply } from '../../rules/agent.ts'
import { callFailure, withReason, type Confidential } from '../../rules/reason.ts'
import type { Owner } from '../../../kit/owner.ts'

/** Calls the creator's webhook and asks again until it is done. */
export function createAgentExecutor(deps: AgentDeps): Executor {
  const { callout, sign, assets, clock } = deps

  async function ask(work: Work, config: AgentConfig, call: Call, signal: AbortSignal): Promise<OutboundResponse> {
    const { asset, runId } = work
    const owner = { userId: asset.ownerId, environment: asset.environment }
    const signed = await sign(owner, runId, call.body)
    work.departure.leave()
    return await callout.send({
      url: call.url,
      method: call.method,
      headers: {
        accept: 'application/json',
        ...(call.body === '' ? {} : { 'content-type': 'application/json' }),
        ...lowerCased(assets.openSecrets(asset.id, 'webhookHeaders', config.webhookHeaders)),
        ...signed,
      },
      ...(call.body === '' ? {} : { body: call.body }),
      limits: { totalMs: TOTAL_MS, headersMs: TOTAL_MS, idleMs: TOTAL_MS, bodyBytes: BODY_BYTES },
      signal,
    })
  }

  function confidentialOf({ asset, inputs }: Work, { webhookUrl, pollUrl, webhookHeaders }: AgentConfig): Confidential {
    const secrets = Object.values(assets.openSecrets(asset.id, 'webhookHeaders', webhookHeaders))
    return { secrets, addresses: [webhookUrl, ...(pollUrl === null ? [] : [pollUrl])], inputs }
  }

  /** Only a call that surely did not reach the agent, or that its gateway answered, is repeated. */
  async function begin(work: Work, config: AgentConfig, signal: AbortSignal): Promise<Reply> {
    const { asset, runId, inputs, subject } = work
    const body = JSON.stringify({
      run_id: runId,
      rda_id: asset.id,
      rda_slug: asset.slug,
      inputs,
      user_id: subject,
      timestamp: clock.now().toISOString(),
    })
    const call = { url: config.webhookUrl, method: config.webhookMethod, body }
    for (let attempt = 0; ; attempt++) {
      const { reply, retry } = await tried(() => ask(work, config, call, signal), signal, confidentialOf(work, config))
      if (reply !== null) return reply
      if (attempt >= config.maxRetries) throw retry
      await wait(Math.min(RETRY_MS * 2 ** attempt, 5_000), undefined, { signal })
    }
  }

  async function poll(work: Work, config: AgentConfig, jobId: string | null, signal: AbortSignal): Promise<Reply> {
    if (config.pollUrl === null) {
      throw new ExecutionFailed('agent_answer_invalid', 'The agent answered pending but has no pollUrl.')
    }
    const url = pollAddress(config.pollUrl, work.runId, jobId)
    for (let failures = 0; ;) {
      await wait(config.pollIntervalMs, undefined, { signal })
      const call = { url, method: 'GET', body: '' }
      const { reply, retry } = await tried(() => ask(work, config, call, signal), signal, confidentialOf(work, config))
      if (reply === null && ++failures > POLL_FAILURES_MAX) throw retry
      if (reply !== null && reply.status !== 'pending') return reply
      if (reply !== null) failures = 0
    }
  }

  return {
    async execute(work, signal) {
      const { config } = work.asset.content
      if (config.type !== 'agent') throw new Error('not an agent')
      const first = await begin(work, config, signal)
      const last = first.status === 'pending' ? await poll(work, config, first.jobId, signal) : first
      return finished(last, confidentialOf(work, config))
    },
  }
}

interface AgentDeps {
  callout: Callout
  sign: Sign
  assets: Pick<AssetsForRuns, 'openSecrets'>
  clock: Clock
}

interface Call {
  url: string
  method: string
  body: string
}

function finished(reply: Reply, confidential: Confidential): Executed {
  if (reply.status === 'completed') return { output: reply.output, usage: null }
  const error = reply.status === 'failed' ? (reply.error ?? '') : ''
  throw new ExecutionFailed('agent_failed', withReason('The agent reported that it failed.', error, confidential))
}

/** The reply; or none, with the error to throw unless the call is repeated. */
async function tried(
  send: () => Promise<OutboundResponse>,
  signal: AbortSignal,
  confidential: Confidential,
): Promise<{ reply: Reply; retry: null } | { reply: null; retry: ExecutionFailed }> {
  try {
    const answer = await send()
    const body = answer.body.toString('utf8')
    if (isTrouble(answer.status)) {
      const sentence = withReason('The agent is not available right now.', body, confidential)
      return { reply: null, retry: new ExecutionFailed('agent_unavailable', sentence) }
    }
    const reply = readReply(answer.status, body)
    if (typeof reply === 'string') {
      const isRefusal = answer.status < 200 || answer.status > 299
      throw new ExecutionFailed('agent_answer_invalid', isRefusal ? withReason(reply, body, confidential) : reply)
    }
    return { reply, retry: null }
  } catch (error) {
    if (signal.aborted || error instanceof ExecutionFailed || !(error instanceof DomainError)) throw error
    const sentence = callFailure('agent', error.code)
    if (error.code === 'connection_failed' || error.code === 'connect_timeout') {
      return { reply: null, retry: new ExecutionFailed('agent_unreachable', sentence, error) }
    }
    throw new ExecutionFailed(creatorCode('agent', error.code), sentence, error)
  }
}

function lowerCased(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}

// The run's own limit is what ends a call; this only has to be beyond it.
const TOTAL_MS = 200_000
const BODY_BYTES = 1_048_576
const RETRY_MS = 250
const POLL_FAILURES_MAX = 5

/** Signs calls to a creator's agent by that account's secret, and by those that it replaced while they are valid. */
export function createSigning({ secretsOf, signatureOf, clock }: SigningDeps): Sign {
  return async (owner, id, body) => {
    const { secret, previous } = await secretsOf(owner)
    const seconds = Math.floor(clock.now().getTime() / 1000)
    const secrets = [secret, ...previous.map((one) => one.secret)]
    return {
      'webhook-id': id,
      'webhook-timestamp': String(seconds),
      'webhook-signature': signatureOf(secrets, id, seconds, body),
    }
  }
}

interface SigningDeps {
  secretsOf(owner: Owner): Promise<{ secret: string; previous: readonly { secret: string }[] }>
  signatureOf(secrets: readonly string[], id: string, timestampSeconds: number, body: string): string
  clock: Clock
}
