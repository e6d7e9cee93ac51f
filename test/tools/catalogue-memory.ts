import { systemClock } from '../../service/kit/clock.ts'
import { catalogueOn } from '../../service/wiring/tools-catalogue.ts'
import { openDatabase } from '../../service/database/client.ts'

/** A process with a small heap that reads the catalogue and serves accounts one after the other; started by a test. */
const [url = '', accounts = '0'] = process.argv.slice(2)
const database = openDatabase({ url, poolMax: 2 })
const QUERY = `word70${'x'.repeat(9)}`
const unused = {} as never
const catalogue = catalogueOn(database.statements, {
  ...{ clock: systemClock, vault: unused, outbound: unused, servers: unused },
  quotas: { providers: 20, tools: 5_000, bytes: 33_554_432, importsPerHour: 20 },
  measured: { of: () => Promise.resolve(new Map()) },
})
const anonymous = await catalogue.search({ environment: 'sandbox', viewer: null, query: QUERY })
let found = anonymous.tools.length
for (let nth = 0; nth < Number(accounts); nth++) {
  const viewer = `usr_${String(nth)}` as const
  const { tools } = await catalogue.search({ environment: 'sandbox', viewer, query: QUERY, limit: 3 })
  found += tools.filter(({ tool }) => tool.ownerId === viewer).length
}
console.log(`found ${String(found)}`)
await database.close()
