/** What one request takes at each size, in milliseconds. */
export interface Curve {
  readonly name: string
  readonly ms: readonly number[]
}

const WIDTH = 240
const HEIGHT = 92
const COLUMNS = 3
const TOP = 58

/**
 * A small plot for each request, side by side: what matters is whether its line is flat. All have the same scale, a
 * logarithm from a tenth of a millisecond on, so that lines may be compared. Colours for light and for dark pages.
 */
export function growthPicture(sizes: readonly number[], curves: readonly Curve[], note: string): string {
  const most = Math.max(100, ...curves.flatMap(({ ms }) => ms))
  const rows = Math.ceil(curves.length / COLUMNS)
  const [width, height] = [COLUMNS * WIDTH + 24, TOP + rows * HEIGHT + 34]
  const plots = curves.map((curve, place) => {
    const [x, y] = [24 + (place % COLUMNS) * WIDTH, TOP + Math.floor(place / COLUMNS) * HEIGHT]
    return `<g transform="translate(${String(x)} ${String(y)})">${plot(curve, most)}</g>`
  })
  const labels = sizes.map(short).join(', ')
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${String(width)} ${String(height)}" role="img" aria-label="Time per request at ${labels} rows">
<style>
  text { font: 12px system-ui, sans-serif; fill: #1f2328 }
  .dim { fill: #59636e } .axis { stroke: #d1d9e0 } .line { stroke: #0969da; fill: none; stroke-width: 2 } .dot { fill: #0969da }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc } .dim { fill: #9198a1 } .axis { stroke: #3d444d } .line { stroke: #4493f8 } .dot { fill: #4493f8 }
  }
</style>
<text x="24" y="22" style="font-weight:600;font-size:14px">Time per request as the database grows: ${labels} of everything</text>
<text x="24" y="42" class="dim">${note}</text>
${plots.join('\n')}
<text x="24" y="${String(height - 12)}" class="dim">Each line: left ${short(sizes[0] ?? 0)}, right ${short(sizes.at(-1) ?? 0)}. Logarithmic from 0.1 to ${most.toFixed(0)} ms, the same for all.</text>
</svg>
`
}

function plot({ name, ms }: Curve, most: number): string {
  const [left, right, top, bottom] = [0, WIDTH - 70, 22, HEIGHT - 20]
  const at = (value: number, place: number): [number, number] => [
    left + ((right - left) * place) / Math.max(ms.length - 1, 1),
    bottom - ((bottom - top) * Math.log10(Math.max(value, 0.1) / 0.1)) / Math.log10(most / 0.1),
  ]
  const points = ms.map(at)
  const dots = points.map(([x, y]) => `<circle class="dot" cx="${x.toFixed(1)}" cy="${y.toFixed(1)}" r="3"/>`)
  const line = points.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(' ')
  const [, end] = points.at(-1) ?? [0, 0]
  return [
    `<text y="12">${name}</text>`,
    `<line class="axis" x1="${String(left)}" y1="${String(bottom)}" x2="${String(right)}" y2="${String(bottom)}"/>`,
    `<polyline class="line" points="${line}"/>`,
    ...dots,
    `<text class="dim" x="${String(right + 8)}" y="${(end + 4).toFixed(1)}">${(ms.at(-1) ?? 0).toFixed(1)} ms</text>`,
  ].join('')
}

export function short(size: number): string {
  return size >= 1e6 ? `${String(size / 1e6)} M` : `${String(size / 1e3)} k`
}
