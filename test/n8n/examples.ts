import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import type { PaymentView } from '../../service/checkouts/views.ts'
import { formOf, paymentAt, simulate } from './payments.ts'
import type { NodeData, WorkflowFile } from './programs.ts'
import { until, type Credential, type Workflow, type World } from './world.ts'

/**
 * What n8n's editor makes of a file: each node that needs a credential gets the one of its type; a tool of a model gets
 * that of `agent`, where there is one.
 */
export function imported(name: string, credentials: Record<string, Credential>): WorkflowFile {
  const file = path.join(import.meta.dirname, `../../docs/examples/${name}.json`)
  const { nodes, ...rest } = JSON.parse(readFileSync(file, 'utf8')) as WorkflowFile
  return {
    ...rest,
    nodes: nodes.map((node): NodeData => {
      const [, kind] = KINDS.find(([type]) => type.test(node.type)) ?? []
      const ofAgent = node.type.endsWith('coinslotTool') ? credentials['agent'] : undefined
      const chosen = kind === undefined ? undefined : (ofAgent ?? credentials[kind])
      return {
        ...node,
        ...(node.type.endsWith('Trigger') && { webhookId: randomUUID() }),
        ...(kind !== undefined &&
          chosen !== undefined && { credentials: { [kind]: { id: chosen.id, name: chosen.name } } }),
      }
    }),
  }
}

/** The credential that a node of a type needs. */
const KINDS: readonly (readonly [RegExp, string])[] = [
  [/^n8n-nodes-coinslot\./, 'coinslotApi'],
  [/openAi$/i, 'openAiApi'],
  [/\.emailSend$/, 'smtp'],
  [/\.s3$/, 's3'],
]

/** Publishes an example as a user does: credentials chosen, nothing else changed. */
export async function publishExample(
  world: World,
  name: string,
  credentials: Record<string, Credential> = {},
): Promise<Workflow> {
  const workflow = await world.importWorkflow(imported(name, { coinslotApi: world.credential, ...credentials }))
  await workflow.publish()
  return workflow
}

/** Buys it in test mode, and waits until it has failed or its customer has an answer. */
export async function buy(workflow: Workflow, input: Record<string, unknown>): Promise<PaymentView> {
  const payment = await simulate(await formOf(workflow), input)
  const hasEnded = ({ payment: { status }, delivery }: PaymentView): boolean =>
    status === 'failed' || (delivery?.answer ?? null) !== null
  await until(async () => hasEnded(await paymentAt(payment)))
  return await paymentAt(payment)
}

/** Publishes an example, and buys it once. */
export async function order(
  world: World,
  name: string,
  input: Record<string, unknown>,
  credentials?: Record<string, Credential>,
): Promise<PaymentView> {
  const workflow = await publishExample(world, name, credentials)
  const state = await buy(workflow, input)
  await workflow.unpublish()
  return state
}
