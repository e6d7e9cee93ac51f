import type { ReactNode } from 'react'
import { toBlocks, type Block, type Inline, type Span } from './markdown.ts'

/** What a model wrote, formatted. Its headings begin below the page's own. */
export function Markdown({ text }: { text: string }) {
  return <div className="space-y-3 leading-relaxed break-words">{toBlocks(text).map(toElement)}</div>
}

function toElement(block: Block, key: number): ReactNode {
  switch (block.kind) {
    case 'heading': {
      const Tag = block.level <= 2 ? 'h3' : block.level <= 4 ? 'h4' : 'h5'
      return (
        <Tag key={key} className={`pt-1 font-semibold ${block.level === 1 ? 'text-base' : ''}`}>
          {inline(block.text)}
        </Tag>
      )
    }
    case 'code':
      return (
        <pre
          key={key}
          tabIndex={0}
          className="overflow-x-auto rounded-lg bg-sunk p-3 font-mono text-[0.8125rem] leading-relaxed"
        >
          {block.text}
        </pre>
      )
    case 'rule':
      return <hr key={key} className="border-line" />
    case 'quote':
      return (
        <blockquote key={key} className="space-y-2 border-l-2 border-line pl-3 text-quiet">
          {block.blocks.map(toElement)}
        </blockquote>
      )
    case 'list': {
      const items = block.items.map((item, place) => (
        <li key={place} className="space-y-1 pl-1">
          {item.map((inner, at) =>
            inner.kind === 'paragraph' ? <p key={at}>{inline(inner.text)}</p> : toElement(inner, at),
          )}
        </li>
      ))
      return block.from === null ? (
        <ul key={key} className="list-disc space-y-1 pl-5">
          {items}
        </ul>
      ) : (
        <ol key={key} start={block.from} className="list-decimal space-y-1 pl-5">
          {items}
        </ol>
      )
    }
    case 'table':
      return (
        <div key={key} className="overflow-x-auto" tabIndex={0}>
          <table className="w-full text-left">
            <thead>
              <tr className="border-b border-line">
                {block.head.map((cell, at) => (
                  <th key={at} scope="col" className="py-1.5 pr-4 font-medium">
                    {inline(cell)}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {block.rows.map((row, place) => (
                <tr key={place} className="border-b border-line last:border-0">
                  {row.map((cell, at) => (
                    <td key={at} className="py-1.5 pr-4 align-top">
                      {inline(cell)}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )
    case 'paragraph':
      return (
        <p key={key} className="whitespace-pre-line">
          {inline(block.text)}
        </p>
      )
  }
}

function inline(spans: Inline): ReactNode {
  return spans.map(toSpanElement)
}

function toSpanElement(span: Span, key: number): ReactNode {
  switch (span.kind) {
    case 'text':
      return span.text
    case 'code':
      return (
        <code key={key} className="rounded bg-sunk px-1 py-0.5 font-mono text-[0.8125rem]">
          {span.text}
        </code>
      )
    case 'strong':
      return (
        <strong key={key} className="font-semibold">
          {inline(span.inside)}
        </strong>
      )
    case 'emphasis':
      return <em key={key}>{inline(span.inside)}</em>
    case 'struck':
      return <s key={key}>{inline(span.inside)}</s>
    case 'link':
      return (
        // Where it leads to is a stranger's: they learn nothing of this page, and cannot move it.
        <a key={key} href={span.to} target="_blank" rel="noreferrer noopener nofollow" className="link break-all">
          {inline(span.inside)}
        </a>
      )
  }
}
