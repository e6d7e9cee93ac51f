import { Link } from 'wouter'
import { useSession } from '../api/session.ts'
import { Badge } from '../parts/Badge.tsx'
import { inCounts } from '../parts/figures.tsx'
import { namesOf, oneOf, Search, Select, useFilter } from '../parts/filters.tsx'
import { PageHead } from '../parts/layout.tsx'
import { List, type Column } from '../parts/List.tsx'
import { Empty } from '../parts/states.tsx'
import { Marks, Price, Rating, type AssetLine } from './marketplace/shown.tsx'

const TYPES = [
  ['prompt', 'Prompts'],
  ['agent', 'Agents'],
  ['tool', 'Tools'],
] as const
const KINDS = [
  ['verified', 'Verified'],
  ['featured', 'Featured'],
  ['trending', 'Trending'],
] as const

export default function Marketplace() {
  const isVisitor = useSession().state === 'none'
  const { chosen, filterOf, filtered } = useFilter(['search', 'type', 'only'])
  const type = oneOf(chosen.type, namesOf(TYPES))
  const only = oneOf(chosen.only, namesOf(KINDS))
  const list = {
    filter: {
      ...(chosen.search === undefined ? {} : { search: chosen.search }),
      ...(type === undefined ? {} : { type }),
      ...(only === undefined ? {} : { [only]: true }),
    },
    filtered,
    rows: ({ assets }: { assets: readonly AssetLine[] }) => assets,
    name: 'Marketplace',
    columns: COLUMNS,
    href: ({ slug }: AssetLine) => `/marketplace/${slug}`,
    controls: (
      <>
        <Search label="Search" {...filterOf('search')} />
        <Select label="Type" all="All types" {...filterOf('type')} options={TYPES} />
        <Select label="Only" all="Everything" {...filterOf('only')} options={KINDS} />
      </>
    ),
    empty: (
      <Empty title="Nothing is published yet">Assets that creators publish in this environment appear here.</Empty>
    ),
  }
  return (
    <>
      <PageHead title="Marketplace">Prompts, agents and tools by other creators. You pay for each run.</PageHead>
      {isVisitor ? <List path="market.list" {...list} /> : <List path="assets.list" {...list} />}
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
