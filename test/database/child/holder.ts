import pg from 'pg'
import { startEmbedded } from '../../../service/database/embedded/database.ts'

/*
 * A service reduced to its database: prints the address when it is up, writes rows as fast as they are acknowledged and
 * prints each one. `throw` on its input causes an uncaught error, `exit` an early end.
 */
const [dataDir = ''] = process.argv.slice(2)
const embedded = await startEmbedded({ dataDir })
const client = new pg.Client({ connectionString: embedded.url })
await client.connect()
await client.query('create table if not exists kept (id serial primary key)')

let stopping = false
for (const signal of ['SIGTERM', 'SIGINT']) {
  process.on(signal, () => {
    stopping = true
  })
}
process.stdin.setEncoding('utf8').on('data', (word: string) => {
  if (word === 'throw') throw new Error('nobody catches this')
  process.exit(3)
})

process.stdout.write(`up ${embedded.url}\n`)
while (!stopping) {
  const { rows } = await client.query<{ id: number }>('insert into kept default values returning id')
  process.stdout.write(`${String(rows[0]?.id)}\n`)
}
await client.end()
await embedded.stop()
process.exit(0)
