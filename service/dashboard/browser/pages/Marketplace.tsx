import { Link } from 'wouter'
import { useSession } from '../api/session.ts'
import { namesOf, oneOf, Search, Select, useFilter } from '../parts/filters.tsx'
import { Page } from '../parts/layout.tsx'
import { List } from '../parts/List.tsx'
import { textColumn, type Column } from '../parts/columns.tsx'
import { Empty } from '../parts/states.tsx'
import { Badge } from '../parts/Badge.tsx'
import { inCounts } from '../parts/values.tsx'
import { Marks, PRICE, Price, RATING, Rating, RUNS, TYPE, type AssetLine } from './marketplace/cells.tsx'

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
/** Beside these, what a reader has bought, which may not be on offer any more. */
const BOUGHT = ['bought', 'Templates you bought'] as const

export default function Marketplace() {
  const isVisitor = useSession().state === 'none'
  const { chosen, filterOf, filtered } = useFilter(['search', 'type', 'only'])
  const type = oneOf(chosen.type, namesOf(TYPES))
  const only = oneOf(chosen.only, namesOf(KINDS))
  const kinds = (
    <Select label="Show" all="All assets" {...filterOf('only')} options={isVisitor ? KINDS : [...KINDS, BOUGHT]} />
  )
  const shown = {
    rows: ({ assets }: { assets: readonly AssetLine[] }) => assets,
    columns: COLUMNS,
    card: (asset: AssetLine) => <AssetCard asset={asset} />,
  }
  const list = {
    filter: {
      ...(chosen.search === undefined ? {} : { search: chosen.search }),
      ...(type === undefined ? {} : { type }),
      ...(only === undefined ? {} : { [only]: true }),
    },
    filtered,
    ...shown,
    name: 'Marketplace',
    controls: (
      <>
        <Search label="Search" {...filterOf('search')} />
        <Select label="Type" all="All types" {...filterOf('type')} options={TYPES} />
        {kinds}
      </>
    ),
    empty: <Empty title="No assets yet">Assets that creators publish in this environment appear here.</Empty>,
  }
  if (!isVisitor && chosen.only === BOUGHT[0]) {
    return (
      <Page title="Marketplace" intro="Prompt templates that you bought. You see every version that is published.">
        <List
          path="assets.bought"
          {...shown}
          name={BOUGHT[1]}
          controls={kinds}
          empty={<Empty title="No templates yet">A template that you buy on an asset's page appears here.</Empty>}
        />
      </Page>
    )
  }
  return (
    <Page title="Marketplace" intro="Prompts, agents and tools by other creators. You pay for each run.">
      {isVisitor ? <List path="market.list" {...list} /> : <List path="assets.list" {...list} />}
    </Page>
  )
}

/** What it is, who made it, what it costs and how it does, at a glance. */
function AssetCard({ asset }: { asset: AssetLine }) {
  const { slug, name, description, type, ownerName, stats, pricing } = asset
  return (
    <article className="relative flex h-full flex-col rounded-xl border border-line bg-paper p-4 hover:bg-side">
      <div className="flex items-start justify-between gap-2">
        <h2 className="min-w-0 font-semibold break-words">
          {/* The whole card is the link's target. */}
          <Link to={`/marketplace/${slug}`} className="after:absolute after:inset-0 hover:underline">
            {name}
          </Link>
        </h2>
        <Badge>{type}</Badge>
      </div>
      <p className="mt-0.5 flex flex-wrap items-center gap-1.5 text-[0.8125rem] text-quiet">
        <span className="min-w-0 truncate">{ownerName === null ? 'Unnamed creator' : `by ${ownerName}`}</span>
        <Marks {...asset} />
      </p>
      <p className="mt-2 line-clamp-3 flex-1 break-words">{description}</p>
      <p className="mt-3 flex flex-wrap items-center justify-between gap-2 border-t border-line pt-3">
        <Price pricing={pricing} />
        <span className="flex items-center gap-3 text-[0.8125rem] text-quiet tabular-nums">
          {stats.averageRating > 0 && <Rating stars={stats.averageRating} />}
          <span>
            {inCounts(stats.totalRuns)} {stats.totalRuns === 1 ? 'run' : 'runs'}
          </span>
        </span>
      </p>
    </article>
  )
}

const COLUMNS: Column<AssetLine>[] = [
  textColumn('Name', ({ name }) => name),
  textColumn('What it does', ({ description }) => description),
  TYPE,
  textColumn('By', ({ ownerName }) => ownerName, { wide: true }),
  RUNS,
  RATING,
  PRICE,
]
