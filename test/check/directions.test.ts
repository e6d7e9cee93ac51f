import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import path from 'node:path'

const root = path.resolve(import.meta.dirname, '../..')

/** A regular expression that stopped matching is a rule that stopped holding, and nothing else would tell. */
const BROKEN: Readonly<Record<string, readonly [from: string, line: string]>> = {
  'no-cycles': ['service/kit/a.ts', "import './b.ts'"],
  resolves: ['service/kit/c.ts', "import './nowhere.ts'"],
  'protocols-hold-no-state': ['service/x402/a.ts', "import '../ledger/model.ts'"],
  'kit-knows-nothing': ['service/kit/d.ts', "import '../ledger/model.ts'"],
  'model-looks-down': ['service/ledger/model.ts', "import './errors.ts'"],
  'errors-looks-down': ['service/ledger/errors.ts', "import './rules/limits.ts'"],
  'rules-looks-down': ['service/ledger/rules/limits.ts', "import type { P } from '../ports.ts'"],
  'ports-looks-down': ['service/ledger/ports.ts', "import './service.ts'"],
  'service-looks-down': ['service/ledger/service.ts', "import './http.ts'"],
  'capability-shows-its-face': ['service/wallet/service.ts', "import '../ledger/rules/limits.ts'"],
  'may-call-ledger': ['service/ledger/rules.ts', "import type { M } from '../identity/model.ts'"],
  'may-call-identity': ['service/identity/service.ts', "import '../wallet/model.ts'"],
  'may-call-outflow': ['service/outflow/rules.ts', "import type { M } from '../identity/model.ts'"],
  'may-call-transfers': ['service/transfers/rules.ts', "import '../wallet/model.ts'"],
  'may-call-wallet': ['service/wallet/rules.ts', "import '../budgets/model.ts'"],
  'may-call-deliveries': ['service/deliveries/service.ts', "import '../wallet/model.ts'"],
  'may-call-facilitator': ['service/facilitator/service.ts', "import '../ledger/model.ts'"],
  'may-call-discovery': ['service/discovery/service.ts', "import '../ledger/model.ts'"],
  'may-call-sales': ['service/sales/service.ts', "import '../wallet/model.ts'"],
  'may-call-methods': ['service/methods/remote/offer.ts', "import '../../wallet/model.ts'"],
  'method-implements-ports': ['service/methods/own/settle.ts', "import '../../sales/service.ts'"],
  'may-call-budgets': ['service/budgets/service.ts', "import '../outgoing-payments/model.ts'"],
  'may-call-outgoing-payments': ['service/outgoing-payments/service.ts', "import '../wallet/model.ts'"],
  'may-call-marketplace': ['service/marketplace/service.ts', "import '../checkouts/model.ts'"],
  'may-call-charging': ['service/charging/service.ts', "import '../wallet/model.ts'"],
  'may-call-connections': ['service/connections/service.ts', "import '../wallet/model.ts'"],
  'may-call-tools': ['service/tools/service.ts', "import '../deliveries/model.ts'"],
  'may-call-passes': ['service/passes/service.ts', "import '../wallet/model.ts'"],
  'may-call-passkey-wallets': ['service/passkey-wallets/service.ts', "import '../wallet/model.ts'"],
  'may-call-payment-addresses': ['service/payment-addresses/service.ts', "import '../wallet/model.ts'"],
  'may-call-checkouts': ['service/checkouts/service.ts', "import '../budgets/model.ts'"],
  'may-call-coupons': ['service/coupons/service.ts', "import '../wallet/model.ts'"],
  'may-call-changes': ['service/changes/service.ts', "import '../wallet/model.ts'"],
  'may-call-oauth': ['service/oauth/service.ts', "import '../wallet/model.ts'"],
  'may-call-pruning': ['service/pruning/service.ts', "import '../wallet/model.ts'"],
  'may-call-paywall': ['service/paywall/service.ts', "import '../wallet/model.ts'"],
  'may-call-storefront': ['service/storefront/service.ts', "import '../wallet/model.ts'"],
  'may-call-refunds': ['service/refunds/service.ts', "import '../budgets/model.ts'"],
  'may-call-files': ['service/files/service.ts', "import '../wallet/model.ts'"],
  'may-call-invoices': ['service/invoices/service/invoices.ts', "import '../../wallet/model.ts'"],
  'may-call-brands': ['service/brands/service.ts', "import '../wallet/model.ts'"],
  'may-call-disputes': ['service/disputes/service.ts', "import '../wallet/model.ts'"],
  'no-circle-of-folders': ['service/x402/c.ts', "import '../mpp/c.ts'"],
  'entry-holds-no-store': ['service/budgets/http.ts', "import './between.ts'"],
  'core-holds-no-store': ['service/tools/rules.ts', "import '../vault/vault.ts'"],
  'store-is-handed-in': ['service/budgets/between.ts', "import './store.ts'"],
  'store-points-inward': ['service/budgets/store.ts', "import './trpc.ts'"],
  'adapter-is-handed-in': ['service/pages/page.ts', "import '../vault/vault.ts'"],
  'database-is-for-stores': ['service/api/b.ts', "import type { C } from '../database/generated/client.ts'"],
  'adapter-points-inward': ['service/chain/a.ts', "import '../ledger/service.ts'"],
  'api-knows-no-capability': ['service/api/a.ts', "import '../ledger/model.ts'"],
  'http-declares': ['service/ledger/http.ts', "import '../api/a.ts'"],
  'trpc-declares': ['service/budgets/trpc.ts', "import '../api/route.ts'"],
  'mcp-declares': ['service/tools/mcp.ts', "import '../api/route.ts'"],
  'jobs-declares': ['service/tools/jobs.ts', "import '../api/route.ts'"],
  'core-knows-no-api': ['service/paywall/rules.ts', "import '../api/route.ts'"],
  'wiring-is-the-top': ['service/api/c.ts', "import '../wiring/compose.ts'"],
  'config-is-handed-over': ['service/api/d.ts', "import '../config.ts'"],
  'dashboard-sees-the-router-type': ['service/dashboard/a.ts', "import type { B } from '../kit/b.ts'"],
  'dashboard-runs-no-service-code': ['service/dashboard/b.ts', "import '../wiring/compose.ts'"],
  'ui-kit-stands-below-the-screens': ['service/ui-kit/a.ts', "import '../dashboard/c.ts'"],
  'viem-lives-in-chain': ['service/identity/rules.ts', "import type { Hex } from 'viem'"],
  'service-stands-alone': ['service/chain/b.ts', "import '../../nodes/a.ts'"],
  'nodes-stand-alone': ['nodes/a.ts', "import 'node:fs'"],
}

