import type { Config } from './config.ts'

/** What a newcomer sees: where everything is, the key, and a few lines that work as they stand. */
export function greeting(config: Config, port: number, demoKey: string | null): string {
  const { api, dashboard } = config.addresses
  const origin = new URL(dashboard).origin
  const key = demoKey ?? '$COINSLOT_KEY'
  const keyLine =
    demoKey ?? 'shown at the first start: export COINSLOT_KEY=…, or start with DEMO_API_KEY=csk_test_… to fix one'
  return `
  Coinslot is running: a sandbox, no real money moves. Ctrl-C stops it.

    Dashboard      ${dashboard}
    API            ${api}
    API reference  ${origin}/docs
    Health         http://localhost:${String(port)}/readyz
    Mails          ${origin}/inbox
    Deliveries     ${origin}/demo/echo
    Demo key       ${keyLine}

  Try it:

    curl -s ${api}/me -H "Authorization: Bearer ${key}"
    curl -s ${api}/wallet/deposit -H "Authorization: Bearer ${key}" -H 'Content-Type: application/json' -d '{"amount": 25}'
    curl -s ${api}/wallet/balance -H "Authorization: Bearer ${key}"
${config.DEMO_PORT === 0 ? '' : `${exampleRun(api, key)}\n`}
`
}

function exampleRun(api: string, key: string): string {
  const body = '{"rdaSlug": "text-statistics", "inputs": {"text": "Put a coin in. The workflow runs."}}'
  return `    curl -s ${api}/run -H "Authorization: Bearer ${key}" -H 'Content-Type: application/json' -d '${body}'`
}
