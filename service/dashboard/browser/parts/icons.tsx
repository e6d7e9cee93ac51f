import type { ReactNode } from 'react'

/*
 * The few icons that are shown before the sign-in, too. The library's icons are one file, which is as large as all other
 * scripts of the sign-in's form together.
 */

interface IconProps {
  className?: string
}

export const CheckIcon = drawn(<path d="m3 8 3.2 3.2L12 4.2" />)
export const CopyIcon = drawn(
  <>
    <rect x="1.5" y="5" width="8.5" height="8.5" rx="1" />
    <path d="M5 5V2.5a1 1 0 0 1 1-1h6.5a1 1 0 0 1 1 1V9a1 1 0 0 1-1 1H10" />
  </>,
)
export const CrossCircledIcon = drawn(
  <>
    <circle cx="7.5" cy="7.5" r="6.1" />
    <path d="m5.3 5.3 4.4 4.4m0-4.4L5.3 9.7" />
  </>,
)
export const ReloadIcon = drawn(<path d="M12.9 6.2A5.6 5.6 0 1 0 13 9M13 2.5v3.9H9.1" />)

function drawn(shape: ReactNode) {
  return ({ className = '' }: IconProps) => (
    <svg width="15" height="15" viewBox="0 0 15 15" fill="none" stroke="currentColor" aria-hidden className={className}>
      {shape}
    </svg>
  )
}
