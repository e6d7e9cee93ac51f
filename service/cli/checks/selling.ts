import { existsSync } from 'node:fs'
import type { Config } from '../../config.ts'
import { fault, fine, warning, type Finding, type CheckContext } from './model.ts'

/** What a live server needs before it has anything to sell: models, wallets, and which hosts it may call. */
export function checkSelling({ config }: CheckContext): Promise<readonly Finding[]> {
  if (!config.LIVE) return Promise.resolve(gates(config))
  return Promise.resolve([gates(config), models(config), wallets(config), payers(config), hosts(config)].flat())
}

/** What another facilitator reports about a payment can be checked on the chain, where this server has an RPC for it. */
function gates({ GATE_FACILITATOR_URL, BASE_RPC_URLS, BASE_SEPOLIA_RPC_URLS, LIVE }: Config): Finding[] {
  if (GATE_FACILITATOR_URL === undefined) return []
  const missing = [
    ...(LIVE && BASE_RPC_URLS.length === 0 ? ['BASE_RPC_URLS'] : []),
    ...(BASE_SEPOLIA_RPC_URLS.length === 0 ? ['BASE_SEPOLIA_RPC_URLS'] : []),
  ]
  return missing.length === 0
    ? [fine('gates', `Payments at gates are settled by ${GATE_FACILITATOR_URL}.`)]
    : [
        warning(
          'gates',
          `GATE_FACILITATOR_URL is set without ${missing.join(' and ')}: what that facilitator reports about payments is believed unchecked. Set it in every process.`,
        ),
      ]
}

function models({ MODELS_BASE_URL, MODELS_API_KEY, MODELS_FILE }: Config): Finding {
  if (MODELS_BASE_URL === undefined)
    return warning(
      'models',
      'MODELS_BASE_URL is not set, so no prompt can run. Set it, MODELS_API_KEY and MODELS_FILE.',
    )
  if (MODELS_FILE === undefined)
    return warning(
      'models',
      'MODELS_FILE is not set: prices come from the built-in list, which may not be your vendor’s.',
    )
  if (!existsSync(MODELS_FILE)) return fault('models', `There is no file ${MODELS_FILE}: check MODELS_FILE.`)
  return MODELS_API_KEY === undefined
    ? warning('models', 'MODELS_API_KEY is not set: the models are called without a key.')
    : fine('models', `Prompts run at ${MODELS_BASE_URL}.`)
}

function wallets({ WALLET_XPUB, WALLET_XPRV, ROLES }: Config): Finding {
  if (WALLET_XPUB === undefined && WALLET_XPRV === undefined)
    return fault('wallet keys', 'WALLET_XPUB is not set, so no account has a deposit address. Set it in every process.')
  if (WALLET_XPUB === undefined)
    return warning(
      'wallet keys',
      'WALLET_XPUB is not set: processes without WALLET_XPRV have no addresses. Set it in every one.',
    )
  if (ROLES.includes('worker') && WALLET_XPRV === undefined)
    return warning(
      'wallet keys',
      'WALLET_XPRV is not set in this worker: withdrawals and sweeps wait for one that has it.',
    )
  return fine('wallet keys', 'Deposit addresses can be derived.')
}

function payers({ PAYER_SEED, ROLES }: Config): Finding[] {
  if (!ROLES.includes('worker')) return []
  return [
    PAYER_SEED === undefined
      ? warning('payer keys', 'PAYER_SEED is not set in this worker: POST /v1/pay pays nothing.')
      : fine('payer keys', 'Wallets that POST /v1/pay pays from can be derived.'),
  ]
}

function hosts({ ALLOW_HOSTS }: Config): Finding {
  return ALLOW_HOSTS.length === 0
    ? fine('ALLOW_HOSTS', 'Calls go to public addresses only.')
    : warning('ALLOW_HOSTS', `Every account can make this server call these hosts: ${ALLOW_HOSTS.join(', ')}.`)
}
