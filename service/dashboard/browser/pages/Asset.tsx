import { ArchiveIcon, Pencil1Icon, RocketIcon } from '@radix-ui/react-icons'
import { useParams } from 'wouter'
import { foreseenFields, useAction, useRead } from '../api/procedures.ts'
import { Badge, StateBadge } from '../parts/Badge.tsx'
import { Button, LinkButton, TextLink } from '../parts/Button.tsx'
import { Duration, Id, inCounts, When } from '../parts/values.tsx'
import { Card, Code, Facts, Metric, Metrics, MoneyMetric, Columns, Page } from '../parts/layout.tsx'
import { Confirm, useDialog } from '../parts/Modal.tsx'
import { Loaded, Notice } from '../parts/states.tsx'
import { toast } from '../shell/toast.ts'
import { CustomerRuns } from './assets/CustomerRuns.tsx'
import { Reviews } from './marketplace/Reviews.tsx'
import { RunPanel, type Asset } from './marketplace/RunPanel.tsx'
import { Price } from './marketplace/cells.tsx'

/** An asset as its creator sees it: how it performs, what it is, and what can be done with it. */
export default function AssetRoute() {
  const { id } = useParams<{ id: string }>()
  const asset = useRead('assets.get', { id })
  return <Loaded of={asset}>{(data) => <AssetPage asset={data} />}</Loaded>
}

function AssetPage({ asset }: { asset: Asset }) {
  const { id, stats, status } = asset
  const { data: buyers } = useRead('runs.buyersOf', { id })
  return (
    <Page
      title={asset.name}
      note={
        <>
          <Badge>{asset.type}</Badge>
          <StateBadge state={status} />
        </>
      }
      back={{ to: '/assets', name: 'Assets' }}
      actions={status === 'archived' ? undefined : <Actions asset={asset} />}
      intro={asset.description}
    >
      <Metrics>
        <MoneyMetric name="Revenue" amount={stats.totalRevenue} />
        <Metric name="Runs">{inCounts(stats.totalRuns)}</Metric>
        <Metric name="Buyers" note={buyers === undefined ? undefined : `${inCounts(buyers.repeat)} bought again`}>
          {buyers === undefined ? '–' : inCounts(buyers.buyers)}
        </Metric>
        <Metric name="Success rate">{stats.totalRuns === 0 ? '–' : `${stats.successRate.toFixed(1)} %`}</Metric>
        <Metric name="Duration">
          {stats.totalRuns === 0 ? '–' : <Duration ms={Math.round(stats.averageLatency)} />}
        </Metric>
        <Metric
          name="Rating"
          note={`${inCounts(stats.totalRatings)} ${stats.totalRatings === 1 ? 'rating' : 'ratings'}`}
        >
          {stats.totalRatings === 0 ? '–' : stats.averageRating.toFixed(1)}
        </Metric>
      </Metrics>
      <Columns>
        <div className="min-w-0 space-y-6">
          <Card title="Details">
            <Facts facts={detailsOf(asset)} />
          </Card>
          <Config asset={asset} />
        </div>
        {status === 'archived' ? (
          <Notice>This asset is archived. Customers who ran it before can still run it by its address.</Notice>
        ) : (
          <RunPanel asset={asset} title="Test run" />
        )}
      </Columns>
      {status !== 'draft' && stats.totalRatings > 0 && <Reviews asset={asset} mine />}
      {status !== 'draft' && <CustomerRuns id={id} sharesInputs={asset.sharesInputs} />}
    </Page>
  )
}

function Actions({ asset: { id, name, status } }: { asset: Asset }) {
  const dialog = useDialog<'archive'>()
  const becomes = (next: Asset['status'], text: string) => ({
    changes: ['assets.'],
    foresees: () => [foreseenFields('assets.get', id, { status: next })],
    done: () => toast({ tone: 'good', text }),
  })
  const publish = useAction('assets.publish', becomes('published', 'Asset published. Anyone can find and run it now.'))
  const unpublish = useAction('assets.unpublish', becomes('draft', 'Asset unpublished. Only you can run it now.'))
  const archive = useAction('assets.archive', becomes('archived', 'Asset archived.'))
  return (
    <>
      <Button variant="danger" onClick={dialog.open('archive')}>
        <ArchiveIcon /> Archive
      </Button>
      {status === 'published' && (
        <Button busy={unpublish.isPending} onClick={() => unpublish.mutate({ id })}>
          Unpublish
        </Button>
      )}
      <LinkButton to={`/assets/${id}/edit`}>
        <Pencil1Icon /> Edit
      </LinkButton>
      {status === 'draft' && (
        <Button variant="main" busy={publish.isPending} onClick={() => publish.mutate({ id })}>
          <RocketIcon /> Publish
        </Button>
      )}
      <Confirm
        title={`Archive “${name}”?`}
        act="Archive asset"
        open={dialog.shown === 'archive'}
        close={dialog.close}
        confirm={() => archive.mutate({ id })}
      >
        It leaves the marketplace for good. Customers who ran it before can still run it.
      </Confirm>
    </>
  )
}

function detailsOf(asset: Asset) {
  const page = (
    <TextLink key="page" to={`/marketplace/${asset.slug}`}>
      In the marketplace
    </TextLink>
  )
  return [
    ['ID', <Id key="id" value={asset.id} whole />],
    ['Slug', <Id key="slug" value={asset.slug} whole />],
    ['Version', asset.version],
    ['Price', <Price key="price" pricing={asset.pricing} />],
    ['Output', asset.schema.outputs.type],
    ['Published', <When key="published" at={asset.publishedAt} />],
    asset.status === 'published' ? (['Page', page] as const) : null,
  ] as const
}

function Config({ asset: { promptConfig, agentConfig, toolConfig } }: { asset: Asset }) {
  if (promptConfig !== null) {
    return (
      <Card title="Prompt">
        <div className="space-y-3">
          {promptConfig.systemPrompt !== null && <Code>{promptConfig.systemPrompt}</Code>}
          <Code>{promptConfig.promptTemplate ?? ''}</Code>
          <p className="text-quiet">Runs on {promptConfig.allowedModels.map(({ name }) => name).join(', ')}</p>
        </div>
      </Card>
    )
  }
  if (agentConfig !== null) {
    return (
      <Card title="Agent">
        <Facts
          facts={[
            ['Webhook', `${agentConfig.webhookMethod ?? 'POST'} ${agentConfig.webhookUrl ?? ''}`],
            ['Headers', namesOf(agentConfig.webhookHeaders)],
            ['Poll URL', agentConfig.pollUrl ?? '–'],
            ['Time limit', `${String(agentConfig.timeoutSeconds)} s`],
          ]}
        />
      </Card>
    )
  }
  if (toolConfig === null) return null
  return (
    <Card title="API">
      <Facts
        facts={[
          ['Endpoint', `${toolConfig.apiMethod ?? 'POST'} ${toolConfig.apiEndpoint ?? ''}`],
          ['Authentication', toolConfig.authType ?? 'none'],
          ['Headers', namesOf(toolConfig.apiHeaders)],
          ['Calls per minute', toolConfig.rateLimitPerMinute ?? 'No limit'],
        ]}
      />
    </Card>
  )
}

function namesOf(headers: Readonly<Record<string, string>> | null): string {
  return Object.keys(headers ?? {}).join(', ') || '–'
}
