import { isMarkdown, toBlocks } from '../../service/ui-kit/markdown.ts'
import { TOOLS } from '../../service/demo/tools.ts'
import { cleaner } from '../../service/api/log.ts'
import { decode } from '../../service/kit/decode.ts'
import { parseJson } from '../../service/api/json.ts'
import { fieldsSchema, readInput } from '../../service/kit/fields.ts'
import { plain } from '../../service/kit/schema/bounded.ts'
import { withoutSurrounding } from '../../service/kit/text.ts'
import { render } from '../../service/marketplace/rules/template.ts'
import { newKeyBody } from '../../service/identity/http/account.ts'
import { stemsOf } from '../../service/tools/rules/words.ts'
import { slugsOf } from '../../service/tools/rules/slug.ts'
import { matches } from '../../service/budgets/rules/patterns.ts'
import { viewOf } from '../../service/pages/browser/answer/read.ts'
import { growthOf } from '../harness/growth.ts'

const clean = cleaner(['a secret of the settings'])
const [text] = fieldsSchema.parse([{ name: 'text', type: 'textarea' }])
const read = (value: string) => readInput([text!], { text: value })
const json = (before: string, unit: string, after: string) => (size: number) => {
  const bytes = Buffer.from(before + unit.repeat(size / unit.length) + after)
  return () => parseJson(bytes)
}
const with_ =
  (work: (text: string) => unknown, unit: string, after = '', before = '') =>
  (size: number) => {
    const text = before + unit.repeat(size / unit.length) + after
    return () => work(text)
  }
const slugs = (operation: string) => slugsOf('acme', [{ operation } as Parameters<typeof slugsOf>[1][number]])

/** Every reader of untrusted input, and the text that is worst for it. */
const READERS: Readonly<Record<string, (size: number) => () => unknown>> = {
  'JSON: a number of zeros': json('{"a":1', '0', '1}'),
  'JSON: a fraction of zeros': json('{"a":1.', '0', '1}'),
  'JSON: numbers of zeros': json('[1', `,1${'0'.repeat(1_000)}1`, ']'),
  'JSON: an exponent': json('{"a":1e', '9', '}'),
  'JSON: brackets': json('', '[', ''),
  'JSON: numbers that almost are': json('', '1.1.1-', ''),
  'JSON: a text of quotes': json('{"a":12345678901234567890,"b":"', '\\"', '"}'),
  'JSON: keys': (size) => {
    const names = Array.from({ length: size / 16 }, (_, place) => `"k${String(place)}":1`)
    const bytes = Buffer.from(`{${names.join(',')},"a":12345678901234567890}`)
    return () => parseJson(bytes)
  },
  'a line of the log: beginnings of tokens': with_(clean, 'eyJ'),
  'a line of the log: beginnings of tokens with dots': with_(clean, 'eyJaaaaaaaa.'),
  'a line of the log: invalid mail addresses': with_(clean, 'a.', '', 'x@'),
  'a line of the log: invalid addresses': with_(clean, '://a'),
  'a line of the log: names of secrets': with_(clean, '"key":'),
  'a line of the log: lists of secrets': with_(clean, '"key":["a",'),
  'a line of the log: a list without an end': with_(clean, '"a"', '', '"key":['),
  'a line of the log: schemes': with_(clean, 'Bearer  '),
  'fields that are not known': (size) => {
    const body = Object.fromEntries(Array.from({ length: size / 16 }, (_, place) => [`name${String(place)}`, 1]))
    return () => decode(newKeyBody, body, 'body')
  },
  'an input that is not known': (size) => {
    const body = Object.fromEntries(Array.from({ length: size / 16 }, (_, place) => [`text${String(place)}`, 1]))
    return () => readInput([text!], body)
  },
  'an input': with_(read, 'a\u0301'),
  'a name of capitals': with_(slugs, 'A'),
  'a name of hyphens': with_(slugs, 'a-'),
  'a name of underscores': with_((text) => withoutSurrounding(text, '_'), '_', 'a', 'a'),
  'words for a search': with_(stemsOf, 'aing'),
  'a description: brackets': with_((text) => plain(text, text.length), '['),
  'a description: invalid links': with_((text) => plain(text, text.length), '[a]('),
  'a description: tags': with_((text) => plain(text, text.length), '<a'),
  'a description: spaces': with_((text) => plain(text.slice(1), text.length / 2), ' a', '', 'x'),
  'a template of braces': with_((text) => render(text, {}), '{{ '),
  'a template of names': with_((text) => render(text, {}), '{{ a'),
  'a pattern of stars': with_((text) => matches(text, text.slice(0, 253)), '*a'),
  'a demo tool: exclamations': with_((text) => TOOLS['text-statistics']?.({ text }), '!', 'a'),
  'an answer: brackets': with_(viewOf, '['),
  'an answer: parameters of a data address': with_(viewOf, 'a;', 'base64,AAAA', 'data:'),
  'an answer: signs of equality': with_(viewOf, '=', '"', '"'),
  'markdown: brackets': with_(isMarkdown, '['),
  'markdown: a heading of spaces': with_(toBlocks, ' ', 'x', '# a'),
  'markdown: a heading of hashes': with_(toBlocks, '#', 'x', '# a '),
  'markdown: a table of spaces': with_(toBlocks, ' ', 'x', 'a|b\n'),
  'markdown: a table of dashes': with_(toBlocks, '-', 'x|', 'a|b\n'),
  'markdown: stars': with_(toBlocks, '*a '),
}

describe('each parser of external input takes linear time', () => {
  test.each(Object.entries(READERS))('%s', (_name, work) => {
    expect(growthOf(work)).toEqual({ fault: null })
  })

  test('and a quadratic parser would be found', () => {
    const careless = (text: string): string => text.replace(/0+$/, '')
    expect(growthOf(with_(careless, '0', '1')).fault).toMatch(/times as long$/)
  })
})
