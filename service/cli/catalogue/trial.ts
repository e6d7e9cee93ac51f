import { createInterface } from 'node:readline/promises'
import type { parseArgs } from 'node:util'
import { sample } from 'openapi-sampler'
import { scrubText } from '../../connections/service/credentials.ts'
import { DomainError } from '../../kit/errors.ts'
import { isRecord } from '../../kit/schema/merge.ts'
import type { Environment } from '../../kit/owner.ts'
import type { HttpUpstream, Tool } from '../../tools/model/tool.ts'
import type { Upstreams } from '../../tools/ports/calls.ts'
import { requestOf } from '../../tools/rules/request.ts'
import type { Catalogue } from '../../tools/service/catalogue/catalogue.ts'

export const TRIAL_OPTIONS = { yes: { type: 'boolean' }, limit: { type: 'string' } } as const

export interface Trials {
  http: Upstreams['http']
  /** Whether the person at the terminal says yes. */
  ask(question: string): Promise<boolean>
}

interface TrialInput {
  catalogue: Catalogue
  environment: Environment
  /** A tool's slug or a provider's. */
  name: string
  flags: ReturnType<typeof parseArgs<{ options: typeof TRIAL_OPTIONS }>>['values']
  trials: Trials
}

/** One line for each tool; 0 where none failed, 1 where one did, 3 where none could be tried. */
export async function tryTools({ catalogue, environment, name, flags, trials }: TrialInput): Promise<number> {
  const limit = limitOf(flags.limit)
  const found = await toolsOf(catalogue, environment, name)
  const ready: Trial[] = []
  let skipped = 0
  for (const tool of found) {
    const why = cannotTry(tool)
    if (typeof why !== 'string' && ready.length < limit) ready.push(why)
    else {
      skipped++
      if (typeof why === 'string') console.log(`skipped\t${tool.slug}\t${why}`)
    }
  }
  const simulated: Trial[] = []
  const real: Trial[] = []
  for (const trial of ready) {
    if (await catalogue.isSimulated(trial.tool)) simulated.push(trial)
    else if ((await catalogue.accessFor(trial.tool)).needs !== 'connection') real.push(trial)
    else {
      skipped++
      console.log(`skipped\t${trial.tool.slug}\tit acts in the account of who connects`)
    }
  }
  if (real.length > 0 && flags.yes !== true) {
    const hosts = [...new Set(real.map(({ upstream }) => new URL(upstream.server).host))].join(', ')
    const question = `${String(real.length)} requests go to ${hosts} with the platform's key. Go on?`
    if (!(await trials.ask(question))) {
      console.log('Nothing was called.')
      return 3
    }
  }
  let failed = 0
  for (const trial of [...simulated, ...real]) {
    const isReal = real.includes(trial)
    const fault = isReal ? await callReal(catalogue, trials, trial) : callSimulated(catalogue, trial)
    if (fault !== null) failed++
    console.log(`${fault === null ? 'ok' : 'failed'}\t${trial.tool.slug}${fault === null ? '' : `\t${fault}`}`)
  }
  const tried = simulated.length + real.length
  console.log(`${String(tried - failed)} worked, ${String(failed)} failed, ${String(skipped)} were not tried.`)
  return failed > 0 ? 1 : tried === 0 ? 3 : 0
}

interface Trial {
  tool: Tool
  upstream: HttpUpstream
  input: Record<string, unknown>
}

async function toolsOf(catalogue: Catalogue, environment: Environment, name: string): Promise<Tool[]> {
  const wanted = { environment, viewer: null, provider: name, limit: 10_000, offset: 0 }
  const { tools } = await catalogue.list(wanted)
  if (tools.length > 0)
    return await Promise.all(tools.map(({ tool }) => catalogue.bySlug(environment, tool.slug, null)))
  const tool = await catalogue.bySlug(environment, name, null)
  return [tool]
}

/** Only what reads is tried, with the examples of its document; a required input without one is not made up. */
function cannotTry(tool: Tool): Trial | string {
  const { upstream, input: schema } = tool
  if (upstream.kind !== 'http') return 'it is no HTTP tool'
  if (upstream.method !== 'GET') return 'it may change something'
  const properties = isRecord(schema['properties']) ? schema['properties'] : {}
  const input: Record<string, unknown> = {}
  for (const name of (schema['required'] ?? []) as string[]) {
    const field = properties[name]
    if (!isRecord(field) || !EXAMPLES.some((word) => word in field)) return `${name} has no example`
    input[name] = sample(field, { quiet: true })
  }
  return { tool, upstream, input }
}

const EXAMPLES = ['examples', 'default', 'enum']

function callSimulated(catalogue: Catalogue, { tool, input }: Trial): string | null {
  const { status, contentType, body } = catalogue.simulate(tool, input)
  if (status < 200 || status > 299) return `the example has the status ${String(status)}`
  if (!/json/i.test(contentType ?? '')) return null
  try {
    JSON.parse(body.toString())
    return null
  } catch {
    return 'the example is no JSON'
  }
}

/** With the first of the provider's keys. What it answers is not shown, because it may hold that key. */
async function callReal(catalogue: Catalogue, { http }: Trials, { tool, upstream, input }: Trial) {
  const [credentials] = await catalogue.credentials(tool)
  try {
    const { status } = await http(requestOf(upstream, input, credentials), AbortSignal.timeout(CALL_MS))
    return status >= 200 && status < 300 ? null : `its server answered with ${String(status)}`
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    return scrubText(error.message, credentials.secrets)
  }
}

const CALL_MS = 30_000

function limitOf(text: string | undefined): number {
  return text !== undefined && /^[1-9]\d{0,3}$/.test(text) ? Number(text) : LIMIT
}

const LIMIT = 50

/** At a terminal only: a script has to say --yes. */
export async function askAtTerminal(question: string): Promise<boolean> {
  if (!process.stdin.isTTY) return false
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return /^y(es)?$/i.test((await terminal.question(`${question} [y/N] `)).trim())
  } finally {
    terminal.close()
  }
}
