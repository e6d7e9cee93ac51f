import { createInterface } from 'node:readline/promises'
import { parseArgs } from 'node:util'
import { keysOfPhrase, newPhrase } from '../chain/keys.ts'
import { ConfigError, readConfig, type Config } from '../config.ts'
import { migrateFor } from '../database/migrate.ts'
import { DomainError } from '../kit/errors.ts'
import { printReport, runChecks } from './checks/all.ts'
import { runCommand } from './command/run.ts'
import { loadingOf, readSettings, withLines, writePhrase, writeSettings, type Line } from './settings/file.ts'
import { addressesOf, GENERATED, questionsOf, type Question } from './settings/questions.ts'

/**
 * `npm run setup`: asks for what only an operator knows, makes all secrets and keys, writes them to a file, brings the
 * database up to date, and runs the doctor's checks. With `--yes` it asks nothing: settings come from flags such as
 * `--database-url`, or from the environment. What the file has already is kept. With `--keys` it only prints new keys.
 */
async function main(args: string[]): Promise<number> {
  const flags = flagsOf(args)
  if (flags['keys'] === true) return printKeys(typeof flags['phrase-file'] === 'string' ? flags['phrase-file'] : null)
  const compose = flags['compose'] === true
  const file = typeof flags['file'] === 'string' ? flags['file'] : compose ? 'deploy/.env' : '.env'
  const asks = flags['yes'] !== true
  const phraseFile = typeof flags['phrase-file'] === 'string' ? flags['phrase-file'] : null
  if (asks && !process.stdin.isTTY)
    throw new ConfigError(['There is no terminal to ask in: pass --yes, and settings as flags.'])
  const existing = readSettings(file)
  if (existing !== null && asks && !(await confirm(`${file} exists. Keep it, and add what it lacks? (y/n) `))) return 1
  const before = existing?.values ?? {}
  const answered = await answers(questionsOf(compose), before, { flags, asks })
  const lines = [...answered, ...generated(before, compose)]
  const needsKeys = KEYS.every((name) => before[name] === undefined)
  const phrase = needsKeys ? newPhrase() : null
  if (phrase !== null) lines.push(...keyLines(phrase))
  const settings = { ...before, ...valuesOf(lines) }
  // Before anything is written. With compose, the addresses are made from the domain there.
  readConfig(settings)
  const text = withLines(existing?.text ?? '', lines)
  if (phrase !== null) await show(phrase, { phraseFile, asks })
  if (lines.length > 0) writeSettings(file, text)
  console.log(`${file}: ${String(lines.length)} settings added, ${String(Object.keys(before).length)} kept.`)
  if (compose) {
    console.log(COMPOSE_NEXT)
    return 0
  }
  const config = readConfig({ NEWER_DATABASE: process.env['NEWER_DATABASE'], ...settings })
  if (config.DATABASE_URL !== undefined && !(await isMigrated(config.DATABASE_URL, config, file))) return 1
  const code = printReport(await runChecks(() => readConfig(settings)), false)
  console.log(`\nStart it: ${loadingOf(file)}; npm start\nThen: npm run doctor, in the same shell.`)
  return code
}

/** The file is written by now: a database that is down or a wrong password is for its owner to mend, with the same keys. */
async function isMigrated(url: string, config: Config, file: string): Promise<boolean> {
  try {
    await migrateFor(url, config)
    return true
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    console.error(`${error.message} Correct DATABASE_URL in ${file} if it is wrong, and run npm run setup again.`)
    return false
  }
}

const KEYS = ['WALLET_XPUB', 'WALLET_XPRV', 'PAYER_SEED', 'SPONSOR_PRIVATE_KEYS']

const COMPOSE_NEXT = `Next: docker compose -f deploy/compose.yaml up --detach --wait
Then: docker compose -f deploy/compose.yaml run --rm --no-deps worker node service/dist/cli/doctor.js`

type Flags = Readonly<Record<string, string | boolean | undefined>>

const OPTIONS = {
  yes: { type: 'boolean' },
  compose: { type: 'boolean' },
  keys: { type: 'boolean' },
  file: { type: 'string' },
  'phrase-file': { type: 'string' },
  ...Object.fromEntries(
    [...questionsOf(true), ...questionsOf(false)].map(({ name }) => [flagOf(name), { type: 'string' } as const]),
  ),
} as const

function flagOf(name: string): string {
  return name.toLowerCase().replaceAll('_', '-')
}

function flagsOf(args: string[]): Flags {
  try {
    return parseArgs({ args, options: OPTIONS, strict: true }).values
  } catch (error) {
    throw new ConfigError([error instanceof Error ? error.message : String(error)])
  }
}

