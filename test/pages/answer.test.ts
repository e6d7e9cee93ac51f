import { viewOf } from '../../service/pages/browser/answer/read.ts'
import { sourceOf } from '../../service/ui-kit/format.ts'

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

/** A workflow's response, as its buyer sees it. */
describe('an answer', () => {
  test('in Markdown is formatted, also as the one text of an object or of a list of one', () => {
    for (const answer of [
      '# Title\n\nText',
      JSON.stringify('# Title'),
      '{"output":"# Title"}',
      '[{"output":"# Title"}]',
    ]) {
      expect(viewOf(answer)).toMatchObject({ kind: 'markdown' })
    }
    expect(viewOf('Just a sentence.')).toEqual({ kind: 'text', text: 'Just a sentence.' })
    expect(viewOf('"Just a sentence."')).toEqual({ kind: 'text', text: 'Just a sentence.' })
  })

  test('that is a list of flat objects is a table of all their names', () => {
    expect(viewOf('[{"a":1,"b":null},{"b":true,"c":"x"}]')).toEqual({
      kind: 'table',
      head: ['a', 'b', 'c'],
      rows: [
        ['1', '', ''],
        ['', 'true', 'x'],
      ],
    })
    for (const other of ['[]', '[1,2]', '[{"a":{}},{"a":1}]', '{"a":1,"b":2}', '[{},{}]', '12']) {
      expect(viewOf(other).kind).toBe('json')
    }
  })

  test('with a file can be saved under a plain name, and is never opened as its own type', () => {
    const page = Buffer.from('<script>alert(1)</script>').toString('base64')
    const file = { fileName: '../a/b\u202egnp.html', contentType: 'text/html', base64: page }
    expect(viewOf(JSON.stringify(file))).toEqual({
      kind: 'files',
      files: [
        {
          name: 'bgnp.html',
          type: 'text/html',
          sizeBytes: 25,
          href: `data:application/octet-stream;base64,${page}`,
          picture: null,
        },
      ],
    })
    expect(viewOf(JSON.stringify([file, file]))).toMatchObject({ kind: 'files', files: [{}, {}] })
    expect(viewOf(`data:image/png;base64,${PNG}`)).toMatchObject({
      files: [{ name: 'answer.png', picture: `data:image/png;base64,${PNG}` }],
    })
    expect(viewOf('data:image/svg+xml;base64,AAAA')).toMatchObject({ files: [{ picture: null }] })
    for (const address of ['data:text/html,x', 'data:text/html;base64,<b>', 'data:;base64,', 'data:image/png;base64']) {
      expect(viewOf(address).kind).toBe('text')
    }
  })

  test('with several parts shows each under its name; everything else is JSON in lines', () => {
    const file = { fileName: 'a.csv', contentType: 'text/csv', base64: 'YQ==' }
    expect(viewOf(JSON.stringify({ text: '**Done**', count: 2, report: file, deep: { a: {} } }))).toMatchObject({
      kind: 'parts',
      parts: [
        { name: 'text', view: { kind: 'markdown' } },
        { name: 'count', view: { kind: 'text', text: '2' } },
        { name: 'report', view: { kind: 'files' } },
        { name: 'deep', view: { kind: 'json' } },
      ],
    })
    expect(viewOf('{"a":{"b":1},"c":2}')).toEqual({ kind: 'json', text: sourceOf('{"a":{"b":1},"c":2}') })
  })

  test('that is too long for a page of Markdown is shown as text', () => {
    const long = '# a\n'.repeat(50_000)
    expect(viewOf(long)).toEqual({ kind: 'text', text: long })
  })
})
