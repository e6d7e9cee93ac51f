import { useState } from 'react'
import { Button } from '../Button.tsx'
import { Copy } from '../figures.tsx'
import { Card, Code } from '../layout.tsx'
import { jsonIn, LONGEST } from '../../../../ui-kit/format.ts'
import { isMarkdown } from '../../../../ui-kit/markdown.ts'
import { Markdown } from './Markdown.tsx'

/** What came out of a run or a call: JSON in lines, Markdown formatted, anything as it came for whoever wants that. */
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
            <Button look="quiet" small onClick={() => setRaw(!isRaw)}>
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
