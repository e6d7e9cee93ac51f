import { parseArgs } from 'node:util'
import { readConfig } from '../config.ts'
import { COMMANDS, OPTIONS, type Flags } from './catalogue/commands.ts'
import { helpOf } from './catalogue/help.ts'
import { withCatalogue } from './catalogue/open.ts'
import { refresh } from './catalogue/refresh.ts'
import { runCommand } from './command/run.ts'

/** `npm run tools -- import …`: manages the catalogue of tools. Also while the service runs. */
async function main(args: string[]): Promise<number> {
  const read = readArgs(args)
  if (read === null) {
    console.error(helpOf(null))
    return 2
  }
  const { command, names, flags } = read
  if (flags.help === true) {
    console.log(helpOf(command))
    return 0
  }
  if (command === null) {
    console.error(helpOf(null))
    return 2
  }
  if (command === 'refresh') return await refresh(names)
  const run = COMMANDS[command]
  const config = readConfig(process.env)
  const environment = flags.environment ?? (config.LIVE ? 'production' : 'sandbox')
  if (run === undefined || (environment !== 'sandbox' && environment !== 'production')) {
    console.error(helpOf(command))
    return 2
  }
  const outcome = await withCatalogue(config, (catalogue, trials) =>
    run({ catalogue, trials, environment, names, flags }),
  )
  if (typeof outcome === 'number') return outcome
  if (outcome) return 0
  console.error(helpOf(command))
  return 2
}

function readArgs(args: string[]): { command: string | null; names: string[]; flags: Flags } | null {
  try {
    const { positionals, values } = parseArgs({ args, allowPositionals: true, options: OPTIONS })
    const [command = null, ...names] = positionals
    return { command, names, flags: values }
  } catch (error) {
    // Names the unknown option.
    console.error((error as Error).message)
    return null
  }
}

await runCommand(main)
