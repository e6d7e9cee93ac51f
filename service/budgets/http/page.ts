import type { Page } from '../../api/route.ts'
import { toWire } from '../../kit/money.ts'
import { escaped, plainPage } from '../../ui-kit/plain-page.ts'
import type { Approval } from '../model.ts'

export function approvalPage(approval: Approval, ticket: string): Page {
  const { agentName, kind, target, amount, expiresAt, state } = approval
  const rows = [
    ['Agent', agentName],
    ['Amount', `${String(toWire(amount))} USDC`],
    [WORD[kind], target],
    ['Until', `${expiresAt.toISOString().slice(0, 16).replace('T', ' ')} UTC`],
  ].map(([term, text]) => `<dt>${escaped(term ?? '')}</dt><dd>${escaped(text ?? '')}</dd>`)
  const query = `?ticket=${encodeURIComponent(ticket)}`
  // A relative path, so that it works under every address of the API.
  const button = (word: string, label: string): string =>
    `<form method="post" action="page/${word}${query}"><button class="${word}">${label}</button></form>`
  const ask =
    state === 'pending'
      ? `<div class="ask">${button('approve', 'Approve once')}${button('refuse', 'Refuse')}</div>`
      : ''
  return plainPage(HEADING[state], `<dl>${rows.join('')}</dl>${ask}`)
}

const HEADING: Record<Approval['state'], string> = {
  pending: 'Approval request',
  approved: 'Approved',
  used: 'Approved and used',
  refused: 'Refused',
  lapsed: 'Expired',
}

const WORD: Record<Approval['kind'], string> = { run: 'Runs', tool: 'Calls', pay: 'Pays' }
