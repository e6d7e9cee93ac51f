import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { readConfig, ROLES } from '../../service/config.ts'
import { usdc } from '../../service/kit/money.ts'
import { documentsOf, environmentFile, interpolated } from './documents.ts'

const VARIABLES = {
  ...environmentFile('deploy/.env.example'),
  DOMAIN: 'pay.example.com',
  POSTGRES_PASSWORD: 'password',
  AUTH_SECRET: 'x'.repeat(44),
  VAULT_KEY: `k1:${Buffer.alloc(32).toString('base64')}`,
  METRICS_TOKEN: 'token',
  SPONSOR_PRIVATE_KEYS: `0x${'11'.repeat(32)}`,
  PAYER_SEED: '22'.repeat(32),
  WALLET_XPRV: `xprv${'7'.repeat(107)}`,
  N8N_ENCRYPTION_KEY: 'key',
  // Settings that the file itself does not name.
  PAYOUTS: 'off',
  WITHDRAWAL_LIMIT_PER_DAY: '50',
}

interface ComposeFile {
  services: Record<string, ComposeService>
  networks: Record<string, { internal?: boolean } | null>
}

interface ComposeService {
  image: string
  build?: { context: string; dockerfile: string }
  environment?: Record<string, string>
  env_file?: { path: string; required: boolean }[]
  volumes?: string[]
  networks?: string[]
  depends_on?: string[] | Record<string, unknown>
  deploy?: { replicas: number; resources?: { limits?: { memory?: string } } }
  logging?: { options?: Record<string, string> }
  read_only?: boolean
  user?: string
  stop_grace_period?: string
}

/** The service's own: beside the tests lies an older one, of the linter's. */
const { Ajv } = createRequire(path.resolve('service/package.json'))('ajv') as {
  Ajv: new (options: object) => { compile(schema: object): ((value: unknown) => boolean) & { errors?: unknown } }
}

const compose = interpolated(documentsOf('deploy/compose.yaml')[0], VARIABLES) as ComposeFile
const ours = Object.entries(compose.services)
  .filter(([, { build }]) => build !== undefined)
  .map(([name, service]): [string, ComposeService] => [name, { ...service, environment: environmentOf(service) }])

/** What a process gets: its `env_file`, which is `deploy/.env`, and what is named beside it. */
function environmentOf({ env_file: files = [], environment = {} }: ComposeService): Record<string, string> {
  const file = files.some(({ path: name }) => name === '.env') ? VARIABLES : {}
  return { ...file, ...environment }
}

