import { useState, createElement, type ReactNode } from 'react'
import { Button } from './Button.tsx'
import { Copy } from './values.tsx'
import { Card, Code } from './layout.tsx'
import { jsonIn, LONGEST } from '../../../ui-kit/format.ts'
import { isMarkdown, toBlocks } from '../../../ui-kit/markdown.ts'
import { drawBlocks, type Styles } from '../../../ui-kit/drawing.ts'

/** The output of a run or a call: JSON indented, Markdown formatted, or raw. */
export function Output({ title, output }: { title: string; output: string }) {
  const [isRaw, setRaw] = useState(false)
  const pretty = jsonIn(output)
  const isFormatted = pretty === null && output.length <= LONGEST && isMarkdown(output)
  return (
    <Card
      title={title}
      actions={
        <>
          {(isFormatted || (pretty !== null && pretty !== output)) && (
            <Button variant="quiet" small onClick={() => setRaw(!isRaw)}>
              {isRaw ? 'Formatted' : 'Raw'}
            </Button>
          )}
          <Copy value={isRaw ? output : (pretty ?? output)} label="Copy the output" />
        </>
      }
    >
      {isFormatted && !isRaw ? <Markdown text={output} /> : <Code>{isRaw ? output : (pretty ?? output)}</Code>}
    </Card>
  )
}

/** What a model wrote, formatted. */
function Markdown({ text }: { text: string }) {
  const blocks = drawBlocks<ReactNode>(toBlocks(text), createElement, LOOK)
  return createElement('div', { className: 'space-y-3 leading-relaxed break-words' }, ...blocks)
}

const LOOK: Styles = {
  h3: 'pt-1 text-base font-semibold',
  h4: 'pt-1 font-semibold',
  h5: 'pt-1 font-semibold',
  pre: 'overflow-x-auto rounded-lg bg-sunk p-3 font-mono text-[0.8125rem] leading-relaxed',
  hr: 'border-line',
  blockquote: 'space-y-2 border-l-2 border-line pl-3 text-quiet',
  ul: 'list-disc space-y-1 pl-5',
  ol: 'list-decimal space-y-1 pl-5',
  li: 'space-y-1 pl-1',
  div: 'overflow-x-auto',
  table: 'w-full text-left',
  tr: 'border-b border-line last:border-0',
  th: 'py-1.5 pr-4 font-medium',
  td: 'py-1.5 pr-4 align-top',
  p: 'whitespace-pre-line',
  code: 'rounded bg-sunk px-1 py-0.5 font-mono text-[0.8125rem]',
  strong: 'font-semibold',
  a: 'link break-all',
  img: 'max-h-96 max-w-full rounded-lg',
}
