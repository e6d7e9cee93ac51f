import { ROLES } from '../../service/config.ts'
import { startTopology } from './topology.ts'

/** `npm run topology`: two processes of each role behind one address, with all that they need, until Ctrl-C. */
const KEY = `csk_test_${'t'.repeat(43)}`
const each = Number(process.argv[2] ?? 2)
const topology = await startTopology({
  processes: ROLES.map((role) => ({ roles: [role], count: each })),
  database: 'server',
  redis: true,
  chain: true,
  settings: { DEMO_API_KEY: KEY, DEMO_PORT: '4099' },
})

const row = ({ name, url }: { name: string; url: string }): string => `  ${name.padEnd(16)}${url}`
process.stdout.write(`${String(topology.processes.length)} processes, one address; nothing is kept after Ctrl-C.

  everything      ${topology.origin}
${topology.processes.map(row).join('\n')}

  PostgreSQL      ${topology.database?.url ?? ''}
  Redis           ${topology.redis?.url ?? ''}
  base-sepolia    ${topology.chain?.url ?? ''}

  curl -s ${topology.origin}/v1/me -H 'Authorization: Bearer ${KEY}'
`)

// A signal alone would leave servers behind.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(signal, () => {
    void topology.close().then(() => process.exit(0))
  })
}
