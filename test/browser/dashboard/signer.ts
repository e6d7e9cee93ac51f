import type { Page } from 'playwright-core'
import { generatePrivateKey, privateKeyToAccount, type PrivateKeyAccount } from 'viem/accounts'

/** A wallet as `window.ethereum`, from the page's next load on: it really signs, unless its owner declines. */
export interface Signer {
  account: PrivateKeyAccount
  declines: boolean
}

export async function putSigner(page: Page): Promise<Signer> {
  const signer: Signer = { account: privateKeyToAccount(generatePrivateKey()), declines: false }
  await page.exposeFunction('__wallet', async (method: string, params: string[]) => {
    if (method === 'eth_requestAccounts') return [signer.account.address]
    if (signer.declines) return { declined: true }
    return await signer.account.signMessage({ message: { raw: params[0] as `0x${string}` } })
  })
  await page.addInitScript(`window.ethereum = { async request({ method, params }) {
    const answer = await window.__wallet(method, params ?? [])
    if (answer.declined) throw Object.assign(new Error('User rejected'), { code: 4001 })
    return answer
  } }`)
  return signer
}
