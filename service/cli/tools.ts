import { parseArgs } from 'node:util'
import { readConfig } from '../config.ts'
import { COMMANDS, OPTIONS, type Flags } from './catalogue/commands.ts'
import { withCatalogue } from './catalogue/open.ts'
import { refresh } from './catalogue/refresh.ts'
import { runCommand } from './command/run.ts'

/** `npm run tools -- import …`: manages the catalogue of tools. Also while the service runs. */
async function main(args: string[]): Promise<number> {
  const read = readArgs(args)
  if (read === null) {
    console.error(USAGE)
    return 2
  }
  const { command, names, flags } = read
  if (command === 'refresh') return await refresh(names)
  const run = COMMANDS[command]
  const config = readConfig(process.env)
  const environment = flags.environment ?? (config.LIVE ? 'production' : 'sandbox')
  if (run === undefined || (environment !== 'sandbox' && environment !== 'production')) {
    console.error(USAGE)
    return 2
  }
  if (await withCatalogue(config, (catalogue) => run({ catalogue, environment, names, flags }))) return 0
  console.error(USAGE)
  return 2
}

const USAGE = `Usage:
  npm run tools -- list [<words>] [--provider <slug>] [--collection <slug>]
  npm run tools -- providers
  npm run tools -- import shipped | <name of a document that comes with it>
  npm run tools -- import <file or address of an OpenAPI 3 document> --provider <slug> [--server <address>]
                          [--auth bearer | basic | header:<name> | query:<name>] [--price <USDC>] [--price-get <USDC>]
  npm run tools -- import --mcp <address of an MCP server> --provider <slug> [--price <USDC>]
  npm run tools -- key <provider> --key-file <file> | --no-key
  npm run tools -- remove <provider>
  npm run tools -- drop <account>         deletes all tools that an account (usr_…) imported for itself
  npm run tools -- collection <slug> <pattern>… [--name <name>] [--description <text>]
  npm run tools -- drop-collection <slug>
  npm run tools -- refresh [<name>…]      takes the documents that come with it from npm again
--environment sandbox | production says where. Without it: production on a live server, else the sandbox.
A new import without a price leaves the prices as they are; a new provider's tools cost 0.001 USDC.
--key-file names a file with the provider's secret: the key, the token, or user:password.`

function readArgs(args: string[]): { command: string; names: string[]; flags: Flags } | null {
  try {
    const { positionals, values } = parseArgs({ args, allowPositionals: true, options: OPTIONS })
    const [command, ...names] = positionals
    return command === undefined ? null : { command, names, flags: values }
  } catch (error) {
    // Names the unknown option.
    console.error((error as Error).message)
    return null
  }
}

await runCommand(main)
