import { PlusIcon } from '@radix-ui/react-icons'
import { nameColumn, type Column, stateColumn, textColumn, timeColumn } from '../parts/columns.tsx'
import { LinkButton } from '../parts/Button.tsx'
import { Id } from '../parts/values.tsx'
import { Page } from '../parts/layout.tsx'
import { List } from '../parts/List.tsx'
import { Empty } from '../parts/states.tsx'
import type { Paywall } from './paywalls/draft.ts'

export default function Paywalls() {
  const create = (
    <LinkButton to="/paywalls/new" variant="main">
      <PlusIcon /> Create paywall
    </LinkButton>
  )
  return (
    <Page title="Paywalls" actions={create} intro="Prices for your HTTP APIs, paid per request.">
      <List
        path="paywalls.list"
        rows={({ paywalls }) => paywalls}
        name="Paywalls"
        columns={COLUMNS}
        href={({ id }) => `/paywalls/${id}`}
        empty={
          <Empty title="No paywalls yet" action={create}>
            Enter the URL of your API and a price. Agents and programs then pay for each call, without an account.
          </Empty>
        }
      />
    </Page>
  )
}

const COLUMNS: Column<Paywall>[] = [
  nameColumn('Name', ({ name }) => name, '/paywalls'),
  stateColumn('State', ({ status }) => status),
  { title: 'URL', render: ({ url }) => <Id value={url} whole />, csv: ({ url }) => url, wide: true },
  textColumn('Routes', ({ routes }) => routes.length, { end: true, wide: true }),
  timeColumn('Changed', ({ updatedAt }) => updatedAt, { end: true, wide: true }),
]
