import { useEffect, useState, useSyncExternalStore } from 'react'
import { inUsdc, shortly } from '../../../ui-kit/format.ts'
import { serviceNow } from '../settings.ts'
import { CheckIcon, CopyIcon } from './icons.tsx'

/** Always with its unit, in digits of equal width. */
export function Money({ amount, signed = false }: { amount: number; signed?: boolean }) {
  return (
    <span className="whitespace-nowrap tabular-nums">
      {signed && amount > 0 ? '+' : ''}
      {inUsdc(amount)} <span className="text-[0.78em] font-normal tracking-normal text-quiet">USDC</span>
    </span>
  )
}

export function inCounts(count: number): string {
  return COUNTS.format(count)
}

const COUNTS = new Intl.NumberFormat('en-US')

/** Stands in for a missing value. */
export function Dash() {
  return <span className="text-quiet">–</span>
}

/** A relative time, with the exact one on hover. */
export function When({ at }: { at: string | null }) {
  useMinutes()
  if (at === null) return <Dash />
  return (
    <time dateTime={at} title={exactly(at)} className="whitespace-nowrap">
      {relatively(Date.parse(at) - serviceNow())}
    </time>
  )
}

export function exactly(at: string): string {
  return EXACT.format(new Date(at))
}

const EXACT = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' })

function relatively(ms: number): string {
  const size = Math.abs(ms)
  // Two clocks are never quite the same.
  if (size < 45_000) return ms > 5_000 ? 'in a moment' : 'just now'
  for (const [unit, length, until] of UNITS) {
    if (size < until) return RELATIVE.format(Math.round(ms / length), unit)
  }
  return new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium' }).format(serviceNow() + ms)
}

const RELATIVE = new Intl.RelativeTimeFormat('en', { numeric: 'always' })
const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const UNITS = [
  ['minute', MINUTE, 55 * MINUTE],
  ['hour', HOUR, 23 * HOUR],
  ['day', DAY, 14 * DAY],
] as const

/** One shared clock updates all times on the page. */
function useMinutes(): void {
  useSyncExternalStore(everyHalfMinute, () => Math.floor(Date.now() / 30_000))
}

const watching = new Set<() => void>()
let beat: ReturnType<typeof setInterval> | undefined

function everyHalfMinute(listener: () => void): () => void {
  watching.add(listener)
  beat ??= setInterval(() => {
    for (const each of watching) each()
  }, 30_000)
  return () => watching.delete(listener)
}

export function Duration({ ms }: { ms: number | null }) {
  if (ms === null) return <Dash />
  const text =
    ms < 1_000 ? `${ms} ms` : ms < 60_000 ? `${(ms / 1_000).toFixed(1)} s` : `${(ms / 60_000).toFixed(1)} min`
  return <span className="whitespace-nowrap tabular-nums">{text}</span>
}

/** An id or an address; the copy button copies all of it, even if only its ends are shown. */
export function Id({ value, whole = false }: { value: string; whole?: boolean }) {
  return (
    <span className="inline-flex max-w-full items-center gap-1 align-bottom">
      <code className={`font-mono text-[0.8125rem] ${whole ? 'break-all' : 'truncate'}`} title={value}>
        {whole ? value : shortly(value)}
      </code>
      <Copy value={value} />
    </span>
  )
}

export function Copy({ value, label = 'Copy' }: { value: string; label?: string }) {
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return
    const back = setTimeout(() => setCopied(false), 1_500)
    return () => clearTimeout(back)
  }, [copied])
  return (
    <button
      type="button"
      aria-label={copied ? 'Copied' : `${label} ${value.length > 40 ? '' : value}`.trim()}
      title={copied ? 'Copied' : label}
      className="inline-flex size-6 shrink-0 items-center justify-center rounded text-quiet hover:bg-sunk hover:text-ink"
      onClick={(event) => {
        // In a clickable row, this click must only copy.
        event.stopPropagation()
        event.preventDefault()
        void navigator.clipboard.writeText(value).then(() => setCopied(true))
      }}
    >
      {copied ? <CheckIcon className="text-good" /> : <CopyIcon />}
    </button>
  )
}
