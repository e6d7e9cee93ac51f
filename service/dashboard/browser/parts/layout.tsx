import { ChevronLeftIcon } from '@radix-ui/react-icons'
import { createContext, lazy, Suspense, useContext, useEffect, type ComponentProps, type ReactNode } from 'react'
import { Link } from 'wouter'
import { Money } from './values.tsx'
import { Skeleton } from './states.tsx'

const Bars = lazy(() => import('./Bars.tsx'))

interface PageProps {
  title: string
  /** Shown beside the title, for example a state. */
  note?: ReactNode
  actions?: ReactNode
  back?: { to: string; name: string }
  /** One or two sentences below the title. */
  intro?: ReactNode
  /** For forms and texts, which are hard to read in long lines. */
  narrow?: boolean
  children: ReactNode
}

/** A page's head and, below it, its sections. The page title is also the tab's title. */
export function Page({ title, note, actions, back, intro, narrow = false, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · Coinslot`
  }, [title])
  return (
    <div className={narrow ? 'max-w-3xl' : ''}>
      <header className="mb-6">
        {back !== undefined && (
          <Link
            to={back.to}
            className="mb-2 -ml-1 inline-flex max-w-full items-center gap-0.5 text-quiet hover:text-ink"
          >
            <ChevronLeftIcon className="shrink-0" /> <span className="min-w-0 truncate">{back.name}</span>
          </Link>
        )}
        <div className="flex flex-wrap items-start justify-between gap-x-4 gap-y-3">
          <div className="flex min-w-0 flex-wrap items-center gap-2.5">
            <h1 className="min-w-0 text-xl font-semibold tracking-tight break-words">{title}</h1>
            {note}
          </div>
          {actions !== undefined && <div className="flex flex-wrap gap-2">{actions}</div>}
        </div>
        {intro !== undefined && <div className="mt-1 max-w-2xl break-words text-quiet">{intro}</div>}
      </header>
      <div className="space-y-6">{children}</div>
    </div>
  )
}

/** The main column and the narrower one beside it. */
export function Columns({ children }: { children: ReactNode }) {
  return <div className="grid grid-cols-1 items-start gap-6 lg:grid-cols-[minmax(0,1fr)_20rem]">{children}</div>
}

/** The level of a card's heading: on a page with groups of cards it is below the group's. */
const CardHeading = createContext<'h2' | 'h3'>('h2')

/** Cards under a heading that links can lead to. */
export function CardGroup({
  id,
  title,
  intro,
  children,
}: Record<'id' | 'title' | 'intro', string> & { children: ReactNode }) {
  return (
    // The page's header covers 3.5rem of what is scrolled to.
    <section id={id} aria-labelledby={`${id}-title`} tabIndex={-1} className="scroll-mt-20 outline-none">
      <h2 id={`${id}-title`} className="text-base font-semibold tracking-tight">
        {title}
      </h2>
      <p className="mb-3 text-quiet">{intro}</p>
      <CardHeading.Provider value="h3">
        <div className="space-y-6">{children}</div>
      </CardHeading.Provider>
    </section>
  )
}

export function Card({
  title,
  actions,
  flush = false,
  children,
}: {
  title?: string
  actions?: ReactNode
  /** For tables, which extend to the card's edge. */
  flush?: boolean
  children: ReactNode
}) {
  const Heading = useContext(CardHeading)
  return (
    <section aria-label={title} className="min-w-0 rounded-xl border border-line bg-paper">
      {title !== undefined && (
        <div className="flex min-h-12 flex-wrap items-center justify-between gap-2 border-b border-line px-4 py-2">
          <Heading className="font-semibold">{title}</Heading>
          {actions !== undefined && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
        </div>
      )}
      <div className={flush ? '' : 'p-4'}>{children}</div>
    </section>
  )
}

/** Names and values, one below the other; on a telephone the name is above its value. */
export function Facts({ facts }: { facts: readonly (readonly [string, ReactNode] | null)[] }) {
  return (
    <dl className="divide-y divide-line">
      {facts
        .filter((fact) => fact !== null)
        .map(([name, value]) => (
          <div
            key={name}
            className="grid gap-x-3 gap-y-0.5 py-2 first:pt-0 last:pb-0 sm:grid-cols-[8.5rem_minmax(0,1fr)]"
          >
            <dt className="text-quiet">{name}</dt>
            <dd className="min-w-0 break-words">{value}</dd>
          </div>
        ))}
    </dl>
  )
}

export function Metric({ name, children, note }: { name: string; children: ReactNode; note?: ReactNode }) {
  return (
    <div className="min-w-0 px-4 py-3.5">
      <p className="text-quiet">{name}</p>
      <p className="mt-0.5 text-xl font-semibold tracking-tight tabular-nums">{children}</p>
      {note !== undefined && <p className="mt-0.5 text-xs text-quiet">{note}</p>}
    </div>
  )
}

export function MoneyMetric({ amount, ...rest }: { name: string; note?: ReactNode; amount: number | undefined }) {
  return (
    <Metric {...rest}>{amount === undefined ? <Skeleton className="h-7 w-24" /> : <Money amount={amount} />}</Metric>
  )
}

/** A chart of the last days. Its library is large, so only pages with charts load it. */
export function DayBars({
  title,
  rows,
  ...rest
}: Omit<ComponentProps<typeof Bars>, 'rows'> & {
  title: string
  rows: ComponentProps<typeof Bars>['rows'] | undefined
}) {
  const waiting = <Skeleton className="h-52 w-full" />
  return (
    <Card title={title}>
      <Suspense fallback={waiting}>{rows === undefined ? waiting : <Bars rows={rows} {...rest} />}</Suspense>
    </Card>
  )
}

export function Metrics({ children }: { children: ReactNode }) {
  return (
    <div className="grid grid-cols-2 overflow-hidden rounded-xl border border-line bg-paper sm:grid-cols-[repeat(auto-fit,minmax(10rem,1fr))] [&>*]:-mr-px [&>*]:-mb-px [&>*]:border-r [&>*]:border-b [&>*]:border-line">
      {children}
    </div>
  )
}

/** Machine-readable text; wide lines wrap, because a telephone cannot scroll in two directions. */
export function Code({ children, max = true }: { children: string; max?: boolean }) {
  return (
    <pre
      // Focusable, so that it can be scrolled by keyboard.
      tabIndex={0}
      className={`overflow-auto rounded-lg bg-sunk p-3 font-mono text-[0.8125rem] leading-relaxed break-words whitespace-pre-wrap ${max ? 'max-h-96' : ''}`}
    >
      {children}
    </pre>
  )
}
