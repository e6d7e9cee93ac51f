import { CheckCircledIcon, StarFilledIcon } from '@radix-ui/react-icons'
import type { Output } from '../../api/ask.ts'
import { Badge } from '../../parts/Badge.tsx'
import { Dash, Money } from '../../parts/figures.tsx'

export type AssetLine = Output<'assets.list'>['assets'][number]

const UNITS: Record<AssetLine['pricing']['model'], string> = {
  'per-run': 'a run',
  'per-token': 'per 1,000 tokens',
  'per-second': 'a second',
  free: '',
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
