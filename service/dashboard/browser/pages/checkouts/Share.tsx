import { ExternalLinkIcon } from '@radix-ui/react-icons'
import { useState } from 'react'
import { useForm } from 'react-hook-form'
import { useAction } from '../../api/procedures.ts'
import { Button } from '../../parts/Button.tsx'
import { Form, saveEdited, TextArea } from '../../parts/form.tsx'
import { Card, Code } from '../../parts/layout.tsx'
import { linesOf } from '../../parts/texts.ts'
import { Copy } from '../../parts/values.tsx'
import { toast } from '../../shell/toast.ts'
import type { Checkout } from './draft.ts'

/** The payment link, as text and as a picture. */
export function Share({ checkout }: { checkout: Checkout }) {
  const { url, qr, id } = checkout
  const svg = `data:image/svg+xml,${encodeURIComponent(qr)}`
  return (
    <Card title="Share">
      <div className="flex flex-col items-center gap-3">
        <img src={svg} alt="The payment link as a QR code" className="size-36 rounded-md bg-white" />
        <div className="flex gap-2">
          <Button small onClick={() => download(svg, `${id}.svg`)}>
            Download SVG
          </Button>
          <Button small onClick={() => void toPng(svg).then((png) => download(png, `${id}.png`))}>
            Download PNG
          </Button>
        </div>
        <div className="flex max-w-full items-center gap-1">
          <a href={url} target="_blank" rel="noreferrer" className="link min-w-0 break-all">
            {url} <ExternalLinkIcon className="inline" />
          </a>
          <Copy value={url} label="Copy the link" />
        </div>
        <p className="text-center text-[0.8125rem] text-quiet">Agents pay at the same URL, by x402.</p>
      </div>
    </Card>
  )
}

function download(href: string, name: string): void {
  const link = document.createElement('a')
  link.href = href
  link.download = name
  link.click()
}

/** Large enough for print. Drawn here, so that no other service sees the link. */
async function toPng(svg: string): Promise<string> {
  const picture = new Image()
  picture.src = svg
  await picture.decode()
  const canvas = document.createElement('canvas')
  canvas.width = canvas.height = PNG_PIXELS
  const context = canvas.getContext('2d')
  if (context === null) throw new Error('This browser cannot make the image. Download the SVG instead.')
  context.imageSmoothingEnabled = false
  context.drawImage(picture, 0, 0, PNG_PIXELS, PNG_PIXELS)
  return canvas.toDataURL('image/png')
}

const PNG_PIXELS = 1_024

/** The checkout on the seller's own site: one line of HTML, and the sites that may have it. */
export function Embedding({ checkout }: { checkout: Checkout }) {
  const { id, url, embedOrigins } = checkout
  const [mode, setMode] = useState<'button' | 'frame'>('button')
  const inline = mode === 'frame' ? ' data-mode="frame"' : ''
  const snippet = `<script src="${new URL('/embed.js', url).href}" data-checkout="${id}"${inline} async></script>`
  const save = useAction('checkouts.change', { changes: ['checkouts.'], quiet: true })
  const form = useForm({ defaultValues: { embedOrigins: embedOrigins.join('\n') } })
  return (
    <Card
      title="Embed"
      actions={
        <>
          <Button variant="quiet" small aria-pressed={mode === 'button'} onClick={() => setMode('button')}>
            Button
          </Button>
          <Button variant="quiet" small aria-pressed={mode === 'frame'} onClick={() => setMode('frame')}>
            Inline
          </Button>
          <Copy value={snippet} label="Copy the HTML" />
        </>
      }
    >
      <div className="space-y-4">
        <Code>{snippet}</Code>
        <Form
          form={form}
          act="Save sites"
          variant="plain"
          submit={async (draft) => {
            await saveEdited(form, draft, {
              toBody: (of) => ({ embedOrigins: linesOf(of.embedOrigins, /\s+/) }),
              save: async (body) => {
                await save.mutateAsync({ id, body })
                toast({
                  tone: 'good',
                  text: body.embedOrigins?.length === 0 ? 'No site may embed it.' : 'Sites saved.',
                })
              },
            })
          }}
        >
          <TextArea
            form={form}
            name="embedOrigins"
            label="Allowed sites"
            rows={3}
            optional
            spellCheck={false}
            placeholder="https://shop.example.com"
            hint="One per line, without a path. Only these sites can show this checkout inside their pages."
          />
        </Form>
      </div>
    </Card>
  )
}
