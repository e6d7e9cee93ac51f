import { readFileSync } from 'node:fs'
import ts from 'typescript'
import { readConfig, ROLES } from '../../service/config.ts'
import { documentsOf } from './documents.ts'

// oxlint-disable-next-line typescript/no-explicit-any -- looked into field by field; the compiler judges the rest
type Manifest = { apiVersion: string; kind: string; metadata: { name: string } } & Record<string, any>

const FOLDER = 'deploy/kubernetes'
const kustomization = documentsOf(`${FOLDER}/kustomization.yaml`)[0] as { resources: string[] }
const manifests = kustomization.resources.flatMap((file) => documentsOf(`${FOLDER}/${file}`) as Manifest[])
const of = (kind: string) => manifests.filter((manifest) => manifest.kind === kind)
const names = (kind: string) => of(kind).map(({ metadata }) => metadata.name)

describe('deploy/kubernetes', () => {
  it('has no unknown field and no wrong type, and the check finds both', () => {
    expect(faultsIn(manifests)).toEqual([])
    const broken = structuredClone(of('Deployment')[0]!)
    broken['spec'].template.spec.securityContext.runAsNonroot = true
    broken['spec'].replicas = 'two'
    expect(faultsIn([broken])).toEqual([
      expect.stringContaining("Type 'string' is not assignable to type 'number'"),
      expect.stringContaining('runAsNonroot'),
    ])
  })

  it('runs at least two replicas of every role, with a disruption budget, and scales what exists', () => {
    const roles = of('Deployment').flatMap(({ spec }) =>
      (spec.template.spec.containers[0].env[0].value as string).split(','),
    )
    expect(roles.sort()).toEqual([...ROLES].sort())
    for (const { spec } of of('Deployment')) expect(spec.replicas).toBeGreaterThanOrEqual(2)
    expect(names('PodDisruptionBudget').sort()).toEqual(names('Deployment').sort())
    for (const { spec } of of('HorizontalPodAutoscaler'))
      expect(names('Deployment')).toContain(spec.scaleTargetRef.name)
  })

  it('selects by labels that its pods have', () => {
    const pods = of('Deployment').map(({ spec }) => spec.template.metadata.labels as Record<string, string>)
    const selectors = [
      ...of('Deployment').map(({ spec }) => spec.selector.matchLabels as Record<string, string>),
      ...of('Service').map(({ spec }) => spec.selector as Record<string, string>),
      ...of('PodDisruptionBudget').map(({ spec }) => spec.selector.matchLabels as Record<string, string>),
      ...of('NetworkPolicy').map(({ spec }) => (spec.podSelector.matchLabels ?? {}) as Record<string, string>),
    ]
    for (const selector of selectors) {
      expect([
        selector,
        pods.some((pod) => Object.entries(selector).every(([name, value]) => pod[name] === value)),
      ]).toEqual([selector, true])
    }
    const backends = of('Ingress').flatMap(({ spec }) =>
      (spec.rules as { http: { paths: { backend: { service: { name: string } } }[] } }[]).flatMap(({ http }) =>
        http.paths.map(({ backend }) => backend.service.name),
      ),
    )
    for (const backend of backends) expect(names('Service')).toContain(backend)
  })

  it('gives each process settings that it starts with, and secrets only by reference', () => {
    const settings = of('ConfigMap')[0]!['data'] as Record<string, string>
    const shared = {
      ...settings,
      DATABASE_URL: 'postgres://x:y@db/coinslot',
      AUTH_SECRET: 'x'.repeat(44),
      VAULT_KEY: `k1:${Buffer.alloc(32).toString('base64')}`,
    }
    for (const { spec } of of('Deployment')) {
      const [container] = spec.template.spec.containers as { env: { name: string; value: string }[] }[]
      const [{ name, value }] = container!.env as [{ name: string; value: string }]
      expect(() => readConfig({ ...shared, [name]: value })).not.toThrow()
    }
    const text = kustomization.resources.map((file) => readFileSync(`${FOLDER}/${file}`, 'utf8')).join('\n')
    expect(text).not.toMatch(/^kind: Secret$/m)
    for (const name of [
      'AUTH_SECRET',
      'VAULT_KEY',
      'DATABASE_URL',
      'SPONSOR_PRIVATE_KEYS',
      'WALLET_XPRV',
      'PAYER_SEED',
    ]) {
      expect(Object.keys(settings)).not.toContain(name)
    }
    const holders = (secret: string) =>
      of('Deployment')
        .filter(({ spec }) => JSON.stringify(spec).includes(`"secretRef":{"name":"${secret}"}`))
        .map(({ metadata }) => metadata.name)
    expect(holders('coinslot-facilitator')).toEqual(['coinslot-facilitator'])
    expect(holders('coinslot-worker')).toEqual(['coinslot-worker'])
  })

  it('probes health and readiness, and allows for a drain of 30 s', () => {
    for (const { spec } of of('Deployment')) {
      const pod = spec.template.spec
      const [container] = pod.containers
      expect(container.livenessProbe.httpGet.path).toBe('/healthz')
      expect(container.readinessProbe.httpGet.path).toBe('/readyz')
      const pauseSeconds = Number(container.lifecycle.preStop.exec.command[1])
      expect(pod.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(pauseSeconds + 30 + 5)
    }
  })

  it('runs no process as root, with a writable file system, or with a token for the cluster', () => {
    for (const { spec } of [...of('Deployment'), ...of('Job')]) {
      const pod = spec.template.spec
      expect(pod.automountServiceAccountToken).toBe(false)
      expect(pod.securityContext).toMatchObject({
        runAsNonRoot: true,
        runAsUser: 1000,
        seccompProfile: { type: 'RuntimeDefault' },
      })
      for (const { securityContext } of pod.containers) {
        expect(securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        })
      }
    }
  })
})

/** By the compiler: a literal with a field too many is an error, and so is a value of another type. */
function faultsIn(list: readonly Manifest[]): string[] {
  const imports = new Map<string, string>()
  const lines = list.map((manifest, index) => {
    const { apiVersion, kind } = manifest
    const [version = '', group = ''] = apiVersion.split('/').reverse()
    const module = `kubernetes-models/${group === '' ? '' : `${group}/`}${version}/${kind}`
    imports.set(kind, `import type { I${kind} } from '${module}'`)
    return `export const m${String(index)}: I${kind} = ${JSON.stringify(manifest, null, 1)}`
  })
  const source = [...imports.values(), ...lines].join('\n')
  const name = `${process.cwd()}/test/deploy/manifests.ts`
  const options: ts.CompilerOptions = {
    noEmit: true,
    strict: true,
    skipLibCheck: true,
    types: [],
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    lib: ['lib.es2022.d.ts'],
    target: ts.ScriptTarget.ES2022,
  }
  const host = ts.createCompilerHost(options)
  const { getSourceFile, fileExists, readFile } = host
  host.getSourceFile = (file, ...rest) =>
    file === name ? ts.createSourceFile(file, source, ts.ScriptTarget.ES2022) : getSourceFile.call(host, file, ...rest)
  host.fileExists = (file) => file === name || fileExists.call(host, file)
  host.readFile = (file) => (file === name ? source : readFile.call(host, file))
  const program = ts.createProgram([name], options, host)
  return ts
    .getPreEmitDiagnostics(program)
    .filter(({ file }) => file === undefined || file.fileName === name)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '))
}
