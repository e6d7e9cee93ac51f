import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { spawn } from 'node:child_process'
import { Agent, request } from 'undici'
import { measured, medianOf, untilThere } from './kit/measure.ts'

/*
 * What one request costs from end to end: the service as a process of its own on an embedded database, asked
 * over loopback by this one. The two share the machine, so the caller's own cost is in the figures too.
 */

const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 5)
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 3)
const PORT = 4961
const KEY = `csk_test_${'b'.repeat(43)}`
const ORIGIN = `http://127.0.0.1:${String(PORT)}`

const folder = mkdtempSync(path.join(tmpdir(), 'coinslot-bench-'))
const service = spawn(process.execPath, ['service/dist/main.js'], {
  stdio: ['ignore', 'ignore', 'inherit'],
  env: {
    ...process.env,
    DATA_DIR: folder,
    PORT: String(PORT),
    DEMO_API_KEY: KEY,
    RATE_API_PER_MINUTE: '0',
    LOG_LEVEL: 'warn',
  },
})
const agent = new Agent({ connections: 64 })
try {
  await untilThere(`${ORIGIN}/readyz`)
  const requests = { 'GET /healthz': health, 'GET /v1/wallet/balance': balance, 'POST /v1/wallet/deposit': deposit }
  console.log('| request | at once | a second | p50 ms | p99 ms |\n| --- | ---: | ---: | ---: | ---: |')
  for (const [name, send] of Object.entries(requests)) {
    for (const atOnce of [1, 16, 64]) {
      const runs = []
      for (let round = 0; round < ROUNDS; round++) runs.push(await measured(send, atOnce, SECONDS))
      const { rate, p50, p99 } = medianOf(runs)
      console.log(`| ${name} | ${String(atOnce)} | ${rate.toFixed(0)} | ${p50.toFixed(2)} | ${p99.toFixed(2)} |`)
    }
  }
} finally {
  await agent.close()
  const exited = new Promise((resolve) => service.once('exit', resolve))
  service.kill('SIGTERM')
  await exited
  rmSync(folder, { recursive: true, force: true })
}

function health(): Promise<void> {
  return send('GET', '/healthz')
}

function balance(): Promise<void> {
  return send('GET', '/v1/wallet/balance')
}

function deposit(): Promise<void> {
  return send('POST', '/v1/wallet/deposit', '{"amount":0.001}')
}

async function send(method: 'GET' | 'POST', at: string, body?: string): Promise<void> {
  const headers = {
    authorization: `Bearer ${KEY}`,
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
  }
  const answer = await request(ORIGIN + at, {
    method,
    headers,
    dispatcher: agent,
    ...(body === undefined ? {} : { body }),
  })
  await answer.body.dump()
  if (answer.statusCode !== 200) throw new Error(`${method} ${at} answered ${String(answer.statusCode)}`)
}
