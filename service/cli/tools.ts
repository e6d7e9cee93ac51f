import { parseArgs } from 'node:util'
import { ConfigError, readConfig } from '../config.ts'
import { DomainError } from '../kit/errors.ts'
import { COMMANDS, type Flags } from './catalogue/commands.ts'
import { openCatalogueHere } from './catalogue/open.ts'
import { refresh } from './catalogue/refresh.ts'

/** `npm run tools -- import …`: which tools there are, for whoever runs the server. Also while it runs. */
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
  const { catalogue, close } = await openCatalogueHere(config)
  try {
    if (await run({ catalogue, environment, names, flags })) return 0
    console.error(USAGE)
    return 2
  } finally {
    await close()
  }
}

const USAGE = `Say what to do:
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
--environment sandbox | production says where; else it is what everybody sees: production on a live server.
A new import without a price leaves the prices as they are; a new provider's tools cost 0.001 USDC.
--key-file names a file with the provider's secret: the key, the token, or user:password.`

function readArgs(args: string[]): { command: string; names: string[]; flags: Flags } | null {
  try {
    const { positionals, values } = parseArgs({ args, allowPositionals: true, options: OPTIONS })
    const [command, ...names] = positionals
    return command === undefined ? null : { command, names, flags: values }
  } catch (error) {
    // It says which option it does not know.
    console.error((error as Error).message)
    return null
  }
}

const text = { type: 'string' } as const

const OPTIONS = {
  environment: text,
  provider: text,
  collection: text,
  name: text,
  description: text,
  server: text,
  auth: text,
  price: text,
  'price-get': text,
  mcp: text,
  'key-file': text,
  'no-key': { type: 'boolean' },
} as const

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  console.error(error instanceof ConfigError || error instanceof DomainError ? error.message : error)
  process.exitCode = 2
}
