import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestDatabase } from '../../harness/database.ts'

/** No payment waits for the chain any more, and no delivery for its receiver. */
export async function rested(database: TestDatabase): Promise<void> {
  const deadline = Date.now() + 120_000
  for (;;) {
    const [open] = await database.statements.run<{ n: bigint }>(
      `SELECT (SELECT count(*) FROM sale WHERE state IN ('claimed', 'held', 'settling'))
         + (SELECT count(*) FROM delivery WHERE state NOT IN ('delivered', 'stopped')) AS n`,
      [],
    )
    if (open?.n === 0n) return
    if (Date.now() > deadline) {
      const rows = await database.statements.run(
        `SELECT s.id, s.state, s.result, s.escrow, d.state AS delivery FROM sale s LEFT JOIN delivery d ON d.subject = s.id
         WHERE s.state IN ('claimed', 'held', 'settling') OR d.state NOT IN ('delivered', 'stopped')`,
        [],
      )
      throw new Error(`${String(open?.n)} did not come to rest: ${JSON.stringify(rows)}`)
    }
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

/** `told`: killed while it waits for the answer. `taken`: with the answer on its way. */
export async function startReceiver(kill: () => void) {
  // oxlint-disable-next-line typescript/no-explicit-any -- a test looks into deliveries field by field
  const deliveries: { id: string; body: string; json: any; headers: Record<string, string> }[] = []
  const failing = new Set<string>()
  let armed: { at: 'told' | 'taken'; pass: number } | null = null
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString()
      const headers = request.headers as Record<string, string>
      const { input } = JSON.parse(body) as { input: { who: string } }
      deliveries.push({ id: headers['webhook-id'] ?? '', body, json: JSON.parse(body), headers })
      const now = armed !== null && --armed.pass === 0 ? armed.at : null
      if (now === 'told') {
        kill()
        return
      }
      response
        .writeHead(failing.has(input.who) ? 410 : 200, { 'content-type': 'application/json' })
        .end('{}', now === 'taken' ? kill : undefined)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/webhook`,
    deliveries,
    failing,
    arm(at: typeof armed) {
      armed = at
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => {
          resolve()
        })
        server.closeAllConnections()
      }),
  }
}
