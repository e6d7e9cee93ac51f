import type { Coinslot } from '../coinslot.ts'
import { ALL, endpointOf, eventIn, Following, nameOf, type Delivery } from './listen.ts'
import { clientOf, numberOf, parse, shown, UsageError, type Command, type Terminal } from './terminal.ts'

/** What happened in the account: its latest deliveries, and with `--follow` each event as it happens. */
export const logs: Command = async (terminal, words) => {
  const { values, positionals } = parse(words, {
    follow: { type: 'boolean', default: false },
    limit: { type: 'string' },
    name: { type: 'string' },
  })
  if (positionals.length > 0) throw new UsageError('logs takes options only. See coinslot help.')
  const client = clientOf(terminal)
  if (values.follow) {
    if (values.limit !== undefined) throw new UsageError('Leave out --limit with --follow.')
    await follow(terminal, client, nameOf(values.name))
    return
  }
  const query = { limit: numberOf(values.limit ?? '20', '--limit') }
  const { deliveries } = await client.request('GET /v1/deliveries', { query }, { signal: terminal.stopped })
  // The newest last, where a terminal ends.
  for (const each of [...deliveries].reverse()) {
    const { id, subject, status, createdAt, lastStatus, url } = each
    terminal.print(
      terminal.json
        ? JSON.stringify(each)
        : [createdAt, id, status, lastStatus ?? '-', shown(subject), shown(url)].join('  '),
    )
  }
}

/** By an endpoint of its own, which is deleted at the end: what happens later is not kept for it. */
async function follow(terminal: Terminal, client: Coinslot, name: string): Promise<void> {
  const { endpoint } = await endpointOf(terminal, client, { name: `logs-${name}`.slice(0, 64), events: ALL })
  terminal.note('Events are shown as they happen. Stop with Ctrl+C.')
  try {
    await new Following(terminal, client, endpoint.id, (delivery) => {
      terminal.print(terminal.json ? delivery.body : lineOf(delivery))
      return Promise.resolve(200)
    }).run()
  } finally {
    await client.webhookEndpoints.delete(endpoint.id, { timeoutMs: 10_000 }).catch(() => {
      terminal.note('The endpoint of this command is still there. It is disabled after seven days.')
    })
  }
}

/** The time, the event, what it is about, and the first facts of it. */
function lineOf({ body }: Delivery): string {
  const { event, ...rest } = eventIn(body)
  const data = typeof rest['data'] === 'object' && rest['data'] !== null ? (rest['data'] as Facts) : rest
  const facts = FACTS.flatMap((name) => {
    const value = data[name]
    return typeof value === 'string' || typeof value === 'number' ? [`${name}=${shown(String(value))}`] : []
  })
  return [new Date().toISOString(), typeof event === 'string' ? shown(event) : 'event', ...facts].join('  ')
}

type Facts = Readonly<Record<string, unknown>>

const FACTS = ['id', 'paymentId', 'runId', 'checkoutId', 'amount', 'cost', 'state', 'status', 'reason', 'error']
