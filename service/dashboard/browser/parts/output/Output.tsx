import { useState } from 'react'
import { Button } from '../Button.tsx'
import { Copy } from '../figures.tsx'
import { Card, Code } from '../layout.tsx'
import { isMarkdown } from '../../../../pages/browser/answer/markdown.ts'
import { Markdown } from './Markdown.tsx'

/** What came out of a run or a call: JSON in lines, Markdown formatted, anything as it came for whoever wants that. */
export function Output({ title, output }: { title: string; output: string }) {
  const [isRaw, setRaw] = useState(false)
  const pretty = jsonOf(output)
  const isFormatted = pretty === null && output.length <= LONGEST && isMarkdown(output)
  return (
    <Card
      title={title}
      actions={
        <>
          {(isFormatted || (pretty !== null && pretty !== output)) && (
            <Button
              look="quiet"
              small
              onClick={() => {
                setRaw(!isRaw)
              }}
            >
              {isRaw ? 'Formatted' : 'As it came'}
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

/** Beyond this nobody reads it, and a browser would be busy with it. */
const LONGEST = 100_000

/** Null for what is no object or list: a number alone is as good as it came. */
function jsonOf(text: string): string | null {
  if (!/^\s*[[{]/.test(text)) return null
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return null
  }
}
