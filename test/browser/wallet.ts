import type { BrowserContext, Page } from 'playwright-core'
import { privateKeyToAccount } from 'viem/accounts'
import type { TestAccount, TestChain } from '../harness/chain.ts'

/** A wallet in the browser whose keys are here: it signs what it is asked for, unless a test says otherwise. */
export interface TestWallet {
  readonly account: TestAccount
  /** The methods that the page asked for, in their order. */
  readonly requests: readonly string[]
  /** From now on the wallet's owner declines these. */
  declines(...methods: string[]): void
  /** From now on these wait until the returned function is called. */
  holds(method: string): () => void
  /** Switches the wallet to another network and notifies the page. */
  moveTo(page: Page, chainId: number): Promise<void>
}

export interface WalletOptions {
  name?: string
  /** How the page finds it: announced by EIP-6963, or as `window.ethereum` alone. */
  found?: 'announced' | 'injected'
  /** The chain's own id when absent. */
  chainId?: number
  /** The wallet does not know the network. */
  ignorant?: boolean
}

export async function putWallet(
  context: BrowserContext,
  chain: TestChain,
  account: TestAccount,
  { name = 'Test Wallet', found = 'announced', chainId = chain.network.chainId, ignorant = false }: WalletOptions = {},
): Promise<TestWallet> {
  const signer = privateKeyToAccount(account.privateKey)
  const requests: string[] = []
  const declined = new Set<string>()
  const held = new Map<string, Promise<void>>()
  let at = chainId
  let connected = false
  let isChainKnown = !ignorant

  async function answer(method: string, params: readonly unknown[]): Promise<unknown> {
    switch (method) {
      case 'eth_requestAccounts':
        connected = true
        return [signer.address]
      case 'eth_accounts':
        return connected ? [signer.address] : []
      case 'eth_chainId':
        return hex(at)
      case 'wallet_addEthereumChain':
        isChainKnown = true
        return null
      case 'wallet_switchEthereumChain':
        if (!isChainKnown) throw Object.assign(new Error('Unrecognized chain'), { code: 4902 })
        at = Number((params[0] as { chainId: string }).chainId)
        return null
      case 'personal_sign':
        return await signer.signMessage({ message: { raw: params[0] as `0x${string}` } })
      case 'eth_signTypedData_v4': {
        const { types, ...data } = JSON.parse(params[1] as string) as SignRequest
        const own = { ...types }
        delete own['EIP712Domain']
        if (data.domain.chainId !== at) throw Object.assign(new Error('wrong chain'), { code: -32603 })
        return await signer.signTypedData({ ...data, types: own } as never)
      }
      case 'eth_call':
        return await chain.call(method, ...params)
      default:
        throw Object.assign(new Error(`no ${method} here`), { code: 4200 })
    }
  }

  await context.exposeFunction('__ethRequest', async (method: string, params: readonly unknown[] = []) => {
    requests.push(method)
    await held.get(method)
    if (declined.has(method)) return { error: { code: 4001, message: 'User rejected the request.' } }
    try {
      return { result: await answer(method, params) }
    } catch (error) {
      const { code = -32603, message } = error as { code?: number; message: string }
      return { error: { code, message } }
    }
  })
  await context.addInitScript({ content: inPage(name, found) })
  return {
    account,
    requests,
    declines(...methods) {
      declined.clear()
      for (const method of methods) declined.add(method)
    },
    holds(method) {
      let release: () => void = () => undefined
      held.set(
        method,
        new Promise((resolve) => {
          release = () => {
            held.delete(method)
            resolve()
          }
        }),
      )
      return release
    },
    async moveTo(page, chainId) {
      at = chainId
      await page.evaluate(`__wallet.tell('chainChanged', '${hex(chainId)}')`)
    },
  }
}

interface SignRequest {
  types: Record<string, unknown>
  domain: { chainId: number }
}

function hex(number: number): string {
  return `0x${number.toString(16)}`
}

/** As an extension puts it into a page, before the page's own script. */
function inPage(name: string, found: 'announced' | 'injected'): string {
  const icon =
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 24 24'%3E%3Ccircle cx='12' cy='12' r='11' fill='%23e8831d'/%3E%3C/svg%3E"
  const info = { uuid: `uuid of ${name}`, name, icon, rdns: 'example.wallet' }
  return `(() => {
    const listeners = {}
    const provider = {
      async request({ method, params }) {
        const { result, error } = await window.__ethRequest(method, params)
        if (error) throw Object.assign(new Error(error.message), error)
        if (method === 'wallet_switchEthereumChain') tell('chainChanged', params[0].chainId)
        return result
      },
      on(event, listener) { (listeners[event] ??= []).push(listener) },
      removeListener(event, listener) { listeners[event] = (listeners[event] ?? []).filter((each) => each !== listener) },
    }
    const tell = (event, told) => { for (const listener of listeners[event] ?? []) listener(told) }
    window.__wallet = { tell }
    if (${String(found === 'injected')}) { window.ethereum = provider; return }
    const announce = () => window.dispatchEvent(new CustomEvent('eip6963:announceProvider', {
      detail: Object.freeze({ info: ${JSON.stringify(info)}, provider }),
    }))
    window.addEventListener('eip6963:requestProvider', announce)
    announce()
  })()`
}
