import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { installOwnPackage } from '../../../service/launch/own-package.mjs'
import type { TestChain } from '../../harness/chain.ts'
import { recorded } from '../flame/picture.ts'
import { untilThere } from '../kit/measure.ts'

export interface Rival {
  name: 'reference' | 'legacy' | 'coinslot'
  origin: string
  pid: number
  stop(): Promise<void>
}

const PORT = 4962

/** The protocol's own facilitator, or that of its first version, each with a sponsor of its own. */
export async function startReference(chain: TestChain, version: 1 | 2 = 2): Promise<Rival> {
  const folder = version === 1 ? 'test/bench/legacy' : 'test/bench/reference'
  await installOwnPackage(folder)
  const sponsor = chain.accounts[version === 1 ? 2 : 0]!
  const env = { PATH: process.env['PATH'], RPC_URL: chain.url, PRIVATE_KEY: sponsor.privateKey }
  const child = spawn(process.execPath, [`${folder}/server.mjs`], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...env, NODE_ENV: 'production' },
  })
  const exited = once(child, 'exit')
  const [line] = (await Promise.race([
    once(createInterface(child.stdout), 'line'),
    exited.then(() => Promise.reject(new Error('the reference ended before it listened'))),
  ])) as [string]
  return {
    name: version === 1 ? 'legacy' : 'reference',
    origin: line,
    pid: child.pid ?? 0,
    async stop() {
      child.kill('SIGKILL')
      await exited
    },
  }
}

/** The service as operators run it: built, on its embedded database, without rate limits. */
export async function startCoinslot(chain: TestChain, more: Record<string, string> = {}): Promise<Rival> {
  const folder = mkdtempSync(path.join(tmpdir(), 'coinslot-bench-'))
  const child = spawn(process.execPath, [...recorded(), 'service/dist/main.js'], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      PATH: process.env['PATH'],
      NODE_ENV: 'production',
      DATA_DIR: folder,
      ...(process.env['DATABASE_URL'] === undefined ? {} : { DATABASE_URL: process.env['DATABASE_URL'] }),
      PORT: String(PORT),
      LOG_LEVEL: 'warn',
      BASE_SEPOLIA_RPC_URLS: chain.url,
      SPONSOR_PRIVATE_KEYS: chain.accounts[1]!.privateKey,
      RATE_VERIFY_PER_MINUTE: '0',
      RATE_SETTLE_PER_MINUTE: '0',
      GAS_BUDGET_PER_DAY: '0',
      GAS_BUDGET_PER_PAYER_DAY: '0',
      ...more,
    },
  })
  const exited = once(child, 'exit')
  const stop = async (): Promise<void> => {
    if (child.exitCode !== null) return
    child.kill('SIGTERM')
    await exited
    rmSync(folder, { recursive: true, force: true })
  }
  const origin = `http://127.0.0.1:${String(PORT)}`
  try {
    await untilThere(`${origin}/readyz`)
  } catch (error) {
    await stop()
    throw error
  }
  return { name: 'coinslot', origin: `${origin}/facilitator`, pid: child.pid ?? 0, stop }
}
