import { useState } from 'react'
import { useParams, useSearchParams } from 'wouter'
import { useAction, useRead } from '../api/procedures.ts'
import { useSession } from '../api/session.ts'
import { Badge, Badges } from '../parts/Badge.tsx'
import { Button, LinkButton } from '../parts/Button.tsx'
import { Duration, inCounts } from '../parts/values.tsx'
import { toFormValues, type FormValues } from '../parts/InputForm.tsx'
import { Card, Code, Facts, Page } from '../parts/layout.tsx'
import { Loaded, Notice, PageSkeleton } from '../parts/states.tsx'
import { Output } from '../parts/Output.tsx'
import { RunPanel, type Asset } from './marketplace/RunPanel.tsx'
import { Rate, Reviews } from './marketplace/Reviews.tsx'
import { UseIt } from './marketplace/UseIt.tsx'
import { VisitorPanel } from './marketplace/VisitorPanel.tsx'
import { Marks, Price, Rating } from './marketplace/cells.tsx'

/** One asset as buyers and visitors see it. */
export default function Offer() {
  const { id } = useParams<{ id: string }>()
  const [params] = useSearchParams()
  const again = params.get('again')
  const isVisitor = useSession().state === 'none'
  const own = useRead('assets.get', { id }, { enabled: !isVisitor })
  const open = useRead('market.get', { id }, { enabled: isVisitor })
  const asset = isVisitor ? open : own
  const before = useRead('runs.get', { id: again ?? '' }, { enabled: again !== null && !isVisitor })
  if (before.isLoading) return <PageSkeleton />
  const initialValues = toFormValues(before.data?.inputs ?? {})
  return <Loaded of={asset}>{(data) => <OfferPage asset={data} initialValues={initialValues} />}</Loaded>
}

function OfferPage({ asset: data, initialValues }: { asset: Asset; initialValues: FormValues }) {
  const session = useSession()
  // The first run of a customer is in the figures a moment later.
  const [hasRun, setHasRun] = useState(false)
  const isVisitor = session.state === 'none'
  const mine = session.state === 'in' && session.user.id === data.ownerId
  // Not while the session has ended: what its owner has typed stays until they are signed in again.
  const isCustomer = session.state === 'in' && !mine
  return (
    <Page
      title={data.name}
      note={
        <>
          <Badge>{data.type}</Badge>
          <Marks {...data} />
        </>
      }
      back={{ to: '/marketplace', name: 'Marketplace' }}
      actions={mine ? <LinkButton to={`/assets/${data.id}`}>Open your asset</LinkButton> : undefined}
      intro={data.description}
    >
      <div className="grid grid-cols-1 items-start gap-6 lg:grid-cols-[minmax(0,1fr)_22rem]">
        <div className="min-w-0 space-y-6">
          {data.status !== 'published' && isCustomer && <NotOffered status={data.status} />}
          {isVisitor && <VisitorPanel asset={data} />}
          {!isVisitor && !(isCustomer && data.status === 'draft') && (
            <RunPanel asset={data} initialValues={initialValues} onStart={() => setHasRun(true)} />
          )}
          {samplesOf(data).map((example) => (
            <Sample key={example.id} example={example} of={data} />
          ))}
          <UseIt asset={data} />
          <Reviews asset={data} mine={mine} />
        </div>
        <div className="min-w-0 space-y-6">
          <Card title="About">
            <Facts facts={aboutOf(data)} />
          </Card>
          {(data.stats.totalRuns > 0 || hasRun) && !mine && !isVisitor && <Rate asset={data} />}
          {data.longDescription !== null && (
            <Card title="Description">
              <p className="break-words whitespace-pre-wrap">{data.longDescription}</p>
            </Card>
          )}
          <Source asset={data} isVisitor={isVisitor} />
        </div>
      </div>
    </Page>
  )
}

/** For who bought the template, or ran it before. */
function NotOffered({ status }: { status: 'draft' | 'archived' }) {
  return status === 'draft' ? (
    <Notice>This asset is unpublished. Only its creator can run it now.</Notice>
  ) : (
    <Notice>This asset is archived. Customers who ran it before can still run it.</Notice>
  )
}

type Example = NonNullable<Asset['toolConfig']>['examples'][number]

function samplesOf({ promptConfig, agentConfig, toolConfig }: Asset): readonly Example[] {
  return (promptConfig ?? agentConfig ?? toolConfig)?.examples ?? []
}

/** What the creator shows of it: the inputs, and what came of them. */
function Sample({ example: { title, inputs, output }, of }: { example: Example; of: Asset }) {
  const labels = new Map(of.schema.inputs.map(({ name, label }) => [name, label]))
  return (
    <>
      {Object.keys(inputs).length > 0 && (
        <Card title={`Example: ${title}`}>
          <Facts facts={Object.entries(inputs).map(([name, value]) => [labels.get(name) ?? name, textOf(value)])} />
        </Card>
      )}
      <Output title={`Output: ${title}`} output={output} />
    </>
  )
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function aboutOf(data: Asset) {
  const { stats } = data
  return [
    ['Price', <Price key="price" pricing={data.pricing} />],
    data.pricing.model === 'per-run' && data.pricing.maxCost > data.pricing.amount
      ? (['With the model', data.pricing.estimatedCost] as const)
      : null,
    ['By', `${data.ownerName ?? 'Unknown'}${data.ownerVerified ? ' (verified)' : ''}`],
    ['Version', data.version],
    ['Runs', inCounts(stats.totalRuns)],
    ['Success rate', stats.totalRuns === 0 ? '–' : `${stats.successRate.toFixed(0)} %`],
    ['Duration', stats.totalRuns === 0 ? '–' : <Duration key="takes" ms={Math.round(stats.averageLatency)} />],
    ['Rating', <Rating key="rating" stars={stats.averageRating} />],
    data.tags.length === 0 ? null : (['Tags', <Badges key="tags" texts={data.tags} />] as const),
  ] as const
}

/** The template of a prompt, shown or for sale. */
function Source({ asset, isVisitor }: { asset: Asset; isVisitor: boolean }) {
  const buy = useAction('assets.buySource', { changes: ['assets.', 'wallet.'] })
  const config = asset.promptConfig
  if (config === null) return null
  if (config.promptTemplate !== null) {
    return (
      <Card title="Prompt">
        <Code>{config.promptTemplate}</Code>
      </Card>
    )
  }
  // What is not on offer any more is not sold.
  if (config.sourcePrice === null || asset.status !== 'published') return null
  return (
    <Card title="Prompt">
      <p className="mb-3 text-quiet">
        The prompt template costs {config.sourcePrice} USDC. You pay once and see every published version of it.
      </p>
      {!isVisitor && (
        <Button busy={buy.isPending} onClick={() => buy.mutate({ id: asset.id, maxCost: config.sourcePrice })}>
          Buy the template for {config.sourcePrice} USDC
        </Button>
      )}
    </Card>
  )
}
