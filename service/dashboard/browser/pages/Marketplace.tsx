import { Link } from 'wouter'
import { useSession } from '../api/session.ts'
import { namesOf, oneOf, Search, Select, useFilter } from '../parts/filters.tsx'
import { Page } from '../parts/layout.tsx'
import { List } from '../parts/List.tsx'
import { textColumn, type Column } from '../parts/columns.tsx'
import { Empty } from '../parts/states.tsx'
import { Marks, PRICE, RATING, RUNS, TYPE, type AssetLine } from './marketplace/cells.tsx'

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
    empty: <Empty title="No assets yet">Assets that creators publish in this environment appear here.</Empty>,
  }
  return (
    <Page title="Marketplace" intro="Prompts, agents and tools by other creators. You pay for each run.">
      {isVisitor ? <List path="market.list" {...list} /> : <List path="assets.list" {...list} />}
    </Page>
  )
}

const COLUMNS: Column<AssetLine>[] = [
  {
    title: 'Name',
    render: (asset) => (
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
  TYPE,
  textColumn('By', ({ ownerName }) => ownerName, { wide: true }),
  RUNS,
  RATING,
  PRICE,
]
