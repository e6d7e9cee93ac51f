import { latestMarks, newestMarks, type Tables } from '../kit/tables.ts'

export const checkoutsTables: Tables = {
  retention: () => ({
    checkout: { kept: 'one for each place in a workflow: its link comes back to life with it' },
  }),
  changes: {
    checkouts: [
      newestMarks('checkout', 'state, updated_at', 100),
      latestMarks('sale', 'subject', 'checkout', 'c.state'),
    ],
  },
}