async function answers(
  questions: readonly Question[],
  before: Readonly<Record<string, string>>,
  { flags, asks }: { flags: Flags; asks: boolean },
): Promise<Line[]> {
  const lines: Line[] = []
  for (const { name, asks: sentence, comment, fallback } of questions) {
    const isKnown = name === 'PUBLIC_URL' ? before['PUBLIC_API_URL'] !== undefined : before[name] !== undefined
    if (isKnown) continue
    const flag = flags[flagOf(name)]
    // An empty variable is as good as none.
    const known = typeof flag === 'string' ? flag : (process.env[name] ?? '')
    if (typeof flag === 'string' || known.trim() !== '' || !asks) {
      lines.push(...linesOf({ name, comment }, chosenOf(known, fallback)))
      continue
    }
    for (;;) {
      const value = await ask(`${sentence}${fallback === '' ? '' : ` [${fallback}]`}: `)
      const answer = linesOf({ name, comment }, chosenOf(value, fallback))
      const faults = faultsOf(name, answer, { ...before, ...valuesOf(lines) })
      if (faults.length === 0) {
        lines.push(...answer)
        break
      }
      for (const fault of faults) console.log(`  It ${fault}`)
    }
  }
  return lines
}

function chosenOf(value: string, fallback: string): string {
  return value.trim() === '' ? fallback : value.trim()
}

/** None for a setting that is left out. */
function linesOf({ name, comment }: { name: string; comment: string }, value: string): Line[] {
  if (value === '') return []
  if (name !== 'PUBLIC_URL') return [{ name, value, comment }]
  return Object.entries(addressesOf(value)).map(([of, address]) => ({ name: of, value: address, comment: '' }))
}

/**
 * What is wrong with an answer, so that it is asked for again at once. Faults of other settings come with them, or are
 * mended by what is made at the end.
 */
function faultsOf(name: string, answer: readonly Line[], before: Readonly<Record<string, string>>): string[] {
  const first = answer[0]?.name ?? name
  try {
    withLines('', answer)
    readConfig({ ...before, ...valuesOf(answer) })
    return []
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    // A list names the place of what is wrong in it: `BASE_RPC_URLS.0`.
    return error.faults.flatMap((fault) => {
      const [, of, says = ''] = /^([A-Z_]+)\S* ([^]*)$/.exec(fault) ?? []
      return of === first ? [`${says.replace(/\. Nothing was written$/, '')}.`] : []
    })
  }
}

function valuesOf(lines: readonly Line[]): Record<string, string> {
  return Object.fromEntries(lines.map(({ name, value }) => [name, value]))
}

function generated(before: Readonly<Record<string, string>>, compose: boolean): Line[] {
  return GENERATED.filter((secret) => before[secret.name] === undefined && (compose || !secret.compose)).map(
    ({ name, comment, make }) => ({ name, comment, value: make() }),
  )
}

function keyLines(phrase: string): Line[] {
  const { xpub, xprv, sponsor, sponsorAddress, payerSeed } = keysOfPhrase(phrase)
  return [
    { name: 'WALLET_XPUB', value: xpub, comment: 'Derives deposit addresses. It can move nothing.' },
    { name: 'WALLET_XPRV', value: xprv, comment: 'Signs withdrawals. For workers alone.' },
    { name: 'SPONSOR_PRIVATE_KEYS', value: sponsor, comment: 'Pays the gas of settlements: send ETH to its address.' },
    { name: 'SPONSOR_ADDRESSES', value: sponsorAddress, comment: 'That address, for processes without the key.' },
    { name: 'PAYER_SEED', value: payerSeed, comment: 'The wallets that agents pay from. For workers alone.' },
  ]
}

/** For an operator whose settings are elsewhere. With `--phrase-file` the phrase is not in the output, which may be kept. */
function printKeys(phraseFile: string | null): number {
  const phrase = newPhrase()
  if (phraseFile === null)
    console.log(
      `# Write these 24 words down. They restore all keys below, and are not shown again:\n#\n#   ${phrase}\n`,
    )
  else writePhrase(phraseFile, phrase)
  for (const { name, value, comment } of keyLines(phrase)) console.log(`# ${comment}\n${name}=${value}`)
  return 0
}

/** Shown once: the file has the keys, and no file has the phrase unless the operator names one. */
async function show(phrase: string, { phraseFile, asks }: { phraseFile: string | null; asks: boolean }): Promise<void> {
  if (phraseFile !== null) {
    writePhrase(phraseFile, phrase)
    console.log(`The recovery phrase is in ${phraseFile}. Move it to where no server reads it.`)
    return
  }
  if (!asks)
    throw new ConfigError([
      '--phrase-file must name a file for the recovery phrase when --yes is set. Nothing was written.',
    ])
  console.log(
    `\nWrite these 24 words down. They restore all keys of this server, and are not shown again:\n\n  ${phrase}\n`,
  )
  await ask('Press Enter when you have written them down. ')
  // They should not stay above the prompt.
  process.stdout.write('\u001b[2J\u001b[3J\u001b[H')
}

async function confirm(sentence: string): Promise<boolean> {
  return /^y(es)?$/i.test((await ask(sentence)).trim())
}

async function ask(sentence: string): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  try {
    return await terminal.question(sentence)
  } catch (error) {
    // Ctrl-C or Ctrl-D.
    if ((error as NodeJS.ErrnoException).code !== 'ABORT_ERR') throw error
    throw new ConfigError(['\nSetup was stopped. Nothing was written.'])
  } finally {
    terminal.close()
  }
}

await runCommand(main)
