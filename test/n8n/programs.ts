import { randomUUID } from 'node:crypto'
import { createRequire } from 'node:module'
import path from 'node:path'
import type { Answer } from './n8n.ts'
import { SETUP, until, type Credential, type World } from './world.ts'

/** A node as a workflow's file has it, as far as it matters. */
export interface NodeData {
  name: string
  type: string
  typeVersion?: number
  parameters?: Record<string, unknown>
  credentials?: Record<string, Credential>
  [setting: string]: unknown
}

export interface WorkflowFile {
  name: string
  nodes: NodeData[]
  connections: Record<string, unknown>
  settings?: Record<string, unknown>
}

/** The outcome of one execution. */
export interface RunResult {
  status: string
  /** A node's output items in its last run. */
  items(node: string): Record<string, Answer>[]
  /** Of a node's every run, its items or its error. */
  runs(node: string): RunOfNode[]
  /** The error with which a node failed. */
  error(node: string): NodeFault | undefined
}

/** As n8n keeps it with the execution. */
export interface RunOfNode {
  data?: { main?: Item[][] }
  error?: NodeFault
}

interface Item {
  json: Record<string, Answer>
  pairedItem: unknown
}

interface NodeFault {
  name: string
  message: string
  httpCode?: string | null
  node?: { name: string }
}

interface Result {
  runData?: Record<string, RunOfNode[]>
  error?: NodeFault
}

const COINSLOT = 'n8n-nodes-coinslot.coinslot'

/** Runs one Coinslot node behind a manual trigger. */
export async function act(
  world: World,
  parameters: Record<string, unknown>,
  { credential = world.credential, input = [{}], ...settings }: Acting = {},
): Promise<RunResult> {
  const source = { name: 'Items', type: 'n8n-nodes-base.code', typeVersion: 2, parameters: { jsCode: codeOf(input) } }
  const node = { name: 'Coinslot', type: COINSLOT, typeVersion: 1, parameters, ...settings }
  return await runChain(world, [source, { ...node, credentials: { coinslotApi: credential } }])
}

export interface Acting {
  credential?: Credential
  /** The items that come in. */
  input?: Record<string, unknown>[]
  [setting: string]: unknown
}

/** Runs nodes one after the other, started by hand. */
async function runChain(world: World, nodes: NodeData[]): Promise<RunResult> {
  const start = { name: 'Start', type: 'n8n-nodes-base.manualTrigger', typeVersion: 1, parameters: {} }
  const all = [start, ...nodes]
  const connections = Object.fromEntries(
    all
      .slice(0, -1)
      .map(({ name }, place) => [name, { main: [[{ node: all[place + 1]!.name, type: 'main', index: 0 }]] }]),
  )
  return await runFile(world, { name: 'Program', nodes: all, connections })
}

/** A workflow's file, imported and executed once from its manual trigger. */
export async function runFile(world: World, file: WorkflowFile, from = 'Start'): Promise<RunResult> {
  const nodes = file.nodes.map((node, place) => ({
    id: randomUUID(),
    position: [place * 220, 0],
    typeVersion: 1,
    parameters: {},
    ...node,
  }))
  const saved = await world.n8n.request<{ id: string }>('POST', '/rest/workflows', {
    settings: { executionOrder: 'v1' },
    ...file,
    nodes,
  })
  const body = { workflowData: saved, triggerToStartFrom: { name: from } }
  const { executionId } = await world.n8n.request<{ executionId: string }>(
    'POST',
    `/rest/workflows/${saved.id}/run`,
    body,
  )
  return await ended(world, executionId)
}

async function ended(world: World, executionId: string): Promise<RunResult> {
  const read = () => world.n8n.request<{ status: string; data: string }>('GET', `/rest/executions/${executionId}`)
  await until(async () => !['running', 'new', 'waiting'].includes((await read()).status))
  const { status, data } = await read()
  const { folder } = Object.values(SETUP.n8n)[0]!
  const flatted = createRequire(path.join(folder, 'node_modules/n8n/package.json'))('flatted') as {
    parse(text: string): Answer
  }
  const { runData = {}, error } = flatted.parse(data).resultData as Result
  const runs = (node: string): RunOfNode[] => runData[node] ?? []
  return {
    status,
    runs,
    items: (node) => (runs(node).at(-1)?.data?.main?.[0] ?? []).map(({ json }) => json),
    error: (node) => runs(node).at(-1)?.error ?? (error?.node?.name === node ? error : undefined),
  }
}

function codeOf(input: Record<string, unknown>[]): string {
  return `return ${JSON.stringify(input.map((json) => ({ json })))}`
}
