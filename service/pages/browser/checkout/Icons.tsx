/** Inline drawings, so that the page loads no images. All are decoration beside a text with the same meaning. */
const LINE = {
  fill: 'none',
  stroke: 'currentColor',
  'stroke-width': 2,
  'stroke-linecap': 'round',
  'stroke-linejoin': 'round',
} as const

export function CoinMark() {
  return (
    <svg class="mark" viewBox="0 0 24 24" aria-hidden="true">
      <rect x="2" y="2" width="20" height="20" rx="6" fill="currentColor" />
      <path class="mark-slot" d="M8.5 16.5 15.5 7.5" {...LINE} stroke-width={2.6} />
    </svg>
  )
}

export function Spinner() {
  return (
    <svg class="spinner" viewBox="0 0 24 24" aria-hidden="true">
      <circle class="spinner-track" cx="12" cy="12" r="9" {...LINE} stroke-width={2.5} />
      <path d="M21 12a9 9 0 0 0-9-9" {...LINE} stroke-width={2.5} />
    </svg>
  )
}

export const Tick = drawn('icon', ['m5.5 12.5 4.2 4.2 8.8-9.2', 2.6])
export const Cross = drawn('icon', ['m7 7 10 10M17 7 7 17', 2.6])
export const Warning = drawn('icon', ['M3 12a9 9 0 1 0 18 0 9 9 0 1 0-18 0', 2], ['M12 7.5v5.2M12 16.3v.2', 2.4])
export const WalletGlyph = drawn(
  'icon',
  ['M4 8.5A2.5 2.5 0 0 1 6.5 6H18v3M4 8.5V17a2 2 0 0 0 2 2h13a1 1 0 0 0 1-1v-8a1 1 0 0 0-1-1H4.6', 2],
  ['M16 14h.2', 2.6],
)
export const Chevron = drawn('chevron', ['m9.5 6 6 6-6 6', 2])
export const Outward = drawn('outward', ['M8 16 16.5 7.5M9.5 7H17v7.5', 2])

function drawn(look: string, ...lines: readonly (readonly [path: string, width: number])[]) {
  return () => (
    <svg class={look} viewBox="0 0 24 24" aria-hidden="true">
      {lines.map(([path, width]) => (
        <path key={path} d={path} {...LINE} stroke-width={width} />
      ))}
    </svg>
  )
}
