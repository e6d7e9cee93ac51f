import { Link } from 'wouter'
import { Badge } from '../parts/Badge.tsx'
import { inCounts } from '../parts/figures.tsx'
import { oneOf, Search, Select, useFilter } from '../parts/filters.tsx'
import { Card, PageHead } from '../parts/layout.tsx'
import { List, type Column } from '../parts/List.tsx'
import { Empty } from '../parts/states.tsx'
import { Marks, Price, Rating, type AssetLine } from './marketplace/shown.tsx'

const TYPES = ['prompt', 'agent', 'tool'] as const
const KINDS = ['verified', 'featured', 'trending'] as const

export default function Marketplace() {
  const { values, set, filtered } = useFilter(['search', 'type', 'only'])
  const type = oneOf(values.type, TYPES)
  const only = oneOf(values.only, KINDS)
  return (
    <>
      <PageHead title="Marketplace">Prompts, agents and tools of others, paid for by the run.</PageHead>
      <Card flush>
        <List
          path="assets.list"
          filter={{
            ...(values.search === '' ? {} : { search: values.search }),
            ...(type === undefined ? {} : { type }),
            ...(only === undefined ? {} : { [only]: true }),
          }}
          filtered={filtered}
          rows={({ assets }) => assets}
          name="Marketplace"
          columns={COLUMNS}
          href={({ slug }) => `/marketplace/${slug}`}
          controls={
            <>
              <Search
                label="Search"
                value={values.search}
                search={(text) => {
                  set('search', text)
                }}
              />
              <Select
                label="Type"
                value={type ?? ''}
                options={[
                  ['', 'All types'],
                  ['prompt', 'Prompts'],
                  ['agent', 'Agents'],
                  ['tool', 'Tools'],
                ]}
                choose={(value) => {
                  set('type', value)
                }}
              />
              <Select
                label="Only"
                value={only ?? ''}
                options={[
                  ['', 'Everything'],
                  ['verified', 'Verified'],
                  ['featured', 'Featured'],
                  ['trending', 'Trending'],
                ]}
                choose={(value) => {
                  set('only', value)
                }}
              />
            </>
          }
          empty={
            <Empty title="Nothing is published yet">What creators publish in this environment appears here.</Empty>
          }
        />
      </Card>
    </>
  )
}

const COLUMNS: Column<AssetLine>[] = [
  {
    title: 'Name',
    show: (asset) => (
      <div className="min-w-0">
        <span className="flex flex-wrap items-center gap-1.5">
          <Link to={`/marketplace/${asset.slug}`} className="font-medium hover:underline">
            {asset.name}
          </Link>
          <Marks {...asset} />
        </span>
        <span className="line-clamp-1 text-[0.8125rem] text-quiet">{asset.description}</span>
      </div>
    ),
    csv: ({ name }) => name,
  },
  { title: 'Type', show: ({ type }) => <Badge>{type}</Badge>, csv: ({ type }) => type, wide: true },
  {
    title: 'By',
    show: ({ ownerName }) => <span className="block max-w-32 truncate">{ownerName ?? '–'}</span>,
    csv: ({ ownerName }) => ownerName,
    wide: true,
  },
  {
    title: 'Runs',
    end: true,
    show: ({ stats }) => <span className="tabular-nums">{inCounts(stats.totalRuns)}</span>,
    csv: ({ stats }) => stats.totalRuns,
    wide: true,
  },
  {
    title: 'Rating',
    end: true,
    show: ({ stats }) => <Rating stars={stats.averageRating} />,
    csv: ({ stats }) => stats.averageRating,
    wide: true,
  },
  {
    title: 'Price',
    end: true,
    show: (asset) => <Price pricing={asset.pricing} />,
    csv: ({ pricing }) => pricing.amount,
  },
]