describe('deploy/compose.yaml', () => {
  const schema = JSON.parse(readFileSync('test/deploy/schemas/compose-spec.json', 'utf8')) as Record<string, unknown>
  // Named in a way that the library does not know; it is draft 7.
  delete schema['$schema']
  const formats = {
    duration: /^(\d+(\.\d+)?(us|ms|s|m|h))+$/,
    uri: true,
    ports: true,
    expose: true,
    subnet_ip_address: true,
  } as const
  const check = new Ajv({ strict: false, allErrors: true, formats }).compile(schema)

  it('is valid by the Compose Specification, and the check finds an invalid key', () => {
    expect([check(compose), check.errors]).toEqual([true, null])
    const broken = structuredClone(compose) as unknown as { services: { api: Record<string, unknown> } }
    broken.services.api['replica'] = 2
    expect(check(broken)).toBe(false)
  })

  it('requires only settings that the example file has', () => {
    for (const name of ['DOMAIN', 'POSTGRES_PASSWORD', 'AUTH_SECRET', 'VAULT_KEY', 'METRICS_TOKEN']) {
      expect(() => interpolated(documentsOf('deploy/compose.yaml')[0], { ...VARIABLES, [name]: '' })).toThrow(name)
    }
    const required = [...readFileSync('deploy/compose.yaml', 'utf8').matchAll(/\$\{(\w+):\?/g)].map(([, name]) => name)
    expect(Object.keys(environmentFile('deploy/.env.example'))).toEqual(expect.arrayContaining(required))
  })

  it.each(ours)('%s has settings that it starts with', (_name, { environment }) => {
    expect(() => readConfig(environment ?? {})).not.toThrow()
    expect(() => readConfig({ ...environment, LIVE: 'true' })).not.toThrow()
  })

  it.each(ours)('%s calls no private address', (_name, { environment }) => {
    expect(readConfig({ ...environment, LIVE: 'false' }).ALLOW_PRIVATE_CALLBACKS).toBe(false)
  })

  it.each(ours)('%s gets every setting of deploy/.env', (_name, { environment }) => {
    const { PAYOUTS, WITHDRAWAL_LIMIT_PER_DAY } = readConfig(environment ?? {})
    expect([PAYOUTS, WITHDRAWAL_LIMIT_PER_DAY]).toEqual(['off', usdc(50_000_000n)])
  })

  it('has two replicas of every role, and signing keys only where they are used', () => {
    const roles = ours.flatMap(([, { environment, deploy }]) =>
      (environment?.['ROLES'] ?? '').split(',').map((role) => [role, deploy?.replicas]),
    )
    expect(Object.fromEntries(roles.filter(([role]) => role !== ''))).toEqual(
      Object.fromEntries(ROLES.map((role) => [role, 2])),
    )
    const holders = (setting: string) =>
      ours.filter(([, { environment }]) => (environment?.[setting] ?? '') !== '').map(([name]) => name)
    expect(holders('SPONSOR_PRIVATE_KEYS')).toEqual(['facilitator'])
    expect(holders('WALLET_XPRV')).toEqual(['worker'])
    expect(holders('PAYER_SEED')).toEqual(['worker'])
    expect(holders('N8N_ENCRYPTION_KEY')).toEqual([])
  })

  it('names only services, networks and files that there are', () => {
    for (const service of Object.values(compose.services)) {
      const needed = Array.isArray(service.depends_on) ? service.depends_on : Object.keys(service.depends_on ?? {})
      for (const name of needed) expect(Object.keys(compose.services)).toContain(name)
      for (const name of service.networks ?? []) expect(Object.keys(compose.networks)).toContain(name)
      for (const volume of service.volumes ?? []) {
        const [from = ''] = volume.split(':')
        if (from.startsWith('./') && from !== './certificates') expect(existsSync(path.join('deploy', from))).toBe(true)
      }
      if (service.build !== undefined)
        expect(existsSync(path.join('deploy', service.build.context, service.build.dockerfile))).toBe(true)
    }
  })

  it('connects the databases to the services only, which run read-only', () => {
    expect(compose.networks['inside']).toEqual({ internal: true })
    expect(compose.services['postgres']?.networks).toEqual(['inside'])
    expect(compose.services['redis']?.networks).toEqual(['inside'])
    // A workflow of n8n may call what it likes: it shares no network with a service, whose proxy says who is asking.
    const shared = ours.flatMap(([, { networks = [] }]) => networks)
    expect(compose.services['n8n']?.networks?.filter((name) => shared.includes(name))).toEqual([])
    expect(compose.services['proxy']?.networks).toEqual(['inside', 'edge'])
    for (const [, service] of ours) expect(service.read_only).toBe(true)
    for (const { logging, deploy } of Object.values(compose.services)) {
      expect(logging?.options).toMatchObject({ 'max-size': expect.any(String), 'max-file': expect.any(String) })
      expect(deploy?.resources?.limits).toEqual({ memory: expect.any(String) })
    }
    // The service's own 30 s fit.
    for (const [, service] of ours) expect(Number.parseInt(service.stop_grace_period ?? '0')).toBeGreaterThan(30)
  })
})

describe('deploy/nginx.conf.template', () => {
  const template = readFileSync('deploy/nginx.conf.template', 'utf8')

  it('routes every surface to the service that serves it', () => {
    const passed = [...template.matchAll(/location (\S+) \{ proxy_pass \$(\w+);/g)].map(([, at, to]) => [at, to])
    expect(Object.fromEntries(passed)).toEqual({
      '/tools': 'tools',
      '/facilitator': 'facilitator',
      '/gate': 'gate',
      '/': 'api',
    })
    for (const [, to] of passed) expect(template).toContain(`set $${String(to)} http://${String(to)}:4020;`)
    expect(template).not.toContain('non_idempotent')
  })

  it('is read by nginx, where there is one', () => {
    if (spawnSync('nginx', ['-v']).status !== 0 || spawnSync('openssl', ['version']).status !== 0) return
    const folder = mkdtempSync(path.join(tmpdir(), 'coinslot-nginx-'))
    const key = ['-keyout', path.join(folder, 'privkey.pem'), '-out', path.join(folder, 'fullchain.pem')]
    execFileSync(
      'openssl',
      ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-subj', '/CN=x', ...key],
      { stdio: 'ignore' },
    )
    const site = template
      .replaceAll('${DOMAIN}', 'pay.example.com')
      .replaceAll('/etc/nginx/certificates', folder)
      // Before 1.25.1 it was a word of `listen`.
      .replace('http2 on;', '')
    writeFileSync(path.join(folder, 'nginx.conf'), `pid ${folder}/pid; error_log stderr; events {} http { ${site} }`)
    const { status, stderr } = spawnSync('nginx', ['-t', '-p', folder, '-c', path.join(folder, 'nginx.conf')])
    expect([status, stderr.toString()]).toEqual([0, expect.stringContaining('syntax is ok')])
    rmSync(folder, { recursive: true })
  })
})
