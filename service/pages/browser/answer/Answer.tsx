import { useEffect, useMemo, useState } from 'preact/hooks'
import { sourceOf } from '../../../ui-kit/format.ts'
import { say } from '../words/say.ts'
import type * as Formatted from './Formatted.tsx'

/** The answer of the workflow or the API. Its content is displayed but never runs as a page of this service. */
export function AnswerPage({ text, title = say('common.answer') }: { text: string; title?: string }) {
  // Only the browser formats the answer: the server renders the same page for every reader and must not do work for
  // each.
  const [format, setFormat] = useState<Formatting | null>(null)
  const [isFormatted, setFormatted] = useState(true)
  useEffect(() => {
    if (formatting === null) void loadFormatting().then(() => setFormat(formatting))
    else setFormat(formatting)
  }, [])
  const source = useMemo(() => sourceOf(text), [text])
  const view = useMemo(() => format?.viewOf(text) ?? null, [text, format])
  const isPlain = format === null || view === null || view.kind === 'text' || view.kind === 'json'
  return (
    <section class="answer" aria-labelledby="answer">
      <div class="answer-head">
        <h3 id="answer">{title}</h3>
        {!isPlain && (
          <button type="button" class="link" onClick={() => setFormatted(!isFormatted)}>
            {say(isFormatted ? 'common.showOriginal' : 'common.showFormatted')}
          </button>
        )}
      </div>
      {isPlain || !isFormatted ? (
        // Focusable, because it may scroll.
        <pre tabIndex={0}>{view?.kind === 'text' ? view.text : source}</pre>
      ) : (
        <format.Formatted view={view} />
      )}
    </section>
  )
}

type Formatting = typeof Formatted

let formatting: Formatting | null = null

/**
 * Whoever has an answer waits for this before it is shown, so that nothing moves afterwards. Without the script, of an
 * earlier release for example, the answer is shown as plain text.
 */
export async function loadFormatting(): Promise<void> {
  if (formatting !== null) return
  const loading = import('./Formatted.tsx').then(
    (loaded) => {
      formatting = loaded
    },
    () => undefined,
  )
  await Promise.race([loading, new Promise((resolve) => setTimeout(resolve, PATIENCE_MS))])
}

const PATIENCE_MS = 3_000
