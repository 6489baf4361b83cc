/**
 * Renders the chart with every combination of its switches, and validates what comes out against the schemas of the oldest
 * and the newest Kubernetes. The files in deploy/kubernetes are validated too, and must run the same pods as the chart. Needs
 * Go, and gets everything from its module proxy.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual } from 'node:util'
import { parseAllDocuments } from 'yaml'
import { goModule, writeCustomSchema, writeKubernetesSchemas } from './kubernetes-schemas.ts'

const HELM = 'helm.sh/helm/v3/cmd/helm@v3.22.0'
const KUBECONFORM = 'github.com/yannh/kubeconform/cmd/kubeconform@v0.8.0'
const PROMETHEUS_OPERATOR = 'github.com/prometheus-operator/prometheus-operator@v0.85.0'
const KUBERNETES = ['v1.27.16', 'v1.36.3']

const here = fileURLToPath(new URL('.', import.meta.url))
const chart = join(here, 'jeton')
const plain = join(here, '..', 'kubernetes')

const SWITCHES = [
  'http.autoscaling.enabled',
  'http.podDisruptionBudget.enabled',
  'worker.enabled',
  'worker.autoscaling.enabled',
  'worker.podDisruptionBudget.enabled',
  'networkPolicy.enabled',
  'serviceMonitor.enabled',
  'apply.enabled',
]
/** Everything that is not a switch, with a value other than its default. */
const DETAILS = `
image: { tag: 1.2.3, pullPolicy: Always, pullSecrets: [registry] }
existingSecret: my-secret
trustedProxies: 10.0.0.0/8
settings: { JETON_RETENTION_DAYS: "30" }
http:
  service: { type: LoadBalancer, port: 443, annotations: { a: b } }
  podAnnotations: { a: b }
  nodeSelector: { disk: ssd }
  tolerations: [{ key: only, operator: Exists }]
  affinity: { podAntiAffinity: {} }
  podDisruptionBudget: { minAvailable: 50% }
worker:
  podAnnotations: { a: b }
  nodeSelector: { disk: ssd }
  tolerations: [{ key: only, operator: Exists }]
serviceMonitor: { labels: { release: prometheus } }
apply: { storageClassName: fast, declaration: { projects: [{ name: Club, keys: [{ name: till, permissions: [api] }] }] } }
`
/** Values that must be refused: misspelt names, and values of another type. */
const REFUSED = [
  'worker.replica=3',
  'http.replicas=two',
  'settings.RETENTION=30',
  'publicUrl=jeton.example.com',
]

const print = (line: string): void => void process.stdout.write(`${line}\n`)
const fail = (line: string): never => {
  throw new Error(line)
}

const work = mkdtempSync(join(tmpdir(), 'jeton-helm-'))
const tools = join(work, 'tools')
const tool = (name: string, args: readonly string[]) =>
  spawnSync(join(tools, name), args, { encoding: 'utf8', maxBuffer: 2 ** 28 })

function buildTools(): void {
  for (const module of [HELM, KUBECONFORM])
    execFileSync('go', ['install', module], {
      cwd: work,
      env: { ...process.env, GOBIN: tools },
      stdio: 'inherit',
    })
}

const template = (release: string, flags: readonly string[]) =>
  tool('helm', ['template', release, chart, '--namespace', 'jeton', '--kube-version', '1.27.0', ...flags])

function render(release: string, flags: readonly string[]): string {
  const { status, stdout, stderr } = template(release, flags)
  return status === 0 ? stdout : fail(`helm template ${flags.join(' ')}: ${stderr}`)
}

function renderAll(folder: string): number {
  mkdirSync(folder)
  const details = join(work, 'details.yaml')
  writeFileSync(details, DETAILS)
  const combinations = 2 ** SWITCHES.length
  for (let i = 0; i < combinations; i++) {
    const flags = SWITCHES.flatMap((name, bit) => ['--set', `${name}=${(i >> bit) % 2 === 1}`])
    writeFileSync(join(folder, `${i}.yaml`), render('jeton', flags))
  }
  writeFileSync(
    join(folder, 'details.yaml'),
    render('other', ['-f', details, '--set', SWITCHES.map((name) => `${name}=true`).join()]),
  )
  writeFileSync(join(folder, 'defaults.yaml'), render('jeton', []))
  return combinations + 2
}

