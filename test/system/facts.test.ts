import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pino } from 'pino'
import { readConfig } from '../../service/config.ts'
import type { Statements } from '../../service/kit/transaction.ts'
import { compose } from '../../service/wiring/compose.ts'
import { Facts } from '../../service/wiring/facts.ts'
import { testDatabase, type TestDatabase } from '../harness/database.ts'

const REDELIVERED = { kind: 'delivery.redelivered', subject: 'pay_1' } as const

describe('a fact', () => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await testDatabase()
    await database.statements.run('CREATE TABLE heard (place serial, line text)', [])
  })
  beforeEach(() => database.statements.run('DELETE FROM heard', []))
  afterAll(() => database.close())

  const write = async (inside: Statements, line: string): Promise<void> => {
    await inside.run('INSERT INTO heard (line) VALUES ($1)', [line])
  }
  const lines = async (): Promise<string[]> => {
    const rows = await database.statements.run<{ line: string }>('SELECT line FROM heard ORDER BY place', [])
    return rows.map(({ line }) => line)
  }

  test('reaches its subscribers in their order, and those of no other fact', async () => {
    const facts = new Facts()
    facts.subscribe('delivery.redelivered', (inside, { subject }) => write(inside, `first ${subject}`))
    facts.subscribe('delivery.failed', (inside, { target }) => write(inside, target))
    facts.subscribe('delivery.redelivered', (inside, { subject }) => write(inside, `second ${subject}`))
    await database.statements.together((inside) => facts.publish(inside, REDELIVERED))
    expect(await lines()).toEqual(['first pay_1', 'second pay_1'])
  })

  test('and what its publisher and all subscribers wrote is undone by the error of one', async () => {
    const facts = new Facts()
    facts.subscribe('delivery.redelivered', (inside) => write(inside, 'subscriber'))
    facts.subscribe('delivery.redelivered', () => Promise.reject(new Error('refused')))
    facts.subscribe('delivery.redelivered', (inside) => write(inside, 'not reached'))
    const published = database.statements.together(async (inside) => {
      await write(inside, 'publisher')
      await facts.publish(inside, REDELIVERED)
    })
    await expect(published).rejects.toThrow('refused')
    expect(await lines()).toEqual([])
  })
})

describe('a service in which a fact has no subscriber', () => {
  const { subscribe } = Facts.prototype
  let folder: string
  beforeAll(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'coinslot-facts-'))
  })
  afterEach(() => {
    Facts.prototype.subscribe = subscribe
  })
  afterAll(() => {
    rmSync(folder, { recursive: true })
  })

  test.each([
    'wallet.low_balance',
    'wallet.payout_changed',
    'wallet.payout_address_changed',
    'delivery.failed',
    'delivery.redelivered',
    'refund.ended',
  ])('does not start: %s', async (lost) => {
    Facts.prototype.subscribe = function (this: Facts, kind, subscriber) {
      if (kind !== lost) Reflect.apply(subscribe, this, [kind, subscriber])
    }
    // Without a database: it starts none of its work before this check.
    const url = 'postgresql://127.0.0.1:1/none'
    const config = readConfig({ DATABASE_URL: url, DATA_DIR: folder, PORT: '0', LOG_LEVEL: 'silent' })
    const starting = compose(config, { url, log: pino({ level: 'silent' }) })
    await expect(starting).rejects.toThrow(`No part subscribes to ${lost}.`)
  })
})
