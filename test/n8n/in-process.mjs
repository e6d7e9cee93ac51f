import { createRequire } from 'node:module'
import path from 'node:path'

/*
 * `in-process.mjs <node_modules of an n8n> <unpacked package> <job>`: runs one node by the engine of that n8n, without
 * its server and database, and prints what the run came to. The package finds n8n-workflow by NODE_PATH.
 */
const [modules, unpacked, job] = process.argv.slice(2)
const load = createRequire(path.join(modules, 'n8n-core/package.json'))
const { Container } = load('@n8n/di')
const { ExecutionLifecycleHooks, InstanceSettings, WorkflowExecute } = load('n8n-core')
const { Workflow } = load('n8n-workflow')
const { Coinslot } = load(path.join(unpacked, 'dist/nodes/Coinslot/Coinslot.node.js'))
const { node, credential, items } = JSON.parse(job)

// The real one writes its key into the user's home.
Container.set(InstanceSettings, { instanceId: 'in-process', encryptionKey: 'key', n8nFolder: unpacked })

const type = new Coinslot()
const placed = { id: 'n1', type: 'coinslot', typeVersion: 1, position: [0, 0], ...node }
const data = { id: 'w1', name: 'In process', nodes: [placed], connections: {}, active: false, settings: {} }
const nodeTypes = { getByNameAndVersion: () => type }
const workflow = new Workflow({ ...data, nodeTypes })
const credentialsHelper = {
  getParentTypes: () => [],
  getDecrypted: async () => credential,
  preAuthentication: async () => undefined,
  authenticate: async ({ apiKey }, _, request) => ({
    ...request,
    headers: { ...request.headers, authorization: `Bearer ${apiKey}` },
  }),
}
const hooks = new ExecutionLifecycleHooks('manual', 'e1', data)
const engine = new WorkflowExecute(
  { hooks, credentialsHelper, executionId: 'e1', currentNodeExecutionIndex: 0, variables: {} },
  'manual',
)
const startNode = workflow.getNode(placed.name)
const began = { data: { data: { main: [items.map((json) => ({ json }))] } } }
const { status, data: ended } = await engine.run({ workflow, startNode, triggerToStartFrom: began })
const { error, runData } = ended.resultData
const { name, message, httpCode, context } = error ?? {}
const fault = error && { name, message, httpCode, itemIndex: context?.itemIndex }
const result = JSON.stringify({ status, error: fault, items: runData[placed.name]?.[0]?.data?.main[0] })
// The engine keeps timers, so the process must exit explicitly.
process.stdout.write(result, () => process.exit())
