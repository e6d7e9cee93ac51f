import { createHash } from 'node:crypto'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { root } from './run.mjs'

const script =
  (name, ...args) =>
  () => ['npm', 'run', name, '--', ...args]
const chaos = (name, env, covers, limitMinutes = 20) => ({ command: script('chaos', name), env, covers, limitMinutes })
const MONEY = ['service/sales', 'service/methods', 'service/facilitator', 'service/ledger', 'service/chain', 'prisma']

/** What `npm run prove` has: its command, its size, and the folders whose code it proves. */
export const SUITES = {
  histories: {
    command: () => ['npm', 'test', '--', 'test/properties/ledger'],
    env: { HISTORIES: '10000' },
    covers: ['service/ledger', 'service/kit', 'prisma', 'test/properties'],
    limitMinutes: 10,
  },
  transfers: {
    command: () => ['npm', 'test', '--', 'test/payment-addresses/histories'],
    env: { HISTORIES: '1000' },
    covers: [...MONEY, 'service/payment-addresses', 'service/checkouts', 'test/payment-addresses'],
    limitMinutes: 20,
  },
  ledger: chaos('ledger', { CHAOS_KILLS: '15' }, ['service/ledger', 'service/database', 'prisma']),
  checkouts: chaos('checkouts', { CHAOS_KILLS: '14' }, [...MONEY, 'service/checkouts', 'service/deliveries']),
  deposits: chaos('deposits', { CHAOS_KILLS: '5' }, [...MONEY, 'service/wallet']),
  runs: chaos('runs', { CHAOS_KILLS: '2' }, [
    ...['service/marketplace', 'service/charging', 'service/ledger', 'service/queue', 'prisma'],
  ]),
  tools: chaos('tools', { CHAOS_KILLS: '1' }, ['service/tools', 'service/charging', 'service/ledger', 'prisma']),
  connections: chaos('connections', { CHAOS_KILLS: '14' }, [
    ...['service/connections', 'service/oauth-client', 'service/tools', 'prisma', 'test/chaos/connections'],
  ]),
  deliveries: chaos('deliveries', { CHAOS_KILLS: '4' }, ['service/deliveries', 'service/queue', 'prisma']),
  withdrawals: chaos('withdrawals', { CHAOS_KILLS: '4' }, [...MONEY, 'service/wallet', 'service/outflow']),
  refunds: chaos('refunds', { CHAOS_KILLS: '4' }, [...MONEY, 'service/refunds', 'service/disputes']),
  paywall: chaos('paywall', { CHAOS_KILLS: '3' }, [...MONEY, 'service/paywall']),
  move: chaos('move', { CHAOS_PAYMENTS: '5000' }, ['service/cli', 'service/ledger', 'service/database', 'prisma']),
  budgets: chaos('budgets', { CHAOS_SECONDS: '15', CHAOS_PROCESSES: '6' }, ['service/budgets', 'prisma']),
  'outgoing-payments': chaos('outgoing-payments', {}, [...MONEY, 'service/outgoing-payments']),
  doors: chaos('doors', { CHAOS_RACES: '50' }, [...MONEY, 'service/checkouts', 'service/paywall', 'service/tools']),
  mcp: chaos('mcp', { CHAOS_KILLS: '4' }, ['service/api', 'service/tools', 'service/checkouts']),
  system: chaos('system', { CHAOS_SECONDS: '90' }, ['service', 'prisma', 'test/chaos/system']),
  fuzz: {
    command: (seed) => ['npm', 'run', 'fuzz', '--', '--shots', '30000', '--seed', seed],
    covers: ['service', 'test/security'],
    limitMinutes: 20,
  },
  timed: {
    command: () => ['npm', 'test', '--', '[.]timed[.]test[.]ts$', '--testPathIgnorePatterns=/node_modules/'],
    covers: ['service', 'test/security', 'test/sales', 'test/browser'],
    limitMinutes: 20,
  },
  // The tests that the gate runs with little, or leaves out, since they take long.
  long: {
    command: () => [
      ...['npm', 'test', '--', '[.]long[.]test[.]ts$|test/client/listen|test/database/versions'],
      '--testPathIgnorePatterns=/node_modules/',
    ],
    env: { LONG: 'true' },
    covers: ['service', 'nodes', 'prisma', 'test', 'oxlint.rules.mjs', '.oxlintrc.jsonc'],
    limitMinutes: 20,
  },
  conformance: { command: script('conformance'), covers: ['service', 'test/conformance'], limitMinutes: 20 },
  n8n: { command: script('test:n8n'), covers: ['nodes', 'credentials', 'service', 'test/n8n'], limitMinutes: 30 },
}

/** One name for what the folders of a suite hold in the current commit. */
export function coveredHash(folders) {
  const { stdout } = spawnSync('git', ['ls-tree', 'HEAD', ...folders], { cwd: root, encoding: 'utf8' })
  return createHash('sha256').update(stdout).digest('hex').slice(0, 16)
}

/** Whether a suite passed on what its folders hold now. */
export function isProved(name) {
  try {
    const proof = JSON.parse(readFileSync(path.join(root, `docs/proofs/${name}.json`), 'utf8'))
    return proof.failed === 0 && !proof.changed && proof.covers === coveredHash(SUITES[name].covers)
  } catch {
    return false
  }
}
