import type { Block, Inline, Span } from './markdown.ts'

/** Creates an element of the drawing library: React in the dashboard, Preact on the customers' pages. */
export type Draw<Node> = (
  tag: Tag,
  props: Readonly<Record<string, unknown>> | null,
  ...children: readonly (Node | string)[]
) => Node

type Tag =
  | ('h3' | 'h4' | 'h5' | 'p' | 'pre' | 'hr' | 'blockquote' | 'ul' | 'ol' | 'li' | 'code' | 'strong' | 'em' | 's')
  | ('a' | 'img' | 'div' | 'table' | 'thead' | 'tbody' | 'tr' | 'th' | 'td')

/** Classes by tag; a missing tag gets none. */
export type Styles = Readonly<Partial<Record<Tag, string>>>

/** Markdown as elements. Its headings start one level below the page's own. */
export function drawBlocks<Node>(blocks: readonly Block[], draw: Draw<Node>, look: Styles): readonly Node[] {
  const element = (tag: Tag, children: readonly (Node | string)[], props: Record<string, unknown> = {}): Node =>
    draw(tag, look[tag] === undefined ? props : { className: look[tag], ...props }, ...children)
  const inline = (spans: Inline): (Node | string)[] => spans.map(drawSpan)
  const row = (cells: readonly Inline[], tag: 'th' | 'td'): Node =>
    element(
      'tr',
      cells.map((cell) => element(tag, inline(cell), tag === 'th' ? { scope: 'col' } : {})),
    )

  function drawSpan(span: Span): Node | string {
    switch (span.kind) {
      case 'text':
        return span.text
      case 'code':
        return element('code', [span.text])
      case 'strong':
        return element('strong', inline(span.inside))
      case 'emphasis':
        return element('em', inline(span.inside))
      case 'struck':
        return element('s', inline(span.inside))
      case 'link':
        return element('a', inline(span.inside), outward(span.to))
      case 'image':
        return element('img', [], { src: span.data, alt: span.alt })
    }
  }

  function drawBlock(block: Block): Node {
    switch (block.kind) {
      case 'heading':
        return element(block.level <= 2 ? 'h3' : block.level <= 4 ? 'h4' : 'h5', inline(block.text))
      case 'code':
        return element('pre', [block.text], { tabIndex: 0 })
      case 'rule':
        return element('hr', [])
      case 'quote':
        return element('blockquote', block.blocks.map(drawBlock))
      case 'list': {
        const items = block.items.map((item) => element('li', item.map(drawBlock)))
        return block.from === null ? element('ul', items) : element('ol', items, { start: block.from })
      }
      case 'table':
        // Focusable by keyboard, because it may scroll.
        return element(
          'div',
          [
            element('table', [
              element('thead', [row(block.head, 'th')]),
              element(
                'tbody',
                block.rows.map((cells) => row(cells, 'td')),
              ),
            ]),
          ],
          { tabIndex: 0 },
        )
      case 'paragraph':
        return element('p', inline(block.text))
    }
  }

  return blocks.map(drawBlock)
}

/** The target is a third party's site: it must learn nothing about the page and must not be able to navigate it. */
export function outward(href: string): Record<string, string> {
  return { href, target: '_blank', rel: 'noreferrer noopener nofollow' }
}
