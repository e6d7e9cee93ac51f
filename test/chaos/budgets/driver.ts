import { startEmbedded } from '../../../service/database/embedded/database.ts'
import { openDatabase } from '../../../service/database/client.ts'
import { migrate } from '../../../service/database/migrate.ts'
import type { Clock } from '../../../service/kit/clock.ts'
import { usdc } from '../../../service/kit/money.ts'
import { DomainError } from '../../../service/kit/errors.ts'
import { budgetsOn } from '../../budgets/harness.ts'
import { BEGINNING, SPEED, type ChaosAgent, type Orders } from './world.ts'

/*
 * The process that gets killed: it makes agents' calls without end, through the service's own budgets and ledger, on a
 * clock of its own. It prints a line for each thousand responses, to show that it is alive.
 */

const orders = JSON.parse(process.argv[2] ?? '') as Orders
const url = orders.url.startsWith('postgres') ? orders.url : (await startEmbedded({ dataDir: orders.url })).url
if (!orders.url.startsWith('postgres')) await migrate(url)
const clock: Clock = {
  now: () => new Date(BEGINNING + (Date.now() - orders.startedAt) * SPEED + orders.skewMs),
}
const database = openDatabase({ url, poolMax: 3 })
const { budgets, ledger } = budgetsOn(database.statements, clock)
const mark = `${String(process.pid)}.${Math.random().toString(36).slice(2)}`
let calls = 0
let answers = 0
process.stdout.write('ready\n')

/** Recent calls of this process: some are repeated, as after a lost response. */
const lately: { agent: ChaosAgent; id: string; amount: number }[] = []

await Promise.all([...Array.from({ length: orders.atOnce }, spend), sweep()])

async function spend(): Promise<void> {
  for (;;) {
    const again = Math.random() < 0.1 ? lately[Math.floor(Math.random() * lately.length)] : undefined
    const call = again ?? {
      agent: orders.agents[Math.floor(Math.random() * orders.agents.length)]!,
      id: `run_${mark}.${String(calls++)}`,
      amount: 1 + Math.floor(Math.random() * 100),
    }
    lately[Math.floor(Math.random() * 50)] = call
    try {
      if (await reserve(call)) await end(call)
    } catch (error) {
      if (!isMoment(error)) {
        process.stdout.write(`FAULT ${String((error as Error).stack)}\n`)
        process.exit(1)
      }
    }
    if (++answers % 1_000 === 0) process.stdout.write(`${String(answers)}\n`)
  }
}

async function reserve({ agent, id, amount }: (typeof lately)[number]): Promise<boolean> {
  try {
    await budgets.reserve({
      id,
      owner: ownerOf(agent),
      amount: usdc(BigInt(amount)),
      useCredits: false,
      deadline: new Date(clock.now().getTime() + 60_000 * Math.random()),
      reference: null,
      spender: { agentId: agent.id, kind: 'run', target: 'chaos', requestHash: id },
    })
    return true
  } catch (error) {
    // A refusal is an answer.
    if (error instanceof DomainError && (error.code === 'spending_limit' || error.code === 'insufficient_balance'))
      return false
    throw error
  }
}

/** Captured in full or in part, released, or left for the sweeper. */
async function end({ agent, id, amount }: (typeof lately)[number]): Promise<void> {
  const owner = ownerOf(agent)
  const chance = Math.random()
  try {
    if (chance < 0.5) {
      const captured = usdc(BigInt(chance < 0.25 ? amount : Math.floor(Math.random() * (amount + 1))))
      await ledger.capture({
        hold: id,
        owner,
        amount: captured,
        shares: [],
        kind: 'capture',
        reference: null,
        announcements: [],
      })
    } else if (chance < 0.8) await ledger.release({ hold: id, owner, announcements: [] })
  } catch (error) {
    if (!(error instanceof DomainError) || error.code !== 'lock_ended') throw error
  }
}

async function sweep(): Promise<void> {
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, 250))
    await ledger.sweep().catch((error: unknown) => {
      if (!isMoment(error)) throw error
    })
  }
}

function ownerOf({ userId }: ChaosAgent): { userId: string; environment: 'sandbox' } {
  return { userId, environment: 'sandbox' }
}

/** What a killed neighbour's server can cause for a statement: a conflict, or a lost connection. */
function isMoment(error: unknown): boolean {
  const { code, message } = error as { code?: string; message?: string }
  return (
    ['40P01', '40001', '23505', '57P01', '57P03', '53300'].includes(code ?? '') ||
    /Connection terminated|ECONN/.test(message ?? '')
  )
}
