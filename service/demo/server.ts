import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { AGENTS } from './agents.ts'
import { isRecord } from '../kit/schema/merge.ts'
import { DemoFault, TOOLS } from './tools.ts'

/**
 * The servers of the sandbox's demo creators: agents that answer at once or are polled, and tools. They stand for
 * machines of creators, so they know nothing of the service and listen on loopback only.
 */
export async function startDemo(port: number): Promise<Demo> {
  const jobs = new Map<string, Job>()
  const server = createServer((request, response) => {
    void answer(request, jobs).then(({ status, body }) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  return {
    port: (server.address() as AddressInfo).port,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve()
        })
        server.closeAllConnections()
      }),
  }
}

export interface Demo {
  port: number
  stop(): Promise<void>
}

interface Job {
  output: string
  asked: number
}

interface DemoResponse {
  status: number
  body: unknown
}

async function answer(request: IncomingMessage, jobs: Map<string, Job>): Promise<DemoResponse> {
  try {
    const url = new URL(request.url ?? '/', 'http://localhost')
    const [kind, name = ''] = url.pathname.split('/').filter((part) => part !== '')
    if (kind === 'jobs') return { status: 200, body: progress(jobs, url.searchParams.get('job_id') ?? '') }
    const fields = request.method === 'GET' ? Object.fromEntries(url.searchParams) : await bodyOf(request)
    if (kind === 'tools' && Object.hasOwn(TOOLS, name)) return useTool(name, fields, request)
    if (kind === 'agents' && Object.hasOwn(AGENTS, name)) return { status: 200, body: startAgent(name, fields, jobs) }
    return { status: 404, body: { error: 'Not found.' } }
  } catch (error) {
    if (error instanceof DemoFault) return { status: 400, body: { error: error.message } }
    return { status: 500, body: { error: 'The demo server failed. Try again.' } }
  }
}

function useTool(name: string, fields: Record<string, unknown>, request: IncomingMessage): DemoResponse {
  const wanted = KEYS[name]
  if (wanted !== undefined && request.headers[wanted.header] !== wanted.value) {
    return { status: 401, body: { error: 'The key is missing or not valid.' } }
  }
  return { status: 200, body: TOOLS[name]?.(fields) }
}

/** As strict as a real creator's API would be, so that the seed shows how each kind of key is set up. */
const KEYS: Readonly<Record<string, { header: string; value: string }>> = {
  'json-to-csv': { header: 'authorization', value: 'Bearer demo-token' },
  'loan-calculator': { header: 'x-api-key', value: 'demo-key' },
}

/** A run that is sent twice is the same job: the run's id says so. */
function startAgent(name: string, { inputs, run_id: runId }: Record<string, unknown>, jobs: Map<string, Job>): unknown {
  const output = AGENTS[name]?.(isRecord(inputs) ? inputs : {}) ?? ''
  if (name !== SLOW) return { status: 'completed', output }
  const id = typeof runId === 'string' ? runId : randomUUID()
  if (!jobs.has(id)) jobs.set(id, { output, asked: 0 })
  const [oldest] = jobs.keys()
  if (jobs.size > JOBS_MAX && oldest !== undefined) jobs.delete(oldest)
  return { status: 'pending', job_id: id }
}

/** This one takes its time, to show what polling looks like. */
const SLOW = 'keyword-research'
const JOBS_MAX = 1_000

function progress(jobs: Map<string, Job>, id: string): unknown {
  const job = jobs.get(id)
  if (job === undefined) return { status: 'failed' }
  job.asked++
  return job.asked < 2 ? { status: 'pending', job_id: id } : { status: 'completed', output: job.output }
}

async function bodyOf(request: IncomingMessage): Promise<Record<string, unknown>> {
  const pieces: Buffer[] = []
  let bytes = 0
  for await (const piece of request as AsyncIterable<Buffer>) {
    bytes += piece.length
    if (bytes > BODY_BYTES_MAX) throw new DemoFault('the body is too large')
    pieces.push(piece)
  }
  try {
    const body = JSON.parse(Buffer.concat(pieces).toString('utf8')) as unknown
    if (isRecord(body)) return body
  } catch {
    // Falls through to the error below, as for everything else that is no object.
  }
  throw new DemoFault('the body must be a JSON object')
}

const BODY_BYTES_MAX = 1_048_576
