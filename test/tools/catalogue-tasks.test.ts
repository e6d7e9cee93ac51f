import type { Entry } from '../../service/tools/model/tool.ts'
import { WordIndex } from '../../service/tools/service/catalogue/word-index.ts'
import { SHIPPED } from '../../service/openapi/shipped.ts'
import { FITS } from '../../service/tools/rules/rank.ts'
import { bestOf, entriesToSearch, recallOf, tasksOf, type Task } from './search/tasks.ts'

function fits(index: WordIndex, text: string): boolean {
  let best = 0
  index.find(text, (_, { fit }) => (best = Math.max(best, fit)))
  return best >= FITS
}

/** The words of the documents are rarely those of a task: `send a text message` has to find `Create a Message`. */
describe('The search by the meaning of a task', () => {
  const index = new WordIndex()
  let entries: Entry[]

  beforeAll(async () => {
    entries = await entriesToSearch()
    for (const entry of entries) index.put(entry)
  })

  test('every task names tools that are there, and no task is in both lists', () => {
    const [tasks, heldBack] = [tasksOf('tasks'), tasksOf('held-back')]
    const slugs = new Set(entries.map(({ slug }) => slug))
    expect([...tasks, ...heldBack].flatMap(({ tools }) => tools).filter((slug) => !slugs.has(slug))).toEqual([])
    expect([tasks.length, heldBack.length]).toEqual([601, 219])
    expect(new Set([...tasks, ...heldBack].map(({ text }) => text)).size).toBe(820)
  })

  test('has one of its tools among the first five, for nine of ten tasks', () => {
    const { recall, missed } = recallOf(index, tasksOf('tasks'))
    expect([recall >= 0.9 ? [] : missed, recall >= 0.9]).toEqual([[], true])
  })

  test('and for six of seven held-back tasks', () => {
    expect(recallOf(index, tasksOf('held-back')).recall).toBeGreaterThanOrEqual(0.86)
  })

  test.each([
    ['prepare a mail without sending it', 'gmail-users-drafts-create', 'sendgrid-post-mail-send'],
    ['look up a firm in the CRM', 'hubspot-search-companies', 'twilio-fetch-phone-number'],
    [
      'take a snapshot of a volume',
      'digitalocean-volume-snapshots-create',
      'digitalocean-volume-snapshots-delete-by-id',
    ],
  ])('finds for "%s" %s and puts it before %s', (task, slug, other) => {
    const best = bestOf(index, task, 50)
    expect(best.slice(0, 5)).toContain(slug)
    expect(best.includes(other) ? best.indexOf(other) : Infinity).toBeGreaterThan(best.indexOf(slug))
  })

  test.each([
    ['a channel', 'last fifty messages of #support', 'slack-conversations-history'],
    ['a compound', 'rainfall in spring 2020', 'weather-archive'],
    ['a task without a verb', 'all open pull requests of a repo', 'github-pulls-list'],
    ['a word with a hyphen', 'send a transactional e-mail', 'sendgrid-post-mail-send'],
    ['what is created as what is started', 'trigger the deploy pipeline', 'github-actions-create-workflow-dispatch'],
    ['the trash', 'throw away a newsletter from my inbox', 'gmail-users-messages-trash'],
  ])('reads %s: "%s"', (_what, task, slug) => {
    expect(bestOf(index, task, 5)).toContain(slug)
  })

  test('puts the tools of a provider that is named before those of others', () => {
    const best = bestOf(index, 'send a message in Telegram', 3)
    expect(best[0]).toBe('telegram-send-message')
    expect(bestOf(index, 'list the members in Slack', 1)).toEqual(['slack-users-list'])
  })

  test('rejects few possible tasks, and most impossible ones', async () => {
    const shipped = new WordIndex()
    const served = new Set(SHIPPED.map(({ slug }) => slug))
    const here = new Set<string>()
    for (const entry of entries.filter(({ provider }) => served.has(provider))) {
      shipped.put(entry)
      here.add(entry.slug)
    }
    const all = [...tasksOf('tasks'), ...tasksOf('held-back')]
    const elsewhere = all.filter(({ tools }) => !tools.some((slug) => here.has(slug)))
    const share = (tasks: readonly Task[], searched: WordIndex) =>
      tasks.filter(({ text }) => fits(searched, text)).length / tasks.length
    expect(elsewhere.length).toBeGreaterThan(200)
    expect(share(all, index)).toBeGreaterThan(0.87)
    expect(share(elsewhere, shipped)).toBeLessThan(0.5)
  })

  test.each([
    ['send a text message to a phone', 'twilio-create-message'],
    ['refund a paymnet', 'stripe-post-refunds'],
    ['create a kuberntes cluster', 'digitalocean-kubernetes-create-cluster'],
  ])('finds the tool for "%s", also with misspelt words', (task, slug) => {
    expect(bestOf(index, task, 5)).toContain(slug)
  })
})
