import { StarFilledIcon, StarIcon } from '@radix-ui/react-icons'
import { useParams, useSearchParams } from 'wouter'
import { useAct, useAsk } from '../api/ask.ts'
import { useSession } from '../api/session.ts'
import { Badge } from '../parts/Badge.tsx'
import { Button, LinkButton } from '../parts/Button.tsx'
import { Duration, inCounts } from '../parts/figures.tsx'
import { toFilled } from '../parts/InputForm.tsx'
import { Card, Code, Facts, PageHead } from '../parts/layout.tsx'
import { Awaited, PageSkeleton } from '../parts/states.tsx'
import { say } from '../shell/toasts.ts'
import { RunPanel, type Asset } from './marketplace/RunPanel.tsx'
import { VisitorPanel } from './marketplace/VisitorPanel.tsx'
import { Marks, Price, Rating } from './marketplace/shown.tsx'

/** One asset as its buyers see it, and visitors who have not signed in. */
export default function Offer() {
  const { id } = useParams<{ id: string }>()
  const [params] = useSearchParams()
  const again = params.get('again')
  const session = useSession()
  const isVisitor = session.state === 'none'
  const own = useAsk('assets.get', { id }, { enabled: !isVisitor })
  const open = useAsk('market.get', { id }, { enabled: isVisitor })
  const asset = isVisitor ? open : own
  const before = useAsk('runs.get', { id: again ?? '' }, { enabled: again !== null && !isVisitor })
  if (asset.data === undefined) return <Awaited of={asset} />
  if (before.isLoading) return <PageSkeleton />
  const { data } = asset
  const mine = session.state === 'in' && session.user.id === data.ownerId
  return (
    <>
      <PageHead
        title={data.name}
        note={
          <>
            <Badge>{data.type}</Badge>
            <Marks {...data} />
          </>
        }
        back={{ to: '/marketplace', name: 'Marketplace' }}
        actions={mine ? <LinkButton to={`/assets/${data.id}`}>Your asset</LinkButton> : undefined}
      >
        {data.description}
      </PageHead>
      <div className="grid grid-cols-1 items-start gap-6 lg:grid-cols-[minmax(0,1fr)_22rem]">
        <div className="min-w-0">
          {isVisitor ? (
            <VisitorPanel asset={data} />
          ) : (
            <RunPanel asset={data} given={toFilled(before.data?.inputs ?? {})} />
          )}
        </div>
        <div className="min-w-0 space-y-6">
          <Card title="About">
            <Facts facts={aboutOf(data)} />
          </Card>
          {data.stats.totalRuns > 0 && !mine && !isVisitor && <Rate asset={data} />}
          {data.longDescription !== null && (
            <Card title="Description">
              <p className="break-words whitespace-pre-wrap">{data.longDescription}</p>
            </Card>
          )}
          <Source asset={data} isVisitor={isVisitor} />
          {(data.promptConfig?.examples ?? []).map((example) => (
            <Card key={example.id} title={example.title}>
              <Code>{example.output}</Code>
            </Card>
          ))}
        </div>
      </div>
    </>
  )
}

function aboutOf(data: Asset) {
  const { stats } = data
  return [
    ['Price', <Price key="price" pricing={data.pricing} />],
    ['By', `${data.ownerName ?? 'Somebody'}${data.ownerVerified ? ' (verified)' : ''}`],
    ['Version', data.version],
    [
      'Runs',
      <span key="runs" className="tabular-nums">
        {inCounts(stats.totalRuns)}
      </span>,
    ],
    ['Succeeded', stats.totalRuns === 0 ? '–' : `${stats.successRate.toFixed(0)} %`],
    ['Takes', stats.totalRuns === 0 ? '–' : <Duration key="takes" ms={Math.round(stats.averageLatency)} />],
    ['Rating', <Rating key="rating" stars={stats.averageRating} />],
    data.tags.length === 0
      ? null
      : ([
          'Tags',
          <span key="tags" className="flex flex-wrap gap-1">
            {data.tags.map((tag) => (
              <Badge key={tag}>{tag}</Badge>
            ))}
          </span>,
        ] as const),
  ] as const
}

function Rate({ asset }: { asset: Asset }) {
  const rate = useAct('assets.rate', {
    changes: ['assets.'],
    done: () => say({ tone: 'good', text: 'Thank you: your rating counts.' }),
  })
  const given = rate.variables?.score ?? 0
  return (
    <Card title="Your rating">
      <div className="flex gap-0.5">
        {[1, 2, 3, 4, 5].map((score) => (
          <button
            key={score}
            type="button"
            aria-label={`${String(score)} of 5`}
            className="rounded p-1 text-quiet hover:bg-sunk hover:text-accent"
            onClick={() => rate.mutate({ id: asset.id, score })}
          >
            {score <= given && !rate.isError ? <StarFilledIcon className="text-accent" /> : <StarIcon />}
          </button>
        ))}
      </div>
      <p className="mt-1 text-[0.8125rem] text-quiet">Whoever ran it may rate it, once.</p>
    </Card>
  )
}

/** The template of a prompt, shown or for sale. */
function Source({ asset, isVisitor }: { asset: Asset; isVisitor: boolean }) {
  const buy = useAct('assets.buySource', { changes: ['assets.', 'wallet.'] })
  const config = asset.promptConfig
  if (config === null) return null
  if (config.promptTemplate !== null) {
    return (
      <Card title="Prompt">
        <Code>{config.promptTemplate}</Code>
      </Card>
    )
  }
  if (config.sourcePrice === null) return null
  return (
    <Card title="Prompt">
      <p className="mb-3 text-quiet">
        The prompt template is for sale for {config.sourcePrice} USDC. You pay once and see every version of it.
      </p>
      {!isVisitor && (
        <Button busy={buy.isPending} onClick={() => buy.mutate({ id: asset.id, maxCost: config.sourcePrice })}>
          Buy the template for {config.sourcePrice} USDC
        </Button>
      )}
    </Card>
  )
}
