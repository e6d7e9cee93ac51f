import { setTimeout as wait } from 'node:timers/promises'
import { UNFINISHED } from './checker/rest.ts'
import type { Load } from './load.ts'
import type { World } from './world.ts'

/**
 * All components work again. Clients ask until they have their final response, sellers settle on chain what they were
 * shown, and the service comes to rest; returns what is still open when the time is up.
 */
export async function settle(
  world: World,
  load: Load,
  withinMs: number,
  print: (line: string) => void,
): Promise<string[]> {
  const { topology, seller, control } = world
  const { statements } = control.database
  const deadline = Date.now() + withinMs
  await topology.ready()
  let repeated = await load.repeatOpen()
  let rounds = 0
  for (let look = 0; Date.now() < deadline; look++) {
    for (const [path, { sold }] of seller.payments) if (!sold) await seller.settle(path)
    if (repeated > 0) repeated = await load.repeatOpen()
    await hurry()
    const open: string[] = []
    for (const [what, text] of UNFINISHED) {
      const [row] = await statements.run<{ count: bigint }>(`SELECT count(*) AS count FROM (${text}) open`, [])
      if (row !== undefined && row.count > 0n) open.push(`${String(row.count)} ${what}`)
    }
    if (open.length === 0 && (repeated === 0 || rounds++ > ASKS_MAX)) break
    if (look % 10 === 0) print(`settling: ${[`${String(repeated)} ask`, ...open].join(', ')}`)
    await wait(1_000)
  }
  return load.acts
    .filter(({ final, once }) => final === null && !once)
    .map(
      ({ name, replies }) => `${name} has no last word: ${JSON.stringify(replies.at(-1)?.body ?? null).slice(0, 300)}`,
    )

  /** Makes an hour pass for work that only waits for its time: no process is working on it any more. */
  async function hurry(): Promise<void> {
    for (const text of HURRIES) await statements.run(text, [])
  }
}

/** A system at rest that keeps giving the same responses is not asked more often than this. */
const ASKS_MAX = 20

export const HURRIES = [
  `UPDATE delivery SET due_at = now() WHERE state = 'pending' AND due_at > now() + interval '5 seconds'`,
  `UPDATE outbox SET due_at = now() WHERE done_at IS NULL AND failed_at IS NULL AND due_at > now() + interval '5 seconds'`,
  `UPDATE paywall_hold SET until = now() WHERE until > now()`,
  `UPDATE sale SET lease_until = now() WHERE lease_until > now()`,
]
