import type pg from 'pg'
import { refused, type Source, type Table } from './model.ts'
import { MIGRATIONS } from './source.ts'

/*
 * The journal of a move stands in the target, in a schema of its own: what it says and what was copied are one commit.
 * Until the end a row among the migrations keeps the service from starting there, for triggers are off meanwhile.
 */

export type State = 'empty' | 'begun' | 'copying' | 'finished'

/** What the target is to this source; refuses a target that a move could damage or fail on. */
export async function judge(target: pg.Client, { id, state, migrations }: Source): Promise<State> {
  const { rows } = await target.query<Facts>(FACTS)
  const facts = rows[0]
  if (facts === undefined) throw new Error('a SELECT without FROM answers one row')
  if (facts.version < LEAST_VERSION) {
    throw refused(
      `The target is PostgreSQL ${String(Math.floor(facts.version / 10_000))}; the embedded database is ${String(LEAST_VERSION / 10_000)}: it has to be that or newer.`,
    )
  }
  if (facts.encoding !== 'UTF8') {
    throw refused(`The target's encoding is ${facts.encoding}: create its database with ENCODING 'UTF8'.`)
  }
  if (!facts.may) {
    throw refused(
      `The role ${facts.role} may not create schemas and tables in ${facts.database}: make it the owner of the database.`,
    )
  }
  if (facts.replica) throw refused('The target is a standby, which takes no writes.')
  if (!facts.journal) {
    if (facts.tables > 0) {
      throw refused(
        `${facts.database} is not empty (${String(facts.tables)} tables): create another database for the move.`,
      )
    }
    return 'empty'
  }
  const { rows: journals } = await target.query<Journal>(
    'SELECT source_id AS id, source_state AS state, phase FROM coinslot_move.move',
  )
  const [journal] = journals
  if (journal?.id !== id) {
    throw refused(`${facts.database} belongs to a move of another database.`)
  }
  if (journal.state !== state) throw refused(outdatedWords(journal, facts))
  if (journal.phase === 'copying') {
    const { rows: applied } = await target.query<{ migrations: string }>(`SELECT (${MIGRATIONS}) AS migrations`)
    if (applied[0]?.migrations !== migrations) {
      throw refused(`The move to ${facts.database} was begun by another version: finish it with that version.`)
    }
  }
  return journal.phase
}

function outdatedWords({ phase }: Journal, { database }: Facts): string {
  return phase === 'finished'
    ? `The service ran on the embedded database after its move to ${database} had finished: what was written since is not there. Create another, empty database to move it again.`
    : `The service ran on the embedded database after the move to ${database} had begun: its data is outdated. Create another database for the move.`
}

const LEAST_VERSION = 170_000

interface Facts {
  version: number
  encoding: string
  role: string
  database: string
  may: boolean
  replica: boolean
  journal: boolean
  tables: number
}

interface Journal {
  id: string
  state: string
  phase: Exclude<State, 'empty'>
}

const FACTS = `
SELECT current_setting('server_version_num')::int AS version, current_setting('server_encoding') AS encoding,
       current_user::text AS role, current_database()::text AS database, pg_is_in_recovery() AS replica,
       has_database_privilege(current_database(), 'CREATE') AND has_schema_privilege('public', 'CREATE') AS may,
       to_regclass('coinslot_move.move') IS NOT NULL AS journal,
       (SELECT count(*)::int FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'S')) AS tables`

/** First of all, so that all that is made there afterwards is known to be this move's. */
export async function begin(target: pg.Client, { id, state }: Source): Promise<void> {
  await target.query('BEGIN')
  await target.query(`CREATE SCHEMA coinslot_move;
    CREATE TABLE coinslot_move.move (source_id text NOT NULL, source_state text NOT NULL, phase text NOT NULL, at timestamptz NOT NULL);
    CREATE TABLE coinslot_move.copied (name text PRIMARY KEY, blocks bigint NOT NULL)`)
  await target.query(`INSERT INTO coinslot_move.move VALUES ($1, $2, 'begun', now())`, [id, state])
  await target.query('COMMIT')
}

/** Takes what migrations put into tables out again, and the triggers off: rows come as they are, already counted. */
export async function makeReady(target: pg.Client, tables: readonly Table[]): Promise<void> {
  await target.query('BEGIN')
  const { rows } = await target.query<{ used: boolean }>(
    'SELECT EXISTS (SELECT FROM identity_user) OR EXISTS (SELECT FROM ledger_movement) AS used',
  )
  if (rows[0]?.used !== false) {
    await target.query('ROLLBACK')
    throw refused('A service has used the target since the move to it began: create another database for the move.')
  }
  for (const { name } of tables) {
    await target.query(`ALTER TABLE ${name} DISABLE TRIGGER USER`)
    // The books' owner may not delete from them, and gives itself the right for this one statement.
    const kept = `NOT has_table_privilege('${name}', 'DELETE')`
    const { rows: seeded } = await target.query<{ seeded: boolean; kept: boolean }>(
      `SELECT EXISTS (SELECT FROM ${name}) AS seeded, ${kept} AS kept`,
    )
    if (seeded[0]?.seeded !== true) continue
    if (seeded[0].kept) await target.query(`GRANT DELETE ON ${name} TO CURRENT_USER`)
    await target.query(`DELETE FROM ${name}`)
    if (seeded[0].kept) await target.query(`REVOKE DELETE ON ${name} FROM CURRENT_USER`)
  }
  await target.query(
    `INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at, applied_steps_count)
     VALUES ('unfinished_move', '', 'unfinished_move', now(), 0)`,
  )
  await target.query(`UPDATE coinslot_move.move SET phase = 'copying'`)
  await target.query('COMMIT')
}

/** Numbers go on where they were, triggers are on again, and the service may start. */
export async function finish(target: pg.Client, source: pg.Client, tables: readonly Table[]): Promise<void> {
  const { rows: sequences } = await source.query<{ name: string }>(
    `SELECT oid::regclass::text AS name FROM pg_class WHERE relkind = 'S' AND relnamespace = 'public'::regnamespace`,
  )
  await target.query('BEGIN')
  for (const { name } of sequences) {
    const { rows } = await source.query<{ last: string; called: boolean }>(
      `SELECT last_value::text AS last, is_called AS called FROM ${name}`,
    )
    await target.query(`SELECT setval($1::regclass, $2::bigint, $3)`, [name, rows[0]?.last, rows[0]?.called])
  }
  for (const { name } of tables) await target.query(`ALTER TABLE ${name} ENABLE TRIGGER USER`)
  await target.query(`DELETE FROM _prisma_migrations WHERE migration_name = 'unfinished_move'`)
  await target.query(`UPDATE coinslot_move.move SET phase = 'finished', at = now()`)
  await target.query('COMMIT')
}
