import { StarFilledIcon, StarIcon } from '@radix-ui/react-icons'
import { useState } from 'react'
import { sentenceOf, useAction, useRead, type Output } from '../../api/procedures.ts'
import { useSession } from '../../api/session.ts'
import { Button } from '../../parts/Button.tsx'
import { Card } from '../../parts/layout.tsx'
import { Loaded, Notice, Skeleton } from '../../parts/states.tsx'
import { When } from '../../parts/values.tsx'
import { toast } from '../../shell/toast.ts'
import { Rating } from './cells.tsx'
import type { Asset } from './RunPanel.tsx'

type Review = Output<'market.reviews'>['reviews'][number]

/** What customers who paid say, the newest first. The creator can answer each once. */
export function Reviews({ asset, mine }: { asset: Pick<Asset, 'id' | 'slug'>; mine: boolean }) {
  const isVisitor = useSession().state === 'none'
  const [before, setBefore] = useState<string | null>(null)
  const page = { id: asset.slug, limit: PAGE, ...(before === null ? {} : { before }) }
  const own = useRead('assets.reviews', page, { enabled: !isVisitor })
  const open = useRead('market.reviews', page, { enabled: isVisitor })
  return (
    <Card title="Reviews">
      <Loaded of={isVisitor ? open : own} waiting={<Skeleton className="h-24 w-full" />}>
        {({ reviews, next }) => (
          <>
            {reviews.length === 0 && (
              <p className="text-quiet">No reviews yet. Customers who paid for a run can write one.</p>
            )}
            <ul className="divide-y divide-line">
              {reviews.map((review) => (
                <li key={review.id} className="py-3 first:pt-0 last:pb-0">
                  <Line review={review} />
                  {mine && review.reply === null && <ReplyForm asset={asset.id} review={review.id} />}
                </li>
              ))}
            </ul>
            {(before !== null || next !== null) && (
              <div className="mt-3 flex justify-end gap-2">
                <Button small disabled={before === null} onClick={() => setBefore(null)}>
                  Newest
                </Button>
                <Button small disabled={next === null} onClick={() => setBefore(next)}>
                  Older
                </Button>
              </div>
            )}
          </>
        )}
      </Loaded>
    </Card>
  )
}

const PAGE = 10
const LENGTH_MAX = 1_000

function Line({ review: { score, text, createdAt, reply, repliedAt } }: { review: Review }) {
  return (
    <>
      <p className="flex flex-wrap items-center gap-2 text-[0.8125rem] text-quiet">
        <Rating stars={score} />
        <span>Paying customer</span>
        <When at={createdAt} />
      </p>
      <p className="mt-1 break-words whitespace-pre-wrap">{text}</p>
      {reply !== null && (
        <div className="mt-2 border-l-2 border-line pl-3">
          <p className="text-[0.8125rem] text-quiet">
            The creator answered <When at={repliedAt} />
          </p>
          <p className="break-words whitespace-pre-wrap">{reply}</p>
        </div>
      )}
    </>
  )
}

function ReplyForm({ asset, review }: { asset: string; review: string }) {
  const [text, setText] = useState('')
  const reply = useAction('assets.reply', {
    changes: ['assets.reviews'],
    quiet: true,
    done: () => toast({ tone: 'good', text: 'Answer published.' }),
  })
  return (
    <form
      className="mt-2 space-y-2"
      onSubmit={(event) => {
        event.preventDefault()
        reply.mutate({ id: asset, review, text })
      }}
    >
      <label className="block">
        <span className="mb-1 block text-[0.8125rem] text-quiet">
          Your answer. Everyone can read it, and you can answer once.
        </span>
        <textarea
          className="field"
          rows={2}
          maxLength={LENGTH_MAX}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      </label>
      {reply.error !== null && !reply.error.isSessionOver && <Notice tone="bad">{sentenceOf(reply.error)}</Notice>}
      <Button type="submit" small busy={reply.isPending} disabled={text.trim() === ''}>
        Publish answer
      </Button>
    </form>
  )
}

/** A rating of one to five, with a text for those who paid. */
export function Rate({ asset }: { asset: Asset }) {
  const [score, setScore] = useState(0)
  const [text, setText] = useState('')
  const rate = useAction('assets.rate', {
    changes: ['assets.'],
    quiet: true,
    done: () => toast({ tone: 'good', text: 'Rating saved.' }),
  })
  if (rate.isSuccess) {
    return (
      <Card title="Your rating">
        <Rating stars={score} />
        <p className="mt-1 text-quiet">Thank you.</p>
      </Card>
    )
  }
  return (
    <Card title="Your rating">
      <form
        className="space-y-3"
        onSubmit={(event) => {
          event.preventDefault()
          rate.mutate({ id: asset.id, score, text: text.trim() === '' ? null : text })
        }}
      >
        <div role="group" aria-label="Stars" className="flex gap-0.5">
          {[1, 2, 3, 4, 5].map((each) => (
            <button
              key={each}
              type="button"
              aria-label={`${String(each)} of 5`}
              aria-pressed={each === score}
              className="rounded p-1 text-quiet hover:bg-sunk hover:text-accent"
              onClick={() => setScore(each)}
            >
              {each <= score ? <StarFilledIcon className="text-accent" /> : <StarIcon />}
            </button>
          ))}
        </div>
        {asset.pricing.model !== 'free' && (
          <label className="block">
            <span className="mb-1 flex justify-between">
              <span className="font-medium">Review</span>
              <span className="text-[0.8125rem] text-quiet">Optional</span>
            </span>
            <textarea
              className="field"
              rows={3}
              maxLength={LENGTH_MAX}
              value={text}
              onChange={(event) => setText(event.target.value)}
            />
          </label>
        )}
        {rate.error !== null && !rate.error.isSessionOver && <Notice tone="bad">{sentenceOf(rate.error)}</Notice>}
        <Button type="submit" busy={rate.isPending} disabled={score === 0}>
          Save rating
        </Button>
        <p className="text-[0.8125rem] text-quiet">
          You can rate an asset once, after a run. Reviews are shown without your name.
        </p>
      </form>
    </Card>
  )
}
