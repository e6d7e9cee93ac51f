import fc from 'fast-check'
import { isMarkdown, toBlocks, toInline, type Block } from '../../service/ui-kit/markdown.ts'

/** A model's output, as the dashboard and the customers' pages show it. */
describe('markdown', () => {
  test('the blocks that models write', () => {
    const text = [
      '# Title #',
      'One',
      'two',
      '',
      '- a',
      '- b',
      '  1. c',
      '',
      '> said',
      '',
      '```js',
      '<b>x</b>',
      '```',
      '---',
      '| A | B |',
      '|---|:-:|',
      '| 1 | 2 |',
    ].join('\n')
    expect(toBlocks(text).map(({ kind }) => kind)).toEqual([
      'heading',
      'paragraph',
      'list',
      'quote',
      'code',
      'rule',
      'table',
    ])
    const [, , list] = toBlocks(text)
    expect(list).toMatchObject({
      from: null,
      items: [[{ kind: 'paragraph' }], [{ kind: 'paragraph' }, { kind: 'list', from: 1 }]],
    })
    expect(toBlocks('3. c\n\n4. d')).toMatchObject([{ kind: 'list', from: 3, items: [{}, {}] }])
  })

  test('marks inside a line', () => {
    expect(toInline('a **b *c*** `*d*` ~~e~~ \\*f\\*').map(({ kind }) => kind)).toContain('strong')
    expect(toInline('snake_case_name and 2 * 3 * 4')).toEqual([{ kind: 'text', text: 'snake_case_name and 2 * 3 * 4' }])
    expect(toInline('see https://example.com/a.')).toEqual([
      { kind: 'text', text: 'see ' },
      { kind: 'link', to: 'https://example.com/a', inside: [{ kind: 'text', text: 'https://example.com/a' }] },
      { kind: 'text', text: '.' },
    ])
  })

  test('never acts: HTML stays text, pictures are not loaded, links lead to the web or to a mail', () => {
    expect(toBlocks('<img src=x onerror=alert(1)>')).toEqual([
      { kind: 'paragraph', text: [{ kind: 'text', text: '<img src=x onerror=alert(1)>' }] },
    ])
    expect(toInline('![pixel](https://evil.example/p.gif)')).toEqual([
      { kind: 'link', to: 'https://evil.example/p.gif', inside: [{ kind: 'text', text: 'Image: pixel' }] },
    ])
    expect(toInline('![a](http://evil.example/p.gif)')).toEqual([{ kind: 'text', text: 'Image: a' }])
    expect(toInline('![a](data:image/png;base64,AAAA)')).toEqual([
      { kind: 'image', data: 'data:image/png;base64,AAAA', alt: 'a' },
    ])
    expect(toInline('![a](data:image/svg+xml;base64,AAAA)')).toEqual([{ kind: 'text', text: 'Image: a' }])
    for (const to of [
      'javascript:alert(1)',
      'data:text/html,x',
      '//evil.example',
      '/wallet?do=withdraw',
      'vbscript:x',
    ]) {
      expect(linksIn(toBlocks(`[press](${to})`))).toEqual([])
    }
  })

  test('parses any text, keeps every word, and links to the web only', () => {
    const piece = fc.constantFrom(
      '# ',
      '- ',
      '1. ',
      '> ',
      '```',
      '|',
      '---',
      '**',
      '*',
      '_',
      '`',
      '[',
      '](',
      ')',
      '!',
      '\n',
      '  ',
      'word',
      'https://a.b/c',
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
        const text = pieces.join('')
        const blocks = toBlocks(text)
        const words = (of: string): number => of.split('word').length
        // Only what is in a link's address, or what names the language of a piece of code, is not shown.
        if (!/```|\]\(|!/.test(text)) expect(words(JSON.stringify(blocks))).toBeGreaterThanOrEqual(words(text))
        for (const to of linksIn(blocks)) expect(to).toMatch(/^(https?:|mailto:)/)
      }),
      { verbose: true },
    )
  })

  test.each([
    `[`.repeat(65_536),
    `# ${' '.repeat(60_000)}x`,
    `# ${' #'.repeat(30_000)}x`,
    `a|b\n-|-${' '.repeat(60_000)}x`,
    `${'a|'.repeat(16_000)}\n${'-|'.repeat(16_000)}\n${'|\n'.repeat(100)}`,
    `${'a|'.repeat(90)}\n${'-|'.repeat(90)}\n${'|\n'.repeat(32_000)}`,
    '![](data:image/png;base64,AA'.repeat(2_000),
    '[a](https://b'.repeat(4_700),
    '**a * '.repeat(10_000),
  ])('the longest answer grows no further than its text (%#)', (text) => {
    const blocks = toBlocks(text)
    expect(JSON.stringify(blocks).length).toBeLessThan(40 * 65_536)
  })

  test('is not detected in plain text', () => {
    expect(['Just a sentence - with a dash.', '5 * 4 = 20', 'C# and F#', ''].filter(isMarkdown)).toEqual([])
    expect(['# A', 'so **this** is', '1. a', '| a | b |'].filter(isMarkdown)).toHaveLength(4)
  })
})

function linksIn(blocks: readonly Block[]): string[] {
  return [...JSON.stringify(blocks).matchAll(/"kind":"link","to":"([^"]*)"/g)].map(([, to]) => to ?? '')
}
