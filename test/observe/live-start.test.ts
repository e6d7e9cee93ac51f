import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { toHex } from 'viem'
import { HDKey, mnemonicToAccount, privateKeyToAccount } from 'viem/accounts'
import { testDatabase } from '../harness/database.ts'
import { freePort } from '../harness/ports.ts'
import { ServiceProcess } from '../harness/process.ts'

describe('a live server', () => {
  test('prints a line for each fault that the doctor finds, and how to see more', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'coinslot-live-'))
    const database = await testDatabase()
    const service = new ServiceProcess({
      ...{ LIVE: 'true', DATABASE_URL: database.url, DATA_DIR: folder, PORT: String(await freePort()) },
      ...{ AUTH_SECRET: randomBytes(32).toString('base64'), VAULT_KEY: `k1:${randomBytes(32).toString('base64')}` },
    })
    const output = await service.waitFor('npm run doctor')
    expect(output).toMatch(/^FAULT {4}wallet keys: WALLET_XPUB is not set/m)
    expect(output).not.toContain('Try it')
    service.kill('SIGKILL')
    await service.ended()
    await database.close()
    rmSync(folder, { recursive: true })
  }, 60_000)

  test('gets its keys with the phrase to write down, and no file is written', async () => {
    const words = ['--import', './service/launch/typescript.mjs', 'service/cli/setup.ts', '--keys']
    const { stdout } = await promisify(execFile)(process.execPath, words, { env: { PATH: process.env['PATH'] ?? '' } })
    const phrase = /^# {3}((?:[a-z]+ ){23}[a-z]+)$/m.exec(stdout)?.[1] ?? ''
    const valueOf = (name: string): string => new RegExp(`^${name}=(.+)$`, 'm').exec(stdout)?.[1] ?? ''
    const deposit = privateKeyToAccount(
      toHex(HDKey.fromExtendedKey(valueOf('WALLET_XPRV')).derive('m/0/0').privateKey!),
    )
    expect(deposit.address).toBe(mnemonicToAccount(phrase).address)
    expect(HDKey.fromExtendedKey(valueOf('WALLET_XPRV')).publicExtendedKey).toBe(valueOf('WALLET_XPUB'))
    expect([valueOf('SPONSOR_PRIVATE_KEYS'), valueOf('PAYER_SEED')]).toEqual([
      expect.stringMatching(/^0x[0-9a-f]{64}$/),
      expect.stringMatching(/^[0-9a-f]{64}$/),
    ])
  })
})