/** What the layout allows, beside what it refuses: a rule that refuses everything would pass as well. */
const SOUND: Readonly<Record<string, string>> = {
  'service/kit/b.ts': "import './a.ts'",
  'service/config.ts': "import type { K } from './kit/e.ts'",
  'service/kit/e.ts': "import { createHash } from 'node:crypto'",
  'service/wiring/compose.ts':
    "import '../checkouts/store.ts'\nimport '../checkouts/http.ts'\nimport '../vault/vault.ts'\nimport '../config.ts'",
  'service/api/route.ts': "import type { E } from '../kit/e.ts'\nimport type { C } from '../config.ts'",
  'service/identity/model.ts': "import '../kit/e.ts'",
  'service/vault/vault.ts': "import type { S } from './model.ts'\nimport type { C } from '../config.ts'",
  'service/vault/model.ts': '',
  'service/database/generated/client.ts': '',
  'service/database/pool.ts': "import './generated/client.ts'",
  'service/mpp/c.ts': '',
  'service/mpp/d.ts': "import '../x402/d.ts'",
  'service/x402/d.ts': '',
  'service/wallet/model.ts': '',
  'service/budgets/model.ts': '',
  'service/outgoing-payments/model.ts': '',
  'service/sales/ports.ts': '',
  'service/methods/simulated/settle.ts': "import type { P } from '../../sales/ports.ts'",
  'service/refunds/rules.ts': "import '../methods/simulated/settle.ts'",
  'service/checkouts/model.ts': '',
  'service/deliveries/model.ts': '',
  'service/checkouts/ports.ts': "import type { S } from '../vault/model.ts'\nimport type { M } from './model.ts'",
  'service/checkouts/errors.ts': "import '../kit/e.ts'",
  'service/checkouts/store.ts':
    "import '../database/pool.ts'\nimport './store/read.ts'\nimport type { P } from './ports.ts'",
  'service/checkouts/store/read.ts': "import type { G } from '../../database/generated/client.ts'",
  'service/checkouts/http.ts': "import type { R } from '../api/route.ts'\nimport './service/settle.ts'",
  'service/checkouts/service/settle.ts': '',
  'service/dashboard/c.ts': "import type { AppRouter } from '../wiring/compose.ts'",
  'service/dashboard/d.ts': "import '../ui-kit/b.ts'",
  'service/ui-kit/b.ts': "import type { E } from '../kit/e.ts'",
  'service/chain/c.ts': "import 'viem'\nimport type { P } from '../checkouts/ports.ts'",
  'nodes/b.ts':
    "import { createHmac } from 'node:crypto'\nimport type { N } from 'n8n-workflow'\nimport { a } from './c'",
  'nodes/c.ts': '',
}

