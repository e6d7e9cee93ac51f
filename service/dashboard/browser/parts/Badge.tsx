import type { ReactNode } from 'react'

export type Tone = 'good' | 'bad' | 'warn' | 'busy' | 'plain'

export function Badge({ tone = 'plain', children }: { tone?: Tone; children: ReactNode }) {
  return (
    <span
      className={`inline-flex items-center gap-1 rounded-full px-2 py-px text-xs font-medium whitespace-nowrap ${TONES[tone]}`}
    >
      {tone === 'busy' && <span aria-hidden className="size-1.5 animate-wait rounded-full bg-accent" />}
      {children}
    </span>
  )
}

/** A state's name, or a plainer word for it, with a colour for the same meaning. */
export function StateBadge({ state, children }: { state: string; children?: ReactNode }) {
  return <Badge tone={TONE_OF[state] ?? 'plain'}>{children ?? state.replace(/_/g, ' ')}</Badge>
}

export function Badges({ texts }: { texts: readonly string[] }) {
  return (
    <span className="flex flex-wrap gap-1">
      {texts.map((text) => (
        <Badge key={text}>{text}</Badge>
      ))}
    </span>
  )
}

const TONES: Record<Tone, string> = {
  good: 'bg-good-soft text-good',
  bad: 'bg-bad-soft text-bad',
  warn: 'bg-warn-soft text-warn',
  busy: 'bg-accent-soft text-accent-deep',
  plain: 'bg-sunk text-quiet',
}

const TONE_OF: Readonly<Record<string, Tone>> = {
  succeeded: 'good',
  paid: 'good',
  confirmed: 'good',
  delivered: 'good',
  active: 'good',
  enabled: 'good',
  published: 'good',
  approved: 'good',
  allowed: 'good',
  failed: 'bad',
  refused: 'bad',
  exhausted: 'bad',
  stopped: 'bad',
  running: 'busy',
  queued: 'busy',
  settling: 'busy',
  created: 'busy',
  pending: 'busy',
  submitted: 'busy',
  requested: 'warn',
  funded: 'busy',
  sent: 'busy',
  paused: 'warn',
  unconfirmed: 'warn',
  open: 'warn',
  paying: 'busy',
  expired: 'plain',
  refunding: 'busy',
  held: 'warn',
  disabled: 'warn',
}
