import { readFileSync } from 'node:fs'
import { parser } from '@prometheus-io/lezer-promql'
import { Registry } from 'prom-client'
import { testService } from '../harness/service.ts'
import { documentsOf } from './documents.ts'

interface Rule {
  alert: string
  expr: string
  labels: { severity: string }
  annotations: { summary: string; action: string }
}

const { groups } = documentsOf('deploy/prometheus/alerts.yaml')[0] as { groups: { name: string; rules: Rule[] }[] }
const rules = groups.flatMap((group) => group.rules)
const dashboard = JSON.parse(readFileSync('deploy/grafana/coinslot.json', 'utf8')) as {
  panels: {
    id: number
    title: string
    gridPos: { x: number; y: number; w: number; h: number }
    targets: { expr: string }[]
  }[]
}
const queries = [
  ...rules.map(({ alert, expr }) => [alert, expr] as const),
  ...dashboard.panels.flatMap(({ title, targets }) => targets.map(({ expr }) => [title, expr] as const)),
]

const register = Registry.prototype.registerMetric

describe('the alerts and the dashboard', () => {
  let exported = new Set<string>()
  /** The labels of each metric, also of those that have no value yet. */
  const labels = new Map<string, readonly string[]>()

  beforeAll(async () => {
    Registry.prototype.registerMetric = function (metric) {
      const { name, labelNames = [] } = metric as unknown as { name: string; labelNames?: string[] }
      labels.set(name, labelNames)
      register.call(this, metric)
    }
    // Everything that can be measured: with Redis, chains and sponsors, none of which has to be there.
    const service = await testService({
      REDIS_URL: 'redis://127.0.0.1:9',
      BASE_SEPOLIA_RPC_URLS: 'http://127.0.0.1:9',
      SPONSOR_PRIVATE_KEYS: `0x${'11'.repeat(32)}`,
    })
    const { text } = await service.call('GET', '/metrics')
    exported = new Set(
      [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].flatMap(([, name = '', type]) =>
        type === 'histogram' ? ['_bucket', '_count', '_sum'].map((end) => name + end) : [name],
      ),
    )
    // None of the three is there, and each says so.
    expect(text).toMatch(/^coinslot_redis_up 0$/m)
    expect(text).toMatch(/^coinslot_chain_up\{network="base-sepolia"\} 0$/m)
    expect(text).not.toMatch(/^coinslot_sponsor_balance_eth\{/m)
    await service.close()
    Registry.prototype.registerMetric = register
  })

  it.each(queries)('%s uses only metrics that the service exports: %s', (_title, expression) => {
    const { faults, metrics } = read(expression)
    expect(faults).toEqual([])
    expect(metrics.length).toBeGreaterThan(0)
    expect(metrics.filter((name) => !exported.has(name))).toEqual([])
  })

  it.each(queries)('%s uses only labels that its metrics have: %s', (_title, expression) => {
    const { metrics, names } = read(expression)
    const own = metrics.flatMap(
      (name) => labels.get(name) ?? labels.get(name.replace(/_(bucket|count|sum)$/, '')) ?? [],
    )
    expect(names.filter((name) => !own.includes(name) && !OF_PROMETHEUS.has(name))).toEqual([])
  })

  it.each(rules)('$alert names only labels that its expression keeps', ({ expr, annotations }) => {
    const shown = [...JSON.stringify(annotations).matchAll(/[$]labels[.](\w+)/g)].map(([, name = '']) => name)
    expect(shown.filter((name) => !read(expr).grouped.includes(name))).toEqual([])
  })

  it('sees every sweeper from its start on, and the slowest only where it has failed more than once in a window', async () => {
    const service = await testService()
    await service.start()
    const { text } = await service.call('GET', '/metrics')
    await service.close()
    const all = [...text.matchAll(/^coinslot_sweep_seconds_count\{sweeper="([^"]+)",outcome="failed"\} 0$/gm)]
    expect(all.map(([, name]) => name)).toContain('pruning')
    const { expr } = rules.find(({ alert }) => alert === 'CoinslotSweepFails')!
    const [, minutes, failures] = /\[(\d+)m\]\)\) > (\d+)$/.exec(expr) ?? []
    expect(Number(failures)).toBeGreaterThan(0)
    // As many turns of ten minutes, and one more for what `increase` extrapolates.
    expect(Number(minutes) * 60_000).toBeGreaterThan((Number(failures) + 1) * 600_000)
  })

  it('would fail for a metric that does not exist and for an invalid expression', () => {
    expect(read('rate(coinslot_gone_total[5m])').metrics.every((name) => exported.has(name))).toBe(false)
    expect(read('sum by (x (coinslot_queue_dead)').faults).not.toEqual([])
  })

  it('each have a summary and an action, and an entry in the handbook', () => {
    const handbook = readFileSync('docs/operating.md', 'utf8')
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length)
    for (const { alert, labels, annotations } of rules) {
      expect(['page', 'ticket']).toContain(labels.severity)
      expect(annotations.summary.length).toBeGreaterThan(10)
      expect(annotations.action.length).toBeGreaterThan(10)
      expect(handbook).toContain(alert)
    }
  })

  it('show no two panels at one position', () => {
    const places = dashboard.panels.map(({ gridPos: { x, y } }) => `${String(x)} ${String(y)}`)
    expect(new Set(places).size).toBe(places.length)
    for (const { gridPos } of dashboard.panels) expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24)
  })
})

/** By Prometheus' own grammar. */
function read(expression: string): { faults: string[]; metrics: string[]; names: string[]; grouped: string[] } {
  const faults: string[] = []
  const metrics: string[] = []
  const names: string[] = []
  const grouped: string[] = []
  parser.parse(expression).iterate({
    enter(node) {
      const text = expression.slice(node.from, node.to)
      if (node.type.isError) faults.push(`at ${String(node.from)}: ${text}`)
      if (node.name === 'Identifier' && node.node.parent?.name === 'VectorSelector') metrics.push(text)
      if (node.name !== 'LabelName') return
      names.push(text)
      if (node.node.parent?.name === 'GroupingLabels') grouped.push(text)
    },
  })
  return { faults, metrics, names, grouped }
}

/** Added by Prometheus to every metric, and to histograms. */
const OF_PROMETHEUS = new Set(['instance', 'job', 'le'])
