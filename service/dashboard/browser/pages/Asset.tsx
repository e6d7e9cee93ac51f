import { ArchiveIcon, Pencil1Icon, RocketIcon } from '@radix-ui/react-icons'
import { useState } from 'react'
import { useParams } from 'wouter'
import { foreseen, useAct, useAsk } from '../api/ask.ts'
import { Badge, StateBadge } from '../parts/Badge.tsx'
import { Button, LinkButton, TextLink } from '../parts/Button.tsx'
import { Duration, Id, inCounts, When } from '../parts/figures.tsx'
import { Card, Code, Facts, Figure, Figures, MoneyFigure, PageHead } from '../parts/layout.tsx'
import { Confirm } from '../parts/Modal.tsx'
import { Awaited, Notice } from '../parts/states.tsx'
import { say } from '../shell/toasts.ts'
import { CustomerRuns } from './assets/CustomerRuns.tsx'
import { RunPanel, type Asset as Whole } from './marketplace/RunPanel.tsx'
import { Price } from './marketplace/shown.tsx'

/** One's own asset: how it does, what it is, and what may be done with it. */
export default function Asset() {
  const { id } = useParams<{ id: string }>()
  const asset = useAsk('assets.get', { id })
  const [archiving, setArchiving] = useState(false)
  const becomes = (status: Whole['status'], text: string) => ({
    changes: ['assets.'],
    foresees: () => [foreseen('assets.get', (before) => (before.id === id ? { ...before, status } : before))],
    done: () => say({ tone: 'good', text }),
  })
  const publish = useAct('assets.publish', becomes('published', 'Published: everybody can find and run it now.'))
  const unpublish = useAct('assets.unpublish', becomes('draft', 'It is a draft again, which only you can run.'))
  const archive = useAct('assets.archive', becomes('archived', 'Archived.'))
  if (asset.data === undefined) return <Awaited of={asset} />
  const { data } = asset
  const { stats } = data
  return (
    <>
      <PageHead
        title={data.name}
        note={
          <>
            <Badge>{data.type}</Badge>
            <StateBadge state={data.status} />
          </>
        }
        back={{ to: '/assets', name: 'Assets' }}
        actions={
          data.status === 'archived' ? undefined : (
            <>
              <Button look="danger" onClick={() => setArchiving(true)}>
                <ArchiveIcon /> Archive
              </Button>
              {data.status === 'published' && (
                <Button busy={unpublish.isPending} onClick={() => unpublish.mutate({ id })}>
                  Unpublish
                </Button>
              )}
              <LinkButton to={`/assets/${id}/edit`}>
                <Pencil1Icon /> Edit
              </LinkButton>
              {data.status === 'draft' && (
                <Button look="main" busy={publish.isPending} onClick={() => publish.mutate({ id })}>
                  <RocketIcon /> Publish
                </Button>
              )}
            </>
          )
        }
      >
        {data.description}
      </PageHead>
      <div className="space-y-6">
        <Figures>
          <MoneyFigure name="Earned" amount={stats.totalRevenue} />
          <Figure name="Runs">{inCounts(stats.totalRuns)}</Figure>
          <Figure name="Succeeded">{stats.totalRuns === 0 ? '–' : `${stats.successRate.toFixed(1)} %`}</Figure>
          <Figure name="Takes">
            {stats.totalRuns === 0 ? '–' : <Duration ms={Math.round(stats.averageLatency)} />}
          </Figure>
          <Figure name="Rating" note={`${inCounts(stats.totalRatings)} in all`}>
            {stats.totalRatings === 0 ? '–' : stats.averageRating.toFixed(1)}
          </Figure>
        </Figures>
        <div className="grid grid-cols-1 items-start gap-6 lg:grid-cols-[minmax(0,1fr)_22rem]">
          <div className="min-w-0 space-y-6">
            <Card title="What it is">
              <Facts
                facts={[
                  ['Id', <Id key="id" value={data.id} whole />],
                  ['Slug', <Id key="slug" value={data.slug} whole />],
                  ['Version', data.version],
                  ['Price', <Price key="price" pricing={data.pricing} />],
                  ['Output', data.schema.outputs.type],
                  ['Published', <When key="published" at={data.publishedAt} />],
                  data.status === 'published'
                    ? [
                        'Page',
                        <TextLink key="page" to={`/marketplace/${data.slug}`}>
                          In the marketplace
                        </TextLink>,
                      ]
                    : null,
                ]}
              />
            </Card>
            <Config asset={data} />
          </div>
          {data.status === 'archived' ? (
            <Notice>It is archived: who ran it before can still run it by its address.</Notice>
          ) : (
            <RunPanel asset={data} title="Try it" />
          )}
        </div>
        {data.status !== 'draft' && <CustomerRuns id={id} sharesInputs={data.sharesInputs} />}
      </div>
      <Confirm
        title={`Archive “${data.name}”?`}
        act="Archive it"
        open={archiving}
        close={() => setArchiving(false)}
        confirm={() => archive.mutate({ id })}
      >
        It leaves the marketplace for good. Who ran it before can still run it.
      </Confirm>
    </>
  )
}

function Config({ asset: { promptConfig, agentConfig, toolConfig } }: { asset: Whole }) {
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
            ['Asked again at', agentConfig.pollUrl ?? '–'],
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
          ['Calls a minute', toolConfig.rateLimitPerMinute ?? 'No limit'],
        ]}
      />
    </Card>
  )
}

function namesOf(headers: Readonly<Record<string, string>> | null): string {
  return Object.keys(headers ?? {}).join(', ') || '–'
}
