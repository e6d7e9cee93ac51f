import { usdc } from '../../service/kit/money.ts'
import type { Entry, ToolStats } from '../../service/tools/model/tool.ts'
import { fits, patternFault } from '../../service/tools/rules/collection.ts'
import { worthOf } from '../../service/tools/rules/rank.ts'
import { queryStems, stemsOf } from '../../service/tools/rules/words.ts'
import { WordIndex } from '../../service/tools/service/catalogue/word-index.ts'

function entry(slug: string, name: string, other: Partial<Entry> = {}): Entry {
  return {
    ...{
      id: `tool_${slug}`,
      slug,
      ownerId: null,
      provider: slug.split('-')[0]!,
      name,
      description: `${name}.`,
    },
    ...{
      category: null,
      price: usdc(0n),
      deprecated: false,
      status: 'live',
      successor: null,
      version: 1,
      terms: '',
      effect: 'read',
    },
    ...other,
  }
}

function matches(index: WordIndex, query: string): { slug: string; score: number; all: boolean }[] {
  const found: { slug: string; score: number; all: boolean }[] = []
  index.find(query, ({ slug }, { score, all }) => found.push({ slug, score, all }))
  return found.sort((one, other) => other.score - one.score)
}

function found(index: WordIndex, query: string): string[] {
  return matches(index, query).map(({ slug }) => slug)
}

describe('Search terms', () => {
  test.each([
    ['repositories repository', 1],
    ['create creates creating created', 1],
    ['stop stops stopped stopping', 1],
    ['list lists listing listed', 1],
    ['branches branch', 1],
    ['access process', 2],
    ['news new', 1],
    ['bus buses', 1],
    ['ring sing king', 3],
    ['Größe grosse', 2],
    ['café cafe', 1],
    ['listPullRequests', 3],
  ])('%s are %i', (text, count) => {
    expect(new Set(stemsOf(text)).size).toBe(count)
  })

  test('leave out filler words, unless there are no others', () => {
    expect(queryStems('I want to create a tool that is an issue, please')).toEqual(['creat', 'issu'])
    expect(queryStems('is it the')).toEqual(['is', 'it', 'the'])
    expect(queryStems('')).toEqual([])
    expect(queryStems('?!. --')).toEqual([])
  })

  test('are limited in number, so that a long text costs little', () => {
    expect(queryStems('word '.repeat(10)).length).toBe(1)
    expect(queryStems(Array.from({ length: 500 }, (_, nth) => `w${String(nth)}`).join(' ')).length).toBe(24)
    expect(queryStems('x'.repeat(1_000_000))).toEqual([])
  })
})

describe('The index', () => {
  const index = new WordIndex()
  const entries = [
    entry('a-create-issue', 'Create an issue'),
    entry('a-create-issue-comment', 'Create an issue comment'),
    entry('a-list-issues', 'List issues'),
    entry('a-delete-server', 'Delete a server', { description: 'Removes the machine for good.' }),
    entry('b-kubernetes', 'Get a Kubernetes cluster', { terms: 'cluster_id region' }),
    entry('b-pageviews', 'Pageviews of an article'),
  ]
  for (const one of entries) index.put(one)

  test.each([
    ['create issue', 'a-create-issue'],
    ['open a ticket', 'a-create-issue'],
    ['comment on an issue', 'a-create-issue-comment'],
    ['destroy droplet', 'a-delete-server'],
    ['kube', 'b-kubernetes'],
    ['region', 'b-kubernetes'],
    ['page views', 'b-pageviews'],
    ['ISSUES', 'a-list-issues'],
  ])('finds for "%s" first %s', (query, slug) => {
    expect(found(index, query)[0]).toBe(slug)
  })

  test('finds nothing for unknown words and for an empty query', () => {
    expect(found(index, 'zebra')).toEqual([])
    expect(found(index, '')).toEqual([])
    expect(found(index, 'constructor __proto__ toString')).toEqual([])
  })

  test('separates entries with all the words from those with some', () => {
    const all = matches(index, 'create comment').filter((one) => one.all)
    expect(all.map(({ slug }) => slug)).toEqual(['a-create-issue-comment'])
  })

  test('forgets dropped entries and old names, however often that happens', () => {
    const busy = new WordIndex()
    busy.put(entry('x-stays', 'Stays forever'))
    for (let nth = 0; nth < 5_000; nth++) {
      busy.put(entry('x-moves', `Moves ${String(nth)}`))
      busy.put(entry('x-goes', 'Goes away'))
      busy.drop('tool_x-goes')
    }
    expect(found(busy, 'moves')).toEqual(['x-moves'])
    expect(found(busy, '4998')).toEqual([])
    expect(found(busy, '4999')).toEqual(['x-moves'])
    expect(found(busy, 'away')).toEqual([])
    expect(found(busy, 'stays')).toEqual(['x-stays'])
  })
})

describe('Worth', () => {
  const stats = (other: Partial<ToolStats>): ToolStats => ({
    ...{ calls: 100, succeeded: 100, p50Ms: 100, p95Ms: 200, lastError: null, failing: false },
    ...other,
  })
  const worth = (other: Partial<ToolStats> | null, price = 1_000n, deprecated = false) =>
    worthOf({ price: usdc(price), deprecated, stats: other === null ? null : stats(other) })

  test('ranks by success, then by price, then by duration', () => {
    expect(worth({ succeeded: 50 })).toBeLessThan(worth({}, 100_000n))
    expect(worth({}, 100_000n)).toBeLessThan(worth({ p50Ms: 3_000 }))
    expect(worth({ p50Ms: 3_000 })).toBeLessThan(worth({}))
    expect(worth({}, 1_000n, true)).toBeLessThan(worth({ succeeded: 80 }))
    expect(worth({ failing: true, succeeded: 40 })).toBeLessThan(worth({ succeeded: 40 }))
  })

  test('drops little after one early failure, and is not lower for a tool without calls', () => {
    expect(worth({ calls: 1, succeeded: 0 })).toBeGreaterThan(0.75 * worth({ calls: 1, succeeded: 1 }))
    expect(worth(null)).toBeGreaterThanOrEqual(worth({}))
    expect(worth({ calls: 1_000, succeeded: 0 })).toBeGreaterThan(0)
  })
})

describe('Slices', () => {
  test.each([
    [['a-*'], 'a-b', true],
    [['a-*'], 'b-a', false],
    [['*-b'], 'a-b', true],
    [['a*c*e'], 'abcde', true],
    [['a*c*e'], 'aec', false],
    [['ab*b'], 'ab', false],
    [['*'], 'anything', true],
    [['a-b'], 'a-b-c', false],
    [['a-*', '!a-b*'], 'a-bc', false],
    [['a-*', '!a-b*'], 'a-c', true],
    [['!a-*'], 'b', false],
  ])('%j has %s: %p', (patterns, slug, expected) => {
    expect(fits(patterns, slug)).toBe(expected)
  })

  test('a pattern is a slug with stars; a long row of them costs nothing', () => {
    expect(['a-*', '!a', '*', 'a*b'].map(patternFault)).toEqual([null, null, null, null])
    for (const wrong of ['', 'A', 'a b', '(a)', '!!a', 'a'.repeat(101)])
      expect(patternFault(wrong)).toEqual(expect.any(String))
    expect(fits([`${'*a'.repeat(49)}*b`], 'a'.repeat(10_000))).toBe(false)
  })
})
