import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { openDatabase } from '../../../service/database/client.ts'
import { startEmbedded } from '../../../service/database/embedded/database.ts'
import { migrate } from '../../../service/database/migrate.ts'
import { systemClock } from '../../../service/kit/clock.ts'
import { DomainError } from '../../../service/kit/errors.ts'
import { usdc } from '../../../service/kit/money.ts'
import { createLedger } from '../../../service/ledger/service.ts'
import { createLedgerStore } from '../../../service/ledger/store/ledger.ts'
import type { Command } from './commands.ts'

/*
 * The process that gets killed: the ledger's own store behind a socket, on the database named by its one
 * argument, or on an embedded one in that folder.
 */

const [where = ''] = process.argv.slice(2)
const url = where.startsWith('postgres') ? where : (await startEmbedded({ dataDir: where })).url
await migrate(url)
const database = openDatabase({ url, poolMax: 12 })
const ledger = createLedger(createLedgerStore(database.statements, systemClock), systemClock)

const server = createServer((request, response) => {
  void answer(request as AsyncIterable<Buffer>).then(({ status, body }) => {
    response.writeHead(status).end(JSON.stringify(body))
  })
})
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${String((server.address() as AddressInfo).port)}\n`)
})

async function answer(request: AsyncIterable<Buffer>): Promise<{ status: number; body: unknown }> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  try {
    await perform(JSON.parse(Buffer.concat(chunks).toString()) as Command)
    return { status: 200, body: {} }
  } catch (error) {
    if (error instanceof DomainError) return { status: 409, body: { code: error.code } }
    return { status: 500, body: { error: String(error) } }
  }
}

async function perform(command: Command): Promise<void> {
  const owner = { userId: command.userId, environment: 'sandbox' as const }
  switch (command.act) {
    case 'open':
      return await ledger.openAccounts(command.userId)
    case 'deposit': {
      const { id } = command
      await ledger.credit({
        id,
        kind: 'deposit',
        owner,
        amount: usdc(BigInt(command.amount)),
        reference: null,
        act: id,
      })
      return
    }
    case 'reserve': {
      const deadline = new Date(Date.now() + 3_600_000)
      const amount = usdc(BigInt(command.amount))
      await ledger.reserve({ id: command.id, owner, amount, useCredits: false, deadline, reference: null })
      return
    }
    case 'capture':
      await ledger.capture({
        hold: command.id,
        owner,
        amount: usdc(BigInt(command.amount)),
        shares: [],
        kind: 'capture',
        reference: null,
        announcements: [{ topic: 'chaos.captured', payload: { id: command.id } }],
      })
      return
    case 'release':
      await ledger.release({ hold: command.id, owner, announcements: [] })
  }
}
