/** What each command of `npm run tools` takes and does. */
const COMMANDS: Readonly<Record<string, string>> = {
  list: `list [<words>] [--provider <slug>] [--collection <slug>]
    Tools with their prices; with words, the best 20 for them.`,
  providers: `providers
    Providers that are there, then those that \`add\` knows.`,
  add: `add <provider> [--file <document>] [--server <address>] [--hash <sha256>] [--accept] [--dry-run]
    Fetches the document that a provider of the curated list publishes, shows what it brings, and imports it. Its sha256
    is kept: another document is imported with --accept or --hash only. --file reads a copy instead of fetching it,
    --server names an account's own server, --dry-run imports nothing. Exit code 1: the document is another one.`,
  test: `test <tool or provider> [--yes] [--limit <number>]
    Calls the tools that only read, with their documents' examples: simulated ones here, others for real with the
    platform's key after a question, which --yes answers. At most 50, or the limit.
    Exit codes: 0 all worked, 1 a tool failed, 3 none could be tried.`,
  import: `import shipped | <name of a document that comes with it>
  import <file or address of an OpenAPI or Swagger document> --provider <slug> [--server <address>]
         [--auth bearer | basic | header:<name> | query:<name>] [--price <USDC>] [--price-get <USDC>]
  import --mcp <address of an MCP server> --provider <slug> [--price <USDC>]
    Operations that cannot be tools are listed with the reason. A new import without a price leaves the prices as they
    are; a new provider's tools cost 0.001 USDC.`,
  key: `key <provider> --key-file <file> | --no-key
    The file holds the provider's secret: the key, the token, or user:password. Several keys, one a line and up to 20,
    take turns; one that the provider refuses with 429 rests as long as it says.`,
  public: `public <provider> [--off]
    Its tools act on no account, so that the provider's key may call all of them.`,
  oauth: `oauth <provider> --client-id <id> [--client-secret-file <file>] [--issuer <address>]
         [--authorization-url <address>] [--token-url <address>] [--revocation-url <address>]
         [--scopes "<scope> <scope>"] [--client-auth basic | post | none]
         [--device-url <address>] [--grant authorization_code | device_code] | --off
    The OAuth client with which accounts connect to the provider.`,
  remove: `remove <provider>
    Its tools are gone, its key too; a later import brings the tools back.`,
  drop: `drop <account>
    Deletes all tools that an account (usr_…) imported for itself.`,
  collection: `collection <slug> <pattern>… [--name <name>] [--description <text>]
    A named slice of the catalogue: every tool whose slug fits a pattern, with * for any text.`,
  'drop-collection': `drop-collection <slug>
    Its tools remain.`,
  refresh: `refresh [<name>…]
    Takes the documents that come with the service from npm again.`,
}

const COMMON = `--environment sandbox | production says where. Without it: production on a live server, else the sandbox.
Exit codes: 0 done, 2 wrong arguments or a refusal; \`<command> --help\` tells more about one.`

/** Of one command, or of all. */
export function helpOf(command: string | null): string {
  const own = command === null || !Object.hasOwn(COMMANDS, command) ? null : COMMANDS[command]
  const shown = own === null ? Object.values(COMMANDS) : [own]
  return `Usage: npm run tools -- <command>\n${shown.map((text) => `  ${String(text)}`).join('\n')}\n${COMMON}`
}
