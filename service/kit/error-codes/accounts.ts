/** Balances, budgets, payouts, paywalls and webhooks of an account. */
export const ACCOUNTS = {
  agent_not_found: [
    'The account has no such agent in this environment.',
    'List the agents, and use an id from the list.',
  ],
  amount_mismatch: [
    'The transfer on the chain has another amount than the report.',
    'Report the amount that was sent.',
  ],
  approval_not_found: ['There is no such approval.', 'Use the approvalId of the answer that asked for it.'],
  approval_over: [
    'The approval was decided before, or has expired.',
    'Make the call again. It asks for a new approval.',
  ],
  approval_refused: [
    'A person refused this call.',
    'Do not repeat it before `expiresAt`. Ask the person, or make another call.',
  ],
  approval_required: [
    'A person must approve this call first. Nothing is wrong.',
    'Wait for the approval at `statusUrl`, then repeat the same request.',
  ],
  challenge_repeated: [
    'The address asked for a payment that was made before. Nothing was signed.',
    'Try again for a new challenge. If it happens again, the address has a fault.',
  ],
  delivery_not_found: [
    'The account has no such delivery in this environment.',
    'List the deliveries, and use an id from the list.',
  ],
  deposit_not_found: [
    'The transaction has no transfer of USDC to your deposit address.',
    'Check the transaction hash, the token, and the address that it was sent to.',
  ],
  deposit_not_provable: [
    'This server has no chain, so it cannot prove a deposit.',
    'Operators: set the RPCs of the network.',
  ],
  free_runs_used_up: [
    'The free runs of this caller, creator or asset are used up for today.',
    'Try again after `resetsAt`.',
  ],
  gate_loop: ['The upstream URL of the paywall leads back to the paywall.', 'Its owner must change the upstream URL.'],
  insufficient_balance: [
    'The balance of the wallet is lower than the price. Nothing was charged.',
    'Add funds in the dashboard, then try again. `required` and `available` say how much is missing.',
  ],
  insufficient_credits: [
    'Credits and balance together are lower than the price of this tool; credits do not pay for assets of creators (rda-…). Nothing was charged.',
    'Add funds in the dashboard, then call again.',
  ],
  invalid_path: [
    'The path cannot be sent to the API behind the paywall.',
    'Leave out empty parts, dots and encoded slashes.',
  ],
  invalid_signature: ['The signature of the message is missing or wrong.', 'Sign the raw body with the shared secret.'],
  limits_required: [
    'An agent without limits cannot pay other addresses, and spends little on assets of other accounts.',
    'Set a limit for the agent in the dashboard.',
  ],
  lock_ended: [
    'The money that was held for this has been charged or released already.',
    'Read the state of the run. Start a new one where it is over.',
  ],
  lock_not_found: ['No money is held under this id.', 'Check the id, and the environment of your key.'],
  movement_conflict: ['This id was used before for another movement of money.', 'Use a new id for a new movement.'],
  not_confirmed_yet: [
    'The transaction has fewer confirmations than are required.',
    'Report it again in a few seconds.',
  ],
  no_usdc_transfer: ['The transaction moved no USDC on this network.', 'Check the hash, the network and the token.'],
  no_acceptable_offer: [
    'The address offers no way to pay that the agent can use. `reasons` says why for each.',
    "Allow the network or the recipient in the agent's limits, or use another address.",
  ],
  payer_unavailable: [
    'The wallet that pays cannot be used now.',
    'Try again in a few seconds with the same Idempotency-Key.',
  ],
  payment_returned: [
    'A payment with this Idempotency-Key was not made, and its money was returned. `payment.reason` says why.',
    'Send the request with a new key to pay anew.',
  ],
  payout_booked_otherwise: [
    'The operator booked the transfer of this payout after a restore, on another account or with other terms.',
    'Ask the operator of the server. A new request would be paid again.',
  ],
  payouts_paused: [
    'The operator of the server paused payouts.',
    'Try again later. Where money was set aside, keep the same Idempotency-Key.',
  ],
  paywall_not_found: ['There is no such paywall.', 'Check the address or the id.'],
  paywall_paused: [
    'The owner paused this API, or it is in test mode. Nothing was charged, unless `paid` is true.',
    'Try again later. Owners: resume the paywall in the dashboard.',
  ],
  price_above_maximum: [
    'The address charges more than maxAmount. Nothing was paid.',
    'Raise maxAmount, or use another address.',
  ],
  recipient_not_allowed: [
    "The server's list of allowed recipients lacks this address.",
    'Use an address on the list, or ask the operator.',
  ],
  route_not_found: [
    'The paywall sells no route for this method and path.',
    "Compare them with the paywall's catalogue. Owners: add a route.",
  ],
  simulations_busy: ['Other simulations are in progress.', 'Try again in a minute.'],
  slug_taken: ['Another paywall has this slug.', 'Choose another one.'],
  spending_limit: [
    "The agent's limit does not allow this call. `limit` names the rule.",
    "Wait until `resetsAt`, or change the agent's limits in the dashboard.",
  ],
  too_many_webhook_endpoints: [
    'The account has as many webhook endpoints as it may have.',
    'Delete one that is not used.',
  ],
  transaction_already_recorded: [
    'The transaction was credited before.',
    "Nothing is left to do. Look at the wallet's movements.",
  ],
  transaction_failed: [
    'The chain reverted the transaction, so no money moved.',
    'Send the transfer again, and report the new transaction.',
  ],
  transaction_not_found: [
    'The transaction is not in a block of this network yet.',
    'Check the hash and the network, or wait for the block.',
  ],
  wallet_not_found: [
    'The user has no wallet in this environment, or the wallet to remove does not sign in to the account.',
    'Create the account with POST /me first. To remove a wallet, take it from `/auth/siwe/wallets`.',
  ],
  webhook_endpoint_disabled: ['The webhook endpoint is disabled or deleted.', 'Enable it, then try again.'],
  webhook_endpoint_not_fetched: [
    'The events of this endpoint are sent to its address, so they cannot be fetched.',
    'Create an endpoint whose url is listen: and a name.',
  ],
  webhook_endpoint_not_found: [
    'The account has no such webhook endpoint in this environment.',
    'List the endpoints, and use an id from the list.',
  ],
  wrong_recipient: [
    'The transaction sent USDC to another address than that of the wallet.',
    'Report the transfer to the deposit address of this account.',
  ],
  withdrawal_below_minimum: ['The withdrawal is lower than the minimum.', 'Withdraw at least the amount in `minimum`.'],
  withdrawal_limit: ['It is more than may leave in 24 hours.', 'Withdraw less, or try again later.'],
  withdrawal_not_found: ['The account has no such withdrawal.', 'List the withdrawals, and use an id from the list.'],
  withdrawals_unavailable: ['This server has no chain to pay out on.', 'Operators: set the RPCs and WALLET_XPRV.'],
} as const
