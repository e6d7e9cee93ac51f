import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { freePort } from '../harness/ports.ts'

export interface Installed {
  /** Where `node_modules/n8n` is. */
  folder: string
  /** The Node.js version that this generation needs. */
  node: string
}

export interface Processed {
  /** In queue mode an n8n is several processes. */
  command?: 'start' | 'worker' | 'webhook'
  environment?: Record<string, string>
}

/** An n8n as users run it, on a folder of its own, used through its editor's API. */
export class N8n {
  output = ''
  /**
   * Resolves once the last workflow that listened has ended its listener, including its trigger's `delete`. n8n 2.41
   * keeps the test listeners in one cache and, while it ends one, puts half of itself into that entry. A listener that
   * starts at that moment, in any workflow, clones the entry, which takes a minute and gigabytes and then fails with
   * "Maximum call stack size exceeded". A person is seldom that fast; this suite always is.
   */
  quiet = async (): Promise<unknown> => undefined
  private child: ChildProcess | undefined
  private cookie = ''

  private constructor(
    private readonly installed: Installed,
    readonly home: string,
    readonly port: number,
    private readonly processed: Processed & { brokerPort: number },
  ) {}

  static async start(installed: Installed, home: string, processed: Processed = {}): Promise<N8n> {
    const n8n = new N8n(installed, home, await freePort(), { ...processed, brokerPort: await freePort() })
    await n8n.boot()
    return n8n
  }

  get origin(): string {
    return `http://127.0.0.1:${this.port}`
  }

  async restart(): Promise<void> {
    await this.stop()
    await this.boot()
    if (this.processed.command === undefined) await this.logIn()
  }

  /** As a crash does, in the middle of whatever runs. */
  async crash(): Promise<void> {
    if (this.child !== undefined) {
      this.child.kill('SIGKILL')
      await once(this.child, 'exit')
    }
    await this.boot()
    if (this.processed.command === undefined) await this.logIn()
  }

  async stop(): Promise<void> {
    if (this.child?.exitCode !== null || this.child.signalCode !== null) return
    this.child.kill('SIGTERM')
    await once(this.child, 'exit')
  }

  /** Sets up the owner of this n8n, as its first visitor does. */
  async setUpOwner(): Promise<void> {
    await this.request('POST', '/rest/owner/setup', OWNER)
    await this.logIn()
  }

  async logIn(): Promise<void> {
    const { email, password } = OWNER
    await this.request('POST', '/rest/login', { emailOrLdapLoginId: email, password })
  }

  /** Returns the response of a call; an unsuccessful status throws with n8n's full response. */
  async request<T = Answer>(method: string, path: string, body?: unknown): Promise<T> {
    const { status, json } = await this.send(method, path, body)
    if (status >= 300) throw new Error(`${method} ${path} answered ${String(status)}: ${JSON.stringify(json)}`)
    return (json as { data: T }).data
  }

  async send(method: string, path: string, body?: unknown): Promise<{ status: number; json: Answer }> {
    const response = await fetch(this.origin + path, {
      method,
      headers: { 'content-type': 'application/json', 'browser-id': BROWSER, cookie: this.cookie },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const cookie = response.headers.getSetCookie().find((line) => line.startsWith('n8n-auth='))
    if (cookie !== undefined) this.cookie = cookie.split(';')[0] ?? ''
    // n8n answers unknown addresses with its editor's page.
    const isJson = response.headers.get('content-type')?.includes('json') === true
    return { status: isJson ? response.status : 404, json: isJson ? await response.json() : {} }
  }

  private async boot(): Promise<void> {
    const { folder, node } = this.installed
    const { command = 'start' } = this.processed
    this.output = ''
    const child = spawn(node, [`${folder}/node_modules/n8n/bin/n8n`, command], {
      cwd: this.home,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env['PATH'] ?? '', HOME: this.home, ...this.environment() },
    })
    this.child = child
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => (this.output += text))
    }
    await new Promise<void>((resolve, reject) => {
      child.stdout.on('data', () => {
        if (this.output.includes(READY[command])) resolve()
      })
      child.once('exit', (code) => reject(new Error(`n8n ended with ${String(code)} and said:\n${this.output}`)))
    })
  }

  private environment(): Record<string, string> {
    return {
      N8N_USER_FOLDER: this.home,
      N8N_LISTEN_ADDRESS: '127.0.0.1',
      N8N_PORT: String(this.port),
      N8N_SECURE_COOKIE: 'false',
      WEBHOOK_URL: `${this.origin}/`,
      N8N_RUNNERS_BROKER_PORT: String(this.processed.brokerPort),
      N8N_ENFORCE_SETTINGS_FILE_PERMISSIONS: 'false',
      // n8n must send no requests of its own and ask no questions in the editor.
      N8N_DIAGNOSTICS_ENABLED: 'false',
      N8N_VERSION_NOTIFICATIONS_ENABLED: 'false',
      N8N_TEMPLATES_ENABLED: 'false',
      N8N_PERSONALIZATION_ENABLED: 'false',
      N8N_HIRING_BANNER_ENABLED: 'false',
      N8N_DYNAMIC_BANNERS_ENABLED: 'false',
      NODE_ENV: 'production',
      ...this.processed.environment,
    }
  }
}

/** What each process says when it is ready. */
const READY = {
  start: 'Editor is now accessible',
  worker: 'n8n worker is now ready',
  webhook: 'Webhook listener waiting for requests',
}

// oxlint-disable-next-line typescript/no-explicit-any -- a test looks into answers field by field
export type Answer = any

export const OWNER = { email: 'owner@example.com', firstName: 'Olga', lastName: 'Owner', password: 'Coinslot2026' }

/** n8n ties a login to the browser that made it. */
const BROWSER = 'coinslot-tests'
