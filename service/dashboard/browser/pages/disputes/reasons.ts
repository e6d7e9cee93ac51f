import type { Output } from '../../api/procedures.ts'

export type Dispute = Output<'disputes.list'>['disputes'][number]

const REASONS: Readonly<Record<Dispute['reason'], string>> = {
  service_not_delivered: 'Not delivered',
  service_defective: 'Defective',
  duplicate_payment: 'Paid twice',
  overcharge: 'Paid too much',
  customer_request: 'Changed their mind',
  other: 'Other',
}

export function reasonText(reason: Dispute['reason']): string {
  return REASONS[reason]
}
