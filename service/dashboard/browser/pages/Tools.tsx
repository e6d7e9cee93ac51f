import { DownloadIcon } from '@radix-ui/react-icons'
import { Link, useSearchParams } from 'wouter'
import { useRead, type Output } from '../api/procedures.ts'
import { Badge } from '../parts/Badge.tsx'
import { durationColumn, moneyColumn, NameLink, textColumn, timeColumn, type Column } from '../parts/columns.tsx'
import { Button } from '../parts/Button.tsx'
import { Dash, Money } from '../parts/values.tsx'
import { Search, Select, useFilter } from '../parts/filters.tsx'
import { Page } from '../parts/layout.tsx'
import { List } from '../parts/List.tsx'
import { Empty } from '../parts/states.tsx'
import { Import } from './tools/Import.tsx'
import { Own } from './tools/Own.tsx'

type Tool = Output<'tools.list'>['tools'][number] & { id: string }
type Call = Output<'tools.calls'>['calls'][number] & { id: string }

export default function Tools() {
  const { chosen, filterOf, filtered } = useFilter(['search', 'provider', 'collection'])
  const [params, setParams] = useSearchParams()
  const providers = useRead('tools.providers', undefined)
  const collections = useRead('tools.collections', undefined).data ?? []
  const bring = (
    <Button variant="main" onClick={() => setParams({ import: '1' })}>
      <DownloadIcon /> Import tools
    </Button>
  )
  return (
    <Page title="Tools" actions={bring} intro="APIs paid per call, over REST and MCP. Your credits are used first.">
      <List
        path="tools.list"
        filter={chosen}
        filtered={filtered}
        rows={({ tools }) => tools.map((tool) => ({ ...tool, id: tool.slug }))}
        name="Tools"
        columns={TOOLS}
        href={({ slug }) => `/catalogue/${slug}`}
        controls={
          <>
            <Search label="Search tools" {...filterOf('search')} />
            <Select
              label="Provider"
              all="All providers"
              {...filterOf('provider')}
              options={optionsOf(providers.data ?? [])}
            />
            {collections.length > 0 && (
              <Select
                label="Collection"
                all="All collections"
                {...filterOf('collection')}
                options={optionsOf(collections)}
              />
            )}
          </>
        }
        empty={
          <Empty title="No tools yet" action={bring}>
            Import the tools of an API from its OpenAPI document, or of an MCP server.
          </Empty>
        }
      />
      <Own />
      <Calls />
      {params.get('import') !== null && <Import close={() => setParams({})} />}
    </Page>
  )
}

function optionsOf(groups: readonly { slug: string; name: string; tools: number }[]) {
  return groups.map(({ slug, name, tools }) => [slug, `${name} (${tools})`] as const)
}

export function Calls({ tool }: { tool?: string }) {
  return (
    <List
      path="tools.calls"
      filter={tool === undefined ? {} : { tool }}
      rows={({ calls }) => calls.map((call) => ({ ...call, id: call.callId }))}
      name="Your calls"
      titled
      pageKey="calls"
      columns={CALLS}
      empty={<Empty title="No calls yet">Test a tool here, or call one with your API key.</Empty>}
    />
  )
}

export function Health({ stats }: Pick<Tool, 'stats'>) {
  if (stats.failing) return <Badge tone="bad">failing</Badge>
  if (stats.successRate === null) return <Dash />
  return <Badge tone={stats.successRate >= 95 ? 'good' : 'warn'}>{stats.successRate} %</Badge>
}

const TOOLS: Column<Tool>[] = [
  {
    title: 'Tool',
    render: ({ slug, name, description, deprecated, simulated }) => (
      <div className="min-w-0">
        <span className="flex min-w-0 items-center gap-1.5">
          <Link to={`/catalogue/${slug}`} className="truncate font-medium hover:underline">
            {name}
          </Link>
          {simulated && <Badge>simulated</Badge>}
          {deprecated && <Badge tone="warn">deprecated</Badge>}
        </span>
        <span className="line-clamp-1 text-[0.8125rem] text-quiet">{description}</span>
      </div>
    ),
    csv: ({ slug }) => slug,
  },
  textColumn('Provider', ({ provider }) => provider, { wide: true }),
  {
    title: 'Health',
    render: ({ stats }) => <Health stats={stats} />,
    csv: ({ stats }) => stats.successRate,
    wide: true,
  },
  durationColumn('Duration', ({ stats }) => stats.p50),
  {
    title: 'Price',
    end: true,
    render: ({ price }) => (price === 0 ? <span className="font-medium">Free</span> : <Money amount={price} />),
    csv: ({ price }) => price,
  },
]

const CALLS: Column<Call>[] = [
  {
    title: 'Tool',
    render: ({ tool }) => <NameLink to={`/catalogue/${tool}`}>{tool}</NameLink>,
    csv: ({ tool }) => tool,
  },
  {
    title: 'Result',
    render: ({ success, error }) => (
      <span title={error ?? undefined}>
        <Badge tone={success ? 'good' : 'bad'}>{success ? 'succeeded' : 'failed'}</Badge>
      </span>
    ),
    csv: ({ success, code }) => (success ? 'succeeded' : code),
  },
  durationColumn('Duration', ({ duration }) => duration),
  timeColumn('When', ({ at }) => at, { wide: true }),
  moneyColumn('Cost', ({ cost }) => cost),
]
