import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { keyringOf, oneOfEach, sealAgain } from '../../service/cli/sealed.ts'
import { readConfig } from '../../service/config.ts'
import { newId } from '../../service/kit/ids.ts'
import { vaultOf } from '../../service/vault/vault.ts'
import { SEALED_COLUMNS } from '../../service/wiring/tables.ts'
import { PAYWALL } from '../endpoints/post-paywalls/paywall.ts'
import { testDatabase } from '../harness/database.ts'
import { testService } from '../harness/service.ts'

const keyOf = (id: string) => `${id}:${randomBytes(32).toString('base64')}`

/** An old key can be dropped once nothing is sealed with it any more. */
describe('sealing again', () => {
  test('knows every column of the schema that has sealed secrets', () => {
    const folder = path.join(import.meta.dirname, '../../prisma/schema')
    const found = readdirSync(folder).flatMap((file) => sealedIn(readFileSync(path.join(folder, file), 'utf8')))
    expect(found.length).toBeGreaterThan(10)
    expect(SEALED_COLUMNS.map(({ table, column }) => `${table}.${column}`).sort()).toEqual(found.sort())
  })

  test('leaves nothing to an old key, and each secret as it was', async () => {
    const [old, next] = [keyOf('k1'), keyOf('k2')]
    const database = await testDatabase()
    const service = await testService({ ALLOW_HOSTS: '127.0.0.1', VAULT_KEY: old }, {}, database)
    const person = await service.person()
    const operation = () => newId('op', service.clock.now())
    const hook = { url: 'https://8.8.8.8/hook', events: ['payment.refunded'] as const, secret: null }
    const { endpoint } = await service.deliveries.endpoints.create(person.caller, hook, operation())
    expect((await person.call('POST', '/v1/paywalls', { body: PAYWALL })).status).toBe(201)
    const owner = { userId: person.caller.user.id, environment: 'sandbox' } as const
    const secret = async () => (await service.identity.signingSecrets.of(owner)).secret
    const before = await secret()
    for (let turn = 0; turn < 3; turn++) {
      await service.deliveries.endpoints.rotate(person.caller, endpoint.id, operation())
    }
    const config = (VAULT_KEY: string, VAULT_OLD_KEYS?: string) =>
      readConfig({ DATABASE_URL: database.url, VAULT_KEY, ...(VAULT_OLD_KEYS === undefined ? {} : { VAULT_OLD_KEYS }) })
    const run = async <Row extends object>(text: string, values: readonly unknown[]) =>
      await database.statements.run<Row>(text, values)
    const kinds = await oneOfEach(run)
    expect(kinds.length).toBeGreaterThan(4)
    // Some secrets are megabytes, so few are read at once.
    await run(COPIES, [])
    const read: number[] = []
    const counted = {
      run: async <Row>(text: string, values: readonly unknown[]) => {
        const rows = await service.database.statements.run<Row>(text, values)
        read.push(rows.filter((row) => 'token' in (row as object)).length)
        return rows
      },
    }
    const said = await sealAgain(config(next, old), { statements: { ...service.database.statements, ...counted } })
    expect(Math.max(...read)).toBe(20)
    await run(`DELETE FROM paywall WHERE id LIKE '%\\_copy%'`, [])
    expect(said).toContain('delivery_target.earlier_sealed')
    expect(said).toContain('paywall.headers_sealed: 1')
    const vault = vaultOf((await keyringOf(config(next)))!)
    const after = await oneOfEach(run)
    expect(after.map(({ context }) => context)).toEqual(kinds.map(({ context }) => context))
    for (const { token, context } of after) expect(vault.open(token, context).reveal()).not.toBe('')
    expect(await sealAgain(config(next), service.database)).toMatch(/^Nothing else was sealed with an old key[.]/)
    await service.close()
    expect(before).toMatch(/^whsec_/)
    const own = after.find(({ place }) => place === 'identity_signing_secret.sealed')!
    expect(vault.open(own.token, own.context).reveal()).toBe(before)
  })
})

/** Of one paywall, bound to its id: no key opens them. */
const COPIES = `
INSERT INTO paywall SELECT (jsonb_populate_record(p, jsonb_build_object('id', p.id || '_copy' || n, 'slug', 'copy-' || n))).*
FROM paywall p CROSS JOIN generate_series(1, 45) n`

/** Columns whose name or comment says that the vault seals in them. */
function sealedIn(schema: string): string[] {
  return [...schema.matchAll(/^model \w+ \{\n([^]*?)^\}/gm)].flatMap(([, body = '']) => {
    const table = /@@map\("(\w+)"\)/.exec(body)?.[1] ?? ''
    const fields = [...body.matchAll(/((?:^ *\/\/\/ .*\n)*)^ {2}(\w+) +\w+.*$/gm)]
    return fields.flatMap(([line, comment = '', name = '']) => {
      const column = /@map\("(\w+)"\)/.exec(line)?.[1] ?? name
      return /\bseal(ed|s)\b/i.test(comment) || /sealed/i.test(column) ? [`${table}.${column}`] : []
    })
  })
}
