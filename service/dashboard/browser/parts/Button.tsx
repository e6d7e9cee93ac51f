import type { ButtonHTMLAttributes, ReactNode } from 'react'
import { Link } from 'wouter'

export type Variant = 'main' | 'plain' | 'quiet' | 'danger'

export function Button({
  variant = 'plain',
  small = false,
  busy = false,
  className = '',
  children,
  ...rest
}: ButtonHTMLAttributes<HTMLButtonElement> & { variant?: Variant; small?: boolean; busy?: boolean }) {
  return (
    <button
      type="button"
      {...rest}
      // Not `disabled`: that would take the focus away from a button pressed by keyboard.
      aria-disabled={busy || undefined}
      onClick={busy ? undefined : rest.onClick}
      className={`${classesOf(variant, small)} ${className}`}
    >
      {busy && <Spinner />}
      {children}
    </button>
  )
}

export function LinkButton({
  to,
  variant = 'plain',
  small = false,
  children,
}: {
  to: string
  variant?: Variant
  small?: boolean
  children: ReactNode
}) {
  return (
    <Link to={to} className={classesOf(variant, small)}>
      {children}
    </Link>
  )
}

/** To another company's page, beside this one. */
export function OutButton({ href, children }: { href: string; children: ReactNode }) {
  return (
    <a href={href} target="_blank" rel="noreferrer" className={`${classesOf('main', false)} w-full`}>
      {children}
    </a>
  )
}

/** A link inside a text. */
export function TextLink({ to, children }: { to: string; children: ReactNode }) {
  return (
    <Link to={to} className="link">
      {children}
    </Link>
  )
}

/** A button with an icon only; its name is for screen readers and shown on hover. */
export function IconButton({
  label,
  children,
  className = '',
  ...rest
}: ButtonHTMLAttributes<HTMLButtonElement> & { label: string }) {
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      {...rest}
      className={`inline-flex size-8 shrink-0 items-center justify-center rounded-md text-quiet hover:bg-sunk hover:text-ink ${className}`}
    >
      {children}
    </button>
  )
}

/** On a telephone long labels wrap instead of leaving the screen. */
function classesOf(variant: Variant, small: boolean): string {
  const size = small ? 'min-h-7 px-2.5 text-[0.8125rem]' : 'min-h-9 px-3.5'
  return `inline-flex max-w-full shrink-0 items-center justify-center gap-1.5 rounded-[7px] font-medium whitespace-nowrap transition-colors max-sm:whitespace-normal disabled:cursor-not-allowed disabled:opacity-55 aria-disabled:opacity-70 ${size} ${VARIANTS[variant]}`
}

const VARIANTS: Record<Variant, string> = {
  main: 'bg-accent text-on-accent hover:bg-accent-deep',
  plain: 'border border-line bg-paper text-ink hover:bg-sunk',
  quiet: 'text-quiet hover:bg-sunk hover:text-ink',
  danger: 'border border-line bg-paper text-bad hover:bg-bad-soft',
}

function Spinner() {
  return (
    <span
      aria-hidden
      className="size-3.5 animate-spin rounded-full border-2 border-current border-r-transparent opacity-80"
    />
  )
}
