import { fork, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort } from '../../harness/ports.ts'

export interface Started {
  origin: string
  pid: number
  stop(): Promise<void>
}

export function startUpstream(): Promise<Started> {
  return onePort('./upstream.mjs', {})
}

/** A proxy in Node that does nothing but pass on. */
export function startProxy(upstream: string): Promise<Started> {
  return onePort('./proxy.mjs', { UPSTREAM_URL: upstream })
}

async function onePort(file: string, env: Record<string, string>): Promise<Started> {
  const child = forked(file, env)
  const [{ port }] = (await once(child, 'message')) as [{ port: number }]
  return { origin: `http://127.0.0.1:${String(port)}`, pid: pidOf(child), stop: () => stop(child) }
}

/** A proxy that only forwards, to measure the cost of forwarding alone; null where nginx is not installed. */
export async function startNginx(upstream: string): Promise<Started | null> {
  const program = ['/usr/sbin/nginx', '/usr/bin/nginx'].find((file) => existsSync(file))
  if (program === undefined) return null
  const folder = mkdtempSync(path.join(tmpdir(), 'coinslot-nginx-'))
  const port = await freePort()
  writeFileSync(path.join(folder, 'nginx.conf'), conf(folder, port, new URL(upstream).host))
  const child = spawn(
    program,
    ['-p', folder, '-c', path.join(folder, 'nginx.conf'), '-e', path.join(folder, 'error.log')],
    {
      stdio: 'ignore',
    },
  )
  const origin = `http://127.0.0.1:${String(port)}`
  for (let look = 0; look < 100; look++) {
    if (
      await fetch(origin).then(
        () => true,
        () => false,
      )
    )
      break
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return {
    origin,
    pid: pidOf(child),
    async stop() {
      await stop(child, 'SIGTERM')
      rmSync(folder, { recursive: true })
    },
  }
}

/** The protocol's own middleware in front of the same upstream, with the same facilitator. */
export async function startReference(shop: Record<string, string>): Promise<Started> {
  const child = forked('../../conformance/v2/gate.mjs', { NODE_ENV: 'production', ...shop })
  const [{ origin }] = (await once(child, 'message')) as [{ origin: string }]
  return { origin, pid: pidOf(child), stop: () => stop(child) }
}

function pidOf({ pid }: ChildProcess): number {
  if (pid === undefined) throw new Error('the program did not start')
  return pid
}

function forked(file: string, env: Record<string, string>): ChildProcess {
  const at = fileURLToPath(new URL(file, import.meta.url))
  return fork(at, { execArgv: [], env: { PATH: process.env['PATH'], ...env } })
}

async function stop(child: ChildProcess, signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
  const exited = once(child, 'exit')
  child.kill(signal)
  await exited
}

function conf(folder: string, port: number, upstream: string): string {
  return `daemon off; master_process off; worker_processes 1; pid ${folder}/pid;
events { worker_connections 1024; }
http {
  access_log off; client_body_temp_path ${folder}/a; proxy_temp_path ${folder}/b;
  fastcgi_temp_path ${folder}/c; uwsgi_temp_path ${folder}/d; scgi_temp_path ${folder}/e;
  upstream api { server ${upstream}; keepalive 128; }
  server { listen 127.0.0.1:${String(port)}; keepalive_requests 10000000;
    location / { proxy_pass http://api; proxy_http_version 1.1; proxy_set_header Connection ""; } }
}`
}
