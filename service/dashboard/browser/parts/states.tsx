import type { ReactNode } from 'react'
import type { Fault } from '../api/fault.ts'
import { Button } from './Button.tsx'
import { CrossCircledIcon, ReloadIcon } from './icons.tsx'
import { Copy } from './values.tsx'

/** Shows why data could not be loaded, and what to do next. */
export function Failure({ fault, again }: { fault: Fault; again: () => void }) {
  const ours = fault.status !== null && fault.status >= 500
  return (
    <div role="alert" className="flex flex-col items-center gap-2 px-6 py-14 text-center">
      <CrossCircledIcon className="size-6 text-bad" />
      <p className="font-semibold">{titleOf(fault)}</p>
      <p className="max-w-sm text-quiet">
        {fault.isSilence ? 'This page reloads as soon as the service answers.' : fault.message}
      </p>
      {ours && fault.requestId !== null && (
        <p className="text-xs text-quiet">
          If it happens again, send us this request ID: <code className="font-mono">{fault.requestId}</code>
          <Copy value={fault.requestId} label="Copy the request ID" />
        </p>
      )}
      {fault.help !== null && (
        <a href={fault.help} className="text-xs underline">
          Read about this error
        </a>
      )}
      {fault.status !== 404 && (
        <Button onClick={again} className="mt-2">
          <ReloadIcon /> Try again
        </Button>
      )}
    </div>
  )
}

function titleOf(fault: Fault): string {
  if (fault.isSilence) return 'The service cannot be reached'
  if (fault.status === 404) return 'Not found'
  if (fault.status === 429) return 'Too many requests'
  return 'This page could not be loaded'
}

/** Renders the loaded data with `children`; until then a skeleton, or the error. */
export function Loaded<Data>(props: {
  of: { data: Data | undefined; error: Fault | null; refetch: () => Promise<unknown> }
  waiting?: ReactNode
  children: (data: Data) => ReactNode
}) {
  const { data, error, refetch } = props.of
  if (data !== undefined) return props.children(data)
  return error === null ? (props.waiting ?? <PageSkeleton />) : <Failure fault={error} again={() => void refetch()} />
}

/** An empty list: what will be here, and how to get the first one. */
export function Empty({ title, children, action }: { title: string; children?: ReactNode; action?: ReactNode }) {
  return (
    <div className="flex flex-col items-center gap-2 px-6 py-14 text-center">
      <p className="font-semibold">{title}</p>
      {children !== undefined && <div className="max-w-md text-quiet">{children}</div>}
      {action !== undefined && <div className="mt-3 flex flex-wrap justify-center gap-2">{action}</div>}
    </div>
  )
}

export function Skeleton({ className = '' }: { className?: string }) {
  return <span aria-hidden className={`block animate-wait rounded bg-sunk ${className}`} />
}

/** Shown until a page's first data has loaded; it is laid out roughly like the page. */
export function PageSkeleton() {
  return (
    <div role="status" aria-label="Loading" className="space-y-6">
      <Skeleton className="h-7 w-44" />
      <Skeleton className="h-24 w-full" />
      <Skeleton className="h-64 w-full" />
    </div>
  )
}

export function Notice({
  tone = 'plain',
  children,
}: {
  tone?: 'plain' | 'warn' | 'bad' | 'good'
  children: ReactNode
}) {
  const tones = {
    plain: 'bg-sunk text-ink',
    warn: 'bg-warn-soft text-warn',
    bad: 'bg-bad-soft text-bad',
    good: 'bg-good-soft text-good',
  }
  return (
    <div role={tone === 'bad' ? 'alert' : undefined} className={`rounded-lg px-3.5 py-2.5 ${tones[tone]}`}>
      {children}
    </div>
  )
}
