import { counted, DemoFault, wordsOf } from './tools.ts'

/** The demo creators' agents. They read and sort, and call no other server. */
export type Agent = (inputs: Readonly<Record<string, unknown>>) => string

export const AGENTS: Readonly<Record<string, Agent>> = {
  'meeting-minutes': ({ notes }) => minutes(textOf('notes', notes)),
  'keyword-research': ({ text }) => keywords(textOf('text', text)),
  'release-notes': ({ commits, version }) => releaseNotes(textOf('commits', commits), optional(version)),
}

/** Lines that promise something are tasks, lines that settle something decisions. */
function minutes(notes: string): string {
  const lines = linesOf(notes)
  const tasks = lines.filter((line) =>
    /\b(will|todo|to do|action|must|needs? to|by (mon|tues|wednes|thurs|fri)day)\b/i.test(line),
  )
  const decisions = lines.filter(
    (line) => !tasks.includes(line) && /\b(agreed|decided|approved|settled|chose)\b/i.test(line),
  )
  const others = lines.filter((line) => !tasks.includes(line) && !decisions.includes(line))
  return [
    '# Minutes',
    section('Decisions', decisions, '- '),
    section('Tasks', tasks, '- [ ] '),
    section('Other points', others, '- '),
  ]
    .filter((part) => part !== '')
    .join('\n\n')
}

function keywords(text: string): string {
  const words = wordsOf(text).filter((word) => word.length > 2 && !COMMON.has(word))
  const single = counted(words)
  const pairs = counted(words.slice(1).map((word, place) => `${words[place] ?? ''} ${word}`)).filter(
    ([, count]) => count > 1,
  )
  const rows = [...pairs.slice(0, 5), ...single.slice(0, 10)].map(([word, count]) => `| ${word} | ${String(count)} |`)
  return ['| Keyword | Found |', '| --- | ---: |', ...rows].join('\n')
}

const COMMON: ReadonlySet<string> = new Set(
  'the and for are was were with that this from you your have has had not but they their its our all can will one about into more than then them there what when which who how out over also been being'.split(
    ' ',
  ),
)

/** One commit a line; `feat:` and the like, or their first word, say where it goes. */
function releaseNotes(commits: string, version: string | null): string {
  const groups: [title: string, pattern: RegExp, lines: string[]][] = [
    ['New', /^(feat|add|new|introduce|allow|support)/i, []],
    ['Fixed', /^(fix|bug|repair|correct|mend|resolve)/i, []],
    ['Faster', /^(perf|speed|faster|optimi[sz]e)/i, []],
    ['Other changes', /^/, []],
  ]
  for (const line of linesOf(commits)) {
    const group = groups.find(([, pattern]) => pattern.test(line))
    group?.[2].push(line.replace(/^[a-z]+(\([^)]*\))?!?:\s*/i, ''))
  }
  const title = version === null ? '# Release notes' : `# ${version}`
  return [title, ...groups.map(([name, , lines]) => section(name, lines, '- '))]
    .filter((part) => part !== '')
    .join('\n\n')
}

function section(title: string, lines: readonly string[], mark: string): string {
  return lines.length === 0 ? '' : [`## ${title}`, '', ...lines.map((line) => mark + line)].join('\n')
}

function linesOf(text: string): string[] {
  return text
    .split(/\r?\n/)
    .map((line) => line.replace(/^\s*(?:[-*•]|\d+[.)])?\s*/, '').trim())
    .filter((line) => line !== '')
}

function textOf(name: string, value: unknown): string {
  if (typeof value !== 'string' || value.trim() === '') throw new DemoFault(`${name} is missing`)
  return value
}

function optional(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}