describe('the dependency check', () => {
  let folder: string
  let found: readonly Violation[]
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'coinslot-directions-'))
    await symlink(path.join(root, 'node_modules'), path.join(folder, 'node_modules'), 'junction')
    for (const [file, text] of [...Object.values(BROKEN), ...Object.entries(SOUND)]) {
      await mkdir(path.join(folder, path.dirname(file)), { recursive: true })
      await writeFile(path.join(folder, file), text)
    }
    found = await violations(folder)
  })
  afterAll(() => rm(folder, { recursive: true }))

  it('has a planted offender for each of its rules', () => {
    const { forbidden } = createRequire(import.meta.url)(CONFIGURATION) as { forbidden: { name: string }[] }
    expect(Object.keys(BROKEN).sort()).toEqual(forbidden.map(({ name }) => name).sort())
  })

  it.each(Object.entries(BROKEN))('refuses by %s', (rule, [from]) => {
    // A rule about folders names the folder.
    const places = [from, path.posix.dirname(from)]
    expect(found.filter((one) => places.includes(one.from)).map((one) => one.rule)).toContain(rule)
  })

  it('accepts every import that the layout allows', () => {
    // `b.ts` of kit is one half of the planted cycle.
    const sound = new Set(Object.keys(SOUND).filter((file) => file !== 'service/kit/b.ts'))
    expect(found.filter((violation) => sound.has(violation.from))).toEqual([])
  })
})

const CONFIGURATION = path.join(root, '.dependency-cruiser.cjs')

interface Violation {
  rule: string
  from: string
  to: string
}

async function violations(folder: string): Promise<Violation[]> {
  const program = path.join(root, 'node_modules/dependency-cruiser/bin/dependency-cruise.mjs')
  const words = ['--config', CONFIGURATION, '--no-cache', '--output-type', 'json', 'service', 'nodes']
  const output = await new Promise<string>((resolve) => {
    const options = { cwd: folder, env: { ...process.env, NODE_OPTIONS: '' }, maxBuffer: 50_000_000 }
    // It ends with the number of violations: a failure is what is asked for here.
    execFile(process.execPath, [program, ...words], options, (_error, stdout, stderr) => {
      resolve(stdout || stderr)
    })
  })
  const { summary } = JSON.parse(output) as Cruise
  return summary.violations.map(({ rule, from, to }) => ({ rule: rule.name, from, to }))
}

interface Cruise {
  summary: { violations: { rule: { name: string }; from: string; to: string }[] }
}
