/** Chains, settings and data of a server: most of these are for its operator. */
export const SERVERS = {
  auth_secret_file: [
    'The stored AUTH_SECRET of the sandbox cannot be read or is damaged.',
    'Do what the error says about the file, or set AUTH_SECRET.',
  ],
  booking_refused: [
    'The transfer cannot be booked as a withdrawal: it is booked already, or belongs to another account.',
    'Read the error. Nothing was booked.',
  ],
  call_reverts: [
    'The network would reject the call.',
    'Read the reason in the error. Often the wallet has too little USDC.',
  ],
  embedded_database: [
    'The embedded database of the sandbox cannot run.',
    'Do what the error says, or set DATABASE_URL.',
  ],
  facilitator_unavailable: [
    'The facilitator of the paywall does not answer. Nothing was charged.',
    "Try again later. Owners: check the facilitator's address.",
  ],
  fee_too_low: [
    'The network does not take the transaction for its fee.',
    'It is sent again with a higher fee. Try again in a moment.',
  ],
  gas_budget_spent: [
    'The gas that this server pays in a day is used up.',
    'Try again tomorrow. Operators: raise the budget.',
  ],
  gas_too_dear: ['Gas costs more than this server pays.', 'Try again later. Operators: raise the limit.'],
  host_invalid: ['An entry of ALLOW_HOSTS is no host.', 'Write host or host:port.'],
  transaction_refused: [
    'The network refused the transaction. `reason` has its words.',
    'Read the reason, and try again later.',
  ],
  insufficient_funds: [
    'The account that pays the gas has too little ETH.',
    'Operators: send ETH to the account that the error names.',
  ],
  migration_edited: ['A migration was changed after it was applied.', 'Restore the file, and write a new migration.'],
  migration_failed: [
    'A migration of the database failed and was undone.',
    'Read the cause, correct it, and run npm run migrate again.',
  ],
  migration_unknown: ['The database belongs to a newer version of the service.', 'Start that version.'],
  move_refused: ['The data cannot be moved as it is.', 'Read the error. Nothing was changed.'],
  network_unavailable: [
    'This server has no RPC or no sponsor for the network.',
    'Use another network. Operators: set the RPCs and SPONSOR_PRIVATE_KEYS.',
  ],
  no_database: ['The database cannot be reached.', 'Check DATABASE_URL, and that the database runs.'],
  nonce_too_low: [
    'Another transaction with the same number was mined.',
    'It is prepared again. Try again in a moment.',
  ],
  payer_key: ['PAYER_SEED is wrong, or a wallet cannot be derived from it.', 'Restore the seed from your copy.'],
  payer_seed_file: [
    'The stored PAYER_SEED of the sandbox cannot be read or is damaged.',
    'Do what the error says about the file, or set PAYER_SEED.',
  ],
  replacement_underpriced: [
    'Another transaction with the same number pays nearly as much.',
    'It is sent again with a higher fee. Try again in a moment.',
  ],
  rpc_unavailable: ['No RPC of the network answers.', 'Try again shortly. Operators: name two providers.'],
  search_too_wide: ['The RPC does not search so many blocks at once.', 'Search in smaller steps.'],
  secret_not_text: ['The secret is not well-formed text.', 'Send it as UTF-8.'],
  secrets_differ: [
    'Another process on the same database has another secret.',
    'Set it to the same value for all processes. To change it, stop all of them first.',
  ],
  signature_refused: [
    'The receiver of the demo could not verify the signature.',
    'Use the secret of the checkout that calls it.',
  ],
  vault_key_file: [
    'The stored VAULT_KEY of the sandbox cannot be read or is damaged.',
    'Do what the error says about the file, or set VAULT_KEY.',
  ],
  vault_key_invalid: [
    'VAULT_KEY has the wrong form.',
    'Write an id, a colon and 32 bytes in base64, as going live shows.',
  ],
  vault_key_missing: [
    'A secret was sealed with a key that VAULT_KEY no longer has.',
    'Add the old key behind the new one.',
  ],
  vault_unreadable: ['A stored secret could not be opened.', 'Check that VAULT_KEY is the one of this database.'],
  wallet_key: ['WALLET_XPUB or WALLET_XPRV is wrong, or they do not belong together.', 'Restore both from your copy.'],
  wallet_seed_file: [
    'The stored wallet seed of the sandbox cannot be read or is damaged.',
    'Do what the error says about the file, or set WALLET_XPUB and WALLET_XPRV.',
  ],
} as const

/** Found by the SDKs and the command line, without an answer of the service. */
export const CLIENTS = {
  aborted: [
    'The command or the call was ended by its caller before its answer came. It may have been done.',
    'Repeat the same one with the key in `idempotencyKey`.',
  ],
  invalid_id: ['An id is missing or has characters that no id has.', 'Pass the id of what you mean.'],
  invalid_options: [
    'An option of the client, or an argument, is missing or has the wrong form.',
    'Correct the one that the message names.',
  ],
  response_not_stored: [
    'The address was paid before with this key, and its answer is no longer stored.',
    'Send the request with a new key to pay again.',
  ],
  signature_invalid: [
    'The webhook is not from Coinslot, or was changed on its way.',
    'Verify the raw body, with the secret of this endpoint.',
  ],
  signature_missing: [
    'The request lacks a header of the signature.',
    'Answer it with 400. Only webhooks from Coinslot have these headers.',
  ],
  timeout: [
    'No answer came within the timeout of the client.',
    'Raise the timeout, or repeat the request with the same Idempotency-Key.',
  ],
  timestamp_outside_tolerance: [
    'The webhook is too old or too new.',
    'Check the clock of your server. Repeats of old webhooks are refused.',
  ],
  unexpected_answer: [
    'The answer is not from a Coinslot server.',
    'Check the base address of the client, and any proxy in between.',
  ],
} as const
