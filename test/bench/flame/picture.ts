/** What V8 writes with --cpu-prof, as far as a picture needs it. */
export interface Profile {
  nodes: readonly {
    id: number
    callFrame: { functionName: string; url: string; lineNumber: number }
    children?: readonly number[]
  }[]
  samples: readonly number[]
  timeDeltas: readonly number[]
}

interface Frame {
  name: string
  micros: number
  children: Map<string, Frame>
}

const WIDTH = 1200
const ROW = 17
const TOP = 46
/** Narrower frames could not be read, and there are thousands. */
const SHARE_LEAST = 0.004
const COLOURS = { ours: '#d9730d', library: '#c9a227', node: '#7d8fa3', engine: '#a9b4bf' }

/**
 * A flame graph: what is above something was called by it, and as wide as its time. Time in which nothing ran is left out, and
 * so is the start: only samples after the first `skip` of the recording count.
 */
export function flamePicture(profile: Profile, title: string, skip = 0): string {
  const root = treeOf(profile, skip)
  const boxes: string[] = []
  const depth = draw(root, { x: 0, row: 0, whole: root.micros || 1 }, boxes)
  const height = TOP + depth * ROW + 30
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${String(WIDTH)} ${String(height)}" role="img" aria-label="${escaped(title)}">
<style>
  text { font: 11px ui-monospace, monospace; fill: #1f2328 } .head { font: 600 14px system-ui, sans-serif } rect { stroke: #fff; stroke-width: .5 }
  @media (prefers-color-scheme: dark) { .head, .key { fill: #f0f6fc } rect { stroke: #0d1117 } }
</style>
<text x="8" y="20" class="head">${escaped(title)}</text>
<text x="8" y="37" class="key">${(root.micros / 1e6).toFixed(1)} s of processor time of the main thread. Orange: the service; yellow: libraries; blue: Node; grey: V8.</text>
${boxes.join('\n')}
</svg>
`
}

function treeOf({ nodes, samples, timeDeltas }: Profile, skip: number): Frame {
  const frames = new Map(nodes.map((node) => [node.id, node]))
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)))
  const root: Frame = { name: 'all', micros: 0, children: new Map() }
  const whole = timeDeltas.reduce((sum, micros) => sum + micros, 0)
  let passed = 0
  for (const [place, id] of samples.entries()) {
    const micros = timeDeltas[place] ?? 0
    passed += micros
    if (passed < whole * skip) continue
    const stack: string[] = []
    for (let at: number | undefined = id; at !== undefined; at = parents.get(at)) {
      const frame = frames.get(at)?.callFrame
      if (frame !== undefined) stack.push(nameOf(frame))
    }
    if (stack[0] === '(idle)' || stack[0] === '(program)') continue
    let into = root
    root.micros += micros
    // The outermost is V8's own root.
    for (const name of stack.toReversed().slice(1)) {
      let next = into.children.get(name)
      if (next === undefined) into.children.set(name, (next = { name, micros: 0, children: new Map() }))
      next.micros += micros
      into = next
    }
  }
  return root
}

function nameOf({ functionName, url, lineNumber }: Profile['nodes'][number]['callFrame']): string {
  const name = functionName === '' ? '(anonymous)' : functionName
  if (url === '') return name
  const library = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1]
  if (library !== undefined) return `${name} · ${library}`
  if (url.startsWith('node:')) return `${name} · ${url}`
  return `${name} · service:${String(lineNumber + 1)}`
}

function draw(frame: Frame, at: { x: number; row: number; whole: number }, boxes: string[]): number {
  let { x } = at
  let deepest = at.row
  for (const child of [...frame.children.values()].sort((a, b) => b.micros - a.micros)) {
    const share = child.micros / at.whole
    if (share < SHARE_LEAST) continue
    const width = share * WIDTH
    const y = TOP + at.row * ROW
    const shown = child.name.slice(0, Math.floor(width / 6.7))
    const label =
      shown.length < 3 ? '' : `<text x="${(x + 3).toFixed(1)}" y="${String(y + 12)}">${escaped(shown)}</text>`
    boxes.push(
      `<g><title>${escaped(child.name)}, ${(share * 100).toFixed(1)} %</title><rect x="${x.toFixed(1)}" y="${String(y)}" width="${width.toFixed(1)}" height="${String(ROW - 1)}" fill="${colourOf(child.name)}"/>${label}</g>`,
    )
    deepest = Math.max(deepest, draw(child, { x, row: at.row + 1, whole: at.whole }, boxes))
    x += width
  }
  return Math.max(deepest, at.row)
}

function colourOf(name: string): string {
  const place = name.split(' · ')[1]
  if (place === undefined) return COLOURS.engine
  if (place.startsWith('service')) return COLOURS.ours
  return place.startsWith('node:') ? COLOURS.node : COLOURS.library
}

function escaped(text: string): string {
  return text.replace(/[<>&"]/g, (mark) => `&#${String(mark.charCodeAt(0))};`)
}

/** Makes a program record what its processor does, for a picture, where `BENCH_PROFILE` names a folder. */
export function recorded(): string[] {
  const folder = process.env['BENCH_PROFILE']
  return folder === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${folder}`]
}
