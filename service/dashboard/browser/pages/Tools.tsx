import { DownloadIcon } from '@radix-ui/react-icons'
import { Link, useSearchParams } from 'wouter'
import { useAsk, type Output } from '../api/ask.ts'
import { Badge } from '../parts/Badge.tsx'
import { durationColumn, moneyColumn, nameColumn, textColumn, timeColumn } from '../parts/columns.tsx'
import { Button } from '../parts/Button.tsx'
import { Dash, Money } from '../parts/figures.tsx'
import { Search, Select, useFilter } from '../parts/filters.tsx'
import { PageHead } from '../parts/layout.tsx'
import { List, type Column } from '../parts/List.tsx'
import { Empty } from '../parts/states.tsx'
import { Import } from './tools/Import.tsx'
import { Own } from './tools/Own.tsx'

type Tool = Output<'tools.list'>['tools'][number] & { id: string }
type Call = Output<'tools.calls'>['calls'][number] & { id: string }

export default function Tools() {
  const { chosen, filterOf, filtered } = useFilter(['search', 'provider', 'collection'])
  const [params, setParams] = useSearchParams()
  const providers = useAsk('tools.providers', undefined)
  const collections = useAsk('tools.collections', undefined).data ?? []
  const bring = (
    <Button look="main" onClick={() => setParams({ import: '1' })}>
      <DownloadIcon /> Import
    </Button>
  )
  return (
    <>
      <PageHead title="Tools" actions={bring}>
        APIs by the call, over REST and MCP. Your credits are spent first.
      </PageHead>
      <div className="space-y-6">
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
              <Search label="What it is for" {...filterOf('search')} />
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
      </div>
      {params.get('import') !== null && <Import close={() => setParams({})} />}
    </>
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
      name="Calls"
      title="Your calls"
      pageKey="calls"
      columns={CALLS}
      empty={<Empty title="Nothing was called yet">Try a tool here, or call it with a key of yours.</Empty>}
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
    show: ({ slug, name, description, deprecated }) => (
      <div className="min-w-0">
        <span className="flex min-w-0 items-center gap-1.5">
          <Link to={`/catalogue/${slug}`} className="truncate font-medium hover:underline">
            {name}
          </Link>
          {deprecated && <Badge tone="warn">deprecated</Badge>}
        </span>
        <span className="line-clamp-1 text-[0.8125rem] text-quiet">{description}</span>
      </div>
    ),
    csv: ({ slug }) => slug,
  },
  textColumn('Provider', ({ provider }) => provider, { wide: true }),
  { title: 'Health', show: ({ stats }) => <Health stats={stats} />, csv: ({ stats }) => stats.successRate, wide: true },
  durationColumn('Takes', ({ stats }) => stats.p50),
  {
    title: 'Price',
    end: true,
    show: ({ price }) => (price === 0 ? <span className="font-medium">Free</span> : <Money amount={price} />),
    csv: ({ price }) => price,
  },
]

const CALLS: Column<Call>[] = [
  nameColumn(
    'Tool',
    ({ tool }) => tool,
    ({ tool }) => `/catalogue/${tool}`,
  ),
  {
    title: 'Result',
    show: ({ success, error }) => (
      <span title={error ?? undefined}>
        <Badge tone={success ? 'good' : 'bad'}>{success ? 'succeeded' : 'failed'}</Badge>
      </span>
    ),
    csv: ({ success, code }) => (success ? 'succeeded' : code),
  },
  durationColumn('Took', ({ duration }) => duration),
  timeColumn('When', ({ at }) => at, { wide: true }),
  moneyColumn('Cost', ({ cost }) => cost),
]
