import { deriveId, type Id } from '../../../service/kit/ids.ts'
import type { Statements } from '../../../service/kit/transaction.ts'
import { usdcOf } from '../../facilitator/world.ts'
import type { Json } from '../../harness/mcp.ts'
import { post } from '../../tools/mcp-client.ts'
import { START, TASKS, type KeyedCall, type Load, type Purchase } from './clients.ts'
import { PRICES, type World } from './world.ts'

/** Compares what clients were answered with the ledger, the chain and the stranger: a sentence for each difference. */
export async function check(world: World, load: Load): Promise<string[]> {
  const problems = [...load.problems]
  for (const purchase of load.purchases) problems.push(...(await checkPurchase(world, purchase)))
  for (const call of load.calls) problems.push(...(await checkCall(world, call)))
  for (const call of load.calls) if (call.kind === 'task') problems.push(...(await checkTask(world, call)))
  const { statements } = world.database
  const [books] = await statements.run<{ captured: bigint; succeeded: bigint }>(BOOKS, [])
  if (books?.captured !== books?.succeeded) problems.push(`charges and calls differ: ${String(books?.captured)}`)
  return problems
}

const BOOKS = `
SELECT (SELECT count(*) FROM ledger_hold WHERE state = 'captured') AS captured,
  (SELECT count(*) FROM tool_call WHERE error_code IS NULL AND user_id IS NOT NULL) AS succeeded`

/** One authorization settled once and bought one thing, which its buyer got and which had one effect. */
async function checkPurchase({ chain, database, stranger }: World, purchase: Purchase): Promise<string[]> {
  const { name, product, payer, final, last } = purchase
  const sales = await database.statements.run<{ id: string; state: string }>(
    'SELECT id, state::text FROM sale WHERE payer = $1',
    [payer.address.toLowerCase()],
  )
  const spent = START - (await usdcOf(chain, payer.address))
  const states = sales.map(({ state }) => state).join()
  if (states !== 'paid') return [`${name} is ${states} and spent ${String(spent)}: ${JSON.stringify(last)}`]
  const problems: string[] = []
  if (spent !== PRICES[product]) problems.push(`${name} spent ${String(spent)}`)
  if (final === null) problems.push(`${name} was paid and never answered: ${JSON.stringify(last)}`)
  else if (product !== 'checkout' && textIn(final) !== name) problems.push(`${name} got ${textIn(final)}`)
  const book = { read: null, write: stranger.writes, checkout: stranger.runs }[product]
  const effects = book === null ? 1 : (book.get(name)?.size ?? 0)
  if (effects !== 1) problems.push(`${name} had ${String(effects)} effects`)
  return problems
}

/** Charged once if its result was obtainable, and otherwise not. */
async function checkCall({ database, stranger }: World, call: KeyedCall): Promise<string[]> {
  const { name, operation, final } = call
  const writes = [...(stranger.writes.get(name) ?? [])]
  const ids = operation === null ? writes : [deriveId('call', operation as Id<'op'>)]
  const problems: string[] = []
  if (writes.length > 1) problems.push(`${name} was sent to its tool as ${writes.join()}`)
  const charges = (await Promise.all(ids.map((id) => chargesOf(database.statements, id)))).reduce((a, b) => a + b, 0)
  if (charges > 1) problems.push(`${name} was charged ${String(charges)} times`)
  if (final === null) {
    if (operation !== null) {
      const states = await database.statements.run<{ state: string }>(
        `SELECT state::text FROM ledger_hold WHERE id = $1 OR id LIKE $1 || '~%'`,
        [ids[0]],
      )
      const holds = states.map(({ state }) => state).join() || 'none'
      problems.push(`${name} is known as ${operation} and has no end; its holds: ${holds}`)
    }
    // A named call is repeated until it is answered.
    else if (call.kind !== 'session') problems.push(`${name} has a key and no answer`)
    // In a session the first event names the call before it begins, so whatever is charged can be fetched.
    else if (call.kind === 'session' && charges > 0) problems.push(`${name} was charged and cannot be fetched`)
    call.chargedUnseen = charges > 0
    return problems
  }
  if ('result' in final && textIn(final.result) !== name) problems.push(`${name} got ${textIn(final.result)}`)
  const isKnown = operation !== null || writes.length > 0
  if (isKnown && charges !== ('result' in final ? 1 : 0))
    problems.push(`${name} was charged ${String(charges)} times: ${JSON.stringify(final)}`)
  return problems
}

async function chargesOf(statements: Statements, callId: string): Promise<number> {
  const [row] = await statements.run<{ count: bigint }>(
    `SELECT count(*) FROM ledger_hold WHERE state = 'captured' AND (id = $1 OR id LIKE $1 || '~%')`,
    [callId],
  )
  return Number(row?.count)
}

/** Every process knows the same end. */
async function checkTask({ topology, key }: World, { name, operation }: KeyedCall): Promise<string[]> {
  if (operation === null) return []
  const ends = await Promise.all(
    topology.processes.map(async ({ url }) => {
      const message = { method: 'tasks/get', params: { taskId: operation }, capabilities: TASKS }
      const { body } = await post(`${url}/tools/mcp?view=all`, key, message)
      return body.result as Json | undefined
    }),
  )
  const states = [...new Set(ends.map((end) => `${String(end?.['status'])} ${textIn(end?.['result'])}`))]
  const isOver = states.length === 1 && /^(completed|cancelled|failed) /.test(states[0]!)
  return isOver ? [] : [`the task of ${name} is ${states.join(' or ')}`]
}

function textIn(result: unknown): string {
  const { said } = ((result as Json | undefined)?.['structuredContent'] ?? {}) as { said?: string }
  return String(said)
}
