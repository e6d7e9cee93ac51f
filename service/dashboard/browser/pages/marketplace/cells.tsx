import { CheckCircledIcon, StarFilledIcon } from '@radix-ui/react-icons'
import type { Output } from '../../api/procedures.ts'
import { Badge } from '../../parts/Badge.tsx'
import { badgeColumn, countColumn, type Column } from '../../parts/columns.tsx'
import { Dash, Money } from '../../parts/values.tsx'

export type AssetLine = Output<'assets.list'>['assets'][number]

const UNITS: Record<AssetLine['pricing']['model'], string> = {
  'per-run': 'per run',
  'per-token': 'per 1,000 tokens',
  'per-second': 'per second',
  free: '',
}

/* Columns of every list of assets. */
export const TYPE = badgeColumn<AssetLine>('Type', ({ type }) => type)
export const RUNS = countColumn<AssetLine>('Runs', ({ stats }) => stats.totalRuns)
export const RATING: Column<AssetLine> = {
  title: 'Rating',
  end: true,
  render: ({ stats }) => <Rating stars={stats.averageRating} />,
  csv: ({ stats }) => stats.averageRating,
  wide: true,
}
export const PRICE: Column<AssetLine> = {
  title: 'Price',
  end: true,
  render: ({ pricing }) => <Price pricing={pricing} />,
  csv: ({ pricing }) => pricing.amount,
}

export function Price({ pricing: { model, amount } }: Pick<AssetLine, 'pricing'>) {
  if (model === 'free') return <span className="font-medium">Free</span>
  return (
    <span className="whitespace-nowrap">
      <Money amount={amount} /> <span className="text-xs text-quiet">{UNITS[model]}</span>
    </span>
  )
}

export function Rating({ stars }: { stars: number }) {
  if (stars === 0) return <Dash />
  return (
    <span className="inline-flex items-center gap-1 tabular-nums">
      <StarFilledIcon aria-hidden className="text-quiet" />
      {stars.toFixed(1)}
    </span>
  )
}

export function Marks({ verified, featured, trending }: { verified: boolean; featured: boolean; trending: boolean }) {
  return (
    <>
      {verified && (
        <span title="Verified" className="inline-flex text-accent">
          <CheckCircledIcon />
          <span className="sr-only">Verified</span>
        </span>
      )}
      {featured && <Badge tone="busy">featured</Badge>}
      {trending && <Badge>trending</Badge>}
    </>
  )
}