const validate = (path: string, schemas: string) =>
  tool('kubeconform', [
    '-strict',
    '-summary',
    '-skip',
    'Kustomization',
    '-schema-location',
    `${schemas}/{{ .ResourceKind }}{{ .KindSuffix }}.json`,
    path,
  ])

/** A check that accepts everything would prove nothing. */
function requireStrict(schemas: string): void {
  const wrong = join(work, 'wrong.yaml')
  writeFileSync(
    wrong,
    readFileSync(join(plain, 'worker.yaml'), 'utf8').replace('runAsNonRoot', 'runAsNotRoot'),
  )
  if (validate(wrong, schemas).status === 0) fail('kubeconform accepted a field that does not exist')
}

function validateAll(folders: readonly string[]): void {
  for (const version of KUBERNETES) {
    const schemas = join(work, version)
    writeKubernetesSchemas(version, schemas)
    const operator = join(goModule(PROMETHEUS_OPERATOR), 'jsonnet/prometheus-operator')
    writeCustomSchema(join(operator, 'servicemonitors-crd.json'), schemas)
    requireStrict(schemas)
    for (const folder of folders) {
      const { status, stdout, stderr } = validate(folder, schemas)
      if (status !== 0) fail(`${version}: ${stdout}${stderr}`)
      print(`${version}  ${folder.replace(work, '').replace(here, '')}: ${stdout.trim()}`)
    }
  }
}

interface Manifest {
  readonly kind: string
  readonly metadata: { readonly name: string }
  readonly spec: { readonly template: { readonly spec: PodSpec } }
}

interface PodSpec {
  readonly containers: Record<string, unknown>[]
  readonly topologySpreadConstraints?: Record<string, unknown>[]
}

const manifestsIn = (text: string): Manifest[] => parseAllDocuments(text).map((one) => one.toJS() as Manifest)

/** The pod of a manifest, without its image, and without labels, which Helm extends. */
function podOf(manifests: readonly Manifest[], name: string): unknown {
  const found = manifests.find(
    ({ kind, metadata }) => /^(Deployment|Job)$/.test(kind) && metadata.name === name,
  )
  const spec = structuredClone(found?.spec.template.spec ?? fail(`no ${name}`))
  for (const container of spec.containers) {
    delete container.image
    delete container.imagePullPolicy
  }
  for (const one of spec.topologySpreadConstraints ?? []) delete one.labelSelector
  return spec
}

/** A change of one of the two must be made in the other as well. */
function comparePods(): void {
  const rendered = manifestsIn(render('jeton', ['--set', 'apply.enabled=true']))
  const files = ['service.yaml', 'worker.yaml', 'apply.yaml']
  const written = files.flatMap((name) => manifestsIn(readFileSync(join(plain, name), 'utf8')))
  for (const name of ['jeton', 'jeton-worker', 'jeton-apply'])
    if (!isDeepStrictEqual(podOf(rendered, name), podOf(written, name)))
      fail(
        `${name} differs: ${JSON.stringify(podOf(rendered, name))}\n${JSON.stringify(podOf(written, name))}`,
      )
  print('The chart and deploy/kubernetes run the same pods.')
}

try {
  buildTools()
  const lint = tool('helm', ['lint', '--strict', '--quiet', chart])
  if (lint.status !== 0) fail(lint.stdout + lint.stderr)
  const rendered = join(work, 'rendered')
  print(`Rendered with ${renderAll(rendered)} sets of values.`)
  for (const value of REFUSED)
    if (template('jeton', ['--set', value]).status === 0) fail(`${value} was accepted`)
  print(`Refused ${REFUSED.length} wrong values.`)
  comparePods()
  const files = join(work, 'kubernetes')
  cpSync(plain, files, { recursive: true })
  validateAll([rendered, files])
} finally {
  rmSync(work, { recursive: true, force: true })
}
